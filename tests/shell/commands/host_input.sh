#!/bin/bash
# Bad input to the host command: one line that says what is wrong and what is allowed, exit status 2,
# and nothing has run.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
run() { "$s" run --out "$work/runs" "$@"; }

check "host_help_lists_commands" says 0 "^  run " "$s" --help
for option in --backend --suite --repetitions --seed --label --expect --out; do
	check "host_run_help_has_$option" says 0 "^  $option " "$s" run --help
done
check "host_refuses_no_command" refuses "a command is expected" "$s"
check "host_refuses_unknown_command" refuses '"fly": no such command; allowed: run .*list .*plan replay.* collect' "$s" fly
check "host_refuses_unknown_option" refuses "--fast: no such option; allowed: --backend" run --fast
check "host_refuses_operand" refuses '"quick": no operand is allowed' run quick
check "host_refuses_missing_value" refuses "--seed: N expected" run --seed
check "host_refuses_empty_value" refuses "--suite: empty value" run --suite=
check "host_refuses_option_twice" refuses "--seed: given twice" run --seed 1 --seed 2
check "host_refuses_value_of_switch" refuses "--rows: takes no value" "$s" list --rows=3
check "host_refuses_unknown_backend" refuses '--backend "hw": unknown; allowed: (sim\|)?native' run --backend hw
check "host_refuses_unknown_suite" refuses '"quik" is neither quick, full nor the name' run --suite quik
check "host_refuses_one_unknown_of_several" refuses '"load.l9.*" is neither' run --suite 'quick,load.l9.*'
check "host_refuses_unknown_profile" refuses 'profile "generl": nehalem-ep has none of that name; known: general-exploration, ' run --backend sim --profile generl
check "host_refuses_unknown_event" refuses 'event "L1D.NONSENSE": nehalem-ep has none of that name' run --backend sim --profile INST_RETIRED.ANY,L1D.NONSENSE
check "host_refuses_profile_without_counters" refuses 'profile "sharing": no performance counters here: ' run --profile sharing
check "host_refuses_profile_of_another_processor" refuses 'profile "sharing": haswell-ep has none of that name' run --backend sim --machine haswell-ep --profile sharing
check "host_refuses_unknown_profile_in_a_plan" refuses 'profile "generl": nehalem-ep has none' "$s" plan --profile generl
check "host_refuses_unknown_row_in_a_plan" refuses '"load.l9" is neither quick, full nor' "$s" plan --suite load.l9
check "host_refuses_profiles_of_an_unknown_processor" refuses '--profiles: no processor "nehalem"; known: .*nehalem-ep' "$s" list --profiles nehalem
check "host_refuses_trace_natively" refuses '--trace: only with --backend sim' run --trace "$work/trace"
check "host_refuses_a_pattern_without_match" refuses '"stor.*" is neither quick, full nor' run --suite 'stor.*'
for n in -1 257 ten 1e3 0x 99999999999999999999 ''; do
	[ -z "$n" ] || check "host_refuses_repetitions_$n" refuses 'not a number from 0 to 256' run "--repetitions=$n"
