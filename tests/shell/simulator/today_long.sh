#!/bin/bash
# today.sh with the full suites of those machines that hold them; docs/limits.md has what the others lack.
cd "$(dirname "$0")/../../.." || exit 2
MACHINES=${MACHINES:-skylake sandy-bridge-ep broadwell-ep ice-lake-sp} SUITE=full exec bash tests/shell/simulator/today.sh
