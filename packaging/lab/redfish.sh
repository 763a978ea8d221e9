#!/bin/bash
# Starts a machine from an image by its BMC's virtual media: packaging/lab/redfish.sh BMC boot URL | eject | off
#   BMC   https://HOST or http://HOST
#   boot  inserts the image at URL as a USB stick (DMTF DSP0268: VirtualMedia.InsertMedia), chooses it for the next start alone
#         (ComputerSystem.Boot) and starts the machine, or starts it again (ComputerSystem.Reset)
#   REDFISH_USER and REDFISH_PASSWORD; REDFISH_SYSTEM: the Id of the system if there are several; REDFISH_INSECURE=1: the BMC's
#   certificate is not checked.
# Exit status: 0 done, 1 the BMC refused or has no such medium, 2 bad arguments.
set -euo pipefail
usage() { sed -n '2,8s/^# *//p' "$0" >&2; exit 2; }
[ $# -ge 2 ] && [ -n "${REDFISH_USER:-}" ] && [ -n "${REDFISH_PASSWORD:-}" ] || usage
bmc=${1%/} what=$2 url=${3:-}
case $what in boot) [ $# -eq 3 ] && [ -n "$url" ] || usage;; eject|off) [ $# -eq 2 ] || usage;; *) usage;; esac
for tool in curl jq; do command -v $tool >/dev/null || { echo "redfish.sh: $tool is missing" >&2; exit 2; }; done
insecure=()
[ "${REDFISH_INSECURE:-}" != 1 ] || insecure=(--insecure)

die() { echo "redfish.sh: $bmc: $*" >&2; exit 1; }
# The password goes to curl on its standard input, where no list of processes shows it.
http() { # http METHOD PATH [BODY]
	local body=()
	[ $# -lt 3 ] || body=(--json "$3")
	curl -sS --fail-with-body --max-time 120 "${insecure[@]}" -K - -X "$1" -H 'OData-Version: 4.0' "${body[@]}" "$bmc$2" <<<"user = \"${REDFISH_USER//\"/\\\"}:${REDFISH_PASSWORD//\"/\\\"}\"" ||
		die "$1 $2: refused"
}
get() { http GET "$1"; }
members() { local all; all=$(get "$1") || exit 1; jq -r '.Members[]["@odata.id"]' <<<"$all"; }

system= systems=$(members /redfish/v1/Systems)
for one in $systems; do
	[ -n "$system" ] || [ -n "${REDFISH_SYSTEM:-}" ] && [ "${one##*/}" != "${REDFISH_SYSTEM:-}" ] || system=$one
done
[ -n "$system" ] || die "no system ${REDFISH_SYSTEM:-}; there are: ${systems//$'\n'/ }"
about=$(get "$system")

# The medium that can be a stick: of the system (since 2021), or of its manager.
medium() {
	local folder one
	for folder in $(jq -r '.VirtualMedia["@odata.id"] // empty, (.Links.ManagedBy[]?["@odata.id"] // empty | "manager " + .)' <<<"$about" | sed 's/^manager //'); do
		case $folder in */VirtualMedia) ;; *) folder=$(get "$folder" | jq -r '.VirtualMedia["@odata.id"] // empty');; esac
		[ -n "$folder" ] || continue
		for one in $(members "$folder"); do
			if get "$one" | jq -e '.MediaTypes | index("USBStick")' >/dev/null; then echo "$one"; return; fi
		done
	done
}
target() { jq -r --arg a "#$2" '.Actions[$a].target // empty' <<<"$1"; }
act() { # act RESOURCE ACTION BODY
	local to
	to=$(target "$1" "$2")
	[ -n "$to" ] || die "no action $2"
	http POST "$to" "$3" >/dev/null
}
if [ "$what" = off ]; then
	act "$about" ComputerSystem.Reset '{"ResetType": "ForceOff"}'
	exit
fi
stick=$(medium)
[ -n "$stick" ] || die "no virtual medium that can be a USB stick"
state=$(get "$stick")
# A BMC without the action takes a change of the property Image instead, null for none (DSP2046, VirtualMedia).
media() { # media ACTION BODY IMAGE
	if [ -n "$(target "$state" "$1")" ]; then act "$state" "$1" "$2"; else http PATCH "$stick" "$3" >/dev/null; fi
}
if [ "$(jq -r .Inserted <<<"$state")" = true ]; then media VirtualMedia.EjectMedia '{}' '{"Image": null}'; fi
[ "$what" = boot ] || exit 0
media VirtualMedia.InsertMedia "$(jq -nc --arg u "$url" '{Image: $u, Inserted: true, WriteProtected: false}')" "$(jq -nc --arg u "$url" '{Image: $u}')"
from=$(jq -r '[.Boot["BootSourceOverrideTarget@Redfish.AllowableValues"][]? | select(. == "Usb" or . == "RemoteDrive")] | (index("Usb") as $i | if $i then "Usb" else .[0] end) // "Usb"' <<<"$about")
http PATCH "$system" "{\"Boot\": {\"BootSourceOverrideEnabled\": \"Once\", \"BootSourceOverrideTarget\": \"$from\", \"BootSourceOverrideMode\": \"UEFI\"}}" >/dev/null
if [ "$(jq -r .PowerState <<<"$about")" = Off ]; then reset=On; else reset=ForceRestart; fi
act "$about" ComputerSystem.Reset "{\"ResetType\": \"$reset\"}"
echo "$system: $reset, from $url"
