/* efi/processor/pci.c: the PCI functions of the machine, and access to their configuration space.
 *
 * An MCFG range is used if it is not memory, can be read, and shows the same host bridge as ports 0xCF8 and 0xCFC. All
 * functions of all buses are probed, including buses that no bridge leads to and devices with a hidden function 0, since the
 * uncore's boxes are there. No bus is numbered, no function enabled. */
#include "efi/processor/pci.h"
#include "efi/firmware/console.h"
#include "efi/processor/hw.h"
#include "pmu/text.h"

#define FUNCTIONS_A_BUS 256u
#define HEADER_TYPE     0x0Cu /* PCI 3.0, 6.1: [22:16] of this dword: 1 is a bridge */
#define BUS_NUMBERS     0x18u /* [15:8] secondary, [23:16] subordinate bus */

/* A whole bus, read by one guarded call. */
struct bus_scan {
	uint64_t base;  /* ECAM of the bus; 0: by ports */
	unsigned bus;
	struct { uint32_t id, kind, header, buses; } at[FUNCTIONS_A_BUS];
};

static uint32_t read32(const struct bus_scan *s, unsigned function, unsigned reg)
{
	if (s->base != 0)
		return *(const volatile uint32_t *)(uintptr_t)(s->base + ((uint64_t)function << 12) + reg);
	return pci_port_read32(s->bus, function >> 3, function & 7, reg);
}

static void scan_bus(struct register_op *op)
{
	struct bus_scan *s = (struct bus_scan *)(uintptr_t)op->index;
	for (unsigned f = 0; f < FUNCTIONS_A_BUS; f++) {
		s->at[f].id = read32(s, f, 0);
		/* PCI 3.0, 6.2.1: vendor 0xFFFF means no function; some bridges answer with zeros. */
		if ((s->at[f].id & 0xFFFF) == 0xFFFF || s->at[f].id == 0)
			continue;
		s->at[f].kind = read32(s, f, 8);
		s->at[f].header = read32(s, f, HEADER_TYPE);
		s->at[f].buses = read32(s, f, BUS_NUMBERS);
	}
}

static bool scan(struct hw *h, struct bus_scan *s, uint64_t base, unsigned bus)
{
	struct register_op op = { .index = (uint64_t)(uintptr_t)s };
	memset(s, 0, sizeof(*s));
	s->base = base;
	s->bus = bus;
	return core_call(h, 0, scan_bus, &op) == ST_OK;
}

bool pci_ecam_address(const struct hw *h, struct pci_address at, uint64_t *address)
{
	for (unsigned i = 0; i < h->ecam_count; i++) {
		const struct ecam *e = &h->ecam[i];
		if (e->segment == at.segment && at.bus >= e->bus_first && at.bus <= e->bus_last) {
			/* The base is that of bus 0, whether or not the range includes it (PCI firmware specification 3.3, 4.1.2). */
			*address = e->base + ((uint64_t)at.bus << 20 | (uint64_t)at.device << 15 |
			                      (uint64_t)at.function << 12 | at.reg);
			return true;
		}
	}
	return false;
}

static bool believable(struct hw *h, struct bus_scan *s, const struct ecam *e)
{
	uint64_t first = e->base + ((uint64_t)e->bus_first << 20);
	if (uefi_memory_is_ram(first, ((uint64_t)(e->bus_last - e->bus_first) + 1) << 20))
		return false;
	if (!scan(h, s, first, e->bus_first))
		return false;
	return e->segment != 0 || e->bus_first != 0 || s->at[0].id == pci_port_read32(0, 0, 0, 0);
}

static void note(struct hw *h, const struct bus_scan *s, uint16_t segment, bool reached[256])
{
	for (unsigned f = 0; f < FUNCTIONS_A_BUS; f++) {
		uint32_t id = s->at[f].id;
		if ((id & 0xFFFF) == 0xFFFF || id == 0)
			continue;
		/* A device that does not decode the function number answers as all eight functions: only function 0 exists. */
		if ((f & 7) != 0 && (s->at[f & ~7u].header >> 23 & 1) == 0 && id == s->at[f & ~7u].id)
			continue;
		if (h->access.pci_count == PCI_FUNCTIONS_MAX) {
			h->pci_beyond++;
			continue;
		}
		h->pci[h->access.pci_count++] = (struct pci_function){
			{ segment, (uint8_t)s->bus, (uint8_t)(f >> 3), (uint8_t)(f & 7), 0 }, id, s->at[f].kind, reached[s->bus] };
		if ((s->at[f].header >> 16 & 0x7F) == 1)
			for (unsigned bus = s->at[f].buses >> 8 & 0xFF; bus != 0 && bus <= (s->at[f].buses >> 16 & 0xFF); bus++)
				reached[bus] = true;
	}
}

void pci_open(struct hw *h)
{
	struct bus_scan *s = pages_get(sizeof(*s));
	bool reached[256], port_buses = true;
	unsigned alone = 0;
	h->pci = pages_get(PCI_FUNCTIONS_MAX * sizeof(*h->pci));
	if (s == NULL || h->pci == NULL)
		return;
	h->access.pci = h->pci;
	for (unsigned i = 0; i < h->acpi->ecam_count; i++) {
		if (believable(h, s, &h->acpi->ecam[i]))
			h->ecam[h->ecam_count++] = h->acpi->ecam[i];
		else
			print("pci: MCFG's range at 0x%lx is none and left out\n", (unsigned long)h->acpi->ecam[i].base);
	}
	for (unsigned i = 0; i < h->ecam_count; i++) {
		const struct ecam *e = &h->ecam[i];
		memset(reached, 0, sizeof(reached));
		reached[e->bus_first] = true;
		port_buses = port_buses && (e->segment != 0 || e->bus_first != 0);
		for (unsigned bus = e->bus_first; bus <= e->bus_last; bus++)
			if (scan(h, s, e->base + ((uint64_t)bus << 20), bus))
				note(h, s, e->segment, reached);
	}
	if (port_buses) {
		memset(reached, 0, sizeof(reached));
		reached[0] = true;
		for (unsigned bus = 0; bus < 256; bus++)
			if (scan(h, s, 0, bus))
				note(h, s, 0, reached);
	}
	for (unsigned i = 0; i < h->access.pci_count; i++)
		alone += !h->pci[i].reached;
	print("pci: %u functions by %s, %u of them on buses that no bridge leads to\n", h->access.pci_count,
	      port_buses ? "ports 0xCF8 and 0xCFC" : "ECAM", alone);
	if (h->pci_beyond != 0)
		print("pci: %u functions more than there is room for: uncore boxes may be missing\n", h->pci_beyond);
	pages_put(s, sizeof(*s));
}
