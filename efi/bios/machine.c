/* efi/bios/machine.c: services from a PC's hardware: tables found by their signatures, time from the interval
 * timer (8254) and the RTC (MC146818), reset, and power off as ACPI's tables describe it. */
#include "efi/bios/loader.h"

/* --- tables --------------------------------------------------------------------------------------------------------------- */
#define EBDA_SEGMENT 0x40Eu   /* BIOS data area: segment of the extended BIOS data area */
#define ROM_FROM     0xE0000u
#define SMBIOS_FROM  0xF0000u
#define ROM_TO       0x100000u

static uint16_t u16_at(const uint8_t *p) { uint16_t v; memcpy(&v, p, 2); return v; }
static uint32_t u32_at(const uint8_t *p) { uint32_t v; memcpy(&v, p, 4); return v; }

/* Keeps the compiler from treating page 0 as NULL: it is memory here. */
static const uint8_t *physical(uint32_t at)
{
	__asm__("" : "+r"(at));
	return (const uint8_t *)(uintptr_t)at;
}

static bool sums_to_zero(const uint8_t *p, unsigned n)
{
	uint8_t sum = 0;
	while (n-- > 0)
		sum = (uint8_t)(sum + *p++);
	return sum == 0;
}

static const uint8_t *find_rsdp(uint32_t from, uint32_t to)
{
	for (uint32_t at = from & ~15u; at + 20 <= to; at += 16) {
		const uint8_t *p = physical(at);
		if (memcmp(p, "RSD PTR ", 8) == 0 && sums_to_zero(p, 20))
			return p;
	}
	return NULL;
}

const uint8_t *machine_find_acpi(void)
{
	uint32_t ebda = (uint32_t)u16_at(physical(EBDA_SEGMENT)) << 4;
	const uint8_t *p = ebda >= 0x400 && ebda <= 0xA0000 - 0x400 ? find_rsdp(ebda, ebda + 0x400) : NULL;
	return p != NULL ? p : find_rsdp(ROM_FROM, ROM_TO);
}

const uint8_t *machine_find_smbios(enum smbios_version version)
{
	const bool three = version == SMBIOS_3;
	/* DSP0134 5.2.1, 5.2.2: the length of the entry point is at 5 and at 6. */
	for (uint32_t at = SMBIOS_FROM; at + 32 <= ROM_TO; at += 16) {
		const uint8_t *p = physical(at);
		uint8_t bytes = three ? p[6] : p[5];
		if (memcmp(p, three ? "_SM3_" : "_SM_", three ? 5 : 4) == 0 && bytes >= (three ? 24 : 30) && at + bytes <= ROM_TO && sums_to_zero(p, bytes))
			return p;
	}
	return NULL;
}

/* --- time ------------------------------------------------------------------------------------------------------------------- */
#define PIT_HZ    1193182u
#define PIT_2     0x42
#define PIT_MODE  0x43
#define PORT_B    0x61      /* [0] gate of counter 2, [1] loudspeaker, [5] output of counter 2 */
#define PIT_MOST  50000u    /* us of one count */

/* Counter 2 counts down once, then its output rises. Bounded: a port read takes at least 0.1 us. */
static void pit_wait(uint32_t us)
{
	uint32_t ticks = us * (PIT_HZ / 1000) / 1000 + 1;
	uint8_t b = in8(PORT_B) & 0xFC;
	out8(PORT_B, b);
	out8(PIT_MODE, 0xB0); /* counter 2, low then high byte, mode 0 */
	out8(PIT_2, (uint8_t)ticks);
	out8(PIT_2, (uint8_t)(ticks >> 8));
	out8(PORT_B, b | 1);
	for (uint32_t i = 0; i < us * 10 + 1000 && (in8(PORT_B) & 0x20) == 0; i++)
		relax();
	out8(PORT_B, b);
}

EFI_STATUS EFIAPI machine_stall(UINTN us)
{
	for (; us > PIT_MOST; us -= PIT_MOST)
		pit_wait(PIT_MOST);
	pit_wait((uint32_t)us);
	return EFI_SUCCESS;
}

static uint8_t cmos(uint8_t index)
{
	out8(0x70, index);
	return in8(0x71);
}

static unsigned plain(uint8_t v, bool binary)
{
	return binary ? v : (v >> 4) * 10u + (v & 15u);
}

