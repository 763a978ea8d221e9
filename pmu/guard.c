/* pmu/guard.c: refuses writes that the processor's description does not list; saves and restores. */
#include "pmu/guard.h"

static const struct writable_msr *listed(const struct guard *g, uint32_t msr)
{
	for (unsigned i = 0; i < g->processor->msr_count; i++)
		if (msr >= g->processor->msrs[i].first && msr <= g->processor->msrs[i].last)
			return &g->processor->msrs[i];
	return NULL;
}

static struct guard_saved *find_saved(struct guard *g, unsigned core, uint32_t msr)
{
	for (unsigned i = 0; i < g->count; i++)
		if (g->saved[i].msr == msr && g->saved[i].core == core)
			return &g->saved[i];
	return NULL;
}

static enum status refuse(struct guard *g)
{
	g->refused++;
	return ST_REFUSED;
}

/* The register's value from before the first write, read now if this is the first. */
static enum status save(struct guard *g, unsigned core, uint32_t msr, struct guard_saved **out)
{
	*out = find_saved(g, core, msr);
	if (*out)
		return ST_OK;
	if (g->count == g->capacity)
		return ST_FULL;
	struct guard_saved *s = &g->saved[g->count];
	*s = (struct guard_saved){ .msr = msr, .core = (uint16_t)core, .restore = true };
	enum status status = g->under->ops->rdmsr(g->under->self, core, msr, &s->value);
	if (status != ST_OK)
		return status;
	g->count++;
	*out = s;
	return ST_OK;
}

static enum status guard_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct guard *g = self;
	const struct writable_msr *m = listed(g, msr);
	struct guard_saved *s;
	if (!m || core > UINT16_MAX)
		return refuse(g);
	if (m->restore) {
		bool fresh = !find_saved(g, core, msr);
		enum status status = save(g, core, msr, &s);
		if (status != ST_OK)
			return status;
		/* Bits outside the mask stay as they were found. */
		if ((value ^ s->value) & ~m->mask) {
			if (fresh)
				g->count--; /* nothing was changed */
			return refuse(g);
		}
	} else if (value & ~m->mask) {
		return refuse(g);
	}
	return g->under->ops->wrmsr(g->under->self, core, msr, value);
}

static enum status guard_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	(void)at, (void)value;
	return refuse(self); /* no description lists one yet */
}

static enum status guard_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	(void)address, (void)width_bytes, (void)value;
	return refuse(self); /* no description lists one yet */
}

static enum status guard_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->cpuid(u->self, core, leaf, subleaf, out);
}

static enum status guard_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->rdmsr(u->self, core, msr, value);
}

static enum status guard_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->rdpmc(u->self, core, index, value);
}

static enum status guard_rdtsc(void *self, unsigned core, uint64_t *value)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->rdtsc(u->self, core, value);
}

static enum status guard_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->pci_read32(u->self, at, value);
}

static enum status guard_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->mmio_read(u->self, address, width_bytes, value);
}

static enum status guard_map(void *self, struct mapping *m)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->map(u->self, m);
}

static enum status guard_unmap(void *self, struct mapping *m)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->unmap(u->self, m);
}

static enum status guard_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->run(u->self, jobs, n, limit_tsc);
}

static void *guard_control(void *self, unsigned core)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->control(u->self, core);
}

static void *guard_ds(void *self, unsigned core)
{
	const struct access *u = ((struct guard *)self)->under;
	return u->ops->ds ? u->ops->ds(u->self, core) : NULL;
}

static const struct access_ops guard_ops = {
	.cpuid = guard_cpuid, .rdmsr = guard_rdmsr, .wrmsr = guard_wrmsr, .rdpmc = guard_rdpmc, .rdtsc = guard_rdtsc,
	.pci_read32 = guard_pci_read32, .pci_write32 = guard_pci_write32,
	.mmio_read = guard_mmio_read, .mmio_write = guard_mmio_write,
	.map = guard_map, .unmap = guard_unmap, .run = guard_run, .control = guard_control, .ds = guard_ds,
};

void guard_init(struct guard *g, const struct access *under, const struct processor *p,
                struct guard_saved *saved, unsigned capacity)
{
	*g = (struct guard){ .access = *under, .under = under, .processor = p, .saved = saved, .capacity = capacity };
	g->access.ops = &guard_ops;
	g->access.self = g;
}

static enum status put_back(struct guard *g, const struct guard_saved *s)
{
	const struct access *u = g->under;
	const struct writable_msr *m = listed(g, s->msr);
	uint64_t now;
	enum status status = u->ops->wrmsr(u->self, s->core, s->msr, s->value);
	if (status == ST_OK)
		status = u->ops->rdmsr(u->self, s->core, s->msr, &now);
	if (status == ST_OK && (now ^ s->value) & (m ? m->mask : ~0ull))
		status = ST_BROKEN;
	return status;
}

enum status guard_restore(struct guard *g)
{
	enum status first = ST_OK;
	unsigned kept = 0;
	for (unsigned i = g->count; i-- > 0;) {
		enum status s = put_back(g, &g->saved[i]);
		if (s == ST_OK)
			g->saved[i].restore = false;
		else if (first == ST_OK)
			first = s;
	}
	/* What could not be put back stays on the list: another call tries again. */
	for (unsigned i = 0; i < g->count; i++)
		if (g->saved[i].restore)
			g->saved[kept++] = g->saved[i];
	g->count = kept;
	return first;
}
