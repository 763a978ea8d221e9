#!/bin/bash
# Full suites of zen2 to zen5, or of MACHINES: exit status 0, each row ok, unsupported or one of the few below that nothing proves, and at least 85 % of the
# rows that the machine has are ok.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=${OUT:-out}/stallmeter

# reviewed: what no event, no sampled op and no count of uops shows. At most eight of a processor.
ADDRESSES="store.alias_4k.penalty store.unknown_address.penalty"              # no event counts loads by what holds them back
declare -A unproven=(
	[zen5]="$ADDRESSES"
	[zen4]="$ADDRESSES store.nt.penalty"                                      # nor write-combining buffers
	[zen3]="$ADDRESSES store.nt.penalty store.disambiguation_clear.penalty exec.microcode_switch.penalty load.dram_page_hit.latency load.dram_page_miss.penalty" # nor restarts, microcode, DRAM pages
	[zen2]="$ADDRESSES store.nt.penalty store.disambiguation_clear.penalty exec.microcode_switch.penalty load.dram_page_hit.latency load.dram_page_miss.penalty"
)

full() { # MACHINE
	"$s" run --backend sim --machine "$1" --suite full --out "$work/$1" >"$work/$1.log" || {
		echo "# status $?"; grep -E ' (unproven|failed|noisy|timeout|fault)' "$work/$1.log" | sed 's/^/# /'; return 1; }
}
reviewed() { # MACHINE: what is neither ok nor unsupported
	jq -r '.rows[] | select(.status != "ok" and .status != "unsupported") | "\(.name) \(.status)"' "$work/$1"/*/results.json | sort >"$work/others"
	tr ' ' '\n' <<<"${unproven[$1]}" | sed 's/$/ unproven/' | sort >"$work/list"
	[ "$(wc -l <"$work/list")" -le 8 ] && diff "$work/list" "$work/others"
}
share() { # MACHINE PERCENT: of the rows that the machine has
	read -r ok unsupported other <<<"$(jq -r '.rows[].status' "$work/$1"/*/results.json |
		awk '{ n[$1 == "ok" || $1 == "unsupported" ? $1 : "other"]++ } END { print n["ok"] + 0, n["unsupported"] + 0, n["other"] + 0 }')"
	echo "# $1: $ok ok, $unsupported unsupported, $other others" >>"$work/notes"
	[ "${ok:-0}" -ge 100 ] && [ $((100 * ok)) -ge $(($2 * (ok + other))) ]
}
for machine in ${MACHINES:-zen4 zen5 zen3 zen2}; do
	check "amd_full_suite_of_${machine}_is_as_expected" full $machine
	check "amd_full_suite_of_${machine}_lacks_no_other_proof" reviewed $machine
	check "amd_full_suite_of_${machine}_is_proved" share $machine 85
done
cat "$work/notes"
tap_end
