#!/bin/bash
# What `make bench` prints: the simulator's speed on this host. Exit status 1: a figure below its floor.
set -u
out=${OUT:-out} rc=0
"$out/tests/bench/speed" nehalem-ep || rc=1
exit $rc
