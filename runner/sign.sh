#!/bin/bash
# Signs the application for Secure Boot: runner/sign.sh KEY CERTIFICATE APPLICATION TARGET
#   The certificate must be in the machine's db (or, with shim, be enrolled as a machine owner key).
set -u
[ $# -eq 4 ] || { echo "usage: runner/sign.sh KEY CERTIFICATE APPLICATION TARGET" >&2; exit 2; }
[ -n "$1" ] && [ -n "$2" ] || { echo "sign.sh: SIGN_KEY and SIGN_CERT are both needed" >&2; exit 2; }
for file in "$1" "$2" "$3"; do [ -r "$file" ] || { echo "sign.sh: $file: no such file" >&2; exit 2; }; done
new=$4.new
# The signature contains the time; SOURCE_DATE_EPOCH sets it, so that the same inputs give the same bytes.
clock=()
if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
	command -v faketime >/dev/null || { echo "sign.sh: faketime: missing; runner/setup.sh sign installs it" >&2; exit 2; }
	clock=(faketime -f "@$(date -u -d "@$SOURCE_DATE_EPOCH" '+%Y-%m-%d %H:%M:%S') x0")
fi
TZ=UTC0 "${clock[@]}" sbsign --key "$1" --cert "$2" --output "$new" "$3" || { rm -f "$new"; exit 1; }
sbverify --cert "$2" "$new" || { rm -f "$new"; exit 1; }
mv "$new" "$4"
