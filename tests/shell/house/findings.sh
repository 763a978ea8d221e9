#!/bin/bash
# Every test that docs/design/testing.md names is there: as it stands, or as the beginning of a name that a script or a program composes.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh

# What tests are called is in quotation marks, the name of a function, or an argument of a script's own function.
{ find tests -name '*.[cs]*'; find tests \( -name '*.c' -o -name '*.sh' \) -not -name findings.sh -exec cat {} +; } >"$work/tests"
exists() { # NAME: * stands for what is composed
	local whole=${1%%\**} name rest
	whole=${whole%_} name=$whole
	grep -qF -- "$whole" "$work/tests" && return
	while [ "$name" != "${name%_*}" ]; do
		name=${name%_*} rest=${whole#"$name"_}
		# of a name that has one word alone the rest must be an argument
		grep -qE -- "\b${name}_([\$]|%s)" "$work/tests" && { [ "$name" != "${name%_*}" ] || grep -qwE -- "${rest//_/[-_, ]}" "$work/tests"; } && return
	done
	return 1
}
named() { # PAGE
	local missing=0 n=0 name
	while read -r name; do
		n=$((n + 1))
		exists "$name" || { echo "$1 names $name, and no test is called so"; missing=$((missing + 1)); }
	done < <(grep -oE '`[a-z][A-Za-z0-9]*(_[A-Za-z0-9*]+){2,}`' "$1" | tr -d '`' | sort -u)
	echo "$n names"
	[ "$missing" -eq 0 ] && [ "$n" -gt "$2" ]
}
check "findings_name_tests_that_are_there" named docs/design/testing.md 150
# A name that nobody has is told.
planted() {
	sed 's/`test_known_program_has_its_counts`/`test_study_of_an_unknown_program`/' docs/design/testing.md >"$work/page.md" && named "$work/page.md" 0 && return 1
	[ "$(named "$work/page.md" 0 | grep -c 'test_study_of_an_unknown_program, and no test is called so')" -eq 1 ]
}
check "findings_a_name_that_nobody_has_is_told" planted
tap_end
