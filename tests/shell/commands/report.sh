#!/bin/bash
# report.html: what the suite writes and what `stallmeter report` draws are the same; opened in headless Chromium at two
# widths it has its parts, overflows nowhere, says nothing on the console and asks for nothing else. Screenshots: $OUT/report-*.png.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter

check "report_full_run" full_run
run=$full
page=$run/report.html
check "report_is_at_most_1_mib" test "$(stat -c %s "$page")" -le 1048576
"$s" report "$run" --out "$work/again.html" >/dev/null
check "report_drawn_again_is_the_same" cmp "$page" "$work/again.html"
head -c "$(($(stat -c %s "$run/journal.jsonl") - 700))" "$run/journal.jsonl" >"$work/journal.jsonl"
check "report_of_a_cut_journal_says_so" says 0 "journal.jsonl: cut short: read up to line [0-9]+, byte [0-9]+" "$s" report "$work/journal.jsonl" --out "$work/cut.html"
check "report_of_a_cut_journal_shows_it" grep -E 'Incomplete results: cut short: read up to line' "$work/cut.html"
check "report_escapes_strings" sh -c 'grep -q "&lt;script&gt;x&lt;/script&gt;" "$1" && ! grep -qi "<script" "$1"' - "$page"
"$s" run --backend sim --machine alder-lake --suite load.l2.latency --out "$work/hybrid" >/dev/null
"$s" report "$work/hybrid"/* --out "$work/hybrid.html" >/dev/null
beside() { tr -d '\n' <"$work/hybrid.html" | grep -oE "<tr[^>]*>.{0,40}load\.l2\.latency@$1.*" | grep -oE '<td class="n">[0-9]+ cycles</td>' | head -1; }
check "report_shows_published_figures_of_large_cores" test "$(beside p)" = '<td class="n">15 cycles</td>'
check "report_shows_published_figures_of_small_cores" test "$(beside e)" = '<td class="n">20 cycles</td>'
check "report_refers_to_nothing" sh -c '! grep -nEi "https?:|src=|url\(|@import|<link [^>]*href=\"[^d]" "$1"' - "$page"
mkdir "$work/empty"
check "report_refuses_no_operand" refuses "one run is expected" "$s" report
check "report_refuses_an_empty_folder" refuses "neither results.json nor journal.jsonl" "$s" report "$work/empty"
check "report_refuses_a_foreign_file" refuses 'report.html:1:[0-9]+: ' "$s" report "$page"

# The guest makes the files of a journal that has its end anew: so it draws the report of a full run without running one.
in_the_guest() {
	export MTOOLS_SKIP_CHECK=1
	cp --sparse=always "$out/stallmeter.img" "$work/disk.img" && mmd -i "$work/disk.img@@1M" "::/stallmeter/results/$(basename "$run")" &&
		mcopy -i "$work/disk.img@@1M" "$run/journal.jsonl" "::/stallmeter/results/$(basename "$run")/" || return 1
	echo "label = $full_label" >"$work/stallmeter.ini"
	mcopy -o -i "$work/disk.img@@1M" "$work/stallmeter.ini" ::/stallmeter/ || return 1
	runner/qemu.sh --work "$work/q" --limit 300 --options 'end=exit backend=sim:nehalem-ep suite=full' "$work/disk.img" || return 1
	runner/fetch.sh "$work/q/disk.img" "$work/fetched" || return 1
	cmp "$page" "$(find "$work/fetched" -name report.html)" || return 1
	sed -n 's/^drawn and written: report.html, \([0-9]*\) bytes in \([0-9]*\) ms.*/\1 \2/p' "$work/q/debugcon.log" | tee "$work/drawn"
	read -r bytes ms <"$work/drawn" && [ "$bytes" -eq "$(stat -c %s "$page")" ] && [ -n "$ms" ]
}
check "report_of_a_full_run_in_the_guest" in_the_guest
awk '{ print "# written there in " $2 " ms" }' "$work/drawn"

