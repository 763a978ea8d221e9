#!/bin/bash
# tests/unused.sh [OBJECTS [SOURCE...]]: functions, data and kernels that no product reaches, so that nothing lives for its tests alone. The linker
# answers: every source of the product is compiled without inlining, a section for each function and object, and linked into the products with
# what nothing reaches left out: the host command with the library of the simulated machine, the UEFI application, the loader for a PC BIOS.
# A name with external linkage that is in none of them is reported with its file; so is a kernel of asm/ that the host command does not name.
# tests/unused.txt (or $UNUSED_KNOWN) has the exceptions: NAME REASON; one that is not needed is refused. Exit status 1 if anything is reported.
# Unused local names need no test, the compiler refuses them. OBJECTS: a folder for the objects, which are compiled if it is not there yet;
# SOURCE: a file more, .c or .asm.
cd "$(dirname "$0")/.." || exit 2
top=$PWD
out=$top/${OUT:-out}
case ${OUT:-} in /*) out=$OUT;; esac
known=${UNUSED_KNOWN:-$top/tests/unused.txt}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
objects=${1:-$work/objects}
[ $# -eq 0 ] || shift

common="-std=gnu11 -O0 -w -fno-strict-aliasing -I. -I$out/gen -ffunction-sections -fdata-sections"
free="$common -ffreestanding -fpic -fvisibility=hidden -fshort-wchar -fno-stack-protector -mno-red-zone -fno-asynchronous-unwind-tables"
efi="$free -DGNU_EFI_USE_MS_ABI -isystem /usr/include/efi -isystem /usr/include/efi/x86_64"
# compile FOLDER FLAGS [FIND-EXPRESSION...]: objects, each by the path of its source.
compile() {
	local from=$1 flags=$2; shift 2
	find "$from" -name '*.c' "$@" -print0 |
		TO=$objects FLAGS=$flags xargs -0 -P "$(nproc)" -n 8 sh -c 'for f; do ${CC:-gcc} $FLAGS -c -o "$TO/$(echo "$f" | tr / +).o" "$f" || exit 255; done' -
}
if [ ! -d "$objects" ]; then
	mkdir "$objects" && compile pmu "$free" && compile bench "$free" && compile efi "$efi" -not -path 'efi/bios/*' &&
		compile efi/bios "${efi/-fpic/-fno-pic} -mgeneral-regs-only" && compile runner "$common -fPIE -D_GNU_SOURCE" -not -path runner/shim/shim.c || exit 2
fi
more=() kernels=("$out/asm/blob.o")
for source; do
	# shellcheck disable=SC2086
	case $source in
	*.asm) nasm -f elf64 -o "$work/$(basename "$source").o" "$source" || exit 2; kernels+=("$work/$(basename "$source").o");;
	*) ${CC:-gcc} $free -c -o "$work/$(basename "$source").o" "$source" || exit 2; more+=("$work/$(basename "$source").o");;
	esac
done

cd "$objects" || exit 2
tables=("$out"/gen/{tables,machines,font}.o "$out/asm/blob.o" "${more[@]}")
# what a user's program calls of the library
library=$(nm -g --defined-only runner+library+*.o | awk '$2 == "T" { printf "-Wl,-u,%s ", $3 }')
# shellcheck disable=SC2086
${CC:-gcc} -pie -Wl,--gc-sections $library -o "$work/host" runner+*.o bench+*.o pmu+*.o "${tables[@]}" -ljansson -lm -lpthread &&
	ld -nostdlib -znocombreloc -znoexecstack -shared -Bsymbolic --no-undefined --gc-sections -T "$top/efi/app.lds" -o "$work/application" \
		/usr/lib/crt0-efi-x86_64.o efi+[!b]*.o bench+*.o pmu+*.o "${tables[@]}" "$out"/efi/*/*.asm.o /usr/lib/libgnuefi.a &&
	ld -nostdlib -static -znoexecstack --no-warn-rwx-segments --gc-sections -T "$top/efi/bios/bios.lds" -o "$work/loader" "$out/efi/bios/start.o" \
		efi+bios+*.o efi+firmware+string.c.o pmu+text.c.o &&
	objcopy -O binary -j .rodata "$work/host" "$work/constants" || exit 2

{
	nm --defined-only "$work/host" "$work/application" "$work/loader" | awk 'NF == 3 && $3 !~ /^k_/ { print "in", $3 }'
	# kernels that the command's constants name; asm/'s own names are in .kernel_names
	strings -n 3 "$work/constants" | grep -oE '^k_[a-z0-9_]+$' | sed 's/^/in /'
	nm -A --defined-only ./*.o "${more[@]}" | sed 's,^\./,,; s,+,/,g; s/\.o:[0-9a-f]* / /' | awk '$2 ~ /^[A-Z]$/ { print "has", $3, $1 }'
	nm --defined-only "${kernels[@]}" | awk '$3 ~ /^k_[a-z0-9_]*$/ { print "has", $3, "asm" }'
	awk '!/^#/ && NF { name = $1; $1 = ""; print "known", name $0 }' "$known"
} | sort -u | awk '
$1 == "in" { in_product[$2] = 1 }
$1 == "has" { file[$2] = $3; n++ }
$1 == "known" { reason[$2] = NF > 2; excepted[$2] = 1 }
END {
	if (n < 1000) { print "tests/unused.sh: only " n + 0 " names found"; bad = 1 }
	for (name in file) if (!(name in in_product) && !(name in excepted)) { print file[name] ": " name ": no product reaches it" | "sort"; bad = 1 }
	for (name in excepted) {
		if (!(name in file)) { print "tests/unused.txt: " name ": no such name"; bad = 1 }
		else if (name in in_product) { print "tests/unused.txt: " name ": no longer needed"; bad = 1 }
		else if (!reason[name]) { print "tests/unused.txt: " name ": no reason"; bad = 1 }
	}
	exit bad
}'
