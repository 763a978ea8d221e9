# shellcheck shell=bash
# The names that `stallmeter list --events PROCESSOR` prints, one a line, each with what it needs behind a colon: filters of uncore boxes, and
# what tags the uops that a detector of NetBurst counts. names_metrics: the same of `list --metrics` but those that lack an event.
names_events() { # PROCESSOR
	"$s" list --events "$1" | awk '
		function print_once(x) { if (!(x in done)) print x; done[x] }
		function flush() { if (name != "") print_once(name); name = "" }
		function flush_units(tag, n, i) { n = units; units = 0; for (i = 1; i <= n; i++) print_once(unit[i] tag) }
		/^ +counts uops tagged by /  { n = split($0, part, "[ ,]+"); for (i = n; i > 6 && part[i] !~ /scalar_DP/; i--) ; flush_units(index(unit[1], "front") ? part[n] : part[i]); next }
		/^ .*needs / { n = split($0, part, "needs "); for (i = 2; i <= n; i++) { split(part[i], word, ":"); name = name ":" word[1] "=" (word[1] == "opc" ? "0x182" : 1) } next }
		/^(event of|metric of|[0-9]+ events)/ || NF == 0 { flush(); flush_units(""); kind = $0; next }
		kind ~ /^event of a detector/ { split($1, word, "."); if (units && word[1] != before) flush_units(""); before = word[1]; unit[++units] = $1; next }
		kind ~ /^event of/ { flush(); name = $1 }
		END { flush(); flush_units("") }'
	# metrics of replays go behind the event that they tag
	"$s" list --events "$1" | awk '/^metric of replay/ { on = 1; next } NF == 0 { on = 0 } on && ++n > 1 { print "replay_event.NBOGUS:" $1 }'
}
names_metrics() { # PROCESSOR
	"$s" list --metrics "$1" | awk 'NR == 1 || NF == 0 || /^ / || /^[0-9]+ metrics/ { next } $3 != "-" { print $1 }'
}
# Each uncore event with all of its unit masks goes through `stat` once: none is refused, at least LEAST have a figure, and what is flagged has a reason in the map.
# ABSENT: the boxes, joined by |, that the simulated machine lacks.
stat_every_uncore_event() { # MACHINE MAP LEAST [ABSENT]
	names_events "$1" | grep '^UNC_' | grep -vE "^UNC_(${4:-none})_" >"$work/names"
	split -l 32 "$work/names" "$work/part."
	: >"$work/counted"; : >"$work/refused"
	for part in "$work"/part.*; do
		"$s" stat --machine "$1" --windows 1 --format csv -w load.l2 -e "$(paste -sd, "$part")" 2>"$work/err" | tail -n +2 >>"$work/counted"
		[ "${PIPESTATUS[0]}" -eq 0 ] || cat "$work/err" >>"$work/refused"
	done
	rm -f "$work"/part.*
	local all flagged figures
	all=$(wc -l <"$work/names") flagged=$(grep -c 'not modelled' "$work/counted") figures=$(grep -vc 'not modelled' "$work/counted")
	echo "# $1: $all events, $figures with a figure, $flagged flagged, $(wc -l <"$work/refused") refused"
	sed 's/^/# /' "$work/refused" | head -3
	[ "$all" -eq $((flagged + figures)) ] && [ ! -s "$work/refused" ] && [ "$figures" -ge "$3" ] &&
		awk -F, '/^[A-Z]/ && $5 ~ /unmodelled|never/ && $8 == "" { bad = 1; print "# " $6 " has no reason" } END { exit bad }' "tables/machines/maps/uncore/$2.map"
}
