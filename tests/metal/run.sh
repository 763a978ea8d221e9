#!/bin/bash
# What `make metal` does with the built image: tests/metal/run.sh MACHINE SUITE
#   Boots it in QEMU/OVMF with backend = hw; what it asks the processor for, and its jobs, the simulated machine MACHINE (a built-in name
#   or a machine file) carries out (tests/metal/metal.c). Shows the console with the table, and fetches the results to $OUT/metal.
#   Then compares the table with that of the simulated machine alone.
#   SMP and NODES as for make run (a hybrid with more than one processor has both kinds); REPETITIONS: samples of each row (9; of 3, a median of triad.l3 lay 1 % off in one boot of seven). METAL_IMAGE, METAL_ELF: another
#   image, and the file it was made from; METAL_RUNS: where the results go instead.
# Exit status: 0 as expected, 1 the tables differ, a register was not restored, records went where nothing is mapped, or a job was interrupted; else as runner/qemu.sh.
set -u
[ $# -eq 2 ] && [ -n "$1" ] && [ -n "$2" ] || { echo "usage: make metal MACHINE=NAME|FILE SUITE=quick|full|ROW,..." >&2; exit 2; }
machine=$1 suite=$2 out=${OUT:-out} to=${METAL_RUNS:-${OUT:-out}/metal} smp=${SMP:-1} nodes=${NODES:-1} memory=${MEMORY:-1536} repetitions=${REPETITIONS:-9}
image=${METAL_IMAGE:-$out/stallmeter.img} elf=${METAL_ELF:-$out/stallmeter.so}
case $suite in *'"'*) echo "run.sh: $suite: no quotes are allowed in it" >&2; exit 2;; esac
mkdir -p "$out/metal"
work=$(mktemp -d "$out/metal/.qemu.XXXXXX") || exit 3
shared=$work
[ ! -w /dev/shm ] || shared=$(mktemp -d /dev/shm/metal.XXXXXX) || exit 3
trap 'rm -rf "$work" "$shared"' EXIT
mkfifo "$work/keys.in" "$work/keys.out"

# Of a hybrid one processor is a large core, and its rows are named as any other machine's. More processors are one module of small cores and
# the rest large ones: a machine with so many of each.
file=$machine all=
[ -f "$file" ] || file=tables/machines/$machine.machine
hybrid=$(grep -E '^small_cores = [1-9]' "$file" 2>/dev/null)
if [ -n "$hybrid" ] && [ "$smp" -gt 1 ]; then
	module=$(awk '/^\[/ { in_l2 = $0 == "[l2]" } in_l2 && $1 == "cores" { print $3 }' "tables/machines/$(sed -n 's/^small = //p' "$file").machine")
	[ "$smp" -gt "$module" ] || { echo "run.sh: SMP=$smp: $machine needs 1, or more than the $module small cores of a module" >&2; exit 2; }
	sed "/^\[topology\]/,/^\[/ { s/^cores = .*/cores = $smp/; s/^small_cores = .*/small_cores = $module/ }" "$file" >"$work/$(basename "$file")" || exit 3
	machine=$work/$(basename "$file") file=$machine all=yes
fi

# A socket of several memory nodes (sub-NUMA clustering) is whole in the guest, with a processor of each: rows take a node's part of the L3 for its size.
parts=$(awk '/^\[/ { there = $0 == "[topology]" } there && $1 == "nodes" && $3 ~ /^[0-9]+$/ { print $3 }' "$file")
if [ "${parts:-1}" -gt "$nodes" ]; then
	nodes=$parts
	[ "$smp" -ge "$nodes" ] || smp=$nodes
fi

