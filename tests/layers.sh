#!/bin/sh
# The house held together. Floors: tables, asm 0 < pmu, pmu/sim 1 < bench 3 < efi, runner 4; tests see all.
#   1. Each #include "dir/..." and %include goes to its own floor or a lower one, and within a floor to its own room or an earlier one
#      (tests/rooms.txt): so there is no cycle. What an object leaves undefined is defined in such a room too, as nm says of the objects under
#      $OUT (default out), where something is built; the check wants that. efi/bios is a program of its own: of efi it has uefi.h, exit.h and vectors.inc alone, and
#      nobody has anything of it. pmu/sim and pmu's drivers share access.h, base.h and text.h and nothing else, tests/expect knows nothing of pmu/sim.
#   2. No event name and no model number of any processor, and no name of a processor or simulated machine, stands in code outside tables/:
#      the names are read from the tables. Comments may speak of them.
#   3. A folder has at most 30 files, a file at most 500 lines, a function of the product at most 80, its first and last line included. Corpora and golden
#      files of tests may be longer.
#   4. A public function begins with the name of its file, of its room, or of the struct or enum of a header that it is about (those of pmu/sim are
#      for pmu/sim alone); the words that every room knows (memory, text, documents, print) are listed here.
# tests/exceptions.txt has what does not hold yet, with the reason; a line that is no longer needed is refused.
cd "$(dirname "$0")/.." || exit 2
bad=0
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
exceptions=tests/exceptions.txt
sources() { find "$@" \( -name '*.[ch]' -o -name '*.asm' -o -name '*.inc' -o -name '*.def' \) | sort; }
sources asm tables pmu bench efi runner tests >"$work/all"
sources asm pmu bench efi runner >"$work/product"
find tests -name '*.sh' -o -name '*.[ch]' -o -name '*.asm' | sort >"$work/tests"

