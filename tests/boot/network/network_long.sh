#!/bin/bash
# The network and its servers as they fail: nothing is lost, nothing hangs. Servers are those of packaging/server. A guest's run lasts
# about a minute under an emulator; the fault comes when its first rows have arrived. PARTS names some of the parts.
cd "$(dirname "$0")/../../.." || exit 2
. tests/boot/network/served.sh
site=http://192.0.2.1/upload/
rows=quick,store.*,split.*,frontend.*
ini() { printf 'suite = %s\nend = exit\nbackend = sim:nehalem-ep\nwatchdog = 600\nupload = %s\n' "$rows" "${1:-$site}" >"$boot/stallmeter.ini"; }
fresh() { rm -rf "${upload:?}"/* "$boot"/*.ini; rm -f "$log"; ini "$@"; }
said() { grep -E "$1" "$log" || { grep -a -e upload -e '^settings' "$log"; return 1; }; }
unsaid() { ! grep -E "$1" "$log"; }
# The journal that arrived has its end, its pieces are it, and the other files are there.
whole() {
	local at
	at=$(where)
	[ -d "$at" ] || { tail -n 20 "$log"; return 1; }
	tail -n 1 "$at/journal.jsonl" | grep '"end"' && pieces && jq -e '.rows | length > 10' "$at/results.json" && ls "$at/machine.txt" "$at/penalties.csv" "$at/report.html"
}
# when_arrived N COMMAND...: when N pieces of a journal are there, or after 90 s
when_arrived() {
	local n=$1 i
	shift
	for ((i = 0; i < 900; i++)); do
		[ "$(find "$upload" -name 'journal-*' 2>/dev/null | wc -l)" -ge "$n" ] && break
		sleep 0.1
	done
	"$@"
}
http_ends() {
	local all p
	all="$(cat "$SERVER/nginx.pid") $(pgrep -P "$(cat "$SERVER/nginx.pid")")"
	kill -9 $all
	for ((p = 0; p < 50; p++)); do kill -0 $all 2>/dev/null || break; sleep 0.1; done
	rm -f "$SERVER/nginx.pid"
}
http_starts() { nginx -p "$SERVER/" -c "${1:-$PWD/packaging/server/nginx.conf}" -e "$SERVER/error.log" -g "user root;" & sleep 0.5; }

# --- the server is killed, and started again after 20 s ----------------------------------------------
killed() {
	fresh
	gap() { http_ends; sleep 20; http_starts; }
	when_arrived 1 gap &
	starts --network pxe "$out/stallmeter.img"
	wait $!
	check "network_settings_by_the_default_name" said '^settings: tftp://192.0.2.1/stallmeter.ini'
	check "network_server_killed_is_said" said '^upload: http://192.0.2.1/upload/.*; it is kept, and put again later'
	check "network_server_back_is_said" said '^upload: .* continues, nothing is missing'
	check "network_server_killed_ends_with_0" ended 0
	check "network_server_killed_nothing_is_lost" whole
	check "network_server_killed_stick_and_server_agree" same_as_stick
}
# --- the cable is pulled for 25 s -----------------------------------------------------------------------
cable() {
	fresh
	mkfifo "$work/mon.in" "$work/mon.out"
	cat "$work/mon.out" >"$work/mon.said" &
	pull() { exec 9>"$work/mon.in"; echo "set_link net0 off" >&9; sleep 25; echo "set_link net0 on" >&9; exec 9>&-; }
	when_arrived 1 pull &
	starts --network http -- -chardev "pipe,id=mon,path=$work/mon" -mon chardev=mon
	wait $!
	check "network_link_cut_is_said" said '^upload: http://192.0.2.1/upload/.*: no .*; it is kept'
	check "network_link_cut_ends_with_0_without_a_stick" ended 0
	check "network_link_cut_nothing_is_lost" whole
}
# --- the server says 500 -----------------------------------------------------------------------------------
ill() {
	fresh
	sed 's,if ($request_method != PUT) { return 403; },return 500;,' packaging/server/nginx.conf >"$work/ill.conf"
	sick() { http_ends; http_starts "$work/ill.conf"; sleep 20; http_ends; http_starts; }
	when_arrived 1 sick &
	starts --network pxe
	wait $!
	check "network_500_is_said" said '^upload: .*the server says 500; it is kept'
	check "network_500_ends_with_0" ended 0
	check "network_500_nothing_is_lost" whole
}
# --- no space at the server -----------------------------------------------------------------------------------
full() {
	mount -t tmpfs -o size=2m none "$upload" || { skip network_full "no file system can be mounted here"; return; }
	fresh
	fill() { head -c 4m /dev/zero >"$upload/filler" 2>/dev/null; sleep 20; ls -l "$upload"/*/ >"$work/while_full"; rm "$upload/filler"; }
	when_arrived 1 fill &
	starts --network pxe
	wait $!
	check "network_full_is_said" said '^upload: .*the server says 50[07]; it is kept'
	check "network_full_ends_with_0" ended 0
	check "network_full_nothing_is_lost" whole
	umount "$upload"
}
# --- no server at all: the stick has it, and its next boot sends it -----------------------------------------------
later() {
	fresh
	rows=load.l1.latency ini
	cp --sparse=always "$out/stallmeter.img" "$work/stick.img"
	mcopy -o -i "$work/stick.img@@1M" "$boot/stallmeter.ini" ::/stallmeter/stallmeter.ini
	http_ends
	starts --in-place --network http-second "$work/stick.img"
	check "network_no_server_is_said" said '^upload: not there: [1-9][0-9]* bytes of the journal, 5 files; they are on the stick'
	check "network_no_server_the_stick_keeps_it" ended 0
	mcopy -o -i "$work/stick.img@@1M" - ::/stallmeter/stallmeter.ini < <(sed 's/l1/l2/' "$boot/stallmeter.ini")
	http_starts
	starts --in-place --network http-second "$work/stick.img"
	check "network_next_boot_ends_with_0" ended 0
	check "network_next_boot_sends_both_runs" test "$(grep -c '^uploaded: ' "$log")" -eq 2
	rm -rf "$work/stick"
	runner/fetch.sh "$work/stick.img" "$work/stick" >/dev/null
	both() {
		local run n=0
		for run in "$work"/stick/*/; do
			n=$((n + 1))
			grep '^done = yes' "$run/upload.txt" || return 1
			diff -r -x upload.txt -x run.txt -x 'journal-*' "$run" "$upload/$(sed -n 's,^to = .*/upload/\(.*\)/$,\1,p' "$run/upload.txt")" || return 1
		done
		[ "$n" -eq 2 ]
	}
	check "network_next_boot_server_has_what_the_stick_has" both
	starts --in-place --network http-second "$work/stick.img"
	check "network_third_boot_sends_its_own_alone" test "$(grep -c '^uploaded: ' "$log")" -eq 1
}
# --- power cut in the middle of a run: the next boot goes on in the same folder ---------------------------------------
power() {
	fresh
	cp --sparse=always "$out/stallmeter.img" "$work/stick.img"
	cut() { kill -9 "$(pgrep -f "^qemu-system-x86_64.*$work/q/vars.fd")"; }
	when_arrived 1 cut &
	starts --in-place --network pxe "$work/stick.img"
	wait $!
	check "network_power_cut" test "$rc" -eq 5
	starts --in-place --network pxe "$work/stick.img"
	check "network_resumed_ends_with_a_row_that_stopped_it_at_most" test "$rc" -le 1
	check "network_resumed_goes_on_in_the_same_folder" test "$(ls "$upload" | wc -l)" -eq 1
	check "network_resumed_nothing_is_lost" whole
	check "network_resumed_stick_and_server_agree" same_as_stick "$work/stick.img"
}
# --- neither server nor stick: the serial line has the journal --------------------------------------------------------
nowhere() {
	fresh
	rows=load.l1.latency ini http://192.0.2.99/upload/
	starts --network pxe
	check "network_nowhere_is_said" said '^upload: not there: .*; the serial line has the journal'
	check "network_nowhere_is_status_3" ended 3
	check "network_nowhere_serial_line_has_the_run" sh -c '"$1" fetch --serial "$2" --out "$3" && ls "$3"/*/results.json' - "$out/stallmeter" "$work/q/serial.log" "$work/by_serial"
}
# --- TFTP's write, a server behind a router ----------------------------------------------------------------------------
ways() {
	fresh
	rows=load.l1.latency ini tftp://192.0.2.1:1069/
	mkdir "$SERVER/tftp"
	chmod 777 "$SERVER/tftp" "$SERVER"
	in.tftpd --listen --foreground --create --permissive --secure --umask 0222 --user nobody --address 192.0.2.1:1069 "$SERVER/tftp" &
	local tftp=$!
	starts --network pxe "$out/stallmeter.img"
	check "network_tftp_ends_with_0" ended 0
	starts --network pxe "$out/stallmeter.img"
	check "network_tftp_second_run_ends_with_0" ended 0
	rm -rf "$work/stick"
	by_tftp() {
		local run f n=0
		run=$(runner/fetch.sh "$work/q/disk.img" "$work/stick")
		for f in "$run"/*; do
			case $f in */upload.txt) continue;; esac
			cmp "$f" "$SERVER"/tftp/*-0002-"$(basename "$f")" || return 1
			n=$((n + 1))
		done
		[ "$n" -eq 5 ] && ls "$SERVER"/tftp/*-0001-results.json
	}
	check "network_tftp_server_has_what_the_stick_has" by_tftp
	kill "$tftp"

	fresh
	ip addr add 203.0.113.1/32 dev lo
	rows=load.l1.latency ini http://203.0.113.1/upload/
	starts --network pxe
	check "network_server_behind_a_router" ended 0

}
# --- a server that makes no folders -----------------------------------------------------------------------------------------
flat() {
	fresh
	rows=load.l1.latency ini
	sed 's,if ($request_method != PUT) { return 403; },if ($uri ~ ^/upload/[^/]+/) { return 409; },; s,\[A-Za-z0-9\._-\]{0\,95}/,[A-Za-z0-9._-]{0\,150}(/.*)?,' packaging/server/nginx.conf |
		sed 's,\[A-Za-z0-9_-\]\[A-Za-z0-9._-\]{0\,63}\$,$,' >"$work/flat.conf"
	http_ends
	http_starts "$work/flat.conf"
	starts --network pxe
	check "network_server_without_folders_ends_with_0" ended 0
	check "network_server_without_folders_has_flat_names" sh -c 'ls "$1"/*-0001-results.json "$1"/*-0001-journal.jsonl' - "$upload"
	http_ends
	http_starts
}
# --- TLS, with a certificate that the firmware knows, and with one that it does not ----------------------------------------
tls() {
	fresh https://192.0.2.1/upload/
	rows=load.l1.latency ini https://192.0.2.1/upload/
	local bytes
	openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 3650 -subj /CN=192.0.2.1 \
		-addext subjectAltName=IP:192.0.2.1 -addext basicConstraints=critical,CA:TRUE 2>/dev/null
	openssl x509 -in "$work/cert.pem" -outform DER -out "$work/cert.der"
	bytes=$(stat -c %s "$work/cert.der")
	# An EFI_SIGNATURE_LIST (UEFI 2.10, 32.4.1) of one certificate, which OVMF takes from here as its variable of authorities.
	number() { printf "\\x$(printf %02x $(($1 & 255)))\\x$(printf %02x $(($1 >> 8)))\\0\\0"; }
	{
		printf '\xa1\x59\xc0\xa5\xe4\x94\xa7\x4a\x87\xb5\xab\x15\x5c\x2b\xf0\x72'
		number $((28 + 16 + bytes)); number 0; number $((16 + bytes))
		head -c 16 /dev/zero
		cat "$work/cert.der"
	} >"$work/authorities"
	sed "s,listen 80;,listen 80; listen 443 ssl; ssl_certificate $work/cert.pem; ssl_certificate_key $work/key.pem;," packaging/server/nginx.conf >"$work/tls.conf"
	http_ends
	http_starts "$work/tls.conf"
	starts --network pxe -- -fw_cfg "name=etc/edk2/https/cacerts,file=$work/authorities"
	check "network_tls_ends_with_0" ended 0
	check "network_tls_is_what_carried_it" said '^uploaded: https://192.0.2.1/upload/'
	check "network_tls_results_are_there" sh -c 'ls "$1"/*-0001/results.json' - "$upload"
	starts --network pxe
	check "network_tls_of_an_unknown_authority_is_status_3" ended 3
	check "network_tls_of_an_unknown_authority_is_said" said '^upload: https://192.0.2.1/.*: no connection, or it broke .*; it is kept'
	check "network_tls_of_an_unknown_authority_sends_nothing" test "$(ls "$upload" | wc -l)" -eq 1
	http_ends
	http_starts
}
# --- twenty guests at once on one server, and somebody who means harm --------------------------------------------------
harm() { # one round of what a client can try
	local u=http://192.0.2.1 put="curl -s -o /dev/null --max-time 5 --path-as-is"
	for path in /upload/../boot/stallmeter.ini /upload/evil/../../boot/BOOTX64.EFI /upload/%2e%2e/boot/evil /upload/evil/%2e%2e%2fevil /upload/.hidden/x /upload/evil/.hidden \
		/boot/evil /evil /upload/evil /upload/evil/b/c /upload/evil%00b/c "/upload/evil/y%5c..%5cz" /upload//evil /upload/evil/ /nginx.conf; do
		$put -T "$work/evil" "$u$path"
	done
	for f in "$upload"/*/*; do
		[ -f "$f" ] || continue
		$put -T "$work/evil" "$u/upload/${f#"$upload"/}"
		$put -X DELETE "$u/upload/${f#"$upload"/}"
		$put -X MOVE -H "Destination: $u/upload/evil/moved" "$u/upload/${f#"$upload"/}"
		$put -X COPY -H "Destination: $u/upload/evil/copied" "$u/upload/${f#"$upload"/}"
		$put -o "$work/read" "$u/upload/${f#"$upload"/}" && grep -q '"event"' "$work/read" && touch "$work/could_read"
	done
	$put -X MKCOL "$u/upload/evil/"
	$put -X DELETE "$u/upload/"
	head -c 40m /dev/zero | $put -T - "$u/upload/evil/endless"
	$put -T "$work/evil" -H 'Content-Range: bytes 0-4/5' "$u/upload/evil/ranged"
	$put -T "$work/evil" -H 'Content-Length: 100000000' "$u/upload/evil/promised"
}
crowd() {
	fresh
	rows=load.l1.latency,load.l2.latency,store.forward.latency ini
	echo evil >"$work/evil"
	local i lane
	for lane in 1 2; do ip tuntap add dev "tap$lane" mode tap && ip link set "tap$lane" master br0 up; done
	: >"$work/harmed"
	(while [ ! -e "$work/over" ]; do harm; echo >>"$work/harmed"; done) 2>/dev/null &
	local culprit=$!
	for lane in 1 2; do
		(for ((i = lane; i <= 20; i += 2)); do
			runner/qemu.sh --work "$work/guest$i" --limit 400 --tap "tap$lane" --mac "52:54:00:aa:00:$(printf %02x "$i")" --network pxe >"$work/guest$i.said" 2>&1
			echo $? >"$work/guest$i.rc"
		done) &
	done
	wait $(jobs -p | grep -v -e "^$culprit\$")
	touch "$work/over"
	wait "$culprit"
	each() {
		local n=0 at
		for ((i = 1; i <= 20; i++)); do
			[ "$(cat "$work/guest$i.rc")" -eq 0 ] || { echo "guest $i: $(cat "$work/guest$i.rc")"; tail "$work/guest$i/debugcon.log"; return 1; }
			at=$(where "$work/guest$i/debugcon.log")
			for f in results.json penalties.csv report.html machine.txt journal.jsonl; do [ -s "$at/$f" ] || { echo "guest $i: $f"; return 1; }; done
			cat "$at"/journal-*.jsonl | cmp - "$at/journal.jsonl" || return 1
			# the serial line tells what the guest wrote
			rm -rf "$work/serial"
			"$out/stallmeter" fetch --serial "$work/guest$i/serial.log" --out "$work/serial" >/dev/null || return 1
			cmp "$work"/serial/*/journal.jsonl "$at/journal.jsonl" && cmp "$work"/serial/*/results.json "$at/results.json" || return 1
			n=$((n + 1))
		done
		[ "$n" -eq 20 ] && [ "$(ls "$upload" | grep -vc '^evil$')" -eq 20 ]
	}
	check "network_twenty_guests_each_file_is_whole" each
	check "network_harm_was_tried" test "$(wc -l <"$work/harmed")" -ge 1
	check "network_nothing_was_read" test ! -e "$work/could_read"
	outside() { find "$SERVER" -newer "$boot/stallmeter.ini" -type f ! -path "$upload/*" ! -path "$SERVER/temporary/*" ! -name '*.log' ! -name leases ! -name nginx.pid | grep . && return 1; ! grep -rl '^evil$' "$SERVER" --include='*' | grep -v "^$upload/evil/"; }
	check "network_nothing_outside_the_folder" outside
	check "network_endless_body_is_refused" test ! -e "$upload/evil/endless"
}

for part in ${PARTS:-killed cable ill full later power nowhere ways flat tls crowd}; do
	echo "# $part"
	"$part"
done
tap_end
