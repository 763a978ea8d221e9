#!/bin/bash
# What `make bench` prints: the simulator's speed on this host and in a guest under TCG, then the streaming kernels
# natively against others (ROUNDS=10). Exit status 1: a speed of the simulator is below its floor.
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
OUT=$out tests/bench/race.sh "${ROUNDS:-10}" || rc=1
exit $rc
