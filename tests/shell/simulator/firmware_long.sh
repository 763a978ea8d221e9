#!/bin/bash
# What firmware does between jobs changes no row: with it and without it the values of rows that are ok agree within a hundredth or the larger
# spread of both. The full suite of nehalem-ep, quick of the others.
#   MACHINES=LIST   these alone
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
run() { # MACHINE-FILE SUITE TO
	local rc=0
	"$out/stallmeter" run --backend sim --machine "$1" --suite "$2" --repetitions 9 --out "$3" >"$work/log" 2>&1 || rc=$?
	[ $rc -le 1 ] || { cat "$work/log"; return 1; }
}
same() { # MACHINE SUITE ROWS
	local name
	for runs in 0 1; do
		awk -v runs=$runs '/^\[/ { inside = $0 == "[firmware]" } inside && /^runs = / { $0 = "runs = " runs; done = 1 } { print } END { if (!done) print "[firmware]\nruns = " runs }' \
			"tables/machines/$1.machine" >"$work/$1-$runs.machine"
		run "$work/$1-$runs.machine" "$2" "$work/$1-$runs" || return 1
	done
	# non-temporal stores: which channels the arrays' lines fall on one after the other depends on when a window begins
	printf '* | *_nt.bandwidth | value 2 | when a window begins\n' >"$work/wide"
	tests/metal/equal.sh "$1" "$work/$1-0"/*/results.json "$work/$1-1"/*/results.json "$work/wide" >"$work/equal"
	cat "$work/equal"
	grep -qE '^[1-9][0-9]* rows compared' "$work/equal" && ! grep -qE '^differs: [^:]*: value:' "$work/equal" || return 1
	[ "$(jq '[.rows[] | select(.status == "ok")] | length' "$work/$1-1"/*/results.json)" -ge "$3" ]
}
for file in tables/machines/*.machine; do
	machine=$(basename "$file" .machine)
	[[ " ${MACHINES:-$machine} " == *" $machine "* ]] || continue
	case $machine in
	nehalem-ep) check "firmware_changes_no_row_of_the_full_suite_of_$machine" same "$machine" full 140 ;;
	pentium4) check "firmware_changes_no_row_of_$machine" same "$machine" quick 8 ;;
	core2) check "firmware_changes_no_row_of_$machine" same "$machine" quick 10 ;;
	alder-lake-n) check "firmware_changes_no_row_of_$machine" same "$machine" quick 11 ;; # loads of the L3 miss the DTLB, the L3 is too small for a triad
	*) check "firmware_changes_no_row_of_$machine" same "$machine" quick 14 ;;
	esac
done
tap_end
