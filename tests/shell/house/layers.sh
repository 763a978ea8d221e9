#!/bin/bash
# tests/layers.sh refuses what it is for: faults are planted in a copy of the sources, all at once, and each is named.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh

cp -r asm tables pmu bench efi runner packaging results docs tests Makefile "$work"
objects=$(realpath "${OUT:-out}")
mkdir "$work/out"
for room in pmu bench efi runner; do cp -rs "$objects/$room" "$work/out"; done
export OUT=out
check "layers_hold" sh "$work/tests/layers.sh"

claims=() words=()
# plant CLAIM FILE TEXT EXPECTED: TEXT is appended to FILE, and a line of what the layers say has EXPECTED (extended, grep's).
plant() { printf '%s\n' "$3" >>"$work/$2"; claims+=("$1") words+=("$4"); }
# uses CLAIM FILE TEXT EXPECTED: the same with a new file of C, which is compiled.
uses() {
	plant "$@"
	${CC:-gcc} -I "$work" -ffreestanding -c -o "$work/out/${2%.c}.o" "$work/$2" || claims+=("$2 compiles") words+=("^never")
}
# full FOLDER CLAIM: one file more than a folder may have
full() {
	for i in $(seq $((31 - $(find "$work/$1" -maxdepth 1 -type f | wc -l)))); do : >"$work/$1/x$i.txt"; done
	claims+=("$2") words+=("^$1: 31 files, at most 30")
}
# long_file CLAIM FILE LINE: the file gets LINEs up to one more than a file may have
long_file() { plant "$1" "$2" "$(seq $((501 - $(wc -l <"$work/$2"))) | sed "s,.*,$3,")" "^$2: 501 lines, at most 500"; }
boxes=bench/uncore/boxes.c
plant "layers_refuse_an_event" $boxes 'const char *a(void) { return "MEM_LOAD_RETIRED.L2_HIT"; }' 'boxes.c:[0-9]+: "MEM_LOAD_RETIRED.L2_HIT" is an event'
plant "layers_refuse_an_event_with_a_modifier" $boxes 'const char *a(void) { return "UOPS_ISSUED.ANY:cmask=1"; }' '"UOPS_ISSUED.ANY" is an event'
plant "layers_refuse_the_beginning_of_an_event" $boxes '#define GQ "UNC_GQ_ALLOC."' '"UNC_GQ_ALLOC" is an event'
plant "layers_refuse_an_event_of_a_box" $boxes 'const char *a(void) { return "UNC_C_TOR_INSERTS.OPCODE:opc=0x182"; }' '"UNC_C_TOR_INSERTS.OPCODE" is an event'
plant "layers_refuse_an_event_of_netburst" runner/commands/stat.c 'static const char *a = "mispred_branch_retired";' '"mispred_branch_retired" is an event'
plant "layers_refuse_an_event_that_only_a_machines_map_has" pmu/sim/counters/netburst.c 'const char *a(void) { return "BUSQ_EMPTY.THIS_AGENT"; }' '"BUSQ_EMPTY.THIS_AGENT" is an event'
plant "layers_refuse_a_metric" $boxes 'const char *a(void) { return "cbo.AVG_TOR_DRD_LATENCY"; }' '"cbo.AVG_TOR_DRD_LATENCY" is an event'
plant "layers_refuse_a_processor" $boxes 'const char *a(void) { return "haswell-ep"; }' '"haswell-ep" is a processor'
plant "layers_refuse_a_machine_in_a_sentence" runner/commands/stat.c 'static const char *a = "as on nehalem-ep";' '"nehalem-ep" is a processor or a machine'
plant "layers_refuse_a_model" pmu/core/cpu.c 'bool a(const struct cpu *c) { return c->model == 0x1A; }' "cpu.c:[0-9]+: compares a processor's model"
plant "layers_refuse_a_model_on_the_right" bench/uncore/page_state.h 'int a(int model) { return 0x3F <= model; }' "page_state.h:[0-9]+: compares a processor's model"
plant "layers_refuse_a_signature" bench/measure/measure.h 'int a(unsigned signature) { return (signature & 0xFFF0) == 0x106A0; }' "measure.h:[0-9]+: compares a processor's model"
plant "layers_refuse_a_switch_over_models" bench/suite/suite.c 'int a(int model) { switch (model) { case 0x1A: return 1; } return 0; }' "suite.c:[0-9]+: compares a processor's model"
plant "layers_refuse_a_higher_floor" pmu/core/concept.c '#include "bench/suite/suite.h"' 'concept.c:[0-9]+: pmu may not include bench/suite/suite.h: a higher floor'
plant "layers_refuse_a_later_room" bench/measure/measure.c '#include "bench/results/report.h"' 'bench/measure may not include bench/results/report.h: a later room'
plant "layers_refuse_a_later_room_of_pmu" pmu/core/concept.c '#include "pmu/netburst/netburst.h"' 'pmu/core may not include pmu/netburst/netburst.h: a later room'
plant "layers_refuse_an_upward_room_of_the_simulated_machine" pmu/sim/memory/memory.h '#include "pmu/sim/core/core.h"' 'pmu/sim/memory may not include pmu/sim/core/core.h: a later room'
uses "layers_refuse_a_call_upwards" pmu/sim/core/planted.c 'unsigned long counters_rdtsc(void *); unsigned long planted(void *p) { return counters_rdtsc(p); }' 'core/planted.c: uses counters_rdtsc of pmu/sim/counters/[a-z_]+.c: a later room'
uses "layers_refuse_data_upwards" pmu/sim/machine/planted.c '#include "pmu/base.h"
struct box_kind; extern const struct box_kind box_socket; const struct box_kind *planted_box(void) { return &box_socket; }' 'machine/planted.c: uses box_socket of pmu/sim/uncore/[a-z_]+.c: a later room'
uses "layers_refuse_a_call_upwards_in_bench" bench/measure/planted.c 'int writer_open(void); int planted(void) { return writer_open(); }' 'measure/planted.c: uses writer_open of bench/results/[a-z_]+.c: a later room'
uses "layers_refuse_a_driver_in_the_simulated_machine" pmu/sim/backend/planted.c 'int cpu_last_level(void); int planted(void) { return cpu_last_level(); }' 'backend/planted.c: the simulated machine may not use cpu_last_level of pmu/core/cpu.c'
uses "layers_refuse_the_simulated_machine_in_bench" bench/suite/planted.c 'int sim_open(void); int planted(void) { return sim_open(); }' 'suite/planted.c: uses sim_open of pmu/sim/backend/sim.c: the truth'
plant "layers_refuse_a_source_without_an_object" runner/data/fresh.c 'int fresh;' '^out has no object of bench/attic/a.c \(2 are missing\)'
plant "layers_refuse_a_cycle_between_folders_of_tests" tests/unit/support/sim_look.h '#include "tests/unit/rigs/uncore_rig.h"' 'folders of tests include each other in a cycle: .*tests/unit/support'
plant "layers_refuse_a_function_declared_by_hand" bench/measure/measure.c 'extern int writer_open(void);' 'measure.c:[0-9]+: declares a function of another file'
plant "layers_refuse_an_event_in_small_letters" $boxes 'const char *a(void) { return "mem_load_retired.l2_hit"; }' '"mem_load_retired.l2_hit" is an event'
plant "layers_refuse_a_model_by_a_constant" bench/measure/vector_width.c 'bool a(const struct cpu *c) { return c->model == MODEL_NEHALEM; }' "vector_width.c:[0-9]+: compares a processor's model"
plant "layers_refuse_a_list_of_models" bench/uncore/page_state.c 'static const unsigned models[] = { 0x1A, 0x1E };' "page_state.c:[0-9]+: compares a processor's model"
plant "layers_refuse_a_function_of_81_lines" $boxes "$(printf 'void long_one(void)\n{\n'; seq 78 | sed 's/.*/\t;/'; echo '}')" 'boxes.c:[0-9]+: long_one has 81 lines, at most 80'
plant "layers_refuse_a_function_of_81_lines_in_a_header" bench/measure/reduce.h "$(printf 'static inline void long_two(void)\n{\n'; seq 78 | sed 's/.*/\t;/'; echo '}')" 'reduce.h:[0-9]+: long_two has 81 lines, at most 80'
plant "layers_refuse_a_function_of_81_lines_of_the_tables" tables/core.py "$(printf 'def long_three():\n'; seq 80 | sed 's/.*/\tpass/')" 'core.py:[0-9]+: long_three has 81 lines, at most 80'
plant "layers_allow_a_function_of_80_lines" bench/suite/execute.c "$(printf 'void execute_long(void)\n{\n'; seq 77 | sed 's/.*/\t;/'; echo '}')" ''
plant "layers_refuse_a_public_name_of_another_file" bench/measure/noise_check.c "$(printf 'int odd_name(void)\n{\n\treturn 0;\n}')" 'noise_check.c:[0-9]+: odd_name: begins with the name'
plant "layers_refuse_a_public_name_of_another_file_of_the_simulated_machine" pmu/sim/memory/dram.c "$(printf 'int odd_dram(void)\n{\n\treturn 0;\n}')" 'memory/dram.c:[0-9]+: odd_dram: begins with the name'
plant "layers_refuse_a_public_name_behind_an_attribute" pmu/sim/memory/tlb.c "$(printf '__attribute__((noinline)) int odd_tlb(void)\n{\n\treturn 0;\n}')" 'memory/tlb.c:[0-9]+: odd_tlb: begins with the name'
plant "layers_refuse_a_public_name_of_a_simulated_struct" bench/curves/curve.c "$(printf 'int cluster_look(void)\n{\n\treturn 0;\n}')" 'curve.c:[0-9]+: cluster_look: begins with the name'
long_file "layers_refuse_a_file_of_501_lines" pmu/core/freq_lock.c '/* */'
long_file "layers_refuse_a_test_of_501_lines" tests/shell/firmware/usb.sh '#'
long_file "layers_refuse_a_unit_program_of_501_lines" tests/unit/pmu/test_netburst.c '/* */'
long_file "layers_refuse_a_script_of_501_lines" runner/usb.sh '#'
plant "layers_refuse_an_exception_that_is_not_needed" tests/exceptions.txt 'bench/uncore/traffic.c no reason' 'bench/uncore/traffic.c: no longer needed'
plant "layers_refuse_an_exception_without_a_reason" tests/exceptions.txt 'bench/uncore/uncore_latency.c' 'bench/uncore/uncore_latency.c: no reason'
mkdir "$work/bench/attic"
plant "layers_refuse_a_room_without_a_place" bench/attic/a.c 'int a;' 'bench/attic: no room'
full bench/uncore "layers_refuse_a_full_folder"
full tests/shell/house "layers_refuse_a_full_folder_of_tests"
plant "layers_allow_an_event_in_a_comment" bench/suite/cross_check.c '/* MEM_LOAD_RETIRED.L2_HIT of "nehalem-ep", model == 0x1A */' ''

sh "$work/tests/layers.sh" >"$work/refused" 2>&1 && echo "accepted" >"$work/refused"
named() { if [ -n "$1" ]; then grep -qE -- "$1" "$work/refused"; else ! grep -qE 'bench/suite/(cross_check|execute)\.c' "$work/refused"; fi || { head -40 "$work/refused"; return 1; }; }
for i in "${!claims[@]}"; do check "${claims[i]}" named "${words[i]}"; done
tap_end
