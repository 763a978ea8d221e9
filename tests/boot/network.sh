#!/bin/bash
# Started by PXE and by HTTP, from the servers of packaging/server: the settings that they have for this machine are taken.
cd "$(dirname "$0")/../.." || exit 2
. tests/boot/served.sh
boot=$SERVER/boot
uuid=01234567-89ab-cdef-0123-456789abcdef

printf 'suite = load.l1.latency\nend = exit\nbackend = sim:nehalem-ep\n' >"$boot/stallmeter.ini"
printf 'suite = load.l2.latency\nend = exit\nbackend = sim:nehalem-ep\n' >"$boot/stallmeter-52-54-00-12-34-56.ini"
printf '# this machine\nsuit = quick\n' >"$boot/stallmeter-$uuid.ini"
starts --network pxe --options end=exit -- -uuid "$uuid"
check "network_pxe_settings_by_uuid" grep -F "settings: tftp://192.0.2.1/stallmeter-$uuid.ini" "$log"
check "network_settings_of_a_server_are_checked" grep -F "tftp://192.0.2.1/stallmeter-$uuid.ini:2: unknown key \"suit\"; expected one of" "$log"
check "network_bad_settings_are_status_2" ended 2
tap_end
