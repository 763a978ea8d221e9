/* efi/processor/pci.h: PCI configuration space, by ECAM if MCFG describes it, else by ports 0xCF8 and 0xCFC (PCI 3.0,
 * 3.2.2.3.2): segment 0, the first 256 bytes. */
#ifndef EFI_PCI_H
#define EFI_PCI_H

#include "efi/firmware/uefi.h"

struct hw;
struct pci_address;
/* Finds the usable ranges of MCFG (h->ecam) and all functions (h->access.pci). Reports their number once. */
void pci_open(struct hw *h);
/* Address of a register in ECAM. False: no range covers its bus. */
bool pci_ecam_address(const struct hw *h, struct pci_address at, uint64_t *address);

/* The firmware's timer callbacks use the same ports: no interrupt may come between address and data. */
static inline uint64_t pci_port_select(unsigned bus, unsigned device, unsigned function, unsigned reg)
{
	uint64_t flags;
	__asm__ volatile("pushfq; popq %0; cli" : "=r"(flags) : : "memory");
	out32(0xCF8, 1u << 31 | bus << 16 | device << 11 | function << 8 | (reg & 0xFC));
	return flags;
}

static inline void pci_port_done(uint64_t flags)
{
	if ((flags & 0x200) != 0)
		__asm__ volatile("sti" : : : "memory");
}

static inline uint32_t pci_port_read32(unsigned bus, unsigned device, unsigned function, unsigned reg)
{
	uint64_t flags = pci_port_select(bus, device, function, reg);
	uint32_t v = in32(0xCFC);
	pci_port_done(flags);
	return v;
}

static inline void pci_port_write32(unsigned bus, unsigned device, unsigned function, unsigned reg, uint32_t v)
{
	uint64_t flags = pci_port_select(bus, device, function, reg);
	out32(0xCFC, v);
	pci_port_done(flags);
}

/* Registers of two bytes and of one, which share a dword with other registers. */
static inline void pci_port_write16(unsigned bus, unsigned device, unsigned function, unsigned reg, uint16_t v)
{
	uint64_t flags = pci_port_select(bus, device, function, reg);
	out16((uint16_t)(0xCFC + (reg & 2)), v);
	pci_port_done(flags);
}

static inline uint16_t pci_port_read16(unsigned bus, unsigned device, unsigned function, unsigned reg)
{
	uint64_t flags = pci_port_select(bus, device, function, reg);
	uint16_t v = in16((uint16_t)(0xCFC + (reg & 2)));
	pci_port_done(flags);
	return v;
}

static inline uint8_t pci_port_read8(unsigned bus, unsigned device, unsigned function, unsigned reg)
{
	uint64_t flags = pci_port_select(bus, device, function, reg);
	uint8_t v = in8((uint16_t)(0xCFC + (reg & 3)));
	pci_port_done(flags);
	return v;
}

static inline void pci_port_write8(unsigned bus, unsigned device, unsigned function, unsigned reg, uint8_t v)
{
	uint64_t flags = pci_port_select(bus, device, function, reg);
	out8((uint16_t)(0xCFC + (reg & 3)), v);
	pci_port_done(flags);
}

#endif
