/* efi/firmware/fwcfg.c: QEMU's firmware configuration device (docs/specs/fw_cfg.txt of QEMU): a 16-bit selector at port
 * 0x510, data byte by byte at 0x511; item 0 reads "QEMU", item 0x19 is the directory: big-endian count, then entries of 64
 * bytes {size32, select16, reserved16, name[56]}. Accessed only if CPUID shows a hypervisor: otherwise the ports may belong to
 * another device. */
#include "efi/firmware/fwcfg.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define SELECTOR  0x510
#define DATA      0x511
#define SIGNATURE 0x0000
#define DIRECTORY 0x0019
#define ENTRIES_MAX 4096u

static uint64_t read_be(unsigned bytes)
{
	uint64_t v = 0;
	while (bytes--)
		v = v << 8 | in8(DATA);
	return v;
}

enum status fwcfg_read(const char *name, char *to, size_t capacity)
{
	char entry[57];
	if (!console.hypervisor)
		return ST_MISSING;
	out16(SELECTOR, SIGNATURE);
	if (read_be(4) != 0x51454D55) /* "QEMU" */
		return ST_MISSING;
	out16(SELECTOR, DIRECTORY);
	uint64_t count = read_be(4);
	if (count > ENTRIES_MAX)
		return ST_MISSING;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t size = read_be(4);
		uint16_t select = (uint16_t)read_be(2);
		read_be(2);
		for (unsigned k = 0; k < 56; k++)
			entry[k] = (char)in8(DATA);
		entry[56] = 0;
		if (!str_equal(entry, name))
			continue;
		if (size >= capacity)
			return ST_FULL;
		out16(SELECTOR, select);
		for (uint64_t k = 0; k < size; k++)
			to[k] = (char)in8(DATA);
		to[size] = 0;
		return ST_OK;
	}
	return ST_MISSING;
}
