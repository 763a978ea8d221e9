#!/bin/bash
# 200 machines drawn at random are found again by the suite; LOOP_SEED and LOOP_MACHINES as in the test itself.
cd "$(dirname "$0")/../../.." || exit 2
LOOP_SEED=${LOOP_SEED:-$(date +%s)} LOOP_MACHINES=${LOOP_MACHINES:-200} exec "${OUT:-out}/tests/unit/closed_loop/test_loop_random"
