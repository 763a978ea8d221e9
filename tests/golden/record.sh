#!/bin/bash
# Records what each profile of a machine (MACHINE, nehalem-ep) does to the registers: tests/golden/record.sh DIR
#   PLAN=yes: the accesses that plan mode says there would be
#   ROWS="a b": what each of these rows does, where a machine has no profiles: DIR/ROW.txt
#   DIR/start.txt    everything before the first row, the same for all profiles: identification, registers as found
#   DIR/PROFILE.txt  from the row to the end, what is put back included; one row, one pair of windows a run
# On the simulated machine, whose accesses are those of a real one. A comment behind each write says what it is for.
# What is read from registers that run on by themselves (tables/not_restored.csv: kind free, and the last-branch
# records) is written as 0.
# `make golden` records into tests/golden/ itself: look at the difference before it goes in.
set -u
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: record.sh DIR" >&2; exit 2; }
out=${OUT:-out} machine=${MACHINE:-nehalem-ep} row=load.l1.latency
work=$(mktemp -d) || exit 3
trap 'rm -rf "$work"' EXIT
if [ "${ROWS:-}" ]; then
	printf '%s\n' $ROWS >"$work/names"
else
	"$out/stallmeter" list --profiles "$machine" | sed -n 's/^\([a-z-]*\): .*/\1/p' >"$work/names"
fi
awk -F, '$4 == "free" || /LASTBRANCH/ { print $1, $2 }' tables/not_restored.csv >"$work/free"
# settled: the accesses of a trace. Runs of kernels are no accesses, and how many there are before the first window
# depends on the machine.
settled() {
	awk 'function hex(s, n, i) {
		n = 0
		for (i = 3; i <= length(s); i++) n = n * 16 + index("0123456789ABCDEF", toupper(substr(s, i, 1))) - 1
		return n
	}
	NR == FNR { first[NR] = hex($1); last[NR] = hex($2); ranges = NR; next }
	/^run / { next }
	/^rdmsr / { for (i = 1; i <= ranges; i++) if (hex($3) >= first[i] && hex($3) <= last[i]) $4 = "0x0" }
	{ print }' "$work/free" "$1"
}
if [ "${PLAN:-}" ] && [ "${ROWS:-}" ]; then
	trace() { "$out/stallmeter" plan --machine "$machine" --suite "$1" --repetitions 1 --trace "$work/trace"; }
elif [ "${ROWS:-}" ]; then # status 1: a row that no event proves
	trace() { "$out/stallmeter" run --backend sim --machine "$machine" --suite "$1" --repetitions 1 --out "$work/out" --trace "$work/trace" || [ $? -eq 1 ]; }
elif [ "${PLAN:-}" ]; then
	trace() { "$out/stallmeter" plan --machine "$machine" --profile "$1" --suite $row --repetitions 1 --trace "$work/trace"; }
else
	trace() { "$out/stallmeter" run --backend sim --machine "$machine" --profile "$1" --suite $row --repetitions 1 --out "$work/out" --trace "$work/trace"; }
fi
while read -r name; do
	[ -z "${ROWS:-}" ] || row=$name
	trace "$name" >"$work/said" || exit 1
	settled "$work/trace" >"$work/accesses" && [ -s "$work/accesses" ] || exit 1
	sed "/^# $row\$/,\$d" "$work/accesses" >"$work/start"
	if [ -f "$1/start.txt" ] && [ "$name" != "$(head -n 1 "$work/names")" ]; then
		cmp "$work/start" "$1/start.txt" || { echo "record.sh: $name: what comes before the row differs" >&2; exit 1; }
	else
		cp "$work/start" "$1/start.txt"
	fi
	sed -n "/^# $row\$/,\$p" "$work/accesses" >"$1/$name.txt"
done <"$work/names"
