#!/bin/bash
# The full suite of simulated machines, each in one boot, its profiles of accounting, trust and study included: every row as
# expected, as many simulated instructions as the host's run has; Nehalem-EP's within 3 minutes of one processor of the host.
# Machines: those that MACHINES names, by default four. Haswell-EP's arrays of all cores take 900 MB, its walks of pages of 2 MiB
# more than 4 GiB and those of 1 GiB more than there is: the host's run gets as much room as the guest has memory.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
TIMEFORMAT='%U %S'
memory=12288 # MiB
instructions() { sed -n 's/^[0-9]* rows: .*; \([0-9]*\) simulated instructions.*/\1/p' "$1"; }

full() { # machine
	local m=$1 at="$work/$1" rc=0 start guest name=${1//-/_}
	mkdir -p "$at"
	start=$(date +%s)
	{ time runner/qemu.sh --work "$at/q" --memory "$memory" --limit 5400 --options "end=exit backend=sim:$m suite=full" "$out/stallmeter.img" >"$at/boot" 2>&1 || rc=$?; } 2>"$at/cpu"
	echo "# $m: $(($(date +%s) - start)) s from power-on to the end; of the host's processors $(awk '{ printf "%.0f", $1 + $2 }' "$at/cpu") s, the load is $(cut -d' ' -f1 /proc/loadavg)"
	echo "# $m: $(grep '^[0-9]* rows: ' "$at/q/debugcon.log")"
	check "full_${name}_guest_ends_with_0" sh -c 'cat "$1"; exit $2' - "$at/boot" $rc
	check "full_${name}_guest_has_every_row" grep -qE "^$("$out/stallmeter" list --rows | grep -c '^[a-z0-9_]*\.[a-z0-9_.]*  ') rows: [0-9]+ ok" "$at/q/debugcon.log"
	(ulimit -v $((memory * 1024)) && "$out/stallmeter" run --backend sim --machine "$m" --suite full --out "$at/host" >"$at/host.log")
	guest=$(instructions "$at/q/debugcon.log")
	check "full_${name}_guest_simulates_what_the_host_does" test -n "$guest" -a "$guest" = "$(instructions "$at/host.log")"
	check "full_${name}_at_most_120_million_instructions" test "${guest:-999999999}" -le 120000000
	[ "$m" != nehalem-ep ] || check "full_${name}_within_3_minutes_of_a_processor" awk '{ print $1 + $2; exit $1 + $2 > 180 }' "$at/cpu"
}

for m in ${MACHINES:-nehalem-ep haswell-ep core2 pentium4}; do
	full "$m"
done
[ ! -d "$work/nehalem-ep" ] || check "full_guest_has_accounting_trust_and_study" sh -c 'for w in latency_bound bandwidth_bound branchy mixed; do
		grep -q "^account.$w .*thread a core, " "$1" || exit 1; done
	grep -q "^trust: " "$1" && grep -q "loads by source " "$1"' - "$work/nehalem-ep/q/debugcon.log"
tap_end
