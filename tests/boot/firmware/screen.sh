#!/bin/bash
# The machine's own screen: dumps of the guest's framebuffer are read by a program of the test's own (picture.c) and held against
# penalties.csv and results.json that the same guest wrote; keys page, save and run again; without a framebuffer the same
# pages are text on the serial line, equal to tests/golden/pages.txt. Dumps are left in $OUT/screen-*.ppm.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
make -s OUT="$out" "$out/tests/boot/firmware/picture" >/dev/null || exit 2
picture=$out/tests/boot/firmware/picture font=tables/fonts/spleen-8x16.txt
suite=load.l1.latency,load.l2.latency,load.l3.latency,load.dram_local.latency,triad.l1.bandwidth
log=$work/q/debugcon.log

within() { # within SECONDS COMMAND...: until it succeeds
	local end=$((SECONDS + $1)); shift
	until "$@" >/dev/null 2>&1; do [ $SECONDS -lt $end ] || return 1; sleep 0.3; done
}
monitor() { printf '%s\n' "$*" >&8; }
dump() { # dump NAME: the screen as $out/screen-NAME.ppm, its text as $work/NAME.text
	local file=$out/screen-$1.ppm
	rm -f "$file"
	monitor "screendump $file"
	within 20 "$picture" size "$file" || return 1
	"$picture" text "$font" "$file" >"$work/$1.text"
}
shows() { dump "$1" && grep -qE -- "$2" "$work/$1.text"; } # shows NAME PATTERN
# still NAME PATTERN: and the next dump is the same: none was taken while the page was being drawn
still() { shows "$1" "$2" && cp "$work/$1.text" "$work/before" && sleep 0.3 && shows "$1" "$2" && cmp "$work/before" "$work/$1.text"; }

# With a framebuffer. Both pipes are held open here, so that neither side waits for the other to open them.
mkfifo "$work/mon.in" "$work/mon.out"
exec 8<>"$work/mon.in" 9<>"$work/mon.out"
runner/qemu.sh --work "$work/q" --limit 280 --options "end=menu backend=sim:nehalem-ep suite=$suite" "$out/stallmeter.img" \
	-- -device VGA -chardev "pipe,id=mon,path=$work/mon" -mon chardev=mon >"$work/boot" 2>&1 & guest=$!
check "screen_shows_rows_while_it_runs" within 120 shows running '^load\.l1\.latency +(4\.00|3\.99)[0-9] cycles .* ok$'
# 1280 x 800 pixels are OVMF's own choice; all that follows is in characters of 8 x 16 of them
check "screen_has_the_firmwares_size" test "$("$picture" size "$out/screen-running.ppm")" = "1280 800"
check "screen_shows_progress_and_time_left" within 60 shows running '^\[[1-5]/5\] [a-z0-9_.]+(: [0-9]+ s)?, about [0-9]+ s left$'
bar() { # the bar below that line: work done in one colour from the left edge, the rest in the other
	local done rest
	done=$("$picture" line 63A4E8 "$out/screen-running.ppm" 24 | wc -w)
	rest=$("$picture" line 4A4D55 "$out/screen-running.ppm" 24 | wc -w)
	echo "$done done, $rest to do"
	[ "$done" -gt 0 ] && [ "$rest" -gt 0 ] && [ $((done + rest)) -eq 1280 ] && [ "$("$picture" line 63A4E8 "$out/screen-running.ppm" 24 | awk '{ print $NF + 1 }')" -eq "$done" ]
}
check "screen_bar_is_between_start_and_end" bar
check "screen_shows_the_table_at_the_end" within 120 still table '^Penalty table, rows 1 to 5 of 5$'
check "screen_page_says_whose_it_is" grep -E '^SIMULATED; 5 rows: 5 ok; sim:nehalem-ep, Intel.R. Xeon.R. CPU X5570 @ 2.93GHz$' "$work/table.text"
monitor sendkey n
check "screen_key_shows_the_staircase" within 30 still stairs '^Load to use over the size of the working set; steps at the caches. sizes$'
check "screen_says_what_keys_do" grep -E '^page 2 of 2: N, Space, PgDn next; P, PgUp previous; W save; A run again, O full suite, R reboot, S shut down, F back to the firmware:$' "$work/stairs.text"
monitor sendkey pgup
check "screen_page_up_goes_back" within 30 still table '^page 1 of 2: '
monitor sendkey w
check "screen_saves_again" within 30 grep -E '^saved: .*-0002' "$log"
check "screen_says_where_it_was_saved" within 30 shows saved '^saved: .stallmeter.results.sim-nehalem-ep-[0-9a-f]+-0002$'
monitor sendkey a
check "screen_runs_again" within 120 grep -E '^results: .*-0003' "$log"
check "screen_shows_the_table_of_the_run_again" within 60 shows again '^Penalty table, rows 1 to 5 of 5$'
monitor sendkey s
check "screen_asks_before_it_shuts_down" within 30 shows asked '^S again shuts down, another key does not:$'
monitor sendkey n
check "screen_another_key_goes_on" within 30 shows on '^not shut down$'
monitor sendkey s
check "screen_asks_again" within 30 shows asked '^S again shuts down'
monitor sendkey s
wait "$guest"
check "screen_shuts_down" grep -F "the guest shut down" "$work/boot"
exec 8>&- 9>&-
runner/fetch.sh "$work/q/disk.img" "$work/runs" >"$work/fetched" 2>&1
first=$(find "$work/runs" -type d -name '*-0001') saved=$(find "$work/runs" -type d -name '*-0002')
for file in journal.jsonl results.json penalties.csv report.html machine.txt; do check "screen_saved_$file" cmp "$first/$file" "$saved/$file"; done

