#!/bin/sh
# Holds every #include "dir/..." and %include against the floors of the house:
#   tables, asm 0 < pmu, pmu/sim 1 < bench 3 < efi, runner 4; tests see all.
# efi/bios is a program of its own: of efi it has uefi.h, exit.h and vectors.inc alone, and nobody has anything of it.
# pmu/sim and pmu's drivers share access.h, base.h and text.h and nothing else, tests/expect
# knows nothing of pmu/sim, and no code outside tables/ names a processor model.
cd "$(dirname "$0")/.." || exit 2
awk '
function room(path) {
	if (path ~ /^pmu\/sim\//) return "sim"
	if (path ~ /^efi\/bios\//) return "bios"
	sub(/\/.*/, "", path); return path
}
BEGIN {
	floor["tables"] = 0; floor["asm"] = 0; floor["pmu"] = 1; floor["sim"] = 1
	floor["bench"] = 3; floor["efi"] = floor["bios"] = 4; floor["runner"] = 4; floor["tests"] = 5
	common["pmu/base.h"] = common["pmu/text.h"] = common["pmu/access.h"] = 1
}
match($0, /^[ \t]*[#%]include[ \t]+"[^"]+"/) {
	target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
	from = room(FILENAME); to = room(target)
	if (!(to in floor)) { printf "%s:%d: includes \"%s\": name the room, as in \"pmu/base.h\"\n", FILENAME, FNR, target; bad = 1; next }
	if (floor[to] > floor[from]) { printf "%s:%d: %s may not include %s: a higher floor\n", FILENAME, FNR, from, target; bad = 1 }
	if (from == "bios" && to != "bios" && target !~ /^(efi\/(firmware\/uefi|app\/exit)|pmu\/(base|text))\.h$|^efi\/processor\/vectors\.inc$/) { printf "%s:%d: the BIOS loader may not include %s\n", FILENAME, FNR, target; bad = 1 }
	else if (floor[from] == 4 && floor[to] == 4 && from != to && from != "bios") { printf "%s:%d: %s may not include %s: next door\n", FILENAME, FNR, from, target; bad = 1 }
	if (from == "sim" && (to == "pmu" || to == "tables") && !(target in common)) { printf "%s:%d: the simulated machine may not include %s: the drivers\047 room\n", FILENAME, FNR, target; bad = 1 }
	if ((from == "pmu" || from == "bench") && to == "sim") { printf "%s:%d: %s may not include %s: the truth must stay apart\n", FILENAME, FNR, from, target; bad = 1 }
	if (FILENAME ~ /^tests\/expect\// && to == "sim") { printf "%s:%d: an expectation may not include %s\n", FILENAME, FNR, target; bad = 1 }
}
END { exit bad }
' $(find asm tables pmu bench efi runner tests -name '*.[ch]' -o -name '*.asm' -o -name '*.inc' -o -name '*.def') || exit 1
