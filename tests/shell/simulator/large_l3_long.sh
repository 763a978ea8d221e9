#!/bin/bash
# Streams in memory beside last levels of 256 to 448 MiB, whose slices are no power of two: each row is ok, its counts of the channels included. With 40
# slices the arrays meet a set 4 and 8 MiB apart, and the triad's windows wrote back half of what they should.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
for slices in 32 40 48 56; do
	awk -v slices=$slices '/^\[/ { section = $0 } section == "[l3]" && /^bytes/ { $0 = "bytes = " slices * 8388608 } section == "[l3]" && /^slices/ { $0 = "slices = " slices }
		section == "[l3]" && /^ways/ { $0 = "ways = 16" } { print }' tables/machines/sapphire-rapids.machine >"$work/$slices.machine"
	check "large_l3_streams_of_${slices}_slices_are_ok" "$out/stallmeter" run --backend sim --machine "$work/$slices.machine" --suite triad.dram.bandwidth,copy.dram.bandwidth,write.dram.bandwidth --out "$work/runs"
done
tap_end