# Each row of penalties.csv stands on the screen: name, value (bandwidth in GB/s), unit, verdict, spread, ns, and as much of the
# proof as there is room for.
rows() {
	jq -r '.rows[] | (.unit == "bytes/s") as $rate | [.name, .value / (if $rate then 1e9 else 1 end), (if $rate then "GB/s" else .unit end), .status,
		.spread / (if $rate then 1e9 else 1 end), (.ns // "-"), .proof] | map(tostring) | join("|")' "$first/results.json" |
		awk -F '|' '{ printf "%-36s %11.3f %-6s  %-11s %9.3f %9s  %s\n", $1, $2, $3, $4, $5, $6 == "-" ? "-" : sprintf("%.3f", $6), $7 }' |
		awk 'length > 160 { $0 = substr($0, 1, 159) ">" } { print }' | sed 's/ *$//' >"$work/wanted"
	[ "$(wc -l <"$work/wanted")" -eq 5 ] || return 1
	# the same values as in the table for spreadsheets
	tail -n +2 "$first/penalties.csv" | cut -d, -f1,4 | diff - <(jq -r '.rows[] | "\(.name),\(.value)"' "$first/results.json" | sed -E 's/,([0-9]+)$/,\1.000/; s/(\.[0-9])$/\100/; s/(\.[0-9][0-9])$/\10/') || return 1
	sed -n 4,8p "$work/table.text" | diff "$work/wanted" -
}
check "screen_table_is_penalties_csv" rows
colours() { # the word "ok" is drawn in its colour
	local y
	for y in 3 4 5 6 7; do "$picture" line 7FD69B "$out/screen-table.ppm" $((y * 16 + 8)) | grep -q . || { echo "line $y"; return 1; }; done
}
check "screen_verdicts_have_their_colour" colours

# The staircase: x = 64 is 1 KiB, x = 1216 eight times the L3; y = 736 one cycle, y = 64 the power of two above all; both logarithmic.
places() {
	jq -r '(.machine.caches | map(select(.type != "I")) | sort_by(.level) | map(.bytes)) as $size | (.rows | map({(.name): .cycles}) | add) as $c |
		[[1024, $size[0], $c["load.l1.latency"]], [$size[0], $size[1], $c["load.l2.latency"]], [$size[1], $size[2], $c["load.l3.latency"]],
		 [$size[2], 8 * $size[2], $c["load.dram_local.latency"]]][] | map(tostring) | join(" ")' "$first/results.json" |
	awk '{ from[NR] = $1; to[NR] = $2; v[NR] = $3 } END {
		top = 2; for (i = 1; i <= NR; i++) while (top < v[i]) top *= 2
		for (i = 1; i <= NR; i++) {
			x0 = 64 + log(from[i] / 1024) / log(to[NR] / 1024) * 1152; x1 = 64 + log(to[i] / 1024) / log(to[NR] / 1024) * 1152
			printf "%d %.2f %.2f\n", (x0 + x1) / 2, 736 - log(v[i]) / log(top) * 672, i < NR ? x1 : 0
		}
	}' >"$work/places"
	[ "$(wc -l <"$work/places")" -eq 4 ]
}
check "screen_staircase_has_four_steps" places
stairs() { # stairs LOWER: each step, 3 pixels high, is at its place, which is LOWER pixels below the value's
	local x y mark
	while read -r x y mark; do
		"$picture" column 63A4E8 "$out/screen-stairs.ppm" "$x" |
			awk -v y="$y" -v x="$x" -v lower="$1" '{ if (NF != 3 || $1 < y + lower - 1.5 || $1 > y + lower + 1.5) { print "at x " x ": y " y " wanted, seen " $0; exit 1 } }' || return 1
		[ "$mark" = 0.00 ] || "$picture" line E0A84A "$out/screen-stairs.ppm" 704 | tr ' ' '\n' |
			awk -v m="$mark" '$1 != "" && $1 > m - 1.5 && $1 < m + 1.5 { found = 1 } END { exit !found }' || { echo "no mark at x $mark"; return 1; }
	done <"$work/places"
	[ "$("$picture" line E0A84A "$out/screen-stairs.ppm" 704 | wc -w)" -eq 3 ]
}
check "screen_staircase_is_where_the_values_are" stairs 0
check "screen_staircase_elsewhere_would_be_found" status 1 stairs 3

# No framebuffer: the same on the serial line.
mkfifo "$work/key.in" "$work/key.out"
exec 8<>"$work/key.in" 9<>"$work/key.out"
cat <&9 >/dev/null & reader=$!
runner/qemu.sh --work "$work/t" --limit 200 --options "end=menu backend=sim:nehalem-ep suite=$suite" --keys "$work/key" "$out/stallmeter.img" >"$work/boot" 2>&1 & guest=$!
log=$work/t/debugcon.log
check "text_menu_comes" within 150 grep -F "F back to the firmware: " "$log"
printf 'n' >&8
check "text_page_one_more_comes" within 30 grep -F "Bars are logarithmic" "$log"
printf 'p' >&8
check "text_page_back_comes" within 30 grep -F "Penalty table, rows" "$log"
sleep 1
printf 'ss' >&8
wait "$guest"
kill "$reader" 2>/dev/null
exec 8>&- 9>&-
# what a terminal on the line shows: without its escapes and the journal's copy
esc=$(printf '\033')
tr -d '\r' <"$work/t/serial.log" | sed "s/$esc\[[0-9;=?]*[A-Za-z]//g" | grep -a -v '^@sm ' | sed -n '/^Load to use over/,/^Bars are/p; /^Penalty table/,/^triad/p' >"$work/pages"
check "text_pages_on_the_serial_line_are_golden" diff tests/golden/pages.txt "$work/pages"
cp "$work/pages" "$out/pages.txt"
tap_end
