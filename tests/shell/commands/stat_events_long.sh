#!/bin/bash
# Every name that `list --events` and `list --metrics` print goes through `stallmeter stat` on the built-in machines, on workload after workload
# until it counts: counted, counted 0 for a reason that tests/zeros.txt gives, not modelled (and listed so), refused. Nothing is refused; what
# tests/zeros.txt explains counts 0 on all workloads, or in a later run of a long list at most what it says and alone 0; what it does not explain counts.
# Of haswell-ep and skylake-sp the events of the core alone; their boxes: stat_uncore_long.sh, stat_servers.sh. Slow: several minutes.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter

workloads='account.mixed account.branchy account.latency_bound account.bandwidth_bound load.l3_modified_other_core.latency load.l3_clean_other_core.latency
load.remote_l3_clean.latency load.remote_l3_modified.latency load.dram_remote.latency load.dram_local.latency load.l3.latency load.l2.latency triad.dram.bandwidth
write.dram.bandwidth write.dram_nt.bandwidth triad.l3.bandwidth triad.l2.bandwidth store.rfo.penalty store.nt_partial.penalty tlb.dtlb_4k.penalty tlb.stlb_walk_4k.penalty
tlb.walk_2m.penalty branch.indirect.penalty branch.return.penalty branch.conditional.penalty frontend.baclear.penalty frontend.lcp.penalty frontend.l1i_l2.penalty
frontend.l1i_l3.penalty frontend.itlb_walk.penalty tlb.itlb.penalty exec.divsd_hard.interval exec.fp_assist.penalty exec.partial_flags.penalty split.load_line.penalty
split.store_line.penalty split.load_l2.penalty sync.lock.penalty sync.split_lock.penalty sync.self_modifying_code.penalty store.forward_fail.penalty store.unknown_address.penalty
store.forward.latency store.alias_4k.penalty store.disambiguation_clear.penalty triad.dram_all.bandwidth write.dram_all.bandwidth write.dram_nt_all.bandwidth
read.dram.bandwidth'

count() { "$s" stat --machine "$machine" --windows 1 --format csv -w "$1" -e "$2"; } # WORKLOAD LIST
# The names of $work/left on a workload, in lists as long as a command may have; what counts leaves it.
round() { # WORKLOAD
	: >"$work/one"
	split -l 60 "$work/left" "$work/part."
	for part in "$work"/part.*; do
		count "$1" "$(paste -sd, "$part")" 2>"$work/err" | tail -n +2 >>"$work/one"
		[ "${PIPESTATUS[0]}" -eq 0 ] && continue
		# a row that this machine does not have counts nothing, for whatever list
		grep -q 'workload' "$work/err" && { rm -f "$work"/part.*; return; }
		while read -r name; do # which of them: alone
			count "$1" "$name" 2>>"$work/refused" | tail -n +2 >>"$work/one"
		done <"$part"
	done
	rm -f "$work"/part.*
	grep 'not modelled' "$work/one" | cut -d'"' -f2 >>"$work/unmodelled"
	sed -nE 's/^"([^"]*)","",([1-9][0-9]*).*/\1 \2 '"$1"'/p' "$work/one" >>"$work/counted"
	grep -E '^"[^"]*","",0,' "$work/one" | cut -d'"' -f2 >"$work/left"
}
# What may count a few for the sake of the runs before it counts none in a run of its own.
strays() { # PROCESSOR
	local name times w bad=0
	while read -r name times w; do
		count "$w" "$name" 2>&1 | grep -qE '^"[^"]*","",0,' && continue
		echo "# $name counts on $w alone too, not only behind other runs (there $times)"
		bad=1
	done < <(awk -v p="$1" 'FILENAME == "tests/zeros.txt" { if ($1 == p && $3 ~ /^most=/) pattern[++n] = "^(" $2 ")$"; next } { for (i = 1; i <= n; i++) if ($1 ~ pattern[i]) { print; next } }' tests/zeros.txt "$work/counted")
	return $bad
}
walked() { # MACHINE PROCESSOR
	local all counted unmodelled zero refused
	machine=$1
	: >"$work/refused"; : >"$work/unmodelled"; : >"$work/counted"
	names_events "$2" | { [[ $2 =~ ^(haswell-ep|skylake-sp)$ ]] && grep -v "^UNC_" || cat; } | tee "$work/names" >"$work/left"
	for w in $workloads; do
		[ -s "$work/left" ] && round "$w"
	done
	# PROCESSOR, a pattern of names, at most=N or nothing, the reason
	awk -v p="$2" -v counted="$work/counted" '
		FILENAME == "tests/zeros.txt" { if ($1 == p) { pattern[++n] = "^(" $2 ")$"; $1 = $2 = ""; if (sub(/^most=/, "", $3)) { most[n] = $3; $3 = "" } why[n] = $0 } next }
		{ for (i = 1; i <= n; i++) if ($0 ~ pattern[i]) { used[i]++; next } print "# " $0 ": counts 0 on all workloads, and nothing says why"; bad = 1 }
		END {
			for (i = 1; i <= n; i++) print "# " used[i] + 0 " counted 0:" why[i]
			while ((getline line < counted) > 0) {
				split(line, word, " ")
				for (i = 1; i <= n; i++) if (word[1] ~ pattern[i]) {
					used[i]++
					print "# " word[1] " counts " word[2] " on " word[3] (word[2] > most[i] + 0 ? ", against" : ", for") why[i]
					if (word[2] > most[i] + 0) bad = 1
				}
			}
			for (i = 1; i <= n; i++) if (!used[i]) { print "# no event counts 0 for " pattern[i]; bad = 1 }
			exit bad
		}' tests/zeros.txt "$work/left"
	local explained=$?
	strays "$2" || explained=1
	all=$(wc -l <"$work/names") counted=$(wc -l <"$work/counted") zero=$(wc -l <"$work/left") unmodelled=$(wc -l <"$work/unmodelled") refused=$(wc -l <"$work/refused")
	echo "# $1: $all names: $counted counted, $zero counted 0 for a reason, $unmodelled not modelled, $refused refused"
	sed 's/^/# /' "$work/refused" | head -5
	[ "$explained" -eq 0 ] && [ "$refused" -eq 0 ] && [ "$all" -gt 70 ] && [ $((counted + zero + unmodelled)) -eq "$all" ]
}
# Thread modes of the Pentium 4 need a core of two threads.
sed 's/^threads = 1$/threads = 2/' tables/machines/pentium4.machine >"$work/two.machine"
for m in ${MACHINES:-nehalem-ep haswell-ep skylake-sp sandy-bridge zen4 core2 pentium4}; do
	walked "$([ "$m" = pentium4 ] && echo "$work/two.machine" || echo "$m")" "$m" >"$work/said" && ok=0 || ok=1
	cat "$work/said"
	check "stat_walks_every_event_of_${m//-/_}" test $ok -eq 0
done
tap_end
