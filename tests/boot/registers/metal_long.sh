#!/bin/bash
# metal.sh on every built-in machine, with four processors on two nodes, with cores of both kinds, with the full suite of three machines, and with planted faults, each of
# which must be found.
#   ONLY=PATTERN  those checks alone, by an extended pattern of grep
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
make -s OUT="$out" "$out/tests/metal/metal" "$out/stallmeter.img" >"$work/make" 2>&1 || { cat "$work/make"; exit 1; }
equal() { # MACHINE SUITE
	METAL_RUNS=$work/runs tests/metal/run.sh "$1" "$2" >"$work/told" 2>&1 || { grep -vE '^written|^[a-z0-9_.]+ .* (ok|unsupported) |^  ' "$work/told" | tail -n 60; return 1; }
	grep -E '^metal: [0-9]+ jobs|rows compared' "$work/told" | sed "s/^/# $1: /" >>"$work/notes"
	grep -qE '^[1-9][0-9]* rows compared' "$work/told"
}
one() { if [ -z "${ONLY:-}" ] || grep -qE "$ONLY" <<<"$1"; then check "$@"; fi; }
for file in tables/machines/*.machine; do
	machine=$(basename "$file" .machine)
	one "metal_quick_of_${machine}_equals_the_simulated_machine" equal "$machine" quick
done
for machine in nehalem-ep haswell-ep skylake-sp; do
	SMP=4 NODES=2 one "metal_quick_of_four_processors_of_${machine}" equal "$machine" quick
done
SMP=5 one metal_quick_of_both_kinds_of_cores_of_alder_lake equal alder-lake quick
SMP=4 NODES=2 one metal_rows_of_all_cores_and_pairs equal nehalem-ep \
	'read.*_all.bandwidth,write.*_all.bandwidth,copy.*_all.bandwidth,triad.*_all.bandwidth,core_to_core.*,load.dram_remote.latency'
for machine in nehalem-ep haswell-ep zen4; do
	one "metal_full_of_${machine}_equals_the_simulated_machine" equal "$machine" full
done

# planted PATCH SAID MACHINE SUITE: the application with that fault does not pass, and this says why
planted() {
	local tree=$work/$1 rc=0
	[ -d "$work/tree" ] || {
		mkdir "$work/tree"
		git ls-files -z | xargs -0 cp --parents -pt "$work/tree"
		mkdir "$work/tree/out"
		cp -rp "$out"/{asm,bench,efi,gen,pmu} "$work/tree/out/"
	}
	mv "$work/tree" "$tree"
	patch -s -d "$tree" -p1 <"tests/metal/planted/$1.patch" || return 1
	make -s -C "$tree" OUT=out out/stallmeter.img >"$work/make" 2>&1 || { cat "$work/make"; return 1; }
	METAL_RUNS=$work/runs METAL_IMAGE=$tree/out/stallmeter.img METAL_ELF=$tree/out/stallmeter.so tests/metal/run.sh "$3" "$4" >"$work/told" 2>&1 || rc=$?
	patch -s -R -d "$tree" -p1 <"tests/metal/planted/$1.patch"
	mv "$tree" "$work/tree"
	cat "$work/told"
	[ "$rc" -ne 0 ] || { echo "it passes"; return 1; }
	grep -E "$2" "$work/told" | head -n 1 | sed "s/^/# $1: /" >>"$work/notes"
	grep -qE "$2" "$work/told"
}
one metal_finds_pebs_armed_outside_the_bracket planted armed_outside 'PEBS is armed as a job (begins|ends)' nehalem-ep load.l2.latency
one metal_finds_a_ds_area_that_is_not_mapped planted ds_not_mapped 'not mapped, the record is lost' nehalem-ep load.l2.latency
one metal_finds_a_warm_up_in_a_job_of_its_own planted warm_up_apart '^differs: ' nehalem-ep size.fill_buffers.entries
one metal_finds_a_register_that_is_not_restored planted not_restored 'before the run$' nehalem-ep load.l2.latency
SMP=2 one metal_finds_an_ap_with_a_stale_cr4 planted stale_cr4 'does not let the job' sandy-bridge read.l1_all.bandwidth
cat "$work/notes" 2>/dev/null
tap_end
