#!/bin/bash
# Implements `make run` for the built image: runner/run.sh MACHINE SUITE
#   Boots it in QEMU/OVMF on the simulated machine MACHINE (a built-in name or a machine file), shows its console
#   with the table of penalties, and fetches the results to $OUT/run. Exit status: as runner/qemu.sh.
#   BACKEND=hw or auto runs on the processor that QEMU gives the guest, with ACCEL=kvm the host's own.
#   SELFTEST=NAME runs one of the guest's self tests (efi/app/selftest.c) instead, without results.
set -u
[ $# -eq 2 ] && [ -n "$1" ] && [ -n "$2" ] || { echo "usage: make run MACHINE=NAME|FILE SUITE=quick|full|ROW,..." >&2; exit 2; }
machine=$1 suite=$2 out=${OUT:-out}
export MTOOLS_SKIP_CHECK=1 MTOOLSRC=/dev/null
mkdir -p "$out/run"
work=$(mktemp -d "$out/run/.qemu.XXXXXX") || exit 3
trap 'rm -rf "$work"' EXIT
for word in "$machine" "$suite"; do
	case $word in *'"'*) echo "run.sh: $word: no quotes are allowed in it" >&2; exit 2;; esac
done

image=$out/stallmeter.img
backend=${BACKEND:-sim:$machine}
if [ -z "${BACKEND:-}" ] && [ -f "$machine" ]; then
	cp --sparse=always "$image" "$work/with-machine.img"
	image=$work/with-machine.img
	mcopy -o -i "$image@@1M" "$machine" "::/stallmeter/$(basename "$machine")" || exit 3
	map=$(sed -n 's/^[ \t]*events[ \t]*=[ \t]*\([A-Za-z0-9._-]*\).*/\1/p' "$machine").map # the event map in the same folder
	[ ! -f "$(dirname "$machine")/$map" ] || mcopy -o -i "$image@@1M" "$(dirname "$machine")/$map" "::/stallmeter/$map" || exit 3
	backend="sim:\\stallmeter\\$(basename "$machine")"
fi

rc=0
runner/qemu.sh --work "$work" --accel "${ACCEL:-tcg}" --smp "${SMP:-1}" --nodes "${NODES:-1}" --device "${DEVICE:-virtio}" --show --test "${SELFTEST:-}" \
	--options "\"backend=$backend\" \"suite=$suite\" end=exit" "$image" || rc=$?
[ "$rc" -ne 2 ] && [ -s "$work/debugcon.log" ] && [ -z "${SELFTEST:-}" ] || exit "$rc"

runs=$(runner/fetch.sh "$work/disk.img" "$out/run") || [ "$rc" -ne 0 ] || rc=3
for run in $runs; do
	cp "$work/debugcon.log" "$run/console.log"
	for file in results.json penalties.csv journal.jsonl; do
		[ -s "$run/$file" ] || { echo "run.sh: $run: no $file" >&2; [ "$rc" -ne 0 ] || rc=3; }
	done
	echo "fetched: $run"
done
exit $rc
