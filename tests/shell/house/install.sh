#!/bin/bash
# What is installed: version, manual pages, completion, and what make install puts where and make uninstall takes away.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
s=$out/stallmeter
make_() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s OUT="$out" "$@"; }

version=$(sed -n 's/^## \([0-9.]*\) .*/\1/p' CHANGELOG.md | head -n 1)
check "version_is_that_of_the_change_log" says 0 "^stallmeter ${version//./\\.}\$" "$s" --version
check "version_has_the_build" says 0 "^build ([0-9a-z.-]*-g)?[0-9a-f]{12}(-dirty)?\$|^build unknown\$" "$s" --version
check "version_has_the_formats" says 0 "^results.json and journal.jsonl: version $(jq .properties.version.const results/schema.json)\$" "$s" --version
check "version_is_that_of_the_packages" says 0 "^stallmeter \($version-[0-9]+\)" head -n 1 packaging/debian/changelog

check "make_man" make_ man
commands=$(sed -n 's/^COMMAND(\(.*\))$/\1/p' runner/commands/commands.def)
pages_render() {
	local c
	for c in "" $commands; do
		MANWIDTH=80 LC_ALL=C man --warnings -E ascii -l "$out/man/stallmeter${c:+-$c}.1" >"$work/page" 2>"$work/warnings" || return 1
		[ ! -s "$work/warnings" ] || { cat "$work/warnings"; return 1; }
		grep -q "^SYNOPSIS" "$work/page" || { echo "$c: no synopsis"; return 1; }
	done
}
check "manual_pages_render_without_a_warning" pages_render
# Each option of --help stands on the page, with the words of its help.
words() { tr -cs '[:alnum:]' ' ' | tr -s ' ' | sed 's/^ //;s/ $//'; }
pages_hold_the_help() {
	local c option
	for c in $commands; do
		MANWIDTH=1000 LC_ALL=C man -E ascii -l "$out/man/stallmeter-$c.1" 2>/dev/null | words >"$work/page"
		"$s" "$c" --help | sed -n '/^Options:/,/^  --help/{s/^  \(--[a-z-]*\).*/\1/p}' >"$work/options"
		while read -r option; do
			"$s" "$c" --help | sed -n "s/^  \($option [^(]*\).*/\1/p" | words >"$work/line"
			grep -qF -f "$work/line" "$work/page" || { echo "$c: not on its page: $(cat "$work/line")"; return 1; }
		done <"$work/options"
	done
}
check "manual_pages_hold_what_help_says" pages_hold_the_help
check "manual_page_of_no_command_is_refused" refuses '"nothing": no such command; allowed: run' "$s" --man nothing

check "completion_is_bash" bash -n "$out/man/completion"
complete_() { # complete_ WORD...: what bash offers for the last word
	(
		PATH=$(cd "$out" && pwd):$PATH
		. "$out/man/completion"
		COMP_WORDS=(stallmeter "$@") COMP_CWORD=$#
		_stallmeter stallmeter "${!#}" "${COMP_WORDS[COMP_CWORD-1]}"
		printf '%s\n' "${COMPREPLY[@]}"
	)
}
offers() { local want=$1; shift; complete_ "$@" | grep -x -- "$want"; }
check "completion_offers_commands" offers replay rep
check "completion_offers_options" offers --backend run --ba
check "completion_offers_choices" offers native run --backend na
check "completion_offers_machines" offers haswell-ep run --machine has
offers_nothing() { [ -z "$(complete_ "$@")" ]; }
check "completion_offers_no_file_for_a_number" offers_nothing run --seed ""

check "make_install" make_ install PREFIX=/opt/it DESTDIR="$work/root"
check "installed_command_runs" says 0 "load.l1.latency" "$work/root/opt/it/bin/stallmeter" run --backend sim --suite load.l1.latency --out "$work/run"
check "installed_image_is_the_image" cmp "$out/stallmeter.img" "$work/root/opt/it/share/stallmeter/stallmeter.img"
check "installed_manual_is_found" sh -c 'MANPATH="$1" man -w stallmeter-account' - "$work/root/opt/it/share/man"
check "installed_manual_of_the_library_renders" sh -c 'MANWIDTH=80 LC_ALL=C man --warnings -E ascii -l "$1" 2>&1 >/dev/null | grep . && exit 1 || exit 0' - "$work/root/opt/it/share/man/man3/stallmeter_sim.3"
# The example builds against what is installed, and drives a PMU.
example() {
	cp "$work/root/opt/it/share/doc/stallmeter/library.c" "$work/example.c" && [ "$(wc -l <"$work/example.c")" -le 40 ] || return 1
	(cd "$work" && cc -Wall -Wextra -Werror -o example example.c $(PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$work/root/opt/it/lib/pkgconfig \
		pkg-config --cflags --libs stallmeter_sim)) || return 1
	"$work/example" >"$work/told" && cat "$work/told"
	awk '/^instructions/ { gsub(",", ""); if ($2 != $4 || $4 < 990000 || $7 < 0.88 * $2 * 16 / 18) exit 1; counted = 1 } /^wrmsr 0x38f: unmapped: counter 0/ { told = 1 }
		END { exit !(counted && told) }' "$work/told"
}
if command -v pkg-config >/dev/null; then check "library_example_builds_and_runs" example; else skip "library_example_builds_and_runs" "no pkg-config"; fi
only_its_names() { nm -g --defined-only "$work/root/opt/it/lib/libstallmeter_sim.a" | awk 'NF == 3 { print $3 }' | grep -v '^stallmeter_sim_' && return 1; return 0; }
check "library_shows_the_names_of_its_header_alone" only_its_names
if command -v rdmsr >/dev/null; then check "installed_command_simulates" says 0 '^32c4$' "$work/root/opt/it/bin/stallmeter" simulate -- rdmsr 0x345; else skip "installed_command_simulates" "no msr-tools"; fi
check "make_uninstall" make_ uninstall PREFIX=/opt/it DESTDIR="$work/root"
nothing_left() { find "$work/root" -type f | grep . && return 1; return 0; }
check "uninstall_leaves_no_file" nothing_left
tap_end
