/* pmu/sim/uncore/box.c: the table of uncore boxes, and the dispatch of accesses to them.
 *
 * Not modelled: boxes that appear or move while the machine runs, accesses of other widths than the box's own. */
#include "pmu/sim/uncore/box.h"
#include "pmu/sim/uncore/uncore_power.h"
#include "pmu/text.h"

#define BOX(name) &box_##name,
static const struct box_kind *const kinds[] = {
#include "pmu/sim/machine/boxes.def"
};
#undef BOX

struct boxes {
	struct uncore_taps *taps;
	struct uncore_power *power;
	void *box[COUNT_OF(kinds)]; /* NULL: not in this machine */
};

static size_t rounded(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

static bool has(const struct machine *m, const struct box_kind *k) { return str_equal(m->pmu_uncore, k->name); }

size_t boxes_bytes(const struct machine *m)
{
	size_t bytes = rounded(sizeof(struct boxes)) + rounded(uncore_taps_bytes()) + rounded(uncore_power_bytes(m));
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		if (has(m, kinds[i]))
			bytes += rounded(kinds[i]->bytes(m));
	return bytes;
}

struct boxes *boxes_init(void *at, const struct machine *m, struct memory *memory, const struct uncore_tap_env *env)
{
	struct boxes *b = at;
	uint8_t *next = (uint8_t *)at + rounded(sizeof(*b));
	memset(b, 0, sizeof(*b));
	b->taps = uncore_taps_init(next, m, memory, env);
	next += rounded(uncore_taps_bytes());
	b->power = uncore_power_init(next, m, b->taps);
	next += rounded(uncore_power_bytes(m));
	for (unsigned i = 0; i < COUNT_OF(kinds); i++)
		if (has(m, kinds[i])) {
			b->box[i] = next;
			kinds[i]->init(next, m, b->taps);
			next += rounded(kinds[i]->bytes(m));
		}
	return b;
}

void boxes_close(struct boxes *b) { uncore_taps_close(b->taps); }
void boxes_core(struct boxes *b, unsigned core, bool runs) { uncore_power_core(b->power, core, runs); }

/* The first kind of boxes that has the register answers. */
#define FIRST_ANSWER(operation, ...)                                            \
	enum status st = ST_MISSING;                                            \
	for (unsigned i = 0; i < COUNT_OF(kinds) && st == ST_MISSING; i++)      \
		if (b->box[i] && kinds[i]->operation)                           \
			st = kinds[i]->operation(b->box[i], __VA_ARGS__);       \
	return st

enum status boxes_rdmsr(struct boxes *b, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f)
{
	FIRST_ANSWER(rdmsr, thread, msr, value, f);
}

enum status boxes_wrmsr(struct boxes *b, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f)
{
	FIRST_ANSWER(wrmsr, thread, msr, value, f);
}

enum status boxes_pci_read32(struct boxes *b, struct pci_address at, uint32_t *value, struct sim_finding *f)
{
	FIRST_ANSWER(pci_read32, at, value, f);
}

enum status boxes_pci_write32(struct boxes *b, struct pci_address at, uint32_t value, struct sim_finding *f)
{
	FIRST_ANSWER(pci_write32, at, value, f);
}

enum status boxes_mmio_read(struct boxes *b, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f)
{
	FIRST_ANSWER(mmio_read, address, width_bytes, value, f);
}

enum status boxes_mmio_write(struct boxes *b, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f)
{
	FIRST_ANSWER(mmio_write, address, width_bytes, value, f);
}
