#!/bin/bash
# machine.txt of each simulated machine is taken for the processor that it is of; damaged ones are refused with their line.
# README's table of what is confirmed is the descriptors' own word.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
list() { "$out/stallmeter" list --identify "$1"; }
for machine in nehalem-ep core2 haswell-ep skylake-sp; do
	"$out/stallmeter" run --backend sim --machine $machine --suite load.l1.latency --out "$work/$machine" >/dev/null
	text=$(echo "$work/$machine"/*/machine.txt)
	check "identify_$machine" says 0 "^descriptor $machine .*, confirmed: none$" list "$text"
	json=$(dirname "$text")/results.json
	# every cache and the counters as the run itself found them
	facts() {
		diff <(list "$text" | sed -n 's/^L\([0-9]\)\(.\) \([0-9]*\) bytes, \([0-9]*\) ways.*/\1 \2 \3 \4/p') \
			<(jq -r '.machine.caches[] | "\(.level) \(.type) \(.bytes) \(.ways)"' "$json") &&
			list "$text" | grep -q "^performance monitoring version $(jq .machine.pmu.version "$json"): $(jq .machine.pmu.general "$json") general" &&
			list "$text" | grep -q ", $(jq .machine.cores "$json") logical processors"
	}
	check "identify_${machine}_as_its_own_run" facts
done
text=$(echo "$work/nehalem-ep"/*/machine.txt)
sed 's/0x756e6547/0x41414141/' "$text" >"$work/unknown.txt"
check "identify_unknown_vendor_gets_the_generic_descriptor" says 0 "no descriptor of its own" list "$work/unknown.txt"
sed 's/^0 = 0, node 0, 0x0$/0 = 0, node 0, 0x40/; s/^7 = 7, node 1, 0x0$/7 = 7, node 1, 0x20/' "$text" >"$work/hybrid.txt"
check "identify_recognises_hybrid_cores" says 0 "of several types \(hybrid\)" list "$work/hybrid.txt"
check "identify_names_a_missing_file" refuses "none.txt: No such file" list "$work/none.txt"
check "identify_refuses_another_file" refuses "line [0-9]+: " list README.md
: >"$work/empty.txt"
check "identify_refuses_an_empty_file" refuses "no CPUID leaf; expected a machine.txt" list "$work/empty.txt"
sed '5s/ 0x[0-9a-f]*$/ many/' "$text" >"$work/bad.txt"
check "identify_names_the_line" refuses "line 5: expected LEAF.SUBLEAF = EAX EBX ECX EDX" list "$work/bad.txt"
# cut after any byte, and with noise: an answer or one line, never a crash
survives() {
	local bytes=$1 rc
	for ((i = 0; i < 120; i++)); do
		if [ $((i % 2)) = 0 ]; then head -c $((i * bytes / 120)) "$text" >"$work/cut.txt"; else
			cp "$text" "$work/cut.txt"
			for ((k = 0; k < 8; k++)); do printf "\\x$(printf %02x $((RANDOM % 256)))" | dd of="$work/cut.txt" bs=1 seek=$((RANDOM % bytes)) conv=notrunc status=none; done
		fi
		rc=0
		list "$work/cut.txt" >"$work/answer" 2>&1 || rc=$?
		[ $rc -eq 0 ] || { [ $rc -eq 2 ] && [ "$(wc -l <"$work/answer")" -eq 1 ]; } || { echo "$i: status $rc"; cat "$work/answer"; return 1; }
	done
}
RANDOM=20260107
check "identify_survives_damage" survives "$(stat -c %s "$text")"
table() { sed -n '/^<!-- confirmed -->$/,/^<!-- end -->$/{//!p}' "$1"; }
jq '.simulated = false | .backend = "hw" | .rows[].simulated = false' tests/results/version1.json >"$work/real.json"
confirmed() { mkdir -p "$work/published/box-1111-0001" "$work/published/none" && cp "$work/real.json" "$work/published/box-1111-0001/results.json" && "$out/stallmeter" list --confirmed "$work/published"; }
check "published_results_confirm_their_descriptor" says 0 "^\| .nehalem-ep. \| .* \| box-1111-0001 \|$" confirmed
check "published_results_confirm_no_other" sh -c '[ "$(grep -c "box-1111-0001" "$1")" -eq 1 ]' - "$work/says"
# A processor's folder is a change of its own, so its line may be missing until `make readme` adds it; each line that is there must be today's.
"$out/stallmeter" list --confirmed results >"$work/today"
check "list_confirmed_has_every_descriptor" test "$(grep -c '^| `' "$work/today")" -eq "$(ls tables/processors/*/processor.txt | wc -l)"
current() { table README.md >"$work/readme" && grep -q '^| `nehalem-ep`' "$work/readme" && ! diff "$work/readme" "$work/today" | grep '^<'; }
check "readme_table_has_no_line_that_is_not_so" current
diff "$work/readme" "$work/today" | sed -n 's/^> | `\([^`]*\)`.*/# README.md: make readme adds today'"'"'s line of \1/p'
# nothing claims to be confirmed without published results
check "confirmed_only_by_published_results" sh -c 'for w in $(sed -n "s/^confirmed = //p" tables/processors/*/processor.txt | tr "," " "); do [ "$w" = none ] || [ -e "results/$w" ] || exit 1; done'
tap_end
