#!/bin/bash
# Golden traces of the profiles: what a run does to the registers is what was reviewed, what plan mode lists, and what
# the simulated machine takes.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
mkdir "$work/run" "$work/plan"
golden=tests/golden
profiles=$("$out/stallmeter" list --profiles nehalem-ep | sed -n 's/^\([a-z-]*\): .*/\1/p')

check "golden_nine_profiles" test "$(wc -w <<<"$profiles")" -eq 9
check "golden_records" env OUT="$out" tests/golden/record.sh "$work/run"
check "golden_plans" env OUT="$out" PLAN=yes tests/golden/record.sh "$work/plan"
check "golden_no_file_without_its_profile" diff <(ls $golden/*.txt | xargs -n 1 basename) <({ echo start.txt unmodelled.txt pages.txt | xargs -n 1; printf '%s.txt\n' $profiles; } | sort)
for name in start $profiles; do
	check "golden_${name}_is_what_a_run_does" diff "$golden/$name.txt" "$work/run/$name.txt"
	check "golden_${name}_is_what_plan_mode_does" diff "$golden/$name.txt" "$work/plan/$name.txt"
done

# The plan as a user reads it lists the same writes.
listed() {
	"$out/stallmeter" plan --profile "$1" --rows load.l1.latency --repetitions 1 >"$work/listed" || return 1
	diff <(sed -n 's/^  core \([0-9]*\) *\(0x[0-9A-F]*\) *<- \(0x[0-9A-F]*\) .*/\1 \2 \3/p' "$work/listed") \
		<(cat $golden/start.txt "$golden/$1.txt" | sed -n 's/^wrmsr \([0-9]*\) \(0x[0-9A-F]*\) \(0x[0-9A-F]*\) .*/\1 \2 \3/p')
}
# Without a finding but events that the machine knows by name only, which are reviewed.
replays() {
	cat $golden/start.txt "$golden/$1.txt" >"$work/whole"
	"$out/stallmeter" replay --findings "$work/whole" >"$work/found"
	cat "$work/found"
	[ "$(tail -n 1 "$work/found" | sed 's/^\([0-9]*\) accepted.*/\1/')" -gt 700 ] || return 1
	diff <(sed -n '$d; s/^[0-9]*: \([a-z ]*\): wrmsr .*\]: \([A-Z0-9_.]*\) \[.*/\1 \2/p' "$work/found" | sort -u) \
		<(awk -v p="$1" '$1 == p { print "unmodelled", $2 }' $golden/unmodelled.txt | sort -u)
}
for name in $profiles; do
	check "golden_${name}_is_what_plan_mode_lists" listed "$name"
	check "golden_${name}_replays" replays "$name"
done
# What is written last to each register that has a value from before is that value.
restored() {
	cat $golden/start.txt "$golden/$1.txt" | awk '
		/^# before/ { next } /^# at the end/ { end = 1 }
		$1 == "rdmsr" && !(($2, $3) in first) && !(($2, $3) in written) { first[$2, $3] = $4 }
		$1 == "wrmsr" { written[$2, $3] = 1; last[$2, $3] = $4; counts[$2, $3] = /: counts|write 1 to clear/ }
		END { for (k in last) if (!counts[k]) { n++; if (last[k] != first[k]) { print k, last[k], first[k]; bad = 1 } }
			exit bad || n < 8 }'
}
for name in $profiles; do check "golden_${name}_puts_everything_back" restored "$name"; done
# A trace with one access changed is found out.
changed() { sed "$1" $golden/sharing.txt >"$work/changed.txt"; ! diff -q "$work/changed.txt" "$work/run/sharing.txt"; }
check "golden_a_changed_value_differs" changed 's/0x42020F/0x42010F/'
wrong() { (cat $golden/start.txt; sed 's/^wrmsr 0 0x38F 0x70000000F.*/wrmsr 0 0x38F 0x7000000FF/; s/^wrmsr 0 0x38F 0x700000003.*/wrmsr 0 0x38F 0x7000000FF/' $golden/sharing.txt) >"$work/wrong"; says 1 '1 reserved bit' "$out/stallmeter" replay "$work/wrong"; }
check "golden_a_wrong_write_is_a_finding" wrong
# Configuration space is planned too: what is selected, and every register that keeps a value goes back.
plans_pci() {
	"$out/stallmeter" plan --machine haswell-ep --rows load.l3.latency --repetitions 1 >"$work/pci" || return 1
	grep -q '^  pci 0000:7F:12\.1+0xD8 <- 0x400404 .*: UNC_H_TRACKER_OCCUPANCY\.READS_LOCAL ' "$work/pci" || return 1
	diff <(sed -n 's/^  pci \([^ ]*\) <- .*/\1/p' "$work/pci" | grep -vE '\+0xF[48]$' | sort -u) \
		<(sed -n 's/^  pci \([^ ]*\) back to .*/\1/p' "$work/pci" | sort -u)
}
check "golden_plan_mode_lists_configuration_space" plans_pci
tap_end
