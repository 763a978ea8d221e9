#!/bin/bash
# More than 256 logical processors: rows of all cores use all of them, and the matrix has each pair.
cd "$(dirname "$0")/../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
sized() { # sized SOCKETS CORES: a machine file like Skylake-SP with so many
	sed -e "/^\[topology\]/,/^\[/{s/^sockets = .*/sockets = $1/;s/^cores = .*/cores = $2/}" tables/machines/skylake-sp.machine >"$work/$1x$2.machine"
}
measured() { # measured SOCKETS CORES SUITE
	rm -rf "$work/run"
	"$s" run --backend sim --machine "$work/$1x$2.machine" --suite "$3" --out "$work/run" || return 1
	cp "$work"/run/*/results.json "$work/$1x$2.json"
}
# Each socket's memory gives 128 GB/s: the row's last point has all cores, and lies within 1 % of all sockets' channels.
all_channels() { # all_channels SOCKETS CORES
	python3 - "$work/$1x$2.json" "$1" "$2" <<'E2'
import json, sys
sockets, cores = int(sys.argv[2]), int(sys.argv[3])
row = next(r for r in json.load(open(sys.argv[1]))["rows"] if r["name"] == "read.dram_all.bandwidth")
at, rate = row["series"]["points"][-1]
want = sockets * 128e9
print(f"# {at:.0f} of {sockets * cores} processors, {rate / 1e9:.1f} of {want / 1e9:.1f} GB/s, {row['status']}")
sys.exit(not (row["status"] == "ok" and at == sockets * cores and abs(rate - want) <= want / 100))
E2
}
for n in "8 64" "6 48"; do
	read -r sockets cores <<<"$n"
	sized "$sockets" "$cores"
	check "many_cores_${sockets}x${cores}_is_measured" measured "$sockets" "$cores" read.dram_all.bandwidth
	check "many_cores_${sockets}x${cores}_use_all_channels" all_channels "$sockets" "$cores"
done
# Pairs of the threads of one socket, in each of the sockets.
pairs() {
	python3 - "$work/6x48.json" <<'E2'
import json, sys
row = next(r for r in json.load(open(sys.argv[1]))["rows"] if r["name"] == "core_to_core.modified_same_socket.latency")
print(f"# {len(row['matrix']['cells'])} pairs, {row['status']}")
sys.exit(not (row["status"] == "ok" and len(row["matrix"]["cells"]) == 6 * 48 * 47))
E2
}
check "many_cores_6x48_has_a_matrix" measured 6 48 core_to_core.modified_same_socket.latency
check "many_cores_6x48_matrix_has_each_pair" pairs
tap_end
