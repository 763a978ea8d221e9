#!/bin/bash
# Bad settings in the guest: one line with file, line number and what was expected; status 2; nothing has run.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
export MTOOLS_SKIP_CHECK=1
base=$work/base.img
cp --sparse=always "$out/stallmeter.img" "$base"

# Most cases share a boot: a script of the UEFI shell starts the application once a case, with load options and files of that case.
cp --sparse=always "$base" "$work/shell.img"
mmove -i "$work/shell.img@@1M" ::/EFI/BOOT/BOOTX64.EFI ::/stallmeter/stallmeter.efi
cp --sparse=always "$work/shell.img" "$work/cases.img"
mmd -i "$work/cases.img@@1M" ::/cases
cases=() patterns=()
printf 'FS0:\r\n' >"$work/startup.nsh"

# bad NAME PATTERN OPTIONS [FILE ON THE ESP, ITS TEXT]...: a case; what the guest is to say in one line, and status 2
bad() {
	local name=$1 pattern=$2 options=$3 n=${#cases[@]} files=
	shift 3
	cases+=("$name") patterns+=("$pattern")
	printf 'del -q \\stallmeter\\stallmeter.ini\r\n' >>"$work/startup.nsh"
	while [ $# -gt 0 ]; do
		printf "$2" >"$work/text"
		mcopy -o -i "$work/cases.img@@1M" "$work/text" "::/cases/$n.txt"
		printf 'cp -q \\cases\\%s.txt \\stallmeter\\%s\r\n' "$n" "$1" >>"$work/startup.nsh"
		shift 2
	done
	printf '\\stallmeter\\stallmeter.efi %s end=return\r\n' "$options" >>"$work/startup.nsh"
}
# One boot for all of them. The console begins anew with each start: its n-th part is the n-th case's.
judge_cases() {
	local n log=$work/q/debugcon.log
	printf '\\stallmeter\\stallmeter.efi mode=none end=exit\r\n' >>"$work/startup.nsh"
	mcopy -o -i "$work/cases.img@@1M" "$work/startup.nsh" ::/startup.nsh
	check "settings_cases_boot_ends" status 2 runner/qemu.sh --work "$work/q" --in-place --limit 300 "$work/cases.img"
	tr -d '\r' <"$log" | awk -v to="$work/case" '/^console: /{ n++ } { print > (to (n - 1)) }'
	check "settings_each_case_started" test "$(grep -c '^console: ' "$log")" -eq $((${#cases[@]} + 1))
	for ((n = 0; n < ${#cases[@]}; n++)); do
		check "settings_${cases[n]}" case_is_bad "$work/case$n" "${patterns[n]}"
	done
	check "settings_no_case_began_a_run" test -z "$(mdir -b -i "$work/cases.img@@1M" ::/stallmeter/results)"
}
case_is_bad() { # LOG PATTERN
	cat "$1"
	[ "$(grep -cE -- "$2" "$1")" -eq 1 ] || { echo "no single line matches: $2"; return 1; }
	grep -q '^stallmeter: end status 2' "$1" || { echo "not status 2"; return 1; }
	! grep -qE '^(load|triad|tlb)\.' "$1" || { echo "something ran"; return 1; }
}

bad unknown_key_in_the_file 'stallmeter\.ini:3: unknown key "bakend"; expected one of backend, suite' \
	"" stallmeter.ini '# one\n\nbakend = auto\n'
bad line_without_value 'stallmeter\.ini:2: .*expected "key = value"' \
	"" stallmeter.ini 'suite = quick\nbackend\n'
bad unknown_option_key 'load options:1: unknown key "sweet"; expected one of' "sweet=quick"
bad unknown_machine 'backend: unknown machine "nehalem"; expected one of .*nehalem-ep.*zen4, zen5, or a file' "backend=sim:nehalem"
bad repetitions_no_number 'stallmeter\.ini:1: repetitions: expected a number from 0 to 256, found "many"' \
	"" stallmeter.ini 'repetitions = many\n'
bad kernels_that_are_none 'stallmeter\.ini:2: kernels: "k_triads" is no kernel that streams choose' \
	"" stallmeter.ini 'suite = quick\nkernels = k_triads\n'
bad vector_bits_that_are_none 'stallmeter\.ini:2: vector_bits: 100 is none of 128, 256, 512' \
	"" stallmeter.ini 'suite = quick\nvector_bits = 100\n'
bad unknown_row 'stallmeter\.ini:1: suite: .*load\.l9' \
	"" stallmeter.ini 'suite = quick,load.l9\n'
bad unknown_mode 'stallmeter\.ini:2: mode: expected measure or plan, found "plam"' \
	"" stallmeter.ini '# a plan\nmode = plam\n'
bad unknown_profile 'load options:1: profile "generl": nehalem-ep has none of that name; known: general-exploration' \
	"backend=sim:nehalem-ep profile=generl"
bad unknown_event 'stallmeter\.ini:1: event "L1D\.NONSENSE": nehalem-ep has none of that name' \
	"backend=sim:nehalem-ep" stallmeter.ini 'profile = INST_RETIRED.ANY, L1D.NONSENSE\n'
bad core_that_is_not_there 'load options:1: cores: no core 8 in "0,8"; there are 0 to 7' \
	"backend=sim:nehalem-ep cores=0,8"
bad kind_of_cores_that_is_none 'stallmeter.ini:1: kind: expected p, e, lpe or all, found "big"' \
	"backend=sim:alder-lake" stallmeter.ini 'kind = big\n'
bad kind_of_cores_that_is_not_there 'load options:1: kind: this machine has no such cores' \
	"backend=sim:nehalem-ep kind=e"
bad cores_of_which_kind 'stallmeter.ini:1: cores: numbers are those of one kind of cores: choose it' \
	"backend=sim:alder-lake" stallmeter.ini 'cores = 0-3\n'
bad node_that_is_not_there 'stallmeter.ini:1: nodes: no node 2 in "0-2"; there are 0 to 1' \
	"backend=sim:nehalem-ep" stallmeter.ini 'nodes = 0-2\n'
bad profile_of_an_event_that_the_processor_lacks 'load options:1: event "INST_RETIRED.ANY": pentium4 has none of that name' \
	"backend=sim:pentium4 profile=INST_RETIRED.ANY mode=plan"
bad expect_of_a_missing_file 'load options:1: expect: file "gone\.txt" cannot be read .*; expected a text of at most' \
	"expect=gone.txt"
bad expect_of_an_unknown_row 'wanted\.txt: .*line 2: no row is called "load\.l9"' \
	"expect=wanted.txt" wanted.txt '# two\nload.l9 = ok\n'
bad missing_machine_file 'load options:1: backend: file "my\.machine" cannot be read .*expected a machine file' \
	"backend=sim:my.machine"
bad wrong_machine_file 'my\.machine:2: l1d\.bites: no such key; known are' \
	"backend=sim:my.machine" my.machine '[l1d]\nbites = 32768\n'
bad wrong_size_in_a_machine_file 'my\.machine:2: l1d\.bytes: .*31x' \
	"backend=sim:my.machine" my.machine '[l1d]\nbytes = 31x\n'
bad unfinished_machine_file 'my\.machine:1: [a-z0-9_.]+: must be given' \
	"backend=sim:my.machine" my.machine '# nothing\n'

# What `stallmeter stat` does, asked for on the stick (tests/boot/runs/count.sh).
bad count_without_a_workload 'load options:1: workload: expected with count and metrics' "backend=sim:nehalem-ep count=X"
bad workload_without_a_count 'stallmeter\.ini:2: workload, interval_ms and duration_ms are of count and metrics, and neither is given' \
	"" stallmeter.ini 'backend = sim:nehalem-ep\nworkload = idle\n'
bad interval_without_a_count 'load options:1: workload, interval_ms and duration_ms are of count and metrics' "backend=sim:nehalem-ep suite=load.l1.latency interval_ms=100"
bad count_in_no_time 'load options:1: interval_ms: ' "backend=sim:nehalem-ep count=X workload=idle interval_ms=0"
bad count_in_parts_of_a_microsecond 'load options:1: interval_ms: ' "backend=sim:nehalem-ep count=X workload=idle interval_ms=1.2345"
bad count_of_a_plan 'count and metrics do not go with mode = plan' "backend=sim:nehalem-ep count=X workload=idle mode=plan"
bad count_of_an_unknown_event '.*LONGEST_LAT_CACHE.MISSS.* nearest: LONGEST_LAT_CACHE.MISS' "backend=sim:nehalem-ep count=LONGEST_LAT_CACHE.MISSS workload=idle"
judge_cases
# Settings from QEMU's command line are checked likewise.
check "settings_unknown_option_key_from_qemu" says 2 'opt/stallmeter/options:1: unknown key "sweet"; expected one of' \
	runner/qemu.sh --show --work "$work/q" --options "sweet=quick end=exit" "$base"

# A machine that starts again by itself does so three times, or not at all where nothing counts; then it is switched off.
starts() { # starts N OPTION...: so many, and the guest's own end
	local n=$1
	shift
	rm -rf "$work/q"
	runner/qemu.sh --work "$work/q" --reboots --limit 150 --options "suite=none end=reboot" "$@" "$base" >"$work/boot" 2>&1
	cat "$work/boot" "$work/q/debugcon.log"
	grep "shut down or reset" "$work/boot" && [ "$(grep -c 'suite: .*none' "$work/q/debugcon.log")" -eq "$n" ]
}
check "settings_that_are_wrong_restart_three_times" starts 4
check "settings_that_are_wrong_say_why_it_ends" grep "^the last 3 boots completed no row" "$work/q/debugcon.log"
check "settings_that_are_wrong_do_not_restart_a_write_protected_medium" starts 1 --read-only

# UEFI load options, as the UEFI shell gives them to a program: they win over the file, and are checked like it.
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
