#!/bin/bash
# today.sh with the full suites.
cd "$(dirname "$0")/../../.." || exit 2
SUITE=full exec bash tests/shell/simulator/today.sh
