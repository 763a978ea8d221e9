#!/bin/bash
# What a lab uses, against what exists: the serial line through a BMC (OpenIPMI's, with IPMI serial over LAN by ipmitool), virtual media
# of a Redfish service (answers in the form of DMTF's mockups, served by nginx), the job for LAVA by LAVA's own schema.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
lab=packaging/lab
boot() { runner/qemu.sh --work "$work/q" --limit 100 --options "end=exit backend=sim:nehalem-ep suite=load.l1.latency,load.l2.latency,tlb.walk_1g.penalty,store.forward_fail_16_16_8.penalty" "$out/stallmeter.img"; }
check "lab_guest_runs" boot
check "lab_guest_results" sh -c 'MTOOLS_SKIP_CHECK=1 runner/fetch.sh "$1/q/disk.img" "$1/fetched"' - "$work"
line=$work/q/serial.log

# --- what a remote console makes of the line: its own texts, escape sequences within and behind lines, carriage returns
esc=$(printf '\033')
{ printf '[SOL Session operational.  Use ~? for help]\r\n'; sed -E "s/(@sm [0-9a-f]+ j 3 1 .{30})/\1$esc[0;37m$esc[2;1H/; s/\$/$esc[0m$esc[K/" "$line"; printf '\000[terminated ipmitool]\r\n'; } >"$work/decorated.log"
check "fetch_takes_a_remote_consoles_log" "$out/stallmeter" fetch --serial "$work/decorated.log" --out "$work/decorated"
check "fetch_of_a_remote_consoles_log_is_the_run" diff -r "$work"/decorated/* "$work"/fetched/*
check "collect_takes_a_log" says 0 "^1 run: 1 taken, 0 were there, 0 cannot be read" "$out/stallmeter" collect "$work/decorated.log" "$work/collected"
check "collected_log_is_the_run" diff -r "$work"/collected/* "$work"/fetched/*
check "collect_leaves_nothing_else" test "$(ls -A "$work/collected" | wc -l)" -eq 1

# --- IPMI serial over LAN
if command -v ipmi_sim >/dev/null && command -v ipmitool >/dev/null && command -v socat >/dev/null; then
	port=$((20000 + $$ % 20000))
	cat >"$work/lan.conf" <<C
name "bmc"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 $port
    priv_limit admin
    allowed_auths_admin none md2 md5 straight
    guid a123456789abcdefa123456789abcdef
  endlan
  sol "$work/tty" 115200
  user 2 true "lab" "secret" admin 10 none md2 md5 straight
C
	printf 'mc_setbmc 0x20\nmc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr\nmc_enable 0x20\n' >"$work/bmc.emu"
	# The machine's end of the line says nothing until the session is there, then what the guest's line said, at its speed.
	mkfifo "$work/line"
	socat "PTY,link=$work/tty,raw,echo=0" - <"$work/line" >/dev/null 2>&1 & machine=$!
	exec 7>"$work/line"
	for ((i = 0; i < 50; i++)); do [ -e "$work/tty" ] && break; sleep 0.1; done
	mkdir "$work/state"
	ipmi_sim -c "$work/lan.conf" -f "$work/bmc.emu" -s "$work/state" -n >"$work/bmc.log" 2>&1 & bmc=$!
	sleep 1
	sol() {
		IPMI_USER=lab IPMI_PASSWORD=secret IPMI_PORT=$port $lab/sol.sh 127.0.0.1 "$work/sol.log" 60 & session=$!
		for ((i = 0; i < 100; i++)); do grep -q "SOL Session operational" "$work/sol.log" 2>/dev/null && break; sleep 0.1; done
		while IFS= read -r -N 1024 part || [ -n "$part" ]; do printf '%s' "$part"; sleep 0.1; done < <(tr -d '\000' <"$line") >&7
		wait $session
	}
	check "sol_records_a_run" sol
	check "sol_log_is_fetched" "$out/stallmeter" fetch --serial "$work/sol.log" --out "$work/sol"
	check "sol_log_is_the_run" diff -r "$work"/sol/* "$work"/fetched/*
	check "sol_without_a_bmc_is_status_3" status 3 env IPMI_USER=lab IPMI_PASSWORD=secret IPMI_PORT=9 $lab/sol.sh 127.0.0.1 "$work/none.log" 20
	exec 7>&-
	kill $bmc $machine 2>/dev/null
	wait $bmc $machine 2>/dev/null
else
	skip "sol_records_a_run" "no ipmitool, ipmi_sim or socat"
fi
check "sol_wants_a_user" status 2 $lab/sol.sh 127.0.0.1 "$work/none.log"

# --- Redfish: the tree is files; nginx writes down what is asked with which body
nginx=$(command -v nginx || command -v /usr/sbin/nginx)
if [ -n "$nginx" ]; then
	www=$work/www
	put() { mkdir -p "$www$1" && cat >"$www$1/index.json"; }
	put /redfish/v1/Systems <<<'{"Members": [{"@odata.id": "/redfish/v1/Systems/437XR1138R2"}]}'
	put /redfish/v1/Systems/437XR1138R2 <<<'{"@odata.type": "#ComputerSystem.v1_20_0.ComputerSystem", "Id": "437XR1138R2", "PowerState": "On",
		"Boot": {"BootSourceOverrideTarget@Redfish.AllowableValues": ["None", "Pxe", "Cd", "Usb", "Hdd"]}, "Links": {"ManagedBy": [{"@odata.id": "/redfish/v1/Managers/BMC"}]},
		"Actions": {"#ComputerSystem.Reset": {"target": "/redfish/v1/Systems/437XR1138R2/Actions/ComputerSystem.Reset"}}}'
	put /redfish/v1/Managers/BMC <<<'{"Id": "BMC", "VirtualMedia": {"@odata.id": "/redfish/v1/Managers/BMC/VirtualMedia"}}'
	put /redfish/v1/Managers/BMC/VirtualMedia <<<'{"Members": [{"@odata.id": "/redfish/v1/Managers/BMC/VirtualMedia/CD1"}, {"@odata.id": "/redfish/v1/Managers/BMC/VirtualMedia/USB1"}]}'
	for one in 'CD1 ["CD", "DVD"] false' 'USB1 ["Floppy", "USBStick"] true'; do
		name=${one%% *} inserted=${one##* } types=${one#* } types=${types% *}
		put "/redfish/v1/Managers/BMC/VirtualMedia/$name" <<<"{\"@odata.type\": \"#VirtualMedia.v1_6_0.VirtualMedia\", \"Id\": \"$name\", \"MediaTypes\": $types, \"Inserted\": $inserted,
			\"Actions\": {\"#VirtualMedia.EjectMedia\": {\"target\": \"/redfish/v1/Managers/BMC/VirtualMedia/$name/Actions/VirtualMedia.EjectMedia\"},
			\"#VirtualMedia.InsertMedia\": {\"target\": \"/redfish/v1/Managers/BMC/VirtualMedia/$name/Actions/VirtualMedia.InsertMedia\"}}}"
	done
	web=$((40000 + $$ % 20000))
	printf 'lab:%s\n' "$(openssl passwd -apr1 secret)" >"$work/users"
	cat >"$work/nginx.conf" <<C
pid $work/nginx.pid; error_log $work/error.log; daemon off; worker_processes 1;
events {}
http {
	access_log off;
	log_format asked escape=none '\$request_method \$request_uri \$request_body';
	client_body_temp_path $work/b; proxy_temp_path $work/p; fastcgi_temp_path $work/f; uwsgi_temp_path $work/u; scgi_temp_path $work/s;
	server {
		listen 127.0.0.1:$web;
		auth_basic bmc; auth_basic_user_file $work/users;
		root $www;
		location /redfish/ { default_type application/json; error_page 405 =204 @changed; try_files \$uri/index.json @changed; }
		location @changed { access_log $work/asked asked; rewrite ^ /done break; proxy_pass http://127.0.0.1:$web; }
		location /done { auth_basic off; allow 127.0.0.1; deny all; return 204; }
	}
}
C
	chmod 755 "$work" # nginx's worker is another user
	"$nginx" -c "$work/nginx.conf" -p "$work" 2>"$work/nginx.said" & server=$!
	for ((i = 0; i < 50; i++)); do [ -s "$work/nginx.pid" ] && break; sleep 0.1; done
	redfish() { REDFISH_USER=lab REDFISH_PASSWORD=${password:-secret} $lab/redfish.sh "http://127.0.0.1:$web" "$@"; }
	image=http://files.example.org/stallmeter.img
	check "redfish_boots" says 0 "^/redfish/v1/Systems/437XR1138R2: ForceRestart, from $image" redfish boot "$image"
	# nginx writes a line down once its answer is out, so the last one may be late: waits for as many.
	written() { for _ in {1..50}; do [ "$(grep -c '^P' "$work/asked")" -ge "$1" ] && return; sleep 0.1; done; echo "not $1 requests:"; cat "$work/asked"; return 1; }
	# In this order; parameters and values are those of DMTF's schemas VirtualMedia and ComputerSystem.
	asked() {
		written 4 || return 1
		sed 's/{.*//' "$work/asked" | diff - <(printf '%s \n' "POST /redfish/v1/Managers/BMC/VirtualMedia/USB1/Actions/VirtualMedia.EjectMedia" \
			"POST /redfish/v1/Managers/BMC/VirtualMedia/USB1/Actions/VirtualMedia.InsertMedia" "PATCH /redfish/v1/Systems/437XR1138R2" \
			"POST /redfish/v1/Systems/437XR1138R2/Actions/ComputerSystem.Reset") &&
			grep -o '{.*' <(tr '\n' ' ' <"$work/asked" | sed 's/\(POST\|PATCH\)/\n\1/g') | jq -se --arg u "$image" '.[0] == {} and .[1] == {Image: $u, Inserted: true, WriteProtected: false} and
				.[2] == {Boot: {BootSourceOverrideEnabled: "Once", BootSourceOverrideTarget: "Usb", BootSourceOverrideMode: "UEFI"}} and .[3] == {ResetType: "ForceRestart"}'
	}
	check "redfish_asks_what_the_schema_has" asked
	check "redfish_ejects" redfish eject
	ejects() { written 5 && tail -n 1 "$work/asked" | grep "USB1/Actions/VirtualMedia.EjectMedia"; }
	check "redfish_ejects_the_stick" ejects
	password=wrong
	check "redfish_with_a_wrong_password_says_so" says 1 "GET /redfish/v1/Systems: refused" redfish eject
	password=secret
	put /redfish/v1/Managers/BMC/VirtualMedia/USB1 <<<'{"Id": "USB1", "MediaTypes": ["USBStick"], "Inserted": true}'
	check "redfish_of_a_bmc_without_the_actions" redfish boot "$image"
	changes() { written 9 && tail -n 4 "$work/asked" | head -n 2 | grep -c '^PATCH .*/USB1 {"Image":' | grep -x 2; }
	check "redfish_without_the_actions_changes_the_property" changes
	rm -r "$www/redfish/v1/Managers/BMC/VirtualMedia/USB1"
	put /redfish/v1/Managers/BMC/VirtualMedia <<<'{"Members": [{"@odata.id": "/redfish/v1/Managers/BMC/VirtualMedia/CD1"}]}'
	check "redfish_without_a_stick_says_so" says 1 "no virtual medium that can be a USB stick" redfish boot "$image"
	kill $server 2>/dev/null
	wait $server 2>/dev/null