done
check "host_refuses_odd_vector_bits" refuses "vector_bits: 100 is none of 128, 256, 512" run --vector-bits 100
check "host_refuses_kernels_that_streams_do_not_choose" refuses 'kernels: "k_chase" is no kernel that streams choose, such as' run --kernels k_triad_sse2,k_chase
check "host_refuses_kernels_that_the_processor_lacks" refuses "kernels: k_read_avx512 has instructions that this processor lacks" run --backend sim --machine haswell-ep --kernels k_read_avx512
check "host_refuses_seed_beyond_64_bits" refuses 'not a number from 0 to 18446744073709551615' run --seed 18446744073709551616
check "host_refuses_missing_expect_file" refuses "$work/none: No such file" run --expect "$work/none"
mkfifo "$work/pipe"
check "host_refuses_a_named_pipe_without_waiting" refuses "this is a named pipe" run --backend sim --machine "$work/pipe"
printf '[clock]\ncore_ratio = 2\0\n' >"$work/nul.machine"
check "host_refuses_a_number_with_a_nul" refuses "$work/nul.machine:2: clock.core_ratio: byte 2 is NUL" run --backend sim --machine "$work/nul.machine"
check "host_refuses_directory_as_expect_file" refuses "this is a directory" run --expect "$work"
printf '# comment\nload.l1.latency = ok\nload.l9.latency = ok\n' >"$work/e1"
check "host_refuses_expect_of_unknown_row" refuses "$work/e1: .*line 3: no row is called \"load.l9.latency\"" run --expect "$work/e1"
printf 'load.l1.latency = fine\n' >"$work/e2"
check "host_refuses_expect_of_unknown_status" refuses "$work/e2: .*line 1: \"fine\" is no status: ok, noisy" run --expect "$work/e2"
printf 'load.l1.latency\n' >"$work/e3"
check "host_refuses_expect_line_without_value" refuses "$work/e3: .*line 1" run --expect "$work/e3"
printf 'load.l1.latency = ok\n\0load.l9.latency = ok\n' >"$work/e4"
check "host_refuses_expect_that_is_no_text" refuses "$work/e4: no text: byte 21 is 0" run --expect "$work/e4"
check "host_refuses_label_of_two_lines" refuses '--label: at most 255 bytes without control characters' run --label $'a\nb'
check "host_refuses_label_that_is_too_long" refuses '--label: at most 255 bytes' run --label "$(printf '%0256d' 0)"
printf '# no access\n' >"$work/t1"
check "host_refuses_replay_of_nothing" refuses "$work/t1: no access is in it; expected lines such as" "$s" replay --machine nehalem-ep "$work/t1"
: >"$work/empty.machine"
check "host_refuses_empty_machine_file" refuses "$work/empty.machine:1: cpuid.family: must be given" run --backend sim --machine "$work/empty.machine"
check "host_refuses_core_that_is_not_there" refuses '--cores: no core 8 in "0-3,8"; there are 0 to 7' run --backend sim --cores 0-3,8
check "host_refuses_cores_without_the_measuring_one" refuses '--cores: "1-3" lacks core 0' run --backend sim --cores 1-3
check "host_refuses_no_list_of_cores" refuses '--cores: expected all, or numbers and ranges such as 0-3,8; found "3-1"' run --backend sim --cores 3-1
check "host_refuses_node_that_is_not_there" refuses '--nodes: no node 2 in "0,2"; there are 0 to 1' run --backend sim --nodes 0,2
check "host_refuses_steady_runs" refuses '--runs "1": not a number from 2 to 100|from 2 to 100' "$s" steady --runs 1
check "host_refuses_steady_rows" refuses '"load.l9" is neither' "$s" steady --suite load.l9
check "host_refuses_unknown_machine" refuses 'no such machine or file: "nehalem"; built in:.* nehalem-ep' run --backend sim --machine nehalem
check "host_refuses_machine_without_sim" refuses '"nehalem-ep": only with --backend sim' run --backend native --machine nehalem-ep
check "host_refuses_missing_machine_file" refuses "$work/no.machine: No such file" run --backend sim --machine "$work/no.machine"
printf '[l1d]\nbites = 32768\n' >"$work/bad.machine"
check "host_refuses_bad_machine_file" refuses "$work/bad.machine:2: .*bites" run --backend sim --machine "$work/bad.machine"
check "host_says_that_a_processor_has_no_metric" says 1 "--metrics core2: the tables have no metric of it" "$s" list --metrics core2
nothing_ran() { [ ! -e "$work/runs" ]; }
check "host_nothing_ran_so_far" nothing_ran

# Results that cannot be kept: the table appears all the same, with the reason.
check "host_no_place_for_results_is_status_3" says 3 "no results will be kept: /proc/nowhere" "$s" run --suite load.l1.latency --out /proc/nowhere
check "host_no_place_for_results_prints_the_table" says 3 "^triad.l1.bandwidth +[0-9]+\." "$s" run --suite triad.l1.bandwidth --out /proc/nowhere
check "host_full_output_is_told" says 3 "standard output could not be written" sh -c "'$s' list >/dev/full"
tap_end
