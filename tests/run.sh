#!/bin/bash
# Runs tests and counts: tests/run.sh quick|fast|all|long [PATTERN], PATTERN a part of a name, as in shell/, boot/medium/ or test_core
#   quick  the layer check and unit programs that tests/slow.txt does not list    fast  every unit program
#   all    + shell and boot tests    long  + *_long.sh
# Each line ends with the seconds that passed and those of processor time.
# Every test program speaks TAP (cmocka writes it when asked); "# SKIP" results are named and counted.
# Two lanes at once where there are two processors: one begins with the guests' tests, then both take what is left of the others; and a third of
# those that mostly wait.
# The last line is "N passed, N failed", with ", N skipped" when there are any.
cd "$(dirname "$0")/.." || exit 2
case ${1:-all} in quick | fast | all | long) ;; *) echo "usage: tests/run.sh quick|fast|all|long [PATTERN]" >&2; exit 2;; esac
mode=${1:-all} pattern=${2:-} out=${OUT:-out}
mkdir -p "$out/log"
tally=$(mktemp -d) || exit 2
trap 'rm -rf "$tally"' EXIT
export STALLMETER_FIRMWARE_STATES=$tally/states # one for all scripts: tests/tap.sh
export STALLMETER_SHARED=$tally/shared # likewise

# What no other lane has begun.
claim() { mkdir "$tally/begun.${1//\//_}" 2>/dev/null; }
# A test is one command; its TAP lines are counted, and a command that dies or says nothing is one failure.
run_one() {
	local name=$1; shift
	claim "$name" || return 0
	local log="$out/log/${name//\//_}.tap" rc=0 start=$SECONDS used TIMEFORMAT='%U %S'
	{ time CMOCKA_MESSAGE_OUTPUT=TAP OUT="$out" "$@" >"$log" 2>"$log.err"; } 2>"$tally/used.$lane" || rc=$?
	used=$(awk '{ print $1 + $2 }' "$tally/used.$lane")
	local p f s
	s=$(grep -cE '^ok .*# SKIP' "$log"); p=$(grep -cE '^ok' "$log"); f=$(grep -cE '^not ok' "$log"); p=$((p - s))
	grep -E '^not ok' "$log" | sed "s|^|$name: |" >>"$tally/failed.$lane"
	grep -E '^ok .*# SKIP' "$log" | sed "s|^|$name: |" >>"$tally/skipped.$lane"
	if [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then f=1; echo "$name: exit status $rc" >>"$tally/failed.$lane"; fi
	if [ $((p + f + s)) -eq 0 ]; then f=1; echo "$name: no test ran" >>"$tally/failed.$lane"; fi
	echo "$p $f $s" >>"$tally/counts.$lane"
	{
		printf '%-40s %4d passed %3d failed %3d skipped  %4d s %7.1f s\n' "$name" "$p" "$f" "$s" $((SECONDS - start)) "$used"
		if [ "$mode" = quick ] && awk -v used="$used" 'BEGIN { exit !(used > 2) }'; then echo "$name: more than 2 s of processor time: for tests/slow.txt"; fi
		if [ "$f" -ne 0 ]; then grep -hE -A12 '^not ok' "$log" | head -60; tail -n 15 "$log.err"; fi
	} >"$tally/said.$lane"
	cat "$tally/said.$lane"
}

want() { [ -z "$pattern" ] || [[ "$1" == *$pattern* ]]; }

slow() { grep -q "^$1 " tests/slow.txt; }

# What tests/slow.txt names is there, or the name of a program that was renamed would keep a long one in quick.
slow_list() {
	local n=0 bad=0 name
	while read -r name _; do
		[[ $name == \#* ]] && continue
		n=$((n + 1))
		ls tests/unit/*/"$name".c >/dev/null 2>&1 && continue
		echo "tests/slow.txt: no tests/unit/*/$name.c" >&2
		bad=1
	done <tests/slow.txt
	[ "$n" -gt 0 ] && [ "$bad" -eq 0 ] && echo "ok 1 - slow_list"
}

units() {
	if want slow_list; then run_one slow_list slow_list; fi
	if want layers; then run_one layers sh -c '[ -d "$OUT/pmu" ] && tests/layers.sh && echo "ok 1 - layers"'; fi
	for t in "$out"/tests/unit/*/test_*; do
		[ -x "$t" ] && [ -f "${t#"$out/"}.c" ] || continue
		if [ "$mode" = quick ] && slow "$(basename "$t")"; then continue; fi
		want "$(basename "$t")" && run_one "$(basename "$t")" "$t"
	done
}
scripts() { # scripts FOLDER: those of its rooms, by the names that PATTERN takes
	for t in tests/"$1"/*/*.sh; do
		head -c 2 "$t" | grep -q '#!' || continue
		case $t in *_long.sh) [ "$mode" = long ] || continue;; esac
		t=${t#tests/} t=${t%.sh}
		want "tests/$t.sh" && run_one "$t" "tests/$t.sh" # one that may not be executed fails
	done
}

# Those that mostly wait, for a time limit, a watchdog or a server: beside the lanes, which keep a processor busy each.
waiting() {
	for t in boot/network/lab boot/runs/ends boot/firmware/secure; do
		want "tests/$t.sh" && run_one "$t" "tests/$t.sh"
	done
}

if [ "$mode" = fast ] || [ "$mode" = quick ]; then rooms() { units; }; else rooms() { units; scripts shell; }; fi
if [ "$(nproc)" -lt 2 ]; then
	lane=host; rooms
	[ "$mode" = fast ] || [ "$mode" = quick ] || scripts boot
else
	(lane=guest; [ "$mode" = fast ] || [ "$mode" = quick ] || scripts boot; rooms) &
	[ "$mode" = fast ] || [ "$mode" = quick ] || (lane=waiting; waiting) &
	(lane=host; rooms) & # a shell that times a test would count the other lane's time with it when that ends
	wait
fi
touch "$tally/counts.none"
cat "$tally"/skipped.* 2>/dev/null | sed 's/^/skipped: /'
cat "$tally"/failed.* 2>/dev/null | sed 's/^/failed: /'
read -r passed failed skipped < <(cat "$tally"/counts.* | awk '{ p += $1; f += $2; s += $3 } END { print p + 0, f + 0, s + 0 }')
tail_text=""; [ "$skipped" -gt 0 ] && tail_text=", $skipped skipped"
echo "$passed passed, $failed failed$tail_text"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
