#!/bin/bash
# As kill.sh, 200 times, and QEMU is killed at each moment.
KILLS=${KILLS:-200} MOMENTS=1 exec "$(dirname "$0")/kill.sh"
