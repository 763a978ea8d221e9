#!/bin/bash
# Installs missing packages: runner/setup.sh build|image|run|sign|serve|deb|test ...   (the needs of runner/packages.txt)
#   image includes build, run includes image, serve includes build, deb includes image, test includes all.
# On Debian and Ubuntu by apt-get, as root or through sudo; elsewhere prints the missing packages.
# Exit status: 0 all are installed, 1 some could not be installed, 2 bad arguments.
cd "$(dirname "$0")/.." || exit 2
PATH=$PATH:/usr/sbin:/sbin
list=${STALLMETER_PACKAGES:-runner/packages.txt} release=${STALLMETER_OS_RELEASE:-/etc/os-release}

needs=" "
for need in "$@"; do
	case $need in
	build) needs+="build ";;
	image) needs+="build image ";;
	run)   needs+="build image run ";;
	sign)  needs+="sign ";;
	serve) needs+="build serve ";;
	deb)   needs+="build image deb ";;
	test)  needs+="build image run sign serve deb test ";;
	*) echo "setup.sh: \"$need\": not a need; allowed: build image run sign serve deb test" >&2; exit 2;;
	esac
done
[ $# -gt 0 ] || { echo "usage: runner/setup.sh build|image|run|sign|serve|deb|test ..." >&2; exit 2; }

there() { # there PROBE: whether a command exists, or a file (with wildcards) if PROBE starts with a slash
	case $1 in
	/*) compgen -G "$1" >/dev/null;;
	*) command -v "$1" >/dev/null;;
	esac
}

missing() { # prints a line for each missing package: names, probe, purpose
	while read -r names need probe what; do
		case $names in ''|'#'*) continue;; esac
		[[ $needs == *" $need "* ]] || continue
		there "$probe" || echo "$names $probe $what"
	done < "$list"
}

found=$(missing)
[ -z "$found" ] && exit 0

print_missing() {
	echo "Missing (Debian's package name, what shows that it is there, what for):" >&2
	while read -r names probe what; do printf '  %-24s %-52s %s\n' "${names%%|*}" "$probe" "$what" >&2; done <<<"$found"
}

debian=
[ -r "$release" ] && debian=$(. "$release"; case " $ID ${ID_LIKE:-} " in *" debian "*|*" ubuntu "*) echo yes;; esac)
if [ -z "$debian" ] || ! command -v apt-get >/dev/null; then
	print_missing
	echo "This is neither Debian nor Ubuntu: please install these by your own package manager, then try again." >&2
	exit 1
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
	if ! command -v sudo >/dev/null; then
		print_missing
		echo "Neither root nor sudo: please have these installed, then try again." >&2
		exit 1
	fi
	as_root=(sudo)
fi
apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q "$@" </dev/null; }

chosen() { # prints the first name of each line that apt knows
	while read -r names _; do
		name=${names%%|*}
		for one in ${names//|/ }; do
			if apt-cache show "$one" >/dev/null 2>&1; then name=$one; break; fi
		done
		echo "$name"
	done <<<"$found"
}
apt_get update >&2 || echo "setup.sh: apt-get update failed; trying with the lists at hand" >&2
mapfile -t packages < <(chosen)
echo "Installing: ${packages[*]}" >&2
apt_get install -y --no-install-recommends "${packages[@]}" >&2
found=$(missing)
[ -z "$found" ] && exit 0
print_missing
exit 1