# --- 1. who includes whom ---------------------------------------------------------------------------
# shellcheck disable=SC2046
awk '
function floor_of(path) {
	if (path ~ /^pmu\/sim\//) return "sim"
	if (path ~ /^efi\/bios\//) return "bios"
	sub(/\/.*/, "", path); return path
}
function room_of(path) { sub(/\/[^\/]*$/, "", path); return path }
BEGIN {
	floor["tables"] = 0; floor["asm"] = 0; floor["pmu"] = 1; floor["sim"] = 1
	floor["bench"] = 3; floor["efi"] = floor["bios"] = 4; floor["runner"] = 4; floor["tests"] = 5
	common["pmu/base.h"] = common["pmu/text.h"] = common["pmu/access.h"] = 1
}
FILENAME == "tests/rooms.txt" { if (NF && $1 !~ /^#/) rank[$1] = ++rooms; next }
FNR == 1 && !(room_of(FILENAME) in rank) && FILENAME ~ /^(pmu|bench|efi|runner)\// && FILENAME !~ /^efi\/bios\// && !told[room_of(FILENAME)]++ {
	printf "%s: no room of tests/rooms.txt\n", room_of(FILENAME); bad = 1
}
FILENAME ~ /\.c$/ && FILENAME !~ /^tests\// && /^[ \t]*extern[^"]*\(/ { printf "%s:%d: declares a function of another file: include its header\n", FILENAME, FNR; bad = 1 }
match($0, /^[ \t]*[#%]include[ \t]+"[^"]+"/) {
	target = $0; sub(/^[^"]*"/, "", target); sub(/".*/, "", target)
	from = floor_of(FILENAME); to = floor_of(target); here = room_of(FILENAME); there = room_of(target)
	if (!(to in floor)) { printf "%s:%d: includes \"%s\": name the room, as in \"pmu/base.h\"\n", FILENAME, FNR, target; bad = 1; next }
	if (floor[to] > floor[from]) { printf "%s:%d: %s may not include %s: a higher floor\n", FILENAME, FNR, from, target; bad = 1 }
	if (here in rank && there in rank && rank[there] > rank[here]) { printf "%s:%d: %s may not include %s: a later room of tests/rooms.txt\n", FILENAME, FNR, here, target; bad = 1 }
	if (from == "bios" && to != "bios" && target !~ /^(efi\/firmware\/(uefi|exit)|pmu\/(base|text))\.h$|^efi\/processor\/vectors\.inc$/) { printf "%s:%d: the BIOS loader may not include %s\n", FILENAME, FNR, target; bad = 1 }
	else if (floor[from] == 4 && floor[to] == 4 && from != to && from != "bios") { printf "%s:%d: %s may not include %s: next door\n", FILENAME, FNR, from, target; bad = 1 }
	if (from == "sim" && (to == "pmu" || to == "tables") && !(target in common)) { printf "%s:%d: the simulated machine may not include %s: the drivers\047 room\n", FILENAME, FNR, target; bad = 1 }
	if ((from == "pmu" || from == "bench") && to == "sim") { printf "%s:%d: %s may not include %s: the truth must stay apart\n", FILENAME, FNR, from, target; bad = 1 }
	if (FILENAME ~ /^tests\/expect\// && to == "sim") { printf "%s:%d: an expectation may not include %s\n", FILENAME, FNR, target; bad = 1 }
}
END { exit bad }
' tests/rooms.txt $(cat "$work/all") || bad=1

# The folders of tests have no order, and no cycle either.
# shellcheck disable=SC2046
awk -F'"' 'function room_of(path) { sub(/\/[^\/]*$/, "", path); return path }
/^#include "tests\// && room_of(FILENAME) != room_of($2) { print room_of(FILENAME), room_of($2) }' $(grep '^tests/.*[.][ch]$' "$work/all") | sort -u >"$work/folders"
tsort "$work/folders" >/dev/null 2>"$work/cycle" || { echo "folders of tests include each other in a cycle: $(sed -n '2,$s/^tsort: //p' "$work/cycle" | tr '\n' ' ')"; bad=1; }

# ... and who refers to whose functions and data; what the compiler calls of a C library is not the application's own for others.
out=${OUT:-out}
[ -d "$out/pmu" ] || echo "layers.sh: nothing is built under $out: calls between rooms are not looked at (make host)"
grep -E '^(pmu|bench|efi|runner)/.*[.]c$' "$work/product" | grep -vE '^efi/bios/|^runner/shim/shim.c' >"$work/compiled"
while read -r f; do
	if [ -f "$out/${f%.c}.o" ]; then echo "$out/${f%.c}.o"; else case $f in efi/*) ;; *) echo "$f" >>"$work/missing";; esac; fi
done <"$work/compiled" >"$work/objects"
if [ -d "$out/pmu" ] && [ -f "$work/missing" ]; then
	echo "$out has no object of $(head -1 "$work/missing") ($(wc -l <"$work/missing") are missing): make host makes them"; bad=1
fi
[ ! -d "$out/pmu" ] || xargs nm -A -g <"$work/objects" 2>/dev/null | sed "s|^$out/||; s|\.o:[0-9a-f]*| |" | awk '
function room_of(path) { sub(/\/[^\/]*$/, "", path); return path }
FILENAME == "tests/rooms.txt" { if (NF && $1 !~ /^#/) rank[$1] = ++rooms; next }
$2 == "U" { user[++users] = $1; wants[users] = $3; next }
$2 ~ /^[TDBRCVW]$/ { if ($1 ~ /^efi\//) application[$3] = $1; else definer[$3] = $1; next }
END {
	for (i = 1; i <= users; i++) {
		from = user[i]; name = wants[i]
		to = from ~ /^efi\// && name in application ? application[name] : name in definer ? definer[name] : ""
		if (to == "" || room_of(to) == room_of(from))
			continue
		arrows++
		if (rank[room_of(to)] > rank[room_of(from)]) { printf "%s.c: uses %s of %s.c: a later room of tests/rooms.txt\n", from, name, to; bad = 1 }
		else if (from ~ /^pmu\/sim\// && to !~ /^pmu\/sim\// && to != "pmu/text") { printf "%s.c: the simulated machine may not use %s of %s.c\n", from, name, to; bad = 1 }
		else if (from ~ /^bench\// && to ~ /^pmu\/sim\//) { printf "%s.c: uses %s of %s.c: the truth must stay apart\n", from, name, to; bad = 1 }
	}
	if (!arrows) { print "tests/layers.sh: no object refers to another"; bad = 1 }
	exit bad
}
' tests/rooms.txt - || bad=1

# --- 2. names that only tables may have ------------------------------------------------------------------
{
	# the first column, of types of boxes the second behind the prefix of its section; what is behind a dot is a unit of it
	find tables/processors -name '*events*.csv' -o -name 'netburst-*.csv' -o -name 'uncore-metrics.csv' -o -path '*/common/events/*.csv' | sort | while read -r f; do
		awk -F, -v prefixes="$(dirname "$f")/uncore.txt" '
		BEGIN { while ((getline line < prefixes) > 0) { if (line ~ /^\[/) { box = line; gsub(/[][]/, "", box) } if (line ~ /^prefix = /) { sub(/^prefix = /, "", line); prefix[box] = line } } }
		/^#/ || !NF { next }
		!head { head = 1; boxes = $1 == "box"; next }
		{ print boxes ? prefix[$1] $2 : $1 }' "$f"
	done
	awk -F, '!/^#/ && FNR > 1 { print $2 }' tables/processors/*/concepts.csv | tr '+:-' '\n\n\n'
	# the simulated machines' maps have names of their own
	awk -F, '/^#/ || !NF { next } FILENAME != file { file = FILENAME; for (i = 1; i <= NF; i++) if ($i == "name") column = i; next } { print $column }' tables/machines/maps/*.map tables/machines/maps/uncore/*.map
} | sed 's/"//g' | awk '{ print } index($0, ".") > 1 { print substr($0, 1, index($0, ".") - 1) }' | grep -E '[_.]' | grep -E '^.{6}' | sort -u >"$work/events"
{
	find tables/processors -mindepth 1 -maxdepth 1 -type d ! -name common -printf '%f\n'
	find tables/machines -name '*.machine' -printf '%f\n' | sed 's/\.machine$//'
} | sort -u >"$work/names"
[ -s "$work/events" ] && [ -s "$work/names" ] || { echo "tests/layers.sh: no names in the tables"; exit 1; }

# shellcheck disable=SC2046
awk -v eventfile="$work/events" -v namefile="$work/names" '
# The line without comments; those over several lines are remembered.
function code(line,    out, at, text) {
	out = ""
	while (line != "") {
		if (inside) { at = index(line, "*/"); if (!at) return out; line = substr(line, at + 2); inside = 0; continue }
		if (match(line, /^"([^"\\]|\\.)*"/)) { out = out substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1); continue }
		text = substr(line, 1, 2)
		if (text == "/*") { inside = 1; line = substr(line, 3); continue }
		if (text == "//") return out
		if (FILENAME ~ /\.(asm|inc)$/ && substr(line, 1, 1) == ";") return out
		out = out substr(line, 1, 1); line = substr(line, 2)
	}
	return out
}
function refuse(what) { printf "%s\t%s:%d: %s\n", FILENAME, FILENAME, FNR, what }
BEGIN {
	while ((getline line < eventfile) > 0) { event[line] = 1; event[toupper(line)] = 1 }
	while ((getline line < namefile) > 0) name[line] = 1
}
FNR == 1 { inside = 0 }
{
	line = code($0)
	if (line ~ /^[ \t]*#[ \t]*include/) next
	rest = line
	while (match(rest, /"([^"\\]|\\.)*"/)) {
		text = substr(rest, RSTART + 1, RLENGTH - 2); rest = substr(rest, RSTART + RLENGTH)
		words = text
		while (match(words, /[A-Za-z0-9][A-Za-z0-9_.]*/)) {
			word = substr(words, RSTART, RLENGTH); dollar = RSTART > 1 && substr(words, RSTART - 1, 1) == "$"; words = substr(words, RSTART + RLENGTH); sub(/\.$/, "", word)
			base = word; sub(/\..*/, "", base)
			if (!dollar && (word in event || (word ~ /[.]/ && toupper(word) in event) || (base in event && base != word))) refuse("\"" word "\" is an event of a processor: ask for a concept")
		}
		words = text
		while (match(words, /[a-z0-9][a-z0-9-]*/)) {
			word = substr(words, RSTART, RLENGTH); words = substr(words, RSTART + RLENGTH)
			if (word in name) refuse("\"" word "\" is a processor or a machine of tables/")
		}
	}
	gsub(/"([^"\\]|\\.)*"/, "", line)
	words = line
	while (match(words, /[A-Z][A-Z0-9_]*[_.][A-Za-z0-9_.]*/)) { # as a macro would make a string of it
		word = substr(words, RSTART, RLENGTH); words = substr(words, RSTART + RLENGTH)
		if (word ~ /\./ && word in event) refuse(word " is an event of a processor: ask for a concept")
	}
	if (line ~ /(model|signature)\)*[ \t]*([&][ \t]*[0-9A-Za-zx]+\)*[ \t]*)?([=!]=|[<>]=?)[ \t]*(0x[0-9A-Fa-f]+|[0-9]+)/ || line ~ /(^|[^A-Za-z0-9_])(0x[0-9A-Fa-f]+|[0-9]+)[uUlL]*[ \t]*([=!]=|[<>]=?)[ \t(]*[A-Za-z_.>-]*(model|signature)/ ||
	    line ~ /switch[ \t]*\(.*(model|signature)/ || line ~ /(model|signature)\)*[ \t]*([=!]=|[<>]=?)[ \t]*[A-Z][A-Z0-9_]+([^a-z(]|$)/ || line ~ /(model|signature)s?\[[^]]*\][ \t]*=[ \t]*\{[ \t]*[0-9]/)
		refuse("compares a processor\047s model with a number: a fact for tables/")
}
' $(cat "$work/product") >"$work/refused"

# --- 3. sizes ----------------------------------------------------------------------------------------
find asm tables pmu bench efi runner docs packaging results tests -type d ! -path 'tests/fuzz/seeds/*' | while read -r d; do
	n=$(find "$d" -maxdepth 1 -type f | wc -l)
	[ "$n" -le 30 ] || printf '%s\t%s: %d files, at most 30\n' "$d" "$d" "$n"
done >>"$work/refused"
# shellcheck disable=SC2046
awk '
function over() { if (lines > 500) printf "%s:lines\t%s: %d lines, at most 500\n", file, file, lines }
FNR == 1 { ended(); over(); file = FILENAME; name = "" }
{ lines = FNR }
/^[A-Za-z_].*\(/ && !/[;}\\][ \t]*$/ && FILENAME ~ /\.[ch]$/ { name = $0; gsub(/__attribute__\(\([^)]*\)\)/, "", name); sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); start = FNR }
/^}/ && name != "" { n = FNR - start + 1; if (n > 80 && FILENAME !~ /^tests\//) printf "%s:%s\t%s:%d: %s has %d lines, at most 80\n", FILENAME, name, FILENAME, start, name, n; name = "" }
FILENAME ~ /\.py$/ && /^[^ \t\n#)\]}]/ { ended(); if ($1 == "def") { name = $2; sub(/\(.*/, "", name); start = FNR } }
FILENAME ~ /\.py$/ && /[^ \t]/ { last = FNR }
function ended() { if (name != "" && last - start + 1 > 80) printf "%s:%s\t%s:%d: %s has %d lines, at most 80\n", file, name, file, start, name, last - start + 1; name = "" }
END { ended(); over() }
' $(cat "$work/product") $(cat "$work/tests") $(find runner packaging -name '*.sh') Makefile $(find tables -maxdepth 1 -name '*.py') >>"$work/refused"

# --- 4. names of public functions ------------------------------------------------------------------------
# shellcheck disable=SC2046
{
	grep -hoE '^(struct|enum) [a-z_0-9]+' $(find pmu bench efi runner tables -name '*.h' -not -path 'pmu/sim/*') | sort -u
	grep -hoE '^(struct|enum) [a-z_0-9]+' $(find pmu/sim -name '*.h') | sed 's/^/sim /' | sort -u
	find pmu bench efi runner -name '*.c' -not -path 'efi/bios/*'
} | awk '
function singular(word) { sub(/s$/, "", word); return word }
BEGIN { n = split("mem str fnv1a64 parse print page physical doc mul complain", list, " "); while (n) known[list[n--]] = 1 }
/^(struct|enum) / { known[singular($2)] = 1; next }
/^sim / { simulated[singular($3)] = 1; next }
{
	file = base = room = $0; sub(/.*\//, "", base); sub(/\.c$/, "", base); sub(/\/[^\/]*$/, "", room); sub(/.*\//, "", room)
	word = base; sub(/_.*/, "", word); number = 0
	while ((getline line < file) > 0) {
		number++
		sub(/^(OWN_PAGE|__attribute__\(\([a-z]+\)\)) /, "", line)
		if (line !~ /^[a-z].*\(/ || line ~ /^(static|typedef|extern)/ || line ~ /;[ \t]*$/) continue
		name = line; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name); part = name; sub(/_.*/, "", part); part = singular(part)
		if (index(name, base) == 1 || part == singular(word) || part == singular(room) || name ~ /^mem(cpy|move|set|cmp)$/) continue
		n = split(name, words, "_"); first = ""; found = 0
		for (i = 1; i <= n && !found; i++) { first = first (i > 1 ? "_" : "") words[i]; found = singular(first) in known || (file ~ /^pmu\/sim\// && singular(first) in simulated) }
		if (!found) printf "%s:%s\t%s:%d: %s: begins with the name neither of its file, nor of its room, nor of a struct\n", file, name, file, number, name
	}
	close(file)
}' >>"$work/refused"

# --- what does not hold yet ------------------------------------------------------------------------------
awk -F'\t' -v known="$exceptions" '
BEGIN { while ((getline line < known) > 0) { if (line ~ /^#/ || line == "") continue; key = line; sub(/[ \t].*/, "", key); allowed[key] = 1; reason = line; if (sub(/^[^ \t]+[ \t]+/, "", reason) == 0) { printf "%s: %s: no reason\n", known, key; bad = 1 } } }
{ if ($1 in allowed) used[$1] = 1; else { print $2; bad = 1 } }
END { for (key in allowed) if (!(key in used)) { printf "%s: %s: no longer needed\n", known, key; bad = 1 }; exit bad }
' "$work/refused" || bad=1
exit $bad
