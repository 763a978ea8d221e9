#!/bin/bash
# Parts of the application that need no firmware, on the host: tests/firmware/.
cd "$(dirname "$0")/../../.." || exit 2
make -s OUT="${OUT:-out}" "${OUT:-out}/tests/firmware/parts" >/dev/null && exec "${OUT:-out}/tests/firmware/parts"
