#!/bin/bash
# More than 256 logical processors: rows of all cores use all of them, and the matrix has each pair.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
sized() { # sized SOCKETS CORES [THREADS]: a machine file like Skylake-SP with so many
	sed -e "/^\[topology\]/,/^\[/{s/^sockets = .*/sockets = $1/;s/^cores = .*/cores = $2/;s/^threads = .*/threads = ${3:-1}/}" tables/machines/skylake-sp.machine >"$work/$1x$2.machine"
}
measured() { # measured SOCKETS CORES SUITE
	rm -rf "$work/run"
	"$s" run --backend sim --machine "$work/$1x$2.machine" --suite "$3" --out "$work/run" || return 1
	cp "$work"/run/*/results.json "$work/$1x$2.json"
}
# Each socket's memory gives 128 GB/s: the row's last point has all cores, and lies within 1 % of all sockets' channels.
all_channels() { # all_channels SOCKETS CORES
	jq -r --argjson sockets "$1" --argjson cores "$2" '.rows[] | select(.name == "read.dram_all.bandwidth") | .status as $status | .series.points[-1] |
		"\(.[0]) of \($sockets * $cores) processors, \(.[1] / 1e9) of \($sockets * 128) GB/s, \($status)"' "$work/$1x$2.json"
	jq -e --argjson sockets "$1" --argjson cores "$2" '.rows[] | select(.name == "read.dram_all.bandwidth") | .status == "ok" and
		(.series.points[-1] | .[0] == $sockets * $cores and (.[1] / ($sockets * 128e9) - 1 | fabs) <= 0.01)' "$work/$1x$2.json" >/dev/null
}
for n in "8 64" "6 48"; do
	read -r sockets cores <<<"$n"
	sized "$sockets" "$cores"
	check "many_cores_${sockets}x${cores}_is_measured" measured "$sockets" "$cores" read.dram_all.bandwidth
	check "many_cores_${sockets}x${cores}_use_all_channels" all_channels "$sockets" "$cores"
done
# Two threads a core: all 448 read together what 224 caches give (96 %, as threads of a core do not end together), which the row's own points of one thread a core have.
all_threads() {
	jq -c '.rows[] | select(.name == "read.l1_all.bandwidth") | [.status, .value, .series.points[-4:]]' "$work/8x28.json"
	jq -e '.rows[] | select(.name == "read.l1_all.bandwidth") | .status == "ok" and .series.points[-1][0] == 448 and
		(.value / ([.series.points[][1]] | max) - 1 | fabs) < 0.05' "$work/8x28.json" >/dev/null
}
sized 8 28 2
check "many_cores_of_two_threads_are_measured" measured 8 28 read.l1_all.bandwidth
check "many_cores_of_two_threads_use_all_caches" all_threads
# Pairs of the threads of one socket, in each of the sockets.
pairs() {
	jq -e '.rows[] | select(.name == "core_to_core.modified_same_socket.latency") | .status == "ok" and (.matrix.cells | length) == 6 * 48 * 47' \
		"$work/6x48.json" >/dev/null
}
check "many_cores_6x48_has_a_matrix" measured 6 48 core_to_core.modified_same_socket.latency
check "many_cores_6x48_matrix_has_each_pair" pairs
# A last level of 320 MiB: the first core's arrays are larger than the part of the address space that others have.
awk '/^\[/ { l3 = $0 == "[l3]" } l3 && /^bytes =/ { $0 = "bytes = 335544320" } l3 && /^slices =/ { $0 = "slices = 40" } l3 && /^ways =/ { $0 = "ways = 16" } { print }' \
	tables/machines/sapphire-rapids.machine >"$work/large.machine"
large() { # footprint of both cores
	rm -rf "$work/run"
	"$s" run --backend sim --machine "$work/large.machine" --suite copy.dram_all.bandwidth --cores 0-1 --out "$work/run" || return 1
	jq -e '.rows[0] | .status == "ok" and .footprint_bytes >= 3 * 1073741824' "$work"/run/*/results.json
}
check "many_cores_streams_exceed_a_last_level_of_320_mebibytes" large
tap_end
