#!/bin/bash
# Network boot in a network namespace of its own: packaging/server/serve.sh FOLDER [COMMAND]...
#   dnsmasq (DHCP, TFTP) and nginx (HTTP, uploads) on 192.0.2.1, a bridge br0 and a tap device tap0 for QEMU. FOLDER/boot has what
#   machines read: BOOTX64.EFI, stallmeter.ini; what they send comes to FOLDER/upload.
#   COMMAND runs in the namespace (a shell, if none is given); at its end both servers end. Its exit status is this one's;
#   77 if the namespace cannot be made.
set -u
PATH=$PATH:/usr/sbin:/sbin
[ $# -ge 1 ] || { echo "usage: packaging/server/serve.sh FOLDER [COMMAND]..." >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${STALLMETER_SERVE:-}" ]; then
	as=(-nm); [ "$(id -u)" -eq 0 ] || as=(-rnm)
	unshare "${as[@]}" sh -c 'ip link add br0 type bridge && ip tuntap add dev tap0 mode tap' 2>/dev/null ||
		{ echo "serve.sh: no network namespace with a bridge and a tap device can be made here (unshare ${as[*]})" >&2; exit 77; }
	STALLMETER_SERVE=1 exec unshare "${as[@]}" "$0" "$@"
fi
folder=$1; shift
mkdir -p "$folder/boot" "$folder/upload" "$folder/temporary" || exit 1
folder=$(cd "$folder" && pwd)
ip link set lo up && ip link add br0 type bridge && ip addr add 192.0.2.1/24 dev br0 && ip link set br0 up &&
	ip tuntap add dev tap0 mode tap && ip link set tap0 master br0 up || exit 77
dnsmasq --keep-in-foreground --conf-file="$here/dnsmasq.conf" --user="$(id -un)" --interface=br0 --bind-interfaces --tftp-root="$folder/boot" \
	--dhcp-leasefile="$folder/leases" --pid-file="$folder/dnsmasq.pid" --log-facility="$folder/dnsmasq.log" &
servers=$!
nginx -p "$folder/" -c "$here/nginx.conf" -e "$folder/error.log" -g "user $(id -un);" &
servers+=" $!"
trap 'kill $servers 2>/dev/null; wait' EXIT
for ((i = 0; i < 100; i++)); do
	[ -s "$folder/nginx.pid" ] && [ -e "$folder/leases" ] && break
	sleep 0.1
done
if [ $# -gt 0 ]; then
	"$@"
else
	echo "Servers on 192.0.2.1, files in $folder; QEMU: -netdev tap,id=net,ifname=tap0,script=no,downscript=no -device virtio-net-pci,netdev=net,romfile="
	"${SHELL:-/bin/bash}"
fi
