/* pmu/backend/core_kind.c: see core_kind.h. */
#include "pmu/backend/core_kind.h"

#include "pmu/text.h"
#include "tables/processor.h"

#define LEAF_KIND  0x1A

const char *const core_kind_names[CORE_KIND_NAMES] = { "", "p", "e", "lpe", CORE_KIND_ALL };

unsigned core_kinds(const struct access *a, struct core_kind_range kinds[CORE_KINDS_MAX])
{
	struct cpuid_regs highest, r;
	unsigned n = 0, small = 0;
	if (a->ops->cpuid(a->self, 0, 0, 0, &highest) != ST_OK || highest.eax < LEAF_KIND)
		return 0;
	for (unsigned core = 0; core < a->cores; core++) {
		unsigned i = 0;
		if (a->ops->cpuid(a->self, core, LEAF_KIND, 0, &r) != ST_OK || !r.eax)
			return 0;
		while (i < n && kinds[i].kind != r.eax)
			i++;
		if (i < n && kinds[i].first + kinds[i].count == core)
			kinds[i].count++;
		if (i < n || n == CORE_KINDS_MAX)
			continue;
		const bool atom = r.eax >> 24 == CORE_TYPE_ATOM;
		kinds[n++] = (struct core_kind_range){ !atom ? "p" : small ? "lpe" : "e", r.eax, core, 1 };
		small += atom;
	}
	return n;
}

static enum status kind_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->ops->cpuid(k->under->self, k->range.first + core, leaf, subleaf, out) : ST_RANGE;
}

static enum status kind_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->ops->rdmsr(k->under->self, k->range.first + core, msr, value) : ST_RANGE;
}

static enum status kind_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->ops->wrmsr(k->under->self, k->range.first + core, msr, value) : ST_RANGE;
}

static enum status kind_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->ops->rdpmc(k->under->self, k->range.first + core, index, value) : ST_RANGE;
}

static enum status kind_rdtsc(void *self, unsigned core, uint64_t *value)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->ops->rdtsc(k->under->self, k->range.first + core, value) : ST_RANGE;
}

static enum status kind_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->ops->pci_read32(u->self, at, value);
}

static enum status kind_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->ops->pci_write32(u->self, at, value);
}

static enum status kind_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->ops->mmio_read(u->self, address, width_bytes, value);
}

static enum status kind_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->ops->mmio_write(u->self, address, width_bytes, value);
}

static enum status kind_map(void *self, struct mapping *m)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->ops->map(u->self, m);
}

static enum status kind_unmap(void *self, struct mapping *m)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->ops->unmap(u->self, m);
}

/* Jobs have the backend's core numbers while they run. */
static enum status kind_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	const struct core_kind *k = self;
	for (unsigned i = 0; i < n; i++)
		if (jobs[i].core >= k->range.count)
			return ST_RANGE;
	for (unsigned i = 0; i < n; i++)
		jobs[i].core += k->range.first;
	enum status s = k->under->ops->run(k->under->self, jobs, n, limit_tsc);
	for (unsigned i = 0; i < n; i++)
		jobs[i].core -= k->range.first;
	return s;
}

static void *kind_control(void *self, unsigned core)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->ops->control(k->under->self, k->range.first + core) : NULL;
}

static void *kind_ds(void *self, unsigned core)
{
	const struct core_kind *k = self;
	return core < k->range.count && k->under->ops->ds ? k->under->ops->ds(k->under->self, k->range.first + core) : NULL;
}

static bool kind_counts(void *self, unsigned core, uint64_t select)
{
	const struct core_kind *k = self;
	return !k->under->counts || k->under->counts(k->under->counts_self, k->range.first + core, select);
}

static uint64_t kind_unmodelled(void *self)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->unmodelled(u->counts_self);
}

static const char *kind_unmodelled_why(void *self)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->unmodelled_why(u->counts_self);
}

static uint64_t kind_instructions(void *self)
{
	const struct access *u = ((struct core_kind *)self)->under;
	return u->instructions(u->counts_self);
}

static enum status kind_interrupts(void *self, unsigned core, struct interrupts *i)
{
	const struct core_kind *k = self;
	return core < k->range.count ? k->under->interrupts(k->under->counts_self, k->range.first + core, i) : ST_RANGE;
}

static const struct access_ops kind_ops = {
	.cpuid = kind_cpuid, .rdmsr = kind_rdmsr, .wrmsr = kind_wrmsr, .rdpmc = kind_rdpmc, .rdtsc = kind_rdtsc,
	.pci_read32 = kind_pci_read32, .pci_write32 = kind_pci_write32, .mmio_read = kind_mmio_read, .mmio_write = kind_mmio_write,
	.map = kind_map, .unmap = kind_unmap, .run = kind_run, .control = kind_control, .ds = kind_ds,
};

enum status core_kind_init(struct core_kind *k, const struct access *under, const char *name)
{
	struct core_kind_range kinds[CORE_KINDS_MAX];
	unsigned n = core_kinds(under, kinds), i = 0;
	const bool several = n > 1;
	if (several && str_equal(name, CORE_KIND_ALL)) {
		kinds[0] = (struct core_kind_range){ CORE_KIND_ALL, 0, 0, under->cores };
		n = 1;
	}
	while (i < n && !str_equal(kinds[i].name, name))
		i++;
	if (i == n)
		return ST_MISSING;
	*k = (struct core_kind){ .access = *under, .under = under, .range = kinds[i] };
	k->access.ops = &kind_ops;
	k->access.self = k->access.counts_self = k;
	k->access.cores = kinds[i].count;
	k->access.core_kind = several ? k->range.name : NULL;
	k->access.first = under->first + kinds[i].first;
	k->access.core_node = under->core_node ? under->core_node + kinds[i].first : NULL;
	k->access.counts = under->counts ? kind_counts : NULL;
	k->access.unmodelled = under->unmodelled ? kind_unmodelled : NULL;
	k->access.unmodelled_why = under->unmodelled_why ? kind_unmodelled_why : NULL;
	k->access.instructions = under->instructions ? kind_instructions : NULL;
	k->access.interrupts = under->interrupts ? kind_interrupts : NULL;
	return ST_OK;
}