told=$("$out/tests/metal/metal" --machine "$machine" --cpus "$smp" --nodes "$nodes" --cpu) || exit 2
cpu=${told%%$'\n'*} harts=${told#*$'\n'}

# Where the image has what the debugger answers.
nm "$elf" | awk '
	$3 == "debugger_wait" { print "wait", $1 } $3 == "site_rdmsr" { print "rdmsr", $1 } $3 == "site_wrmsr" { print "wrmsr", $1 }
	$3 == "site_cpuid" { print "cpuid", $1 } $3 == "vector_entries" { print "vectors", $1 }
	$3 == "scan_bus" { print "scan", $1 }' >"$work/sites"
objdump -d --no-show-raw-insn --section=.text "$elf" | awk '
	/^[0-9a-f]+ <.*>:$/ { name = substr($2, 2, length($2) - 3); at = $1; next }
	{ address = $1; sub(/:$/, "", address) }
	name == "op_rdpmc" && $2 == "rdpmc" { print "rdpmc", address }
	name == "op_rdtsc" && $2 == "rdtsc" { print "rdtsc", address }
	name == "op_read" && !read++ { print "read", address }
	name == "op_write" && !write++ { print "write", address }
	name == "clock_open" && $2 == "rdtsc" { print "clock", address }
	(name == "cores_run" || name == "wait_done") && $2 == "rdtsc" { print "await", address }
	name == "clock_open" && $2 == "in" { print "timer", address }' >>"$work/sites"

cat "$work/keys.out" >/dev/null &
drain=$!
rc=0 found=0
runner/qemu.sh --work "$work" --smp "$smp" --nodes "$nodes" --memory "$memory" --memory-files "$shared/m" --cpu "$cpu" --keys "$work/keys" --show --test debugger \
	--limit "${METAL_LIMIT:-1800}" --options "backend=hw \"suite=$suite\" repetitions=$repetitions end=exit" "$image" -- \
	-gdb "unix:$work/gdb,server=on,wait=off" -pidfile "$work/pid" 2>"$work/qemu" &
guest=$!
exec 9<>"$work/keys.in"
for ((i = 0; i < 600; i++)); do
	! grep -q 'waiting for a debugger' "$work/debugcon.log" 2>/dev/null || break
	kill -0 $guest 2>/dev/null || { rc=0; wait $guest || rc=$?; cat "$work/qemu"; kill $drain; exit $rc; } # settings that are wrong
	sleep 0.1
done
${METAL_UNDER:-} "$out/tests/metal/metal" --machine "$machine" --socket "$work/gdb" --memory "$shared/m" "$memory" --cpus "$smp" --nodes "$nodes" --sites "$work/sites" >"$work/metal" 2>&1 || found=$?
[ "$found" -eq 0 ] || [ ! -s "$work/pid" ] || kill "$(cat "$work/pid")" # it may not have been reached at all
wait $guest || rc=$?
exec 9>&-
kill $drain 2>/dev/null
cat "$work/qemu" "$work/metal"
[ "$rc" -ne 2 ] && [ "$rc" -ne 5 ] || exit "$rc"
runs=$(runner/fetch.sh "$work/disk.img" "$to") || [ "$rc" -ne 0 ] || rc=3
for run in $runs; do
	cp "$work/debugcon.log" "$run/console.log"
	echo "fetched: $run"
done
[ "$found" -eq 0 ] || exit 1
! grep 'interrupts came through' "$work/debugcon.log" | sed 's/^/metal: /' | grep . || exit 1
[ "$rc" -eq 0 ] && [ -n "$runs" ] || exit "$rc"
# The same machine without anything in between.
chosen=(--cores "$harts" --nodes "$(seq -s, 0 $((nodes - 1)))") named='sub("@p$"; "")'
[ -z "$hybrid" ] || chosen+=(--kind p)
[ -z "$all" ] || chosen=() named=.
simulate() { # simulate ROWS NAME OPTION...: $work/NAME.json
	"$out/stallmeter" run --backend sim --machine "$machine" --suite "$(sed 's/@[a-z]*//g' <<<"$1")" "${chosen[@]}" --repetitions "$repetitions" \
		--out "$work/$2" "${@:3}" >"$work/sim" 2>&1 || { rc=$?; [ $rc -eq 1 ] || { cat "$work/sim"; exit $rc; }; }
	jq '.rows |= map(.name |= '"$named"')' "$work/$2"/*/results.json >"$work/$2.json" || exit 3
}
simulate "$suite" simulated
# Behind hw a stream takes the kernel that is fastest there, alone the first (bench/measure/vector_width.c). A row of another kernel is compared
# with a simulated run of that kernel.
jq -r --slurpfile a "$work/simulated.json" '($a[0].rows | map({ key: .name, value: .kernel }) | from_entries) as $k
	| [ .rows[] | select(.kernel != $k[.name]) ] | group_by(.kernel)[] | "\(.[0].kernel) \(map(.name) | join(","))"' "$run/results.json" >"$work/chosen" || exit 3
while read -r kernel rows; do
	simulate "$rows" "$kernel" --kernels "$kernel"
	jq --slurpfile n "$work/$kernel.json" --arg rows "$rows" '($n[0].rows | map(select(.name | IN($rows | split(",")[])) | { key: .name, value: . }) | from_entries) as $row | .rows |= map($row[.name] // .)' \
		"$work/simulated.json" >"$work/with.json" && mv "$work/with.json" "$work/simulated.json" || exit 3
done <"$work/chosen"
tests/metal/equal.sh "$(basename "${machine%.machine}")" "$work/simulated.json" "$run/results.json"