else
	skip "redfish_boots" "no nginx"
fi

# --- LAVA
pattern=$(sed -n "s/^ *pattern: '\(.*\)'\$/\1/p" $lab/lava-job.yaml)
cases() { # the pattern of the job finds each row on the line, with its value and status
	tr -d '\r' <"$line" | grep -aozP "$pattern" | tr '\0' '\n' | sed -E 's/ +/ /g' | paste -sd' ' | sed 's/ \([a-z][a-z_0-9]*\.\)/\n\1/g' >"$work/cases"
	cat "$work/cases"
	diff <(awk '{ print $1, $2, $NF }' "$work/cases") <(jq -r '.rows[] | [.name, (if .value then (.value * 1000 | round | tostring | "\(.[:-3]).\(.[-3:])") else "-" end), .status] | join(" ")' "$work"/fetched/*/results.json)
}
check "lava_job_finds_each_row" cases
check "lava_job_has_start_and_end" sh -c 'grep -qaE "row +value unit" "$1" && grep -qaE "stallmeter: end status [0-9]" "$1" && grep -qaE "Stallmeter [0-9a-z.-]+ on " "$1"' - "$line"
if command -v lava-run >/dev/null; then
	printf 'actions: {deploy: {methods: {tmpfs: null, image: null}}, boot: {methods: {qemu: {parameters: {command: qemu-system-x86_64}}}}}\n' >"$work/device.yaml"
	check "lava_takes_the_job" lava-run --validate --job-id 1 --output-dir "$work/lava" --device "$work/device.yaml" $lab/lava-job.yaml
else
	skip "lava_takes_the_job" "no lava-run"
fi
tap_end
