#!/bin/bash
# Golden traces of the profiles: what a run does to the registers is what was reviewed, what plan mode lists, and what
# the simulated machine takes.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
names_of() { "$out/stallmeter" list --profiles "$1" | sed -n 's/^\([a-z-]*\): .*/\1/p'; }

# The plan as a user reads it lists the same writes.
listed() {
	"$out/stallmeter" plan --machine "$machine" --profile "$1" --suite load.l1.latency --repetitions 1 >"$work/listed" || return 1
	diff <(sed -n 's/^  core \([0-9]*\) *\(0x[0-9A-F]*\) *<- \(0x[0-9A-F]*\) .*/\1 \2 \3/p' "$work/listed") \
		<(cat $golden/start.txt "$golden/$1.txt" | sed -n 's/^wrmsr \([0-9]*\) \(0x[0-9A-F]*\) \(0x[0-9A-F]*\) .*/\1 \2 \3/p')
}
# Without a finding but events that the machine knows by name only, which are reviewed.
replays() {
	cat $golden/start.txt "$golden/$1.txt" >"$work/whole"
	"$out/stallmeter" replay --machine "$machine" --findings "$work/whole" >"$work/found" || { cat "$work/found"; return 1; }
	"$out/stallmeter" replay --machine "$machine" --findings --strict "$work/whole" >"$work/found"
	cat "$work/found"
	[ "$(tail -n 1 "$work/found" | sed 's/^\([0-9]*\) accepted.*/\1/')" -gt "$least" ] || return 1
	diff <(sed -n '$d; s/^[0-9]*: \([a-z ]*\): wrmsr .*\]: \([A-Z0-9_.]*\) \[.*/\1 \2/p' "$work/found" | sort -u) \
		<(awk -v p="$1" '$1 == p { print "unmodelled", $2 }' $golden/unmodelled.txt | sort -u)
}
# What is written last to each register that has a value from before is that value.
restored() {
	cat $golden/start.txt "$golden/$1.txt" | awk '
		/^# before/ { next } /^# at the end/ { end = 1 }
		$1 == "rdmsr" && !(($2, $3) in first) && !(($2, $3) in written) { first[$2, $3] = $4 }
		$1 == "wrmsr" { written[$2, $3] = 1; last[$2, $3] = $4; counts[$2, $3] = /: counts|write 1 to clear|counters of 40 bits/ }
		END { for (k in last) if (!counts[k]) { n++; if (last[k] != first[k]) { print k, last[k], first[k]; bad = 1 } }
			exit bad || n < 6 }'
}
# all_of MACHINE DIR PROFILES LEAST OTHERS [REPLAYS]: that many profiles, more accesses than LEAST each; OTHERS lie there too
all_of() {
	machine=$1 golden=$2 least=$4
	run=$work/run_$1 plan=$work/plan_$1
	mkdir "$run" "$plan"
	local prefix=golden profiles name
	[ "$machine" = nehalem-ep ] || prefix=golden_$machine
	profiles=$(names_of "$machine")
	check "${prefix}_$3_profiles" test "$(wc -w <<<"$profiles")" -eq "$3"
	check "${prefix}_records" env OUT="$out" MACHINE="$machine" tests/golden/record.sh "$run"
	check "${prefix}_plans" env OUT="$out" MACHINE="$machine" PLAN=yes tests/golden/record.sh "$plan"
	check "${prefix}_no_file_without_its_profile" diff <(ls $golden/*.txt | xargs -n 1 basename) <({ echo start.txt $5 | xargs -n 1; printf '%s.txt\n' $profiles; } | sort)
	for name in start $profiles; do
		check "${prefix}_${name}_is_what_a_run_does" diff "$golden/$name.txt" "$run/$name.txt"
		check "${prefix}_${name}_is_what_plan_mode_does" diff "$golden/$name.txt" "$plan/$name.txt"
	done
	for name in $profiles; do
		check "${prefix}_${name}_is_what_plan_mode_lists" listed "$name"
		check "${prefix}_${name}_replays" "${6:-replays}" "$name"
		check "${prefix}_${name}_puts_everything_back" restored "$name"
	done
}
all_of core2 tests/golden/core2 7 220 unmodelled.txt
all_of nehalem-ep tests/golden 9 700 'unmodelled.txt pages.txt'

# A trace with one access changed is found out.
changed() { sed "$1" $golden/sharing.txt >"$work/changed.txt"; ! diff -q "$work/changed.txt" "$run/sharing.txt"; }
check "golden_a_changed_value_differs" changed 's/0x42020F/0x42010F/'
wrong() { (cat $golden/start.txt; sed 's/^wrmsr 0 0x38F 0x70000000F.*/wrmsr 0 0x38F 0x7000000FF/; s/^wrmsr 0 0x38F 0x700000003.*/wrmsr 0 0x38F 0x7000000FF/' $golden/sharing.txt) >"$work/wrong"; says 1 '1 reserved, faults' "$out/stallmeter" replay "$work/wrong"; }
check "golden_a_wrong_write_is_a_finding" wrong
# On the Core 2 an event on the counter that cannot count it, and a third counter, are findings.
misplaced() { (cat tests/golden/core2/start.txt; sed "$2" tests/golden/core2/$3.txt) >"$work/wrong"; says 1 "$1" "$out/stallmeter" replay --machine core2 "$work/wrong"; }
check "golden_core2_a_bound_event_on_the_other_counter_is_a_finding" misplaced '1 wrong counter' 's/^wrmsr 0 0x186 0x4208CB/wrmsr 0 0x187 0x4208CB/' big-four
check "golden_core2_a_third_counter_is_a_finding" misplaced 'faults' 's/^wrmsr 0 0x187 0x4208CB/wrmsr 0 0x188 0x4208CB/; s/^wrmsr 0 0x186 0x4208CB/wrmsr 0 0x188 0x4208CB/' big-four
# The Pentium 4 also by rows that use each of its ways to count.
machine=pentium4 golden=tests/golden/pentium4
rows='load.l1.latency load.l2.latency split.load_line.penalty branch.return.penalty sample.precise.skid sample.interrupt.skid'
mkdir "$work/p4"
check "golden_pentium4_records" env OUT="$out" MACHINE=pentium4 ROWS="$rows" tests/golden/record.sh "$work/p4"
check "golden_pentium4_no_file_without_its_row" diff <(ls $golden | grep -v '^profiles$') <(ls "$work/p4")
# Nothing but what the manual allows.
p4_replays() {
	cat $golden/start.txt "$golden/$1.txt" >"$work/whole"
	"$out/stallmeter" replay --machine pentium4 --findings "$work/whole"
}
for name in start $rows; do
	check "golden_pentium4_${name}_is_what_a_run_does" diff "$golden/$name.txt" "$work/p4/$name.txt"
done
for name in $rows; do
	check "golden_pentium4_${name}_replays" p4_replays "$name"
	check "golden_pentium4_${name}_puts_everything_back" restored "$name"
done
all_of pentium4 tests/golden/pentium4/profiles 7 160 '' p4_replays
golden=tests/golden/pentium4
reserved() { (cat $golden/start.txt; sed 's/^wrmsr 0 0x370 0x3B000/wrmsr 0 0x370 0x3B001/' $golden/sample.precise.skid.txt) >"$work/wrong"; says 1 'reserved, faults' "$out/stallmeter" replay --machine pentium4 "$work/wrong"; }
check "golden_pentium4_a_reserved_bit_is_a_finding" reserved
# Configuration space is planned too: what is selected, and every register that keeps a value goes back.
plans_pci() {
	"$out/stallmeter" plan --machine haswell-ep --suite load.l3.latency --repetitions 1 >"$work/pci" || return 1
	grep -q '^  pci 0000:7F:12\.1+0xD8 <- 0x400404 .*: UNC_H_TRACKER_OCCUPANCY\.READS_LOCAL ' "$work/pci" || return 1
	diff <(sed -n 's/^  pci \([^ ]*\) <- .*/\1/p' "$work/pci" | grep -vE '\+0xF[48]$' | sort -u) \
		<(sed -n 's/^  pci \([^ ]*\) back to .*/\1/p' "$work/pci" | sort -u)
}
check "golden_plan_mode_lists_configuration_space" plans_pci
# Where counters are written at full width (IA32_A_PMC0), where HWP is on, on AMD, and where uncore boxes are asked once more: each register and value that a run
# writes is planned, and no other. How often differs where a count decides it: samples that are taken until there are enough.
plans_all() {
	"$out/stallmeter" plan --machine "$1" --suite load.l2.latency,load.l3.latency --repetitions 3 --trace "$work/planned" >/dev/null &&
		"$out/stallmeter" run --backend sim --machine "$1" --suite load.l2.latency,load.l3.latency --repetitions 3 --out "$work/out" --trace "$work/ran" >/dev/null || return 1
	[ "$(grep -cE '^wrmsr .*(EVTSEL|PERF_CTL[0-5])' "$work/ran")" -gt 20 ] || { grep -m 5 ^wrmsr "$work/ran"; return 1; }
	diff <(grep -E '^(wrmsr|pci_write|mmio_write)' "$work/planned" | sort -u) <(grep -E '^(wrmsr|pci_write|mmio_write)' "$work/ran" | sort -u)
}
for machine in haswell-ep sandy-bridge skylake-sp ice-lake-sp sapphire-rapids zen4; do check "golden_plan_mode_of_${machine}_lists_what_a_run_writes" plans_all $machine; done
tap_end
