#!/bin/bash
# What `make release` writes: packaging/release.sh VERSION BUILD [KEY CERTIFICATE]
#   $OUT/release/stallmeter-VERSION.img.gz         the disk image
#   $OUT/release/stallmeter-VERSION-signed.img.gz  the same, signed, when KEY and CERTIFICATE are given
#   $OUT/release/stallmeter-VERSION-x86_64.tar.gz  host command, manual pages, completion, texts
#   $OUT/release/stallmeter-VERSION.tar.gz         the sources, with the commit in packaging/commit.txt
#   $OUT/release/stallmeter-VERSION.spdx.json      what is in them and what made them (SPDX 2.3)
#   $OUT/release/SHA256SUMS
# The same commit built by the same tools gives the same bytes: times are the commit's, names are sorted, owners are 0.
set -euo pipefail
[ $# -eq 2 ] || [ $# -eq 4 ] || { echo "usage: make release [SIGN_KEY=KEY SIGN_CERT=CERTIFICATE]" >&2; exit 2; }
version=$1 build=$2 out=${OUT:-out}
case $build in
*-dirty|unknown) echo "release.sh: build $build: a release is made of a commit; commit or stash what differs" >&2; exit 2;;
esac
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC0
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
to=$out/release stem=stallmeter-$version
rm -rf "$to"
mkdir -p "$to"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

packed() { gzip -9 -n -c "$1" >"$2"; }
packed "$out/stallmeter.img" "$to/$stem.img.gz"
if [ $# -eq 4 ]; then
	runner/sign.sh "$3" "$4" "$out/BOOTX64.EFI" "$work/signed.efi"
	runner/image.sh "$work/signed.efi" "$out/bios.bin" runner/stallmeter.ini "$work/signed.img"
	packed "$work/signed.img" "$to/$stem-signed.img.gz"
fi

tree=$work/$stem
mkdir -p "$tree/man"
cp "$out/stallmeter" "$tree/stallmeter"
strip --strip-all "$tree/stallmeter"
cp "$out"/man/*.1 "$tree/man/"
cp "$out/man/completion" README.md CHANGELOG.md LICENSE docs/accounting.md docs/reading.md results/SCHEMA.md results/schema.json "$tree/"
tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX -cf "$work/host.tar" "$stem"
packed "$work/host.tar" "$to/$stem-x86_64.tar.gz"
git archive --format=tar --prefix="$stem/" HEAD >"$work/source.tar"
packed "$work/source.tar" "$to/$stem.tar.gz"

packaging/sbom.sh "$version" "$build" "$to" >"$work/sbom"
cp "$work/sbom" "$to/$stem.spdx.json"
(cd "$to" && sha256sum "$stem"*) >"$work/sums"
cp "$work/sums" "$to/SHA256SUMS"
echo "$to:"
cat "$to/SHA256SUMS"
