/* pmu/uncore/uncore_register.c: reads and writes one register of an uncore box, in the address space of its type. A memory-mapped counter is accessed
 * whole, a select as a doubleword: a wider access would reach the next register. */
#include "pmu/uncore/uncore.h"

#define SELECT_BYTES 4u
#define READS_MOST 8 /* of a counter whose high half changes between reads: it carries once per 2^32 events */

const struct uncore_bus *uncore_bus_of(const struct uncore *u, const struct uncore_box *box, unsigned socket)
{
	if (u->cpu->processor->buses.msr)
		return &u->numbered[socket][box->bus_number < UNCORE_BUSES_MAX ? box->bus_number : 0];
	return box->io_bus ? &u->io_bus[socket] : &u->bus[socket];
}

/* The location that the machine reports for an instance; NULL: the table's applies. */
static const struct box_place *place_of(const struct uncore *u, struct uncore_at at)
{
	return box_place_told(at.box) ? box_place_of(&u->places, (unsigned)(at.box - u->cpu->processor->boxes), u->teller[at.socket], at.instance) : NULL;
}

static enum status pci_register(const struct uncore *u, struct uncore_at at, uint32_t reg, struct pci_address *out)
{
	const struct uncore_bus *bus = uncore_bus_of(u, at.box, at.socket);
	const struct box_place *told = place_of(u, at);
	if (at.box->type) {
		if (told)
			*out = box_place_decoded(told->base, reg);
		return told ? ST_OK : ST_UNSUPPORTED;
	}
	const struct uncore_device *d = &at.box->devices[at.instance];
	if (!bus->known)
		return ST_UNSUPPORTED;
	*out = (struct pci_address){ bus->segment, bus->bus, d->device, at.function == UNCORE_OWN ? d->function : at.function, (uint16_t)reg };
	return ST_OK;
}

/* How far the registers of an instance lie from those of instance 0. */
static uint32_t distance(struct uncore_at at)
{
	if (at.box->places)
		return at.box->places[at.instance];
	return at.instance * at.box->stride + (at.box->jump_from && at.instance >= at.box->jump_from ? at.box->jump : 0);
}

static uint64_t mapped(const struct uncore *u, struct uncore_at at, uint32_t reg)
{
	const struct box_place *told = place_of(u, at);
	return told ? told->base + reg : u->mapped[at.box - u->cpu->processor->boxes] + distance(at) + reg;
}

static uint32_t msr_of(const struct uncore *u, struct uncore_at at, uint32_t reg)
{
	const struct box_place *told = place_of(u, at);
	return told ? (uint32_t)told->base + reg : reg + distance(at);
}

uint32_t uncore_select_at(const struct uncore *u, struct uncore_at at, unsigned c)
{
	const struct box_place *told = place_of(u, at);
	return told ? box_place_select(told, at.box, c) : at.box->control + c * at.box->control_stride;
}

uint32_t uncore_counter_at(const struct uncore *u, struct uncore_at at, unsigned c)
{
	const struct box_place *told = place_of(u, at);
	return told ? box_place_counter(told, at.box, c) : at.box->counter + c * at.box->counter_stride;
}

static unsigned counter_bytes(const struct uncore_box *b) { return b->width > 32 ? 8 : SELECT_BYTES; }

static unsigned speaker(const struct uncore *u, struct uncore_at at)
{
	return at.box->scope == UNCORE_OF_COMPLEX ? u->complex_speaker[at.socket][at.instance] : u->speaker[at.socket];
}

enum status uncore_reg_write(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t value)
{
	struct pci_address pci;
	if (at.box->space == UNCORE_MSR)
		return a->ops->wrmsr(a->self, speaker(u, at), msr_of(u, at, reg), value);
	if (at.box->space == UNCORE_MMIO)
		return a->ops->mmio_write(a->self, mapped(u, at, reg), SELECT_BYTES, value);
	const enum status s = pci_register(u, at, reg, &pci);
	return s == ST_OK ? a->ops->pci_write32(a->self, pci, (uint32_t)value) : s;
}

enum status uncore_reg_read(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t *value)
{
	struct pci_address pci;
	uint32_t word = 0;
	if (at.box->space == UNCORE_MSR)
		return a->ops->rdmsr(a->self, speaker(u, at), msr_of(u, at, reg), value);
	if (at.box->space == UNCORE_MMIO)
		return a->ops->mmio_read(a->self, mapped(u, at, reg), SELECT_BYTES, value);
	enum status s = pci_register(u, at, reg, &pci);
	if (s == ST_OK)
		s = a->ops->pci_read32(a->self, pci, &word);
	*value = word;
	return s;
}

enum status uncore_write_counter(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t value)
{
	if (at.box->space == UNCORE_MMIO)
		return a->ops->mmio_write(a->self, mapped(u, at, reg), counter_bytes(at.box), value);
	enum status s = uncore_reg_write(a, u, at, reg, value);
	if (s == ST_OK && at.box->space == UNCORE_PCI)
		s = uncore_reg_write(a, u, at, reg + 4, value >> 32);
	return s;
}

enum status uncore_read_counter(const struct access *a, const struct uncore *u, struct uncore_at at, uint32_t reg, uint64_t *value)
{
	uint64_t low, high, again;
	if (at.box->space == UNCORE_MSR)
		return uncore_reg_read(a, u, at, reg, value);
	if (at.box->space == UNCORE_MMIO)
		return a->ops->mmio_read(a->self, mapped(u, at, reg), counter_bytes(at.box), value);
	enum status s = uncore_reg_read(a, u, at, reg + 4, &high);
	for (unsigned i = 0; i < READS_MOST && s == ST_OK; i++, high = again) {
		s = uncore_reg_read(a, u, at, reg, &low);
		if (s == ST_OK)
			s = uncore_reg_read(a, u, at, reg + 4, &again);
		if (s == ST_OK && again == high) {
			*value = high << 32 | low;
			return ST_OK;
		}
	}
	return s == ST_OK ? ST_IO : s;
}

enum status uncore_write_select(const struct access *a, const struct uncore *u, struct uncore_at at, unsigned counter, uint64_t value)
{
	const struct uncore_box *b = at.box;
	const uint32_t reg = uncore_select_at(u, at, counter);
	enum status s = ST_OK;
	if (b->space == UNCORE_PCI && b->selectable >> 32)
		s = uncore_reg_write(a, u, at, reg + 4, value >> 32);
	if (s == ST_OK && b->select_writes > 1)
		s = uncore_reg_write(a, u, at, reg, value & ~b->enable);
	return s == ST_OK ? uncore_reg_write(a, u, at, reg, value) : s;
}