/* MC146818: 0 s, 2 min, 4 h, 7 day, 8 month, 9 year; register A [7] update in progress, B [2] binary, [1] 24 hours. */
EFI_STATUS EFIAPI machine_get_time(EFI_TIME *now, EFI_TIME_CAPABILITIES *can)
{
	static const uint8_t index[6] = { 0, 2, 4, 7, 8, 9 };
	uint8_t first[6], second[6];
	unsigned tries = 0;
	if (now == NULL)
		return EFI_INVALID_PARAMETER;
	do {
		if (++tries == 100)
			return EFI_DEVICE_ERROR;
		for (unsigned i = 0; i < 1000000 && (cmos(10) & 0x80) != 0; i++)
			relax();
		for (unsigned i = 0; i < 6; i++)
			first[i] = cmos(index[i]);
		for (unsigned i = 0; i < 6; i++)
			second[i] = cmos(index[i]);
	} while (memcmp(first, second, sizeof(first)) != 0);
	uint8_t b = cmos(11);
	bool binary = (b & 4) != 0, afternoon = (b & 2) == 0 && (first[2] & 0x80) != 0;
	unsigned hour = plain(first[2] & ((b & 2) != 0 ? 0xFF : 0x7F), binary);
	if ((b & 2) == 0)
		hour = hour % 12 + (afternoon ? 12 : 0);
	memset(now, 0, sizeof(*now));
	now->Second = (UINT8)plain(first[0], binary);
	now->Minute = (UINT8)plain(first[1], binary);
	now->Hour = (UINT8)hour;
	now->Day = (UINT8)plain(first[3], binary);
	now->Month = (UINT8)plain(first[4], binary);
	now->Year = (UINT16)(2000 + plain(first[5], binary)); /* 64-bit mode appeared in 2003 */
	now->TimeZone = EFI_UNSPECIFIED_TIMEZONE;
	if (can != NULL)
		*can = (EFI_TIME_CAPABILITIES){ .Resolution = 1, .Accuracy = 50000000 };
	return now->Month >= 1 && now->Month <= 12 && now->Day >= 1 && now->Day <= 31 && now->Hour < 24 && now->Minute < 60 && now->Second < 60 ?
	       EFI_SUCCESS : EFI_DEVICE_ERROR;
}

/* --- reset ------------------------------------------------------------------------------------------------------------------ */
#define HEADER     36u
#define TABLE_MOST 0x1000000u

/* The table of this signature in the RSDT, NULL if there is none; all tables are below 4 GiB here. */
static const uint8_t *acpi_table(const char *signature)
{
	const uint8_t *rsdp = machine_find_acpi();
	if (rsdp == NULL)
		return NULL;
	const uint8_t *root = physical(u32_at(rsdp + 16));
	uint32_t bytes = memcmp(root, "RSDT", 4) == 0 ? u32_at(root + 4) : 0;
	for (uint32_t at = HEADER; bytes <= TABLE_MOST && at + 4 <= bytes; at += 4) {
		const uint8_t *t = physical(u32_at(root + at));
		if (memcmp(t, signature, 4) == 0)
			return t;
	}
	return NULL;
}

/* AML: NameOp "_S5_" PackageOp, its length, number of elements, then SLP_TYPa and SLP_TYPb as small constants
 * (ACPI 6.4, 7.4.2.7 and 20.2). */
static bool sleep_type(const uint8_t *dsdt, uint8_t *type)
{
	uint32_t bytes = u32_at(dsdt + 4);
	for (uint32_t i = HEADER; bytes <= TABLE_MOST && i + 16 <= bytes; i++) {
		const uint8_t *p = dsdt + i;
		if (memcmp(p, "_S5_\x12", 5) != 0)
			continue;
		p += 5;
		p += (*p >> 6) + 1; /* skips the bytes of PkgLength */
		p++;
		*type = *p == 0x0A ? p[1] : *p; /* BytePrefix, or ZeroOp and OneOp */
		return *type < 8;
	}
	return false;
}

/* PM1_CNT: [0] ACPI mode, [12:10] SLP_TYP, [13] SLP_EN (ACPI 6.4, 4.8.3.2.1). */
static void switch_off(void)
{
	const uint8_t *fadt = acpi_table("FACP");
	uint8_t type;
	if (fadt == NULL || u32_at(fadt + 4) < 76 || u32_at(fadt + 40) == 0 || !sleep_type(physical(u32_at(fadt + 40)), &type))
		return;
	uint16_t a = (uint16_t)u32_at(fadt + 64), b = (uint16_t)u32_at(fadt + 68), command = (uint16_t)u32_at(fadt + 48);
	if (a == 0)
		return;
	if ((in32(a) & 1) == 0 && command != 0 && fadt[52] != 0) {
		out8(command, fadt[52]); /* SMI_CMD: ACPI_ENABLE */
		for (unsigned i = 0; i < 300 && (in32(a) & 1) == 0; i++)
			machine_stall(10000);
	}
	out16(a, (uint16_t)((in32(a) & 0xC3FF) | (unsigned)type << 10 | 1u << 13));
	if (b != 0)
		out16(b, (uint16_t)((in32(b) & 0xC3FF) | (unsigned)type << 10 | 1u << 13));
	machine_stall(1000000);
}

EFI_STATUS EFIAPI machine_reset(EFI_RESET_TYPE type, EFI_STATUS status, UINTN bytes, CHAR16 *text)
{
	static const struct __attribute__((packed)) { uint16_t limit; uint64_t base; } no_table;
	(void)status;
	(void)bytes;
	(void)text;
	__asm__ volatile("cli");
	if (type == EfiResetShutdown) {
		switch_off();
		console_print("\nThis machine cannot be switched off by program: do it by hand.\n");
		for (;;)
			__asm__ volatile("cli; hlt");
	}
	out8(0xCF9, 0x02); /* chipsets' reset control register: 6 is a hard reset */
	out8(0xCF9, 0x06);
	machine_stall(100000);
	out8(0x64, 0xFE);  /* 8042: pulses the reset line */
	machine_stall(100000);
	__asm__ volatile("lidt %0; int3" : : "m"(no_table)); /* a triple fault */
	for (;;)
		__asm__ volatile("hlt");
}
