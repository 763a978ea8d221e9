#!/bin/bash
# Every event of Haswell-EP's boxes goes through `stallmeter stat`, with all of its unit masks, on workload after workload, until one of them counts:
# counted, counted 0 for the reason that the machine's event map or tests/zeros.txt gives, flagged with the reason, refused. At least 246 of the 311
# count. The machine is the built-in one, and those that differ from it by what a user may set: C-states, ranks with open rows, links that give up
# lanes and have few credits, a small table of requests, a device; what stat_uncore_causes.sh tries one by one. Slow: minutes.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
. tests/events.sh
s=${OUT:-out}/stallmeter
base=tables/machines/haswell-ep.machine map=tables/machines/maps/uncore/haswell-uncore.map

varied() { # IDLE-STATE DEMOTE-CYCLES
	sed -e "s/^idle_state = .*/idle_state = $1/; s/^idle_demote_cycles = .*/idle_demote_cycles = $2/; s/^open_page = .*/open_page = 1/" \
		-e 's/^banks = .*/banks = 128/; s/^qpi_idle_cycles = .*/qpi_idle_cycles = 100/; s/^qpi_credits = .*/qpi_credits = 1/; s/^device_cycles = .*/device_cycles = 50000/' \
		-e 's/^invalidate_ps = .*/invalidate_ps = 200000/; /^\[gq\]/,/^\[link\]/s/^read = .*/read = 40/' "$base"
}
varied 6 0 >"$work/c6.machine"
# What other settings make possible: the keys that the built-in machine does not say, in sections that the end of a file may add.
set_more() { # NAME IDLE-STATE SLOW
	sed -e "s/^idle_state = .*/idle_state = $2/; s/^device_cycles = .*/device_cycles = 200/" \
		-e "/^\[uncore\]/a sbo_credits = 1\ndirect2core = 0\nregions = 12" \
		-e "/^\[dram\]/a refresh_ps = 7800000\npower_down_cycles = 100\npower_down_slow = $3" -e "s/^open_page = .*/open_page = 1/" "$base" >"$work/$1.machine"
	printf '[fault]\necc_every = 100\nheat_period_us = 50\nheat_us = 20\n' >>"$work/$1.machine"
}
set_more c1e 2 0
set_more c7 7 1
varied 3 1000000 >"$work/demoting.machine"
varied 3 0 >"$work/c3.machine"

# What filters must say for something to pass; counters that see counter 0 have an occupancy there; the UBox sees the reading of the others.
sharper() {
	sed -e 's/^\(UNC_Q_CTO_COUNT\).*/\1:match=0x1C00:mask=0x1F00:match1=0:mask1=0/; s/^\(UNC_C_COUNTER0_OCCUPANCY\)$/UNC_C_TOR_OCCUPANCY.ALL,\1:thresh=1/' \
		-e 's/^UNC_U_RACU_REQUESTS$/&,UNC_M_CAS_COUNT.ALL/; s/^\(UNC_H_ADDR_OPC_MATCH.*\):opcode=1/\1:opcode=2/'
}
count() { "$s" stat --machine "$1" --windows 1 --format csv -w "$2" -e "$3"; } # MACHINE WORKLOAD LIST
round() { # MACHINE WORKLOAD: the names of $work/left; an event of which one counts leaves it
	: >"$work/one"
	split -l 40 "$work/left" "$work/part."
	for part in "$work"/part.*; do
		count "$1" "$2" "$(sharper <"$part" | paste -sd,)" 2>"$work/err" | tail -n +2 >>"$work/one"
		[ "${PIPESTATUS[0]}" -eq 0 ] || cat "$work/err" >>"$work/refused"
	done
	rm -f "$work"/part.*
	awk -F'"' -v left="$work/left" -v counted="$work/counted" -v flagged="$work/flagged" '
		function event(x) { sub(/[.:].*/, "", x); return x }
		/not modelled/ { print event($2) >>flagged; next }
		$4 == "" && $5 ~ /^,[1-9]/ { if (!(event($2) in done)) print event($2) >>counted; done[event($2)] }
		END { while ((getline name < left) > 0) if (!(event(name) in done)) print name >(left ".new") }' "$work/one"
	touch "$work/left.new"
	mv "$work/left.new" "$work/left"
	echo "# $(basename "$1" .machine), $2: $(sort -u "$work/counted" | wc -l) events count"
}
: >"$work/refused"; : >"$work/counted"; : >"$work/flagged"
names_events haswell-ep | grep '^UNC_' | grep -v '^UNC_U_CLOCKTICKS.FIXED$' >"$work/names"
cp "$work/names" "$work/left"
for w in load.dram_remote load.remote_l3_modified sync.split_lock.penalty store.nt_partial.penalty load.l3_modified_other_core; do round haswell-ep "$w"; done
for w in load.dram_remote sync.split_lock.penalty triad.dram_all; do round "$work/c6.machine" "$w"; done
round "$work/demoting.machine" triad.dram_all
round "$work/c3.machine" load.dram_remote
for w in triad.dram_all write.dram_nt_all; do round haswell-ep "$w"; done
for m in c1e c7; do round "$work/$m.machine" triad.dram; done

# The reason is that of any row of the event's in the map, or stands in tests/zeros.txt.
awk -F, -v map="$map" -v left="$work/left" -v flagged="$work/flagged" '
	function event(x) { sub(/[.:].*/, "", x); return toupper(x) }
	FILENAME == "tests/zeros.txt" { if ($0 ~ /^haswell-ep UNC_/) { split($0, word, " "); said[++n] = "^(" word[2] ")$"; text[n] = substr($0, index($0, word[2]) + length(word[2]) + 1) } next }
	FILENAME == map { e = event($6); if ($8 != "") why[e] = $8; if ($5 ~ /unmodelled/) unmodelled[e]; next }
	FILENAME == flagged { isflagged[event($1)]; next }
	{ e = event($1); if (e in seen) next; seen[e]
	  if (e in isflagged) { print "# flagged  " e ": " why[e]; if (why[e] == "" || !(e in unmodelled)) bad = 1; next }
	  reason = why[e]; for (i = 1; i <= n && reason == ""; i++) if (e ~ said[i]) reason = text[i]
	  print "# 0        " e ": " (reason == "" ? "NOTHING SAYS WHY" : reason); if (reason == "") bad = 1 }
	END { exit bad }' tests/zeros.txt "$map" "$work/flagged" "$work/left" >"$work/said" && explained=0 || explained=1
cat "$work/said"
all=$(sed 's/[.:].*//' "$work/names" | sort -u | wc -l) counted=$(sort -u "$work/counted" | wc -l) refused=$(wc -l <"$work/refused")
echo "# $all events: $counted counted, $(grep -c '^# 0 ' "$work/said") counted 0, $(grep -c '^# flagged' "$work/said") flagged, $refused refused"
sed 's/^/# /' "$work/refused" | head -5
check "stat_refuses_no_uncore_event" test "$refused" -eq 0
check "stat_walks_every_uncore_event" test "$all" -eq 311
check "stat_counts_uncore_events" test "$counted" -ge 246
check "stat_says_why_an_uncore_event_is_0" test "$explained" -eq 0
tap_end
