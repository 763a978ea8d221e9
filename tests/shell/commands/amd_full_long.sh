#!/bin/bash
# Full suites of zen2 to zen5, or of MACHINES: exit status 0, at least 85 % of the rows that the machine has are ok, and whatever is unproven says which event is missing.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter
lacks='^(this processor has no event|which DRAM pages were open)'

full() { # MACHINE [EXPECTED LINE...]
	local machine=$1
	shift
	printf '%s\n' "$@" >"$work/expect"
	"$s" run --backend sim --machine "$machine" --suite full ${1:+--expect "$work/expect"} --out "$work/$machine" >"$work/$machine.log" || {
		echo "# status $?"; grep -E ' (unproven|failed|noisy|timeout|fault)' "$work/$machine.log" | sed 's/^/# /'; return 1; }
}
count() { # MACHINE: ok, unsupported, without an event, others
	jq -r --arg lacks "$lacks" '.rows[] | if .status == "unproven" and (.reason | test($lacks)) then "lacking" else .status end' "$work/$1"/*/results.json |
		awk '{ n[$1 == "ok" || $1 == "unsupported" || $1 == "lacking" ? $1 : "other"]++ } END { print n["ok"] + 0, n["unsupported"] + 0, n["lacking"] + 0, n["other"] + 0 }'
}
share() { # MACHINE PERCENT: of the rows that the machine has
	read -r ok unsupported lacking other <<<"$(count "$1")"
	echo "# $1: $ok ok, $unsupported unsupported, $lacking that no event tells, $other others"
	[ "${ok:-0}" -ge 100 ] && [ $((100 * ok)) -ge $(($2 * (ok + lacking + other))) ]
}
for machine in ${MACHINES:-zen4 zen5 zen3 zen2}; do
	# for the model's sake: docs/limits.md
	expected=()
	[ $machine != zen2 ] || expected=("exec.gather_prefetch.interval = unproven")
	check "amd_full_suite_of_${machine}_is_as_expected" full $machine "${expected[@]}"
	check "amd_full_suite_of_${machine}_is_proved" share $machine 85
done
tap_end
