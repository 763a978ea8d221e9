#!/bin/bash
# What `make deb` does: packaging/deb.sh VERSION
#   $OUT/deb/ gets the Debian source package of the commit at hand and the packages that are built from it.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: make deb" >&2; exit 2; }
version=$1 out=${OUT:-out}
for tool in dpkg-buildpackage dh; do command -v $tool >/dev/null || { echo "deb.sh: $tool: missing; runner/setup.sh deb installs it" >&2; exit 2; }; done
[ -z "$(git status --porcelain)" ] || echo "deb.sh: the packages have the commit at hand, not what differs from it" >&2
rm -rf "$out/deb"
mkdir -p "$out/deb"
git archive --format=tar --prefix="stallmeter-$version/" HEAD | gzip -9 -n >"$out/deb/stallmeter_$version.orig.tar.gz"
tar -C "$out/deb" -xf "$out/deb/stallmeter_$version.orig.tar.gz"
cp -r "$out/deb/stallmeter-$version/packaging/debian" "$out/deb/stallmeter-$version/debian"
# Variables of this make are none of the package's.
cd "$out/deb/stallmeter-$version"
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u OUT -u CFLAGS -u CPPFLAGS -u LDFLAGS dpkg-buildpackage -us -uc
