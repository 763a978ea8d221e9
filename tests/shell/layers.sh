#!/bin/bash
# tests/layers.sh refuses what it is for: each fault is planted in a copy of the sources.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh

cp -r --parents asm tables pmu bench efi runner tests/*.sh tests/*.txt tests/expect "$work"
# planted FILE TEXT EXPECTED: with TEXT appended to FILE, the layers are refused with a line that has EXPECTED.
planted() {
	local file=$work/$1 got
	cp "$file" "$work/kept" && printf '%s\n' "$2" >>"$file"
	got=$(sh "$work/tests/layers.sh" 2>&1) && got="accepted"
	cp "$work/kept" "$file"
	grep -qE "$3" <<<"$got" || { echo "$got" | head -5; return 1; }
}
check "layers_hold" sh "$work/tests/layers.sh"
check "layers_refuse_an_event" planted bench/uncore/boxes.c 'const char *a(void) { return "MEM_LOAD_RETIRED.L2_HIT"; }' 'boxes.c:[0-9]+: "MEM_LOAD_RETIRED.L2_HIT" is an event'
check "layers_refuse_an_event_with_a_modifier" planted bench/uncore/boxes.c 'const char *a(void) { return "UOPS_ISSUED.ANY:cmask=1"; }' '"UOPS_ISSUED.ANY" is an event'
check "layers_refuse_the_beginning_of_an_event" planted bench/uncore/boxes.c '#define GQ "UNC_GQ_ALLOC."' '"UNC_GQ_ALLOC" is an event'
check "layers_refuse_an_event_of_a_box" planted bench/uncore/boxes.c 'const char *a(void) { return "UNC_C_TOR_INSERTS.OPCODE:opc=0x182"; }' '"UNC_C_TOR_INSERTS.OPCODE" is an event'
check "layers_refuse_an_event_of_netburst" planted runner/commands/stat.c 'static const char *a = "mispred_branch_retired";' '"mispred_branch_retired" is an event'
check "layers_refuse_a_metric" planted bench/uncore/boxes.c 'const char *a(void) { return "cbo.AVG_TOR_DRD_LATENCY"; }' '"cbo.AVG_TOR_DRD_LATENCY" is an event'
check "layers_refuse_a_processor" planted bench/uncore/boxes.c 'const char *a(void) { return "haswell-ep"; }' '"haswell-ep" is a processor'
check "layers_refuse_a_machine_in_a_sentence" planted runner/commands/stat.c 'static const char *a = "as on nehalem-ep";' '"nehalem-ep" is a processor or a machine'
check "layers_refuse_a_model" planted pmu/core/cpu.c 'bool a(const struct cpu *c) { return c->model == 0x1A; }' "cpu.c:[0-9]+: compares a processor's model"
check "layers_refuse_a_model_on_the_right" planted bench/uncore/boxes.c 'int a(int model) { return 0x3F <= model; }' "compares a processor's model"
check "layers_refuse_a_signature" planted bench/uncore/boxes.c 'int a(unsigned signature) { return (signature & 0xFFF0) == 0x106A0; }' "compares a processor's model"
check "layers_refuse_a_switch_over_models" planted bench/uncore/boxes.c 'int a(int model) { switch (model) { case 0x1A: return 1; } return 0; }' "compares a processor's model"
comment() { ! planted bench/uncore/boxes.c "$1" 'boxes.c' >/dev/null; }
check "layers_let_comments_speak_of_an_event" comment '/* MEM_LOAD_RETIRED.L2_HIT of "nehalem-ep", model == 0x1A */'
check "layers_refuse_a_higher_floor" planted pmu/core/concept.c '#include "bench/suite/suite.h"' 'concept.c:[0-9]+: pmu may not include bench/suite/suite.h: a higher floor'
check "layers_refuse_a_later_room" planted bench/measure/measure.c '#include "bench/results/report.h"' 'bench/measure may not include bench/results/report.h: a later room'
check "layers_refuse_a_later_room_of_pmu" planted pmu/core/concept.c '#include "pmu/netburst/netburst.h"' 'pmu/core may not include pmu/netburst/netburst.h: a later room'
check "layers_refuse_a_function_declared_by_hand" planted bench/measure/measure.c 'extern int writer_open(void);' 'measure.c:[0-9]+: declares a function of another file'
check "layers_refuse_a_long_function" planted bench/uncore/boxes.c "$(printf 'void a(void)\n{\n'; seq 90 | sed 's/.*/\t;/'; echo '}')" 'boxes.c:[0-9]+: a has 9[0-9] lines, at most 80'
check "layers_refuse_a_long_file" planted bench/uncore/boxes.c "$(seq 480 | sed 's,.*,/**/,')" 'boxes.c: [0-9]+ lines, at most 500'
check "layers_refuse_an_exception_that_is_not_needed" planted tests/exceptions.txt 'bench/uncore/boxes.c no reason' 'boxes.c: no longer needed'
check "layers_refuse_an_exception_without_a_reason" planted tests/exceptions.txt 'bench/uncore/boxes.c' 'boxes.c: no reason'
room() { mkdir "$work/bench/attic" && echo 'int a;' >"$work/bench/attic/a.c"; sh "$work/tests/layers.sh" 2>&1 | grep -q "bench/attic: no room"; local rc=$?; rm -r "$work/bench/attic"; return $rc; }
check "layers_refuse_a_room_without_a_place" room
full() { for i in $(seq 30); do : >"$work/bench/uncore/x$i.h"; done; sh "$work/tests/layers.sh" 2>&1 | grep -q "bench/uncore: [0-9]* files, at most 30"; local rc=$?; rm "$work"/bench/uncore/x*.h; return $rc; }
check "layers_refuse_a_full_folder" full
tap_end
