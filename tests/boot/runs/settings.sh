#!/bin/bash
# Bad settings in the guest: one line with file, line number and what was expected; status 2; nothing has run.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
base=$work/base.img
cp --sparse=always "$out/stallmeter.img" "$base"

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
check "settings_unknown_mode" bad 'stallmeter\.ini:2: mode: expected measure or plan, found "plam"' \
	"end=exit" stallmeter.ini '# a plan\nmode = plam\n'
check "settings_unknown_profile" bad 'opt/stallmeter/options:1: profile "generl": nehalem-ep has none of that name; known: general-exploration' \
	"backend=sim:nehalem-ep profile=generl end=exit"
check "settings_unknown_event" bad 'stallmeter\.ini:1: event "L1D\.NONSENSE": nehalem-ep has none of that name' \
	"backend=sim:nehalem-ep end=exit" stallmeter.ini 'profile = INST_RETIRED.ANY, L1D.NONSENSE\n'
check "settings_core_that_is_not_there" bad 'opt/stallmeter/options:1: cores: no core 8 in "0,8"; there are 0 to 7' \
	"backend=sim:nehalem-ep cores=0,8 end=exit"
check "settings_kind_of_cores_that_is_none" bad 'stallmeter.ini:1: kind: expected p, e, lpe or all, found "big"' \
	"backend=sim:alder-lake end=exit" stallmeter.ini 'kind = big\n'
check "settings_kind_of_cores_that_is_not_there" bad 'opt/stallmeter/options:1: kind: this machine has no such cores' \
	"backend=sim:nehalem-ep kind=e end=exit"
check "settings_cores_of_which_kind" bad 'stallmeter.ini:1: cores: numbers are those of one kind of cores: choose it' \
	"backend=sim:alder-lake end=exit" stallmeter.ini 'cores = 0-3\n'
check "settings_node_that_is_not_there" bad 'stallmeter.ini:1: nodes: no node 2 in "0-2"; there are 0 to 1' \
	"backend=sim:nehalem-ep end=exit" stallmeter.ini 'nodes = 0-2\n'
check "settings_profile_of_an_event_that_the_processor_lacks" bad 'opt/stallmeter/options:1: event "INST_RETIRED.ANY": pentium4 has none of that name' \
	"backend=sim:pentium4 profile=INST_RETIRED.ANY mode=plan end=exit"
check "settings_expect_of_a_missing_file" bad 'opt/stallmeter/options:1: expect: file "gone\.txt" cannot be read .*; expected a text of at most' \
	"expect=gone.txt end=exit"
check "settings_expect_of_an_unknown_row" bad 'wanted\.txt: .*line 2: no row is called "load\.l9"' \
	"expect=wanted.txt end=exit" wanted.txt '# two\nload.l9 = ok\n'
check "settings_missing_machine_file" bad 'opt/stallmeter/options:1: backend: file "my\.machine" cannot be read .*expected a machine file' \
	"backend=sim:my.machine end=exit"
check "settings_wrong_machine_file" bad 'my\.machine:2: l1d\.bites: no such key; known are' \
	"backend=sim:my.machine end=exit" my.machine '[l1d]\nbites = 32768\n'
check "settings_wrong_size_in_a_machine_file" bad 'my\.machine:2: l1d\.bytes: .*31x' \
	"backend=sim:my.machine end=exit" my.machine '[l1d]\nbytes = 31x\n'
check "settings_unfinished_machine_file" bad 'my\.machine:1: [a-z0-9_.]+: must be given' \
	"backend=sim:my.machine end=exit" my.machine '# nothing\n'

# UEFI load options, as the UEFI shell gives them to a program: they win over the file, and are checked like it.
cp --sparse=always "$base" "$work/shell.img"
mmove -i "$work/shell.img@@1M" ::/EFI/BOOT/BOOTX64.EFI ::/stallmeter/stallmeter.efi
options() { # options LOAD-OPTIONS SETTINGS-FILE: boots; fills $rc
	printf 'FS0:\\stallmeter\\stallmeter.efi %s\r\n' "$1" >"$work/startup.nsh"
	printf "$2" >"$work/text"
	cp --sparse=always "$work/shell.img" "$work/disk.img"
	mcopy -o -i "$work/disk.img@@1M" "$work/startup.nsh" ::/startup.nsh
	mcopy -o -i "$work/disk.img@@1M" "$work/text" ::/stallmeter/stallmeter.ini
	rc=0
	runner/qemu.sh --work "$work/q" "$work/disk.img" || rc=$?
	cat "$work/q/debugcon.log"
}
ends() { local want=$1; shift; options "$@"; [ "$rc" -eq "$want" ] || { echo "status $rc, not $want"; return 1; }; }
check "load_options_are_taken" ends 0 'suite=load.l1.latency label="two words" end=exit' 'suite = load.l2.latency\nrepetitions = 3\nend = shutdown\n'
results=$(runner/fetch.sh "$work/q/disk.img" "$work/fetched")/results.json
check "load_options_win_over_the_file" jq -e '.settings.suite == "load.l1.latency" and ([.rows[].name] == ["load.l1.latency"])' "$results"
check "load_options_leave_the_rest_of_the_file" jq -e '.settings.repetitions == 3' "$results"
check "load_options_may_be_quoted" jq -e '.label == "two words"' "$results"
check "load_options_unknown_key_is_status_2" ends 2 'suit=quick end=exit' ''
check "load_options_unknown_key_is_named" grep -E '^load options:1: unknown key "suit"; expected one of backend, suite' "$work/q/debugcon.log"
tap_end
