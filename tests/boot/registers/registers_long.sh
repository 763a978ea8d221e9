#!/bin/bash
# Every profile on the hw backend of a guest whose accesses to registers a debugger answers: the golden ones, to the bit.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/boot/registers/debugged.sh
for profile in $("$out/stallmeter" list --profiles nehalem-ep | sed -n 's/^\([a-z-]*\): .*/\1/p'); do
	check "registers_of_${profile}_in_the_guest_are_the_golden_ones" replayed "$profile"
	grep -h 'accesses as recorded' "$work/debugger" | sed 's/^/# /'
done
tap_end
