/* efi/firmware/uefi.h: the firmware's services as used by efi/. */
#ifndef EFI_UEFI_H
#define EFI_UEFI_H

#include <efi.h>
#include "pmu/base.h"

struct uefi {
	EFI_HANDLE image;
	EFI_SYSTEM_TABLE *system;
	EFI_BOOT_SERVICES *boot;
	EFI_LOADED_IMAGE *loaded; /* NULL if the firmware does not provide it */
};
extern struct uefi uefi;

void uefi_init(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);
/* Converts a firmware status to one of ours. */
enum status uefi_status(EFI_STATUS s);
/* The one instance of a protocol, NULL if there is none. */
void *uefi_locate(const EFI_GUID *guid);
/* A protocol of a handle, NULL if it has none. */
void *uefi_protocol(EFI_HANDLE handle, const EFI_GUID *guid);
/* The vendor table with this GUID, NULL if there is none. */
const void *uefi_table(const EFI_GUID *guid);
/* Whether all these bytes are memory in the firmware's map: an address from a damaged table must not be dereferenced. */
bool uefi_memory_holds(uint64_t at, uint64_t bytes);
/* Whether any of these bytes is usable memory in the firmware's map, and so no device's. */
bool uefi_memory_is_ram(uint64_t at, uint64_t bytes);
/* Zeroed pages for `bytes` bytes, NULL if out of memory. */
void *pages_get(size_t bytes);
void pages_put(void *at, size_t bytes);
/* Converts a UCS-2 text of at most `units` units to zero-terminated ASCII; other characters become '?'.
 * False if a unit was not printable ASCII, blank, tab, CR or LF. */
bool uefi_ascii(const CHAR16 *from, size_t units, char *to, size_t capacity);
void uefi_ucs2(const char *from, CHAR16 *to, size_t capacity_units);

/* --- port input and output, and a few instructions --------------------------------------------- */
static inline uint8_t in8(uint16_t port)
{
	uint8_t v;
	__asm__ volatile("inb %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}
static inline void out8(uint16_t port, uint8_t v)
{
	__asm__ volatile("outb %0, %1" : : "a"(v), "Nd"(port));
}
static inline void out16(uint16_t port, uint16_t v)
{
	__asm__ volatile("outw %0, %1" : : "a"(v), "Nd"(port));
}
static inline uint16_t in16(uint16_t port)
{
	uint16_t v;
	__asm__ volatile("inw %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}
static inline uint32_t in32(uint16_t port)
{
	uint32_t v;
	__asm__ volatile("inl %1, %0" : "=a"(v) : "Nd"(port));
	return v;
}
static inline void out32(uint16_t port, uint32_t v)
{
	__asm__ volatile("outl %0, %1" : : "a"(v), "Nd"(port));
}
static inline uint64_t read_tsc(void)
{
	uint32_t low, high;
	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}
static inline void cpuid_raw(uint32_t leaf, uint32_t subleaf, uint32_t r[4])
{
	__asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(subleaf));
}
static inline uint64_t msr_read(uint32_t msr)
{
	uint32_t low, high;
	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr));
	return (uint64_t)high << 32 | low;
}
static inline void msr_write(uint32_t msr, uint64_t v)
{
	__asm__ volatile("wrmsr" : : "a"((uint32_t)v), "d"((uint32_t)(v >> 32)), "c"(msr) : "memory");
}
static inline void relax(void)
{
	__asm__ volatile("pause" : : : "memory");
}

#endif
