#!/bin/bash
# The full suite of the simulated Nehalem-EP in one boot, its profiles of accounting, trust and study included: every row
# as expected, as many simulated instructions as the host's run has, within 3 minutes of one processor of the host.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
start=$(date +%s)
rc=0
TIMEFORMAT='%U %S'
{ time runner/qemu.sh --work "$work/q" --limit 1500 --options "end=exit backend=sim:nehalem-ep suite=full" "$out/stallmeter.img" >"$work/boot" 2>&1 || rc=$?; } 2>"$work/cpu"
took=$(($(date +%s) - start))
check "full_guest_ends_with_0" sh -c 'cat "$1"; exit $2' - "$work/boot" $rc
instructions() { sed -n 's/^[0-9]* rows: .*; \([0-9]*\) simulated instructions.*/\1/p' "$1"; }
guest=$(instructions "$work/q/debugcon.log")
echo "# $(grep '^[0-9]* rows: ' "$work/q/debugcon.log")"
echo "# $took s from power-on to the end; of the host's processors $(awk '{ printf "%.0f", $1 + $2 }' "$work/cpu") s, the load is $(cut -d' ' -f1 /proc/loadavg)"
check "full_guest_has_every_row" grep -qE "^$("$out/stallmeter" list --rows | grep -c '^[a-z0-9_]*\.[a-z0-9_.]*  ') rows: [0-9]+ ok [0-9]+ unsupported; " "$work/q/debugcon.log"
check "full_guest_has_accounting_trust_and_study" sh -c 'for w in latency_bound bandwidth_bound branchy mixed; do grep -q "^account.$w .*thread a core, " "$1" || exit 1; done
	grep -q "^trust: " "$1" && grep -q "loads by source " "$1"' - "$work/q/debugcon.log"
"$out/stallmeter" run --backend sim --suite full --out "$work/host" >"$work/host.log"
check "full_guest_simulates_what_the_host_does" test -n "$guest" -a "$guest" = "$(instructions "$work/host.log")"
check "full_at_most_120_million_instructions" test "${guest:-999999999}" -le 120000000
check "full_within_3_minutes_of_a_processor" awk '{ print $1 + $2; exit $1 + $2 > 180 }' "$work/cpu"
tap_end
