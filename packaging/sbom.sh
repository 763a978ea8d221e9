#!/bin/bash
# Prints a bill of materials (SPDX 2.3, JSON): packaging/sbom.sh VERSION BUILD FOLDER
#   The files of FOLDER with their checksums, what is linked into them or needed by them, and the tools that made them, by
#   Debian's package and version where Debian's package manager knows it. SOURCE_DATE_EPOCH is the time that it carries.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: packaging/sbom.sh VERSION BUILD FOLDER" >&2; exit 2; }
version=$1 build=$2 folder=$3
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-0}" +%Y-%m-%dT%H:%M:%SZ)
name=stallmeter-$version

installed() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo NOASSERTION; }
package() { # package ID NAME VERSION LICENCE
	printf '  {"SPDXID": "SPDXRef-%s", "name": "%s", "versionInfo": "%s", "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "licenseConcluded": "NOASSERTION", "licenseDeclared": "%s", "copyrightText": "NOASSERTION"}' "$@"
}
relation() { printf ',\n  {"spdxElementId": "SPDXRef-%s", "relationshipType": "%s", "relatedSpdxElement": "SPDXRef-%s"}' "$@"; }
# what is linked into the application or the host command, what the host command loads, what built them
linked="gnu-efi:BSD-2-Clause" loaded="libjansson4:MIT libc6:LGPL-2.1-or-later" tools="gcc binutils nasm python3 mtools dosfstools gdisk sbsigntool"

printf '{\n "spdxVersion": "SPDX-2.3",\n "dataLicense": "CC0-1.0",\n "SPDXID": "SPDXRef-DOCUMENT",\n "name": "%s",\n' "$name"
printf ' "documentNamespace": "urn:stallmeter:%s:%s",\n "creationInfo": {"created": "%s", "creators": ["Tool: packaging/sbom.sh"]},\n "packages": [\n' "$version" "$build" "$created"
package stallmeter stallmeter "$version ($build)" BSD-2-Clause
printf ',\n'; package font "Spleen 8x16, in tables/fonts" NOASSERTION BSD-2-Clause
for one in $linked $loaded; do printf ',\n'; package "${one%%:*}" "${one%%:*}" "$(installed "${one%%:*}")" "${one#*:}"; done
for one in $tools; do printf ',\n'; package "$one" "$one" "$(installed "$one")" NOASSERTION; done
printf '\n ],\n "files": ['
n=0
for file in "$folder"/*; do
	n=$((n + 1))
	printf '%s\n  {"SPDXID": "SPDXRef-file-%d", "fileName": "./%s", "checksums": [{"algorithm": "SHA1", "checksumValue": "%s"}, {"algorithm": "SHA256", "checksumValue": "%s"}], "licenseConcluded": "NOASSERTION", "copyrightText": "NOASSERTION"}' \
		"$([ "$n" -eq 1 ] || echo ,)" "$n" "$(basename "$file")" "$(sha1sum <"$file" | cut -d' ' -f1)" "$(sha256sum <"$file" | cut -d' ' -f1)"
done
printf '\n ],\n "relationships": [\n  {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-stallmeter"}'
for ((i = 1; i <= n; i++)); do relation stallmeter CONTAINS "file-$i"; done
relation stallmeter CONTAINS font
for one in $linked; do relation stallmeter STATIC_LINK "${one%%:*}"; done
for one in $loaded; do relation "${one%%:*}" RUNTIME_DEPENDENCY_OF stallmeter; done
for one in $tools; do relation "$one" BUILD_TOOL_OF stallmeter; done
printf '\n ]\n}\n'
