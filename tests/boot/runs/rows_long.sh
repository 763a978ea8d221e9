#!/bin/bash
# All rows on a guest's own processors under TCG, natively: see rows.sh.
cd "$(dirname "$0")/../../.." || exit 2
LIMIT=1200 exec tests/boot/runs/rows.sh full "$("${OUT:-out}/stallmeter" list --rows | grep -c '^[a-z0-9_]*\.[a-z0-9_.]*  ')"
