#!/bin/bash
# What `make bench` prints: the simulator's speed on this host and in a guest under TCG, what the core-to-core matrix costs a
# machine of 128 cores, how long full suites of simulated machines take and how much memory, on this host and in a guest, how long the
# suites take natively and how well latencies repeat, then the streaming kernels natively
# against others (ROUNDS=10). Exit status 1: a speed of the simulator is below its floor, or the matrix takes too long. Other goals are for a desktop
# that is otherwise idle: what is missed says so.
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
# What a command took from FROM to now. said GOAL_S FROM NAME
said() {
	awk -v name="$3" -v ms=$((($(date +%s%N) - $2) / 1000000)) -v goal="$1" 'BEGIN { printf "%-28s %7.2f s, goal %d s%s\n", name, ms / 1000, goal, (ms > goal * 1000 ? ": longer" : "") }'
}
# The largest of a run's process, less the largest working set of its rows.
memory() { # PEAK_KIB RUN
	local results
	results=$(find "$2" -name results.json) && jq -r --arg peak "$1" '([.. | .footprint_bytes? // empty] | max) as $buffer
		| ($peak | tonumber / 1024 - $buffer / 1048576 | floor) as $rest
		| "  memory \($peak | tonumber / 1024 | floor) MiB, without its largest buffer of \($buffer / 1048576 | floor) MiB \($rest) MiB, goal at most 256 MiB\(if $rest > 256 then ": more" else "" end)"' "$results"
}
simulated() { # GOAL_S MACHINE
	local from peak
	from=$(date +%s%N)
	/usr/bin/time -f %M -o "$work/peak" "$out/stallmeter" run --backend sim --machine "$2" --suite full --out "$work/$2" >"$work/said" 2>&1 || rc=1
	said "$1" "$from" "$2, full suite"
	peak=$(tail -n 1 "$work/peak") && memory "$peak" "$work/$2"
}
echo "simulated on this machine, load average $(cut -d' ' -f1 /proc/loadavg):"
simulated 30 nehalem-ep
simulated 30 skylake-sp
from=$(date +%s%N)
mkdir -p "$work/guest"
runner/qemu.sh --work "$work/guest" --memory 12288 --limit 1200 --options "end=exit backend=sim:nehalem-ep suite=full" "$out/stallmeter.img" >"$work/said" 2>&1 || rc=1
said 45 "$from" "nehalem-ep, full, in a guest"
took() { # took GOAL_S NAME OPTION...
	local goal=$1 name=$2 from; shift 2
	from=$(date +%s%N)
	"$out/stallmeter" run --backend native --out "$work/runs" "$@" >"$work/native" 2>&1 || rc=1
	said "$goal" "$from" "$name"
}
echo "natively on this machine, load average $(cut -d' ' -f1 /proc/loadavg):"
took 5 "latency staircase" --suite load.staircase.latency
took 1 "quick suite" --suite quick
took 10 "full suite" --suite full
"$out/stallmeter" steady || echo "(not steady: see the reasons)"
OUT=$out tests/bench/race.sh "${ROUNDS:-10}" || rc=1
exit $rc
