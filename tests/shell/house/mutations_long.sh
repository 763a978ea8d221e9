#!/bin/bash
# Plants one fault at a time in a copy of the simulator (tests/mutations/*.sed, whose first line names the file) and
# demands that some test fails. A mutation that changes nothing, or does not compile, is a failure too.
# MUTATIONS=PATTERN runs only those whose name matches.
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out}
# Cheapest first; the closed loop last.
tests="test_signal test_memory_latency test_memory_cache test_memory_tlb test_memory_stream test_memory_mesif
	test_core test_reference test_reference_pair test_counter_registers test_counter_pebs test_sim test_pebs test_suite_sim test_loop_built_in"
copy=$(mktemp -d) || exit 2
trap 'rm -rf "$copy"' EXIT
cp -a ./* "$copy/" || exit 2
rm -rf "$copy/$out/log"
n=0 survived=0
program() { local source; source=$(ls tests/unit/*/"$1".c) && echo "$out/${source%.c}"; }
programs=$(for t in $tests; do program "$t"; done)

build() { (cd "$copy" && make -j2 OUT="$out" "$@" >"$copy/build.log" 2>&1); }
# The copy as it is must be whole, or every mutation would seem to be found.
if ! build $programs; then echo "Bail out! the copy does not build"; tail -20 "$copy/build.log" >&2; exit 1; fi
for t in $tests; do
	(cd "$copy" && OUT="$out" timeout 300 "$(program "$t")" >"$copy/test.log" 2>&1) && continue
	echo "Bail out! $t fails without a mutation"
	exit 1
done

for file in tests/mutations/*.sed; do
	name=$(basename "$file" .sed)
	[[ -z ${MUTATIONS:-} || $name == $MUTATIONS ]] || continue
	n=$((n + 1))
	head=$(sed -n '1s/^# //p' "$file") source=${head%%:*}
	sed -i -f "$file" "$copy/$source"
	found="" why="no test fails"
	if cmp -s "$source" "$copy/$source"; then
		why="it does not apply any more"
	elif ! build libraries; then
		why="it does not compile"
		cat "$copy/build.log" >&2
	else
		for t in $tests; do
			build "$(program "$t")" || break
			if ! (cd "$copy" && OUT="$out" timeout 300 "$(program "$t")" >"$copy/test.log" 2>&1); then found=$t; break; fi
		done
	fi
	if [ -n "$found" ]; then
		echo "ok $n - mutation_$name: found by $found: $(grep -m1 -oE 'FAILED +\] test_[a-z0-9_]+' "$copy/test.log" | grep -oE 'test_.*')"
	else
		echo "not ok $n - mutation_$name: $why ($head)"
		survived=$((survived + 1))
	fi
	cp -p "$source" "$copy/$source"
	touch "$copy/$source"
done
echo "1..$n"
[ "$n" -gt 0 ] && [ "$survived" -eq 0 ]
