#!/bin/bash
# Bad settings in the guest: one line with file, line number and what was expected; status 2; nothing has run.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
base=$work/base.img
cp --sparse=always "$out/stallmeter.img" "$base"
mmd -i "$base@@1M" ::/stallmeter/results

# bad PATTERN OPTIONS [FILE ON THE ESP, ITS TEXT]...: what the guest says and how it ends
bad() {
	local pattern=$1 options=$2 rc=0 log=$work/q/debugcon.log
	shift 2
	cp --sparse=always "$base" "$work/disk.img"
	while [ $# -gt 0 ]; do
		printf "$2" >"$work/text"
		mcopy -o -i "$work/disk.img@@1M" "$work/text" "::/stallmeter/$1"
		shift 2
	done
	runner/qemu.sh --work "$work/q" --options "$options" "$work/disk.img" || rc=$?
	cat "$log"
	[ $rc -eq 2 ] || { echo "status $rc, not 2"; return 1; }
	[ "$(grep -cE -- "$pattern" "$log")" -eq 1 ] || { echo "no single line matches: $pattern"; return 1; }
	[ -z "$(mdir -b -i "$work/q/disk.img@@1M" ::/stallmeter/results)" ] || { echo "a run was begun"; return 1; }
	! grep -qE '^(load|triad|tlb)\.' "$log" || { echo "something ran"; return 1; }
}

check "settings_unknown_key_in_the_file" bad 'stallmeter\.ini:3: unknown key "bakend"; expected one of backend, suite' \
	"end=exit" stallmeter.ini '# one\n\nbakend = auto\n'
check "settings_line_without_value" bad 'stallmeter\.ini:2: .*expected "key = value"' \
	"end=exit" stallmeter.ini 'suite = quick\nbackend\n'
check "settings_unknown_option_key" bad 'opt/stallmeter/options:1: unknown key "sweet"; expected one of' "sweet=quick end=exit"
check "settings_unknown_machine" bad 'backend: unknown machine "nehalem"; expected one of .*nehalem-ep' "backend=sim:nehalem end=exit"
check "settings_repetitions_no_number" bad 'stallmeter\.ini:1: repetitions: expected a number from 0 to 256, found "many"' \
	"end=exit" stallmeter.ini 'repetitions = many\n'
check "settings_unknown_row" bad 'stallmeter\.ini:1: suite: .*load\.l9' \
	"end=exit" stallmeter.ini 'suite = quick,load.l9\n'
tap_end
