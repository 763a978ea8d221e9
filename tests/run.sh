#!/bin/bash
# Runs tests and counts: tests/run.sh fast|all|long [PATTERN]
#   fast  unit programs and the layer check    all  + shell and boot tests    long  + *_long.sh
# Every test program speaks TAP (cmocka writes it when asked); "# SKIP" results are named and counted.
# The last line is "N passed, N failed", with ", N skipped" when there are any.
cd "$(dirname "$0")/.." || exit 2
mode=${1:-all} pattern=${2:-} out=${OUT:-out}
mkdir -p "$out/log"
passed=0 failed=0 skipped=0 skips=() failures=()

# A test is one command; its TAP lines are counted, and a command that dies or says nothing is one failure.
run_one() {
	local name=$1; shift
	local log="$out/log/$name.tap" rc=0 start=$SECONDS
	CMOCKA_MESSAGE_OUTPUT=TAP OUT="$out" "$@" >"$log" 2>"$log.err" || rc=$?
	local p f s
	s=$(grep -cE '^ok .*# SKIP' "$log"); p=$(grep -cE '^ok' "$log"); f=$(grep -cE '^not ok' "$log"); p=$((p - s))
	if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; failures+=("$name: exit status $rc"); fi
	if [ $((p + f + s)) -eq 0 ]; then f=1; failures+=("$name: no test ran"); fi
	while read -r line; do failures+=("$name: $line"); done < <(grep -E '^not ok' "$log")
	while read -r line; do skips+=("$name: $line"); done < <(grep -E '^ok .*# SKIP' "$log")
	passed=$((passed + p)); failed=$((failed + f)); skipped=$((skipped + s))
	printf '%-40s %4d passed %3d failed %3d skipped  %4d s\n' "$name" "$p" "$f" "$s" $((SECONDS - start))
	if [ "$f" -ne 0 ]; then grep -hE -A12 '^not ok' "$log" | head -60; tail -n 15 "$log.err"; fi
}

want() { [ -z "$pattern" ] || [[ "$1" == *$pattern* ]]; }

if want layers; then run_one layers sh -c 'tests/layers.sh && echo "ok 1 - layers"'; fi
for t in "$out"/tests/unit/test_*; do
	[ -x "$t" ] && [ -f "tests/unit/$(basename "$t").c" ] || continue
	want "$(basename "$t")" && run_one "$(basename "$t")" "$t"
done
if [ "$mode" != fast ]; then
	for t in tests/shell/*.sh tests/boot/*.sh; do
		[ -x "$t" ] || continue
		case $t in *_long.sh) [ "$mode" = long ] || continue;; esac
		want "$t" && run_one "$(basename "$(dirname "$t")")_$(basename "$t" .sh)" "$t"
	done
fi
for s in "${skips[@]}"; do echo "skipped: $s"; done
for f in "${failures[@]}"; do echo "failed: $f"; done
tail_text=""; [ "$skipped" -gt 0 ] && tail_text=", $skipped skipped"
echo "$passed passed, $failed failed$tail_text"
[ "$failed" -eq 0 ]
