# Guests that start over the network: `. tests/boot/network/served.sh` before anything else. The script is run again inside of
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
export MTOOLS_SKIP_CHECK=1
boot=$SERVER/boot upload=$SERVER/upload
cp "$out/BOOTX64.EFI" "$boot/"
log=$work/q/debugcon.log
# starts OPTION...: a guest; fills $rc
starts() {
	rc=0
	runner/qemu.sh --work "$work/q" --limit 400 "$@" >"$work/boot" 2>&1 || rc=$?
}
ended() { [ "$rc" -eq "$1" ] || { echo "status $rc, not $1"; cat "$work/boot"; tail -n 30 "$log"; return 1; }; }
# where [LOG]: the folder that a guest said it had sent everything to
where() { sed -n "s,^uploaded: http://192.0.2.1/upload/\(.*\)/\$,$upload/\1,p" "${1:-$log}" | tail -n 1; }
# same_as_stick [IMAGE]: each file of the stick's newest run but its own notes arrived, byte for byte, and no other but pieces
same_as_stick() {
	local run there
	there=$(where)
	rm -rf "$work/stick"
	run=$(runner/fetch.sh "${1:-$work/q/disk.img}" "$work/stick" | tail -n 1)
	[ -s "$run/results.json" ] && [ -d "$there" ] || { echo "nothing to compare: $run, $there"; return 1; }
	diff -r -x upload.txt -x run.txt -x 'journal-*.jsonl' "$run" "$there" && [ "$(ls "$there" | grep -vc '^journal-')" -eq 6 ]
}
pieces() { cat "$(where)"/journal-*.jsonl | cmp - "$(where)/journal.jsonl"; }
