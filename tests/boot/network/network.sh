#!/bin/bash
# Started by PXE and by HTTP, from the servers of packaging/server: the settings that they have for this machine are taken, and what
# arrives at the server is what the run wrote on the stick.
cd "$(dirname "$0")/../../.." || exit 2
. tests/boot/network/served.sh
uuid=01234567-89ab-cdef-0123-456789abcdef

printf 'suite = load.l1.latency,load.l2.latency\nend = exit\nbackend = sim:nehalem-ep\nupload = http://192.0.2.1/upload/\n' >"$boot/stallmeter-$uuid.ini"
printf '# any machine\nupload = http://192.0.2.1/upload/../\n' >"$boot/stallmeter-52-54-00-12-34-56.ini"
starts --network pxe "$out/stallmeter.img" -- -uuid "$uuid"
check "network_pxe_ends_with_0" ended 0
check "network_pxe_settings_by_uuid" grep -F "settings: tftp://192.0.2.1/stallmeter-$uuid.ini" "$log"
check "network_server_has_what_the_stick_has" same_as_stick
check "network_pieces_of_the_journal_are_the_journal" pieces

starts --network http --options end=exit
check "network_http_settings_by_mac_and_checked" grep -F 'http://192.0.2.1/boot/stallmeter-52-54-00-12-34-56.ini:2: upload: expected http://SERVER/FOLDER/' "$log"
check "network_bad_settings_are_status_2" ended 2
tap_end
