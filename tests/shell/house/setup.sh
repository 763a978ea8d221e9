#!/bin/bash
# runner/setup.sh: what it says where it cannot install, and that it is quiet when all is there.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
quiet() { runner/setup.sh test >"$work/all" 2>&1 && [ ! -s "$work/all" ]; }
check "setup_is_quiet_when_all_is_there" quiet
check "setup_refuses_unknown_need" refuses '"everything": not a need; allowed: build image run sign serve deb test' runner/setup.sh everything
cat >"$work/packages.txt" <<'END'
# comment
gone-package|gone-too   build  gone-command   a-tool
gcc                     build  sh             compiler
late-package            test   /gone/file*    a-file
END
echo 'ID=fedora' >"$work/fedora"
export STALLMETER_PACKAGES=$work/packages.txt
other() { STALLMETER_OS_RELEASE=$work/fedora runner/setup.sh "$@"; }
check "setup_elsewhere_lists_what_is_missing" says 1 "gone-package +gone-command +a-tool" other build
check "setup_elsewhere_says_why" says 1 "neither Debian nor Ubuntu" other build
only_gone() { other build 2>&1 | grep -q -e gcc -e late && { echo "lists what is there"; return 1; }; return 0; }
check "setup_lists_only_what_is_missing_and_needed" only_gone
check "setup_test_needs_the_test_packages_too" says 1 "late-package +/gone/file" other test
tap_end
