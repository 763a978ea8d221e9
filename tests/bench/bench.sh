#!/bin/bash
# What `make bench` prints: the simulator's speed on this host and in a guest under TCG, what the core-to-core matrix costs a
# machine of 128 cores, how long the suites take natively and how well latencies repeat, then the streaming kernels natively
# against others (ROUNDS=10). Exit status 1: a speed of the simulator is below its floor, or the matrix takes too long.
set -u
out=${OUT:-out} rc=0
"$out/tests/bench/speed" nehalem-ep || rc=1
for machine in core2 haswell-ep skylake-sp pentium4; do # without a goal but for the memory
	"$out/tests/bench/speed" "$machine" 50 || rc=1
done
work=$(mktemp -d "$out/bench.XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
echo "nehalem-ep in a guest under TCG, one active core, by the guest's TSC (goal 1.0, in the L3 and beyond 0.5):"
runner/qemu.sh --work "$work" --test speed --options "end=exit" "$out/stallmeter.img" >"$work/said" 2>&1 || rc=1
tr -d '\r' <"$work/debugcon.log" | grep -E '^(not )?ok ' || cat "$work/said"
echo "the core-to-core matrix on a simulated nehalem-ep of 4 sockets with 32 cores each (goal 60 s of its time):"
sed 's/^sockets = 2/sockets = 4/; s/^cores = 4$/cores = 32/' tables/machines/nehalem-ep.machine >"$work/many.machine"
"$out/tests/bench/matrix" "$work/many.machine" 60 || rc=1
took() { # took GOAL_S NAME OPTION...
	local goal=$1 name=$2 from to; shift 2
	from=$(date +%s%N)
	"$out/stallmeter" run --backend native --out "$work/runs" "$@" >"$work/native" 2>&1 || rc=1
	to=$(date +%s%N)
	awk -v name="$name" -v ms=$(((to - from) / 1000000)) -v goal="$goal" 'BEGIN { printf "%-20s %7.2f s, goal %d s%s\n", name, ms / 1000, goal, ms > goal * 1000 ? ": longer" : "" }'
}
echo "natively on this machine, load average $(cut -d' ' -f1 /proc/loadavg):"
took 5 "latency staircase" --suite load.staircase.latency
took 5 "quick suite" --suite quick
took 60 "full suite" --suite full
"$out/stallmeter" steady || echo "(not steady: see the reasons)"
OUT=$out tests/bench/race.sh "${ROUNDS:-10}" || rc=1
exit $rc
