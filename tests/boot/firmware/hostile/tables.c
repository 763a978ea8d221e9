/* tests/boot/firmware/hostile/tables.c: what the firmware says about the machine.
 *   smbios-low      SMBIOS' entry point lies at F0480, outside the memory map
 *   pm-timer=PORT   the FADT has another port for the power-management timer
 *   spcr=PORT       an SPCR names the console's serial port
 *   mtrr-narrow=N   masks of variable ranges have N address bits (a memory encryption's key takes the rest)
 *   mtrr-absent     memory above 4 GiB is in no variable range, and uncacheable by default
 *   damaged=N       see map.c */
#include "tests/boot/firmware/hostile/hostile.h"

static uint8_t *found(uint8_t *root, unsigned width, const char *signature)
{
	uint32_t bytes;
	memcpy(&bytes, root + 4, 4);
	for (uint32_t at = 36; at + width <= bytes; at += width) {
		uint64_t table = 0;
		memcpy(&table, root + at, width);
		if (memcmp((uint8_t *)(uintptr_t)table, signature, 4) == 0)
			return (uint8_t *)(uintptr_t)table;
	}
	return NULL;
}

static void balance(uint8_t *table)
{
	uint32_t bytes;
	uint8_t sum = 0;
	memcpy(&bytes, table + 4, 4);
	table[9] = 0;
	for (uint32_t i = 0; i < bytes; i++)
		sum = (uint8_t)(sum + table[i]);
	table[9] = (uint8_t)-sum;
}

/* A copy of the XSDT with one entry more. */
static uint8_t *with_table(uint8_t *rsdp, uint8_t *xsdt, const uint8_t *table)
{
	uint32_t bytes;
	uint8_t sum = 0;
	uint64_t at = (uintptr_t)table;
	memcpy(&bytes, xsdt + 4, 4);
	uint8_t *copy = pages_get(bytes + 8);
	memcpy(copy, xsdt, bytes);
	memcpy(copy + bytes, &at, 8);
	bytes += 8;
	memcpy(copy + 4, &bytes, 4);
	balance(copy);
	at = (uintptr_t)copy;
	memcpy(rsdp + 24, &at, 8);
	rsdp[32] = 0;
	for (unsigned i = 0; i < 36; i++)
		sum = (uint8_t)(sum + rsdp[i]);
	rsdp[32] = (uint8_t)-sum;
	return copy;
}

/* Microsoft, Serial Port Console Redirection Table, revision 2: 80 bytes; the port is a generic address at 40. */
static void spcr(uint8_t *rsdp, uint8_t *xsdt, uint16_t port)
{
	uint8_t *t = pages_get(80);
	memcpy(t, "SPCR\x50\0\0\0\2\0HOSTILHOSTILE ", 24);
	t[40] = 1; /* I/O space */
	t[41] = 8;
	memcpy(t + 44, &port, 2);
	t[58] = 7; /* 115200 */
	balance(t);
	(void)with_table(rsdp, xsdt, t);
	tell("SPCR names port %\n", port);
}

/* Those that the firmware lacks are added first. */
static uint8_t *damage_all(uint8_t *rsdp, uint8_t *xsdt, unsigned how)
{
	const char *signature;
	for (unsigned i = 0; (signature = damaged_table(i)) != NULL; i++) {
		uint8_t *t = found(xsdt, 8, signature);
		uint32_t bytes = 128;
		if (t == NULL) {
			t = pages_get(bytes);
			memcpy(t, signature, 4);
			memcpy(t + 4, &bytes, 4);
			t[8] = 2;
			xsdt = with_table(rsdp, xsdt, t);
		}
		damage(t, i, how);
		if (how != 3)
			balance(t);
	}
	return xsdt;
}

void tables(void)
{
	static const EFI_GUID acpi = ACPI_20_TABLE_GUID, smbios = SMBIOS_TABLE_GUID;
	uint64_t port, at = 0;
	for (UINTN i = 0; i < host.system->NumberOfTableEntries; i++) {
		EFI_CONFIGURATION_TABLE *c = &host.system->ConfigurationTable[i];
		if (wanted("smbios-low", NULL) && memcmp(&c->VendorGuid, &smbios, sizeof(smbios)) == 0) {
			out32(0xCF8, 0x80000090); /* q35's PAM0 [5:4]: F0000 to FFFFF is memory to read and write (Intel 316966, 5.1.20) */
			out8(0xCFC, in8(0xCFC) | 0x30);
			memcpy((void *)(uintptr_t)0xF0480, c->VendorTable, 32);
			tell("SMBIOS' entry point is at %\n", 0xF0480);
			c->VendorTable = (void *)(uintptr_t)0xF0480;
		}
		if (memcmp(&c->VendorGuid, &acpi, sizeof(acpi)) != 0)
			continue;
		uint8_t *rsdp = c->VendorTable;
		memcpy(&at, rsdp + 24, 8);
		uint8_t *xsdt = (uint8_t *)(uintptr_t)at, *fadt = found(xsdt, 8, "FACP");
		if (wanted("pm-timer", &port) && fadt != NULL) {
			uint32_t bytes;
			memcpy(&bytes, fadt + 4, 4);
			memcpy(fadt + 76, &port, 4);
			if (bytes >= 220)
				memcpy(fadt + 208 + 4, &port, 8);
			balance(fadt);
			tell("the PM timer is said to be at %\n", port);
		}
		if (wanted("spcr", &port))
			spcr(rsdp, xsdt, (uint16_t)port);
		if (wanted("damaged", &port))
			(void)damage_all(rsdp, xsdt, (unsigned)port);
	}
}

void memory(void)
{
	uint64_t bits, count = msr_read(0xFE) & 0xFF;
	bool absent = wanted("mtrr-absent", NULL);
	for (unsigned i = 0; i < count; i++) {
		uint64_t base = msr_read(0x200 + 2 * i), mask = msr_read(0x201 + 2 * i);
		if (wanted("mtrr-narrow", &bits)) {
			msr_write(0x201 + 2 * i, mask & ((1ull << bits) - 1));
			tell("masks have % bits\n", bits);
		}
		if (absent && base >= 1ull << 32)
			msr_write(0x201 + 2 * i, 0);
	}
	if (absent) {
		/* 0 to 2 GiB write-back, the rest in no range */
		msr_write(0x2FF, msr_read(0x2FF) & ~0xFFull);
		msr_write(0x200, 6);
		msr_write(0x201, (((1ull << 39) - 1) & ~((2ull << 30) - 1)) | 0x800);
		for (unsigned i = 1; i < count; i++)
			msr_write(0x201 + 2 * i, 0);
		tell("memory above 4 GiB is in no variable range\n", 0);
	}
}
