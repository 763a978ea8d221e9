#!/bin/bash
# ACPI tables and SMBIOS, damaged in 500 seeded ways, read by the application's own code under the sanitizers.
cd "$(dirname "$0")/../../.." || exit 2
out=${OUT:-out}
make -s "$out/tests/acpi/tables" OUT="$out" SAN= >&2 || { echo "not ok 1 - acpi_builds"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$out/tests/acpi/tables" 500
