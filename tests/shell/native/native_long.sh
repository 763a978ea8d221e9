#!/bin/bash
# Full native runs (RUNS, 10) beside a neighbour that streams through memory on the last processor: no value contradicts another without a mark.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
set -m
(trap 'exit 0' TERM; while :; do taskset -c $(($(nproc) - 1)) dd if=/dev/zero of=/dev/null bs=64M count=64 2>/dev/null & wait $!; done) &
neighbour=$!
trap 'kill -- "-$neighbour" 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 143' TERM INT
run() { "$out/stallmeter" run --backend native --suite full --out "$work/runs" >"$work/run" 2>&1 || { tail -n 5 "$work/run"; return 1; }; }
for ((i = 1; i <= ${RUNS:-10}; i++)); do check "native_run_${i}_ends" run; done
kill -- "-$neighbour" 2>/dev/null
# contradictions FILE...: prints them; none is status 0
contradictions() {
	local f bad=0
	for f in "$@"; do jq -r -f tests/shell/native/contradictions.jq "$f" >"$work/found" || return 2; [ ! -s "$work/found" ] || { echo "$f:"; cat "$work/found"; bad=1; }; done
	return $bad
}
check "native_runs_contradict_themselves_nowhere" contradictions "$work"/runs/*/results.json
# the check itself: a penalty that is ten times its latency, without a mark
sed 's/\("name": "load.l2.penalty".*\?"value": \)[0-9.]*\(, "spread"\)/\1999.000\2/' "$(ls "$work"/runs/*/results.json | head -n 1)" >"$work/wrong.json"
check "native_contradictions_are_found" says 1 'load.l2.penalty 999' contradictions "$work/wrong.json"
tap_end
