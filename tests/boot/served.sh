# Guests that start over the network: `. tests/boot/served.sh` before anything else. The script is run again inside of
# packaging/server/serve.sh, with its servers' folder in $SERVER; where there is no namespace it is skipped by name.
if [ -z "${SERVER:-}" ]; then
	SERVER=$(mktemp -d)
	export SERVER
	trap 'rm -rf "$SERVER"' EXIT
	rc=0
	packaging/server/serve.sh "$SERVER" "$0" "$@" || rc=$?
	[ "$rc" -eq 77 ] || exit "$rc"
	echo "ok 1 - network # SKIP no network namespace with a bridge and a tap device can be made here"
	echo "1..1"
	exit 0
fi
. tests/tap.sh
cp "$out/BOOTX64.EFI" "$SERVER/boot/"
log=$work/q/debugcon.log
# starts OPTION...: a guest; fills $rc
starts() {
	rc=0
	runner/qemu.sh --work "$work/q" --limit 300 "$@" >"$work/boot" 2>&1 || rc=$?
}
ended() { [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; cat "$work/boot"; tail -n 30 "$log"; return 1; }; }
