#!/bin/bash
# 20 variations of each machine of today.sh are found again by the quick suite; LOOP_SEED, LOOP_FIRST, LOOP_MACHINES, LOOP_ROWS and MACHINES as in the test itself.
cd "$(dirname "$0")/../../.." || exit 2
LOOP_SEED=${LOOP_SEED:-$(date +%s)} LOOP_MACHINES=${LOOP_MACHINES:-20} LOOP_ROWS=${LOOP_ROWS:-quick} exec "${OUT:-out}/tests/unit/closed_loop/test_loop_today"
