#!/bin/bash
# Releases of the commit at hand from two checkouts in folders of different names, at different times, are the same bytes. The Debian
# packages build from the commit, lintian takes them, and what is in them runs.
cd "$(dirname "$0")/../../.." || exit 2
. tests/tap.sh
make_() { env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS -u OUT -u SAN make "$@"; }
certificate=/usr/share/ovmf/PkKek-1-snakeoil.pem
openssl rsa -in "${certificate%.pem}.key" -passin pass:snakeoil -out "$work/key" 2>/dev/null

release() { # release CHECKOUT
	git clone -q . "$1" && make_ -s -j2 -C "$1" release SIGN_KEY="$work/key" SIGN_CERT="$certificate" && (cd "$1/out/release" && sha256sum -c SHA256SUMS)
}
check "release_of_one_checkout" release "$work/one"
check "release_of_another_checkout" release "$work/a/quite/different/place"
check "releases_are_the_same" diff -r "$work/one/out/release" "$work/a/quite/different/place/out/release"
to=$work/one/out/release
version=$(sed -n 's/^## \([0-9.]*\) .*/\1/p' CHANGELOG.md | head -n 1)
names() { diff <(cd "$to" && echo *) <(echo SHA256SUMS stallmeter-"$version"{-signed.img.gz,-x86_64.tar.gz,.img.gz,.spdx.json,.tar.gz}); }
check "release_has_its_files" names
signed() { gzip -dc "$to/stallmeter-$version-signed.img.gz" >"$work/signed.img" && MTOOLS_SKIP_CHECK=1 mcopy -n -i "$work/signed.img@@1M" ::/EFI/BOOT/BOOTX64.EFI "$work/signed.efi" && sbverify --cert "$certificate" "$work/signed.efi"; }
check "release_signed_image_is_signed" signed
# Each file is named with its checksum, and each relation names what is there.
sbom() {
	jq -e --arg sums "$(cat "$to/SHA256SUMS")" '.spdxVersion == "SPDX-2.3" and (.packages | length) > 8 and
		([.packages[], .files[] | .SPDXID] + [.SPDXID]) as $ids | ([.relationships[] | .spdxElementId, .relatedSpdxElement] - $ids == []) and
		([.files[] | .checksums[] | select(.algorithm == "SHA256").checksumValue] - ($sums | [scan("[0-9a-f]{64}")]) == []) and (.files | length) == 4' "$to/stallmeter-$version.spdx.json"
}
check "release_bill_of_materials" sbom
tarball() { # the sources build without git, and know their commit
	mkdir "$work/tar" && tar -C "$work/tar" -xf "$to/stallmeter-$version.tar.gz" && make_ -s -j2 -C "$work/tar/stallmeter-$version" host &&
		says 0 "^build $(git rev-parse --short=12 HEAD)" "$work/tar/stallmeter-$version/out/stallmeter" --version
}
check "release_sources_know_their_commit" tarball
echo >>"$work/one/README.md"
check "release_of_a_changed_tree_is_refused" says 2 "dirty: a release is made of a commit" make_ -s -C "$work/one" release

if command -v dh >/dev/null && command -v lintian >/dev/null; then
	git -C "$work/one" checkout -q README.md
	check "make_deb" make_ -C "$work/one" deb
	packages=$work/one/out/deb
	check "lintian_takes_source_and_packages" lintian --fail-on error,warning --allow-root "$packages/stallmeter_$version-1_amd64.changes"
	# Unpacked by dpkg into a root of their own, then removed.
	mkdir -p "$work/root/var/lib/dpkg/"{info,updates} && touch "$work/root/var/lib/dpkg/"{status,available}
	dpkg_() { dpkg --root="$work/root" --force-not-root --force-depends --log="$work/dpkg.log" "$@"; }
	check "packages_install" dpkg_ -i "$packages/stallmeter_$version-1_amd64.deb" "$packages/stallmeter-image_$version-1_amd64.deb" \
		"$packages/libstallmeter-sim-dev_$version-1_amd64.deb"
	check "package_command_has_its_version" says 0 "^stallmeter $version\$" "$work/root/usr/bin/stallmeter" --version
	check "package_command_runs" says 0 "load.l1.latency" "$work/root/usr/bin/stallmeter" run --backend sim --suite load.l1.latency --out "$work/run"
	check "package_manual_is_found" sh -c 'MANPATH="$1" man -w stallmeter' - "$work/root/usr/share/man"
	example() {
		local config=$work/root/usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)/pkgconfig
		cp "$work/root/usr/share/doc/stallmeter/library.c" "$work/example.c" &&
			(cd "$work" && cc -o example example.c $(PKG_CONFIG_SYSROOT_DIR=$work/root PKG_CONFIG_PATH=$config pkg-config --cflags --libs stallmeter_sim)) &&
			says 0 "^wrmsr 0x38f: unmapped: counter 0" "$work/example"
	}
	check "package_library_builds_the_example" example
	check "package_image_boots" sh -c 'runner/qemu.sh --work "$1" --options "end=exit suite=load.l1.latency backend=sim:nehalem-ep" "$2"' - "$work/q" "$work/root/usr/share/stallmeter/stallmeter.img"
	check "packages_are_removed" dpkg_ -P stallmeter stallmeter-image libstallmeter-sim-dev
	nothing_left() { find "$work/root/usr" -type f 2>/dev/null | grep . && return 1; return 0; }
	check "removed_packages_leave_no_file" nothing_left
else
	skip "make_deb" "no debhelper or no lintian"
fi
tap_end
