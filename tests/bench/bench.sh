#!/bin/bash
# tests/bench/bench.sh [PART...]: what `make bench` (PARTS="PART ...") prints, one part after the other; all of them without a PART.
#   speed      the simulator's speed on this host              guest      the same in a guest under TCG
#   matrix     the core-to-core matrix of a machine of 128 cores: how long it takes by that machine's clock
#   simulated  how long full suites of simulated machines take on this host, and how much memory beside the rows' buffers
#   booted     how long the full suite of nehalem-ep takes in a guest
#   native     how long suites take natively, and how well latencies repeat
#   race       the streaming kernels natively against others (ROUNDS=10)
# Exit status 1: a speed of the simulator is below its floor, its memory above the goal, or the matrix takes too long; 2: no such part. Other goals are
# for a desktop that is otherwise idle: what is missed says so.
set -u
out=${OUT:-out} rc=0
work=$(mktemp -d "$out/bench.XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
# What a command took from FROM to now. said GOAL_S FROM NAME
said() {
	awk -v name="$3" -v ms=$((($(date +%s%N) - $2) / 1000000)) -v goal="$1" 'BEGIN { printf "%-28s %7.2f s, goal %d s%s\n", name, ms / 1000, goal, (ms > goal * 1000 ? ": longer" : "") }'
}
part_speed() {
	local machine
	"$out/tests/bench/speed" nehalem-ep || rc=1
	for machine in core2 haswell-ep skylake-sp pentium4; do # without a goal but for the memory
		"$out/tests/bench/speed" "$machine" 50 || rc=1
	done
}
part_guest() {
	echo "nehalem-ep in a guest under TCG, one active core, by the guest's TSC (goal 1.0, in the L3 and beyond 0.5):"
	runner/qemu.sh --work "$work" --test speed --options "end=exit" "$out/stallmeter.img" >"$work/said" 2>&1 || rc=1
	tr -d '\r' <"$work/debugcon.log" | grep -E '^(not )?ok ' || cat "$work/said"
}
part_matrix() {
	echo "the core-to-core matrix on a simulated nehalem-ep of 4 sockets with 32 cores each (goal 60 s of its time):"
	sed 's/^sockets = 2/sockets = 4/; s/^cores = 4$/cores = 32/' tables/machines/nehalem-ep.machine >"$work/many.machine"
	"$out/tests/bench/matrix" "$work/many.machine" 60 || rc=1
}
simulated() { # GOAL_S MACHINE
	local from
	from=$(date +%s%N)
	"$out/tests/bench/memory" "$2" 256 >"$work/said" 2>&1 || rc=1
	said "$1" "$from" "$2, full suite"
	cat "$work/said"
}
part_simulated() {
	echo "simulated on this machine, load average $(cut -d' ' -f1 /proc/loadavg):"
	simulated 30 nehalem-ep
	simulated 30 skylake-sp
	local from
	from=$(date +%s%N)
	"$out/stallmeter" run --backend sim --machine skylake-sp --suite full --processes "$(nproc)" --out "$work/runs" >"$work/said" 2>&1 || rc=1
	said 30 "$from" "skylake-sp, $(nproc) processes"
}
part_booted() {
	local from
	from=$(date +%s%N)
	mkdir -p "$work/guest"
	runner/qemu.sh --work "$work/guest" --memory 12288 --limit 1200 --options "end=exit backend=sim:nehalem-ep suite=full" "$out/stallmeter.img" >"$work/said" 2>&1 || rc=1
	said 45 "$from" "nehalem-ep, full, in a guest"
}
took() { # took GOAL_S NAME OPTION...
	local goal=$1 name=$2 from; shift 2
	from=$(date +%s%N)
	"$out/stallmeter" run --backend native --out "$work/runs" "$@" >"$work/native" 2>&1 || rc=1
	said "$goal" "$from" "$name"
}
part_native() {
	echo "natively on this machine, load average $(cut -d' ' -f1 /proc/loadavg):"
	took 5 "latency staircase" --suite load.staircase.latency
	took 1 "quick suite" --suite quick
	took 10 "full suite" --suite full
	"$out/stallmeter" steady || echo "(not steady: see the reasons)"
}
part_race() { OUT=$out tests/bench/race.sh "${ROUNDS:-10}" || rc=1; }
parts="speed guest matrix simulated booted native race"
for part in "$@"; do
	[[ " $parts " == *" $part "* ]] || { echo "bench.sh: no part \"$part\"; there are: $parts" >&2; exit 2; }
done
for part in ${*:-$parts}; do "part_$part"; done
exit $rc
