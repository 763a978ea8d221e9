#!/bin/bash
# Nothing lives for its tests alone (tests/unused.sh), and the check refuses what it is for.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh

check "unused_holds" tests/unused.sh "$work/objects"
cat >"$work/attic.c" <<'C'
int attic_rooms = 3;
int attic_cellar(void) { return attic_rooms; }
int attic(void) { return attic_cellar(); }
C
printf 'section .kernels\nk_attic:\n\tret\nk_chase:\n\tret\n' >"$work/attic.asm"
{ cat tests/unused.txt; echo 'rows_count because of the sky'; echo 'cellar of old'; echo 'attic_rooms'; } >"$work/known.txt"
UNUSED_KNOWN=$work/known.txt tests/unused.sh "$work/objects" "$work/attic.c" "$work/attic.asm" >"$work/reported"
status=$?
check "unused_fails" test "$status" -eq 1
says_line() { grep -qF "$1" "$work/reported" && return; cat "$work/reported"; return 1; }
check "unused_refuses_a_function_that_nobody_calls" says_line 'attic.c: attic: no product reaches it'
check "unused_refuses_one_that_only_such_a_function_calls" says_line 'attic.c: attic_cellar: no product reaches it'
check "unused_refuses_a_kernel_that_nobody_names" says_line 'asm: k_attic: no product reaches it'
check "unused_refuses_a_line_that_is_not_needed" says_line 'rows_count: no longer needed'
check "unused_refuses_a_line_without_its_name" says_line 'cellar: no such name'
check "unused_refuses_a_line_without_a_reason" says_line 'attic_rooms: no reason'
check "unused_says_nothing_else" test "$(wc -l <"$work/reported")" -eq 6
tap_end
