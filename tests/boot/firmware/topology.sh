#!/bin/bash
# 64 processors; 8 memory nodes of which one has no processor; each ACPI table in turn cut short or filled with noise:
# a result each time.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
log=$work/q/debugcon.log results=

boot() { # boot NAME OPTION...: fills $rc and $results
	local name=$1
	shift
	rc=0
	runner/qemu.sh --work "$work/q" --limit 200 --options "end=exit suite=load.l1.latency" "$out/stallmeter.img" "$@" >"$work/boot" 2>&1 || rc=$?
	results=$(runner/fetch.sh "$work/q/disk.img" "$work/$name")
}
ended() { cat "$log" "$work/boot"; [ "$rc" -eq 0 ] || { echo "status $rc"; return 1; }; }
in_results() { jq -e "$1" "$results/results.json" || { jq -c '{machine, environment}' "$results/results.json" | cut -c1-3000; return 1; }; }

boot many --smp 64 --nodes 8 --empty-node --memory 1024
check "many_ends_well" ended
check "many_has_64_processors_on_8_nodes" in_results '.machine.cores == 64 and .machine.nodes == 8'
check "many_one_node_has_no_processor" in_results '.environment.nodes_without_processors == "1"'
check "many_row_has_a_value" in_results '.rows[0] | .value > 0 or .ns > 0'
check "many_machine_txt_lists_all" test "$(sed -n '/^\[core\]/,$p' "$results/machine.txt" | grep -c '^[0-9]* = ')" -eq 64
check "many_apic_ids_and_nodes_are_whole" in_results '.environment.apic_id_and_node | split(" ") | length == 64 and last == "63:6"'

# The firmware's latencies and bandwidths are in the environment: QEMU's HMAT, in ns and MiB/s as its options have them.
boot hmat --smp 2 --nodes 2 -- -machine hmat=on \
	-numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-latency,latency=50 -numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-latency,latency=90 \
	-numa hmat-lb,initiator=1,target=0,hierarchy=memory,data-type=access-latency,latency=95 -numa hmat-lb,initiator=1,target=1,hierarchy=memory,data-type=access-latency,latency=55 \
	-numa hmat-lb,initiator=0,target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=1000M -numa hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=500M \
	-numa hmat-lb,initiator=1,target=0,hierarchy=memory,data-type=access-bandwidth,bandwidth=400M -numa hmat-lb,initiator=1,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=1100M
check "hmat_ends_well" ended
check "hmat_latencies_are_recorded" in_results '.environment | [.hmat_access_latency_0, .hmat_access_latency_1] == ["50000 90000", "95000 55000"]'
check "hmat_bandwidths_are_recorded" in_results '.environment | [.hmat_access_bandwidth_0, .hmat_access_bandwidth_1] == ["1000 500", "400 1100"]'
check "slit_distances_are_recorded" in_results '.environment | [.slit_0, .slit_1] == ["10 21", "21 10"]'

# Ten damages, each with its seed; odd ones have a right checksum.
seed=1
for damage in SRAT:cut SRAT:noise SLIT:noise MCFG:noise APIC:cut APIC:noise FACP:cut HMAT:cut HMAT:noise SMBI:noise; do
	table=${damage%:*} kind=${damage#*:} numa=(--nodes 2) more=()
	if [ $table = HMAT ]; then # QEMU gives one where it is told latencies
		numa=(--memory 1024)
		more=(-machine hmat=on -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M
			-numa node,nodeid=0,memdev=m0,cpus=0-1 -numa node,nodeid=1,memdev=m1,initiator=0)
		for node in 0 1; do
			more+=(-numa "hmat-lb,initiator=0,target=$node,hierarchy=memory,data-type=access-latency,latency=$((10 + node))"
				-numa "hmat-lb,initiator=0,target=$node,hierarchy=memory,data-type=access-bandwidth,bandwidth=10G")
		done
	fi
	boot "$table-$kind" --smp 2 "${numa[@]}" -- "${more[@]}" -fw_cfg "name=opt/stallmeter/acpi,string=$damage:$((seed++))"
	check "${table}_${kind}_ends_well" ended
	check "${table}_${kind}_was_damaged" grep -E "^# $table is $kind now" "$log"
	check "${table}_${kind}_row_has_a_value" in_results '.rows[0] | .value > 0 or .ns > 0'
done
tap_end
