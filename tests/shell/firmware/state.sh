#!/bin/bash
# runner/firmware_state.sh where QEMU never answers: no state, and QEMU has ended. QEMU is a program of the test's own.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
mkdir "$work/bin"
printf '#!/bin/sh\necho $$ >"%s/pid"\nexec sleep 60\n' "$work" >"$work/bin/qemu-system-x86_64"
chmod +x "$work/bin/qemu-system-x86_64"
: >"$work/variables"
attempt() { PATH=$work/bin:$PATH runner/firmware_state.sh "$work/states/s" "$work/variables" -machine q35; }
check "state_without_an_answer_is_none" status 1 attempt
check "state_ends_its_guest" sh -c '[ -s "$1/pid" ] && ! kill -0 "$(cat "$1/pid")"' - "$work"
tap_end
