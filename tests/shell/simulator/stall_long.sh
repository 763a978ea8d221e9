#!/bin/bash
# Every stall term moves as the simulated machine's truth is moved, three sizes each on five machines, and mixtures of kernels are explained.
cd "$(dirname "$0")/../../.." || exit 2
exec "${OUT:-out}/tests/unit/closed_loop/test_stall_causes" long
