/* efi/bios/disk.c: reads through the BIOS (T13 EDD-3, 8.2: INT 13h AH=42h). */
#include "efi/bios/loader.h"

#define DISK       0x13
#define TRIES      3u
#define CARRY      1u
#define PIC_1      0x21   /* interrupt masks of the two 8259 */
#define PIC_2      0xA1

void loader_bios(uint8_t number)
{
	static bool masked;
	static uint8_t saved[2];
	if (!masked) {
		saved[0] = in8(PIC_1);
		saved[1] = in8(PIC_2);
		masked = true;
	}
	out8(PIC_1, saved[0]);
	out8(PIC_2, saved[1]);
	bios_call(number);
	out8(PIC_1, 0xFF);
	out8(PIC_2, 0xFF);
}

static bool read_some(uint64_t block, unsigned blocks)
{
	for (unsigned i = 0; i < TRIES; i++) {
		bios_packet.bytes = sizeof(bios_packet);
		bios_packet.zero = 0;
		bios_packet.blocks = (uint16_t)blocks;
		bios_packet.offset = 0;
		bios_packet.segment = DISK_BUFFER >> 4;
		bios_packet.first = block;
		bios_registers.ax = 0x4200;
		bios_registers.dx = bios_drive;
		bios_registers.si = (uint16_t)(uintptr_t)&bios_packet;
		loader_bios(DISK);
		if ((bios_registers.flags & CARRY) == 0)
			return true;
		bios_registers.ax = 0; /* reset the drive */
		bios_registers.dx = bios_drive;
		loader_bios(DISK);
	}
	return false;
}

enum status disk_read(uint64_t block, uint64_t blocks, void *to)
{
	uint8_t *at = to;
	while (blocks > 0) {
		unsigned n = blocks < BUFFER_BLOCKS ? (unsigned)blocks : BUFFER_BLOCKS;
		if (!read_some(block, n))
			return ST_IO;
		memcpy(at, (const void *)(uintptr_t)DISK_BUFFER, n * BLOCK_BYTES);
		at += n * BLOCK_BYTES;
		block += n;
		blocks -= n;
	}
	return ST_OK;
}