chromium=$(command -v chromium || command -v chromium-browser)
if [ -z "$chromium" ]; then skip "report_in_a_browser" "no chromium"; tap_end; exit; fi
scheme=1 # Blink's preferredColorScheme: 0 dark, 1 light
browser() {
	timeout 120 "$chromium" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking \
		--disable-component-update --disable-sync --host-resolver-rules='MAP * ~NOTFOUND' --user-data-dir="$work/profile" --enable-logging=stderr \
		--blink-settings="preferredColorScheme=$scheme" "$@"
}
# look PAGE WIDTH: what a frame of that width with the page shows, one line a finding, in $work/look; the console in $work/console
look() {
	{
		printf '<!DOCTYPE html><iframe id=f width=%d height=900 style="border:0" srcdoc="' "$2"
		sed 's/&/\&amp;/g; s/"/\&quot;/g' "$1"
		cat <<'END'
"></iframe><pre id=found></pre><script>
addEventListener("load", () => {
  const d = f.contentDocument, e = d.documentElement, lines = [];
  lines.push("overflow " + Math.max(0, e.scrollWidth - e.clientWidth));
  let cut = 0;
  for (const x of d.querySelectorAll("body *")) {
    if (x.closest(".scroll") || x.closest("svg")) continue;
    if (x.getBoundingClientRect().right > e.clientWidth + 1) cut++;
  }
  lines.push("beyond " + cut);
  let out = 0;
  for (const svg of d.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    for (const x of svg.querySelectorAll("rect,text,path,polyline,circle")) {
      const b = x.getBoundingClientRect();
      if (b.left < box.left - 1 || b.right > box.right + 1 || b.top < box.top - 1 || b.bottom > box.bottom + 1) out++;
    }
  }
  lines.push("outside-figures " + out);
  lines.push("requests " + f.contentWindow.performance.getEntriesByType("resource").length);
  lines.push("rows " + d.querySelectorAll("#penalties ~ .scroll tbody tr").length);
  for (const id of ["penalties", "latencies", "methods", "histograms", "cores", "bandwidth", "curves", "accounting", "trust", "rejected", "machine"])
    lines.push("section " + id + " " + !!d.getElementById(id));
  // a narrow window's first sight of the table: every verdict, and no name broken but behind a dot or an operator
  const table = d.querySelector("#penalties ~ .scroll table");
  let hidden = 0, broken = 0;
  for (const x of table ? table.querySelectorAll("tbody .v") : []) if (x.getBoundingClientRect().right > e.clientWidth) hidden++;
  for (const th of table ? table.querySelectorAll("tbody th") : []) {
    const range = d.createRange();
    let before = "", y = 0;
    for (const node of th.childNodes) {
      for (let i = 0; i < (node.data || "").length; i++) {
        range.setStart(node, i); range.setEnd(node, i + 1);
        const at = range.getBoundingClientRect();
        if (y && at.top > y + 2 && !".+-:".includes(before)) broken++;
        y = at.top; before = node.data[i];
      }
    }
  }
  lines.push("verdicts-hidden " + hidden, "names-broken " + broken);
  const links = [...d.querySelectorAll("header nav a")];
  lines.push("contents " + (links.length >= 8 && links.every(a => d.getElementById(a.getAttribute("href").slice(1)))));
  lines.push("figures " + d.querySelectorAll("figure > svg[role=img][aria-labelledby]").length);
  lines.push("bare-figures " + [...d.querySelectorAll("svg")].filter(s => !s.querySelector("title") || !s.querySelector("desc") || !s.parentNode.querySelector("figcaption")).length);
  lines.push("bare-tables " + [...d.querySelectorAll("table")].filter(t => !t.caption || !t.querySelector("th[scope=col]")).length);
  lines.push("scripts " + d.scripts.length + " bold " + d.querySelectorAll("#summary b").length);
  const luminance = c => { const v = c.match(/\d+/g).slice(0, 3).map(x => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const ground = luminance(f.contentWindow.getComputedStyle(d.body).backgroundColor);
  let least = 99;
  for (const x of d.querySelectorAll("h1, p, td, caption, .v, figcaption, p.why")) {
    const l = luminance(f.contentWindow.getComputedStyle(x).color);
    least = Math.min(least, (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05));
  }
  lines.push("dark " + (ground < 0.1));
  lines.push("contrast " + (least >= 4.5 ? "good" : "bad " + least));
  found.textContent = "\n" + lines.join("\n") + "\n";
});
</script>
END
	} >"$work/frame.html"
	browser --window-size=1700,1000 --dump-dom "file://$work/frame.html" 2>"$work/console" | sed -n '/<pre id="found">/,/<\/pre>/p' | sed 's/<[^>]*>//g' >"$work/look"
	grep -q '^contrast' "$work/look"
}
found() { grep -Fx -- "$1" "$work/look" >/dev/null || { cat "$work/look"; return 1; }; }
quiet() { ! grep -E 'CONSOLE|Refused to|ERR_' "$work/console"; }
for width in 360 1600; do
	check "report_opens_at_$width" look "$page" "$width"
	check "report_overflows_nowhere_at_$width" sh -c 'grep -qx "overflow 0" "$1" && grep -qx "beyond 0" "$1" || { cat "$1"; exit 1; }' - "$work/look"
	check "report_figures_hold_their_content_at_$width" found "outside-figures 0"
	check "report_console_is_silent_at_$width" quiet
	check "report_asks_for_nothing_at_$width" found "requests 0"
	check "report_verdicts_are_in_sight_at_$width" found "verdicts-hidden 0"
	check "report_names_are_whole_at_$width" found "names-broken 0"
	check "report_begins_with_contents_at_$width" found "contents true"
	check "report_contrast_at_$width" found "contrast good"
done
rows=$(jq '.rows | length' "$run/results.json")
check "report_has_every_row" found "rows $rows"
for id in penalties latencies methods histograms cores bandwidth curves accounting trust rejected machine; do check "report_has_section_$id" found "section $id true"; done
sources=$(jq '[.rows[].latency_event.sources // {} | length] | add' "$run/results.json")
check "report_has_a_figure_for_each_source" sh -c '[ "$(sed -n "s/^figures //p" "$1")" -ge "$2" ]' - "$work/look" $((sources + 6))
check "report_figures_are_described" found "bare-figures 0"
check "report_tables_are_described" found "bare-tables 0"
check "report_strings_stay_text" found "scripts 0 bold 0"
scheme=0
check "report_opens_dark" look "$page" 1000
check "report_is_dark" found "dark true"
check "report_contrast_dark" found "contrast good"
scheme=1

# The reason that rows share is said in one row, to which the others refer.
"$s" run --backend sim --machine pentium4 --suite load.l1.latency,load.l3.latency,load.l3.penalty,triad.l3.bandwidth --out "$work/reason" >/dev/null
once() { [ "$(grep -o "no L3 cache[^<]*</small></td>" "$1" | wc -l)" -eq 1 ] && [ "$(grep -c '<small>as <a href="#row-load.l3.latency">' "$1")" -eq 2 ]; }
check "report_says_a_common_reason_once" once "$(echo "$work"/reason/*/report.html)"

# The same questions of a page with all faults: each is found.
cat >"$work/bad.html" <<'END'
<!DOCTYPE html><html><body style="background:#fff"><h2 id=penalties></h2><div class=scroll><table style="width:300px;table-layout:fixed;overflow-wrap:anywhere"><tbody>
<tr><th style="width:40px">load.l1.latency</th><td style="width:600px"></td><td><span class=v>ok</span></td></tr></tbody></table></div><p style="color:#ccc">pale</p><div style="width:3000px">wide</div>
<img src="http://nowhere.invalid/x.png"><svg width=10 height=10><rect width=50 height=5></rect></svg><script>console.error("said")</script></body></html>
END
look "$work/bad.html" 360
check "report_faults_are_found_overflow" sh -c '! grep -qx "overflow 0" "$1"' - "$work/look"
check "report_faults_are_found_verdict" found "verdicts-hidden 1"
check "report_faults_are_found_name" sh -c '! grep -qx "names-broken 0" "$1"' - "$work/look"
check "report_faults_are_found_contents" found "contents false"
check "report_faults_are_found_request" sh -c '! grep -qx "requests 0" "$1"' - "$work/look"
check "report_faults_are_found_figure" found "outside-figures 1"
check "report_faults_are_found_contrast" sh -c '! grep -qx "contrast good" "$1"' - "$work/look"
check "report_faults_are_found_console" sh -c 'grep -q CONSOLE "$1"' - "$work/console"

shot() { browser --window-size="$2,$3" --screenshot="$out/report-$1.png" "file://$page" >/dev/null 2>&1; [ -s "$out/report-$1.png" ]; }
scheme=0
check "report_screenshot_dark" shot dark 1300 9000
scheme=1
check "report_screenshot_light" shot light 1600 9000
check "report_screenshot_narrow" shot narrow 500 9000
print_it() { browser --no-pdf-header-footer --print-to-pdf="$out/report.pdf" "file://$page" >/dev/null 2>&1; head -c 5 "$out/report.pdf" | grep %PDF; }
check "report_prints" print_it
if command -v pdftotext >/dev/null; then # nothing is cut off at the right: the last column's words are all there
	printed() { pdftotext -layout "$out/report.pdf" - | tr -d ' \n' >"$work/printed"; for word in MEM_UNCORE_RETIRED.LOCAL_DRAM DTLB_LOAD_MISSES.WALK_COMPLETED0.000perload; do grep -q "$word" "$work/printed" || { echo "$word"; return 1; }; done; }
	check "report_prints_its_last_column" printed
else
	skip "report_prints_its_last_column" "no pdftotext"
fi
tap_end
