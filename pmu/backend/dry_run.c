/* pmu/backend/dry_run.c: see dry_run.h. */
#include "pmu/backend/dry_run.h"

#define IA32_MISC_ENABLE 0x1A0u
#define CPUID_POWER      6u
#define IA32_PMC0        0xC1u
#define IA32_A_PMC0      0x4C1u /* the same counters, written at full width (SDM 18.2.8) */
#define COUNTERS         8u

static uint32_t one_name(uint32_t msr)
{
	return msr >= IA32_A_PMC0 && msr < IA32_A_PMC0 + COUNTERS ? msr - IA32_A_PMC0 + IA32_PMC0 : msr;
}

static struct dry_run_register *find(struct dry_run *d, unsigned core, uint32_t msr)
{
	for (unsigned i = 0; i < d->count; i++)
		if (!d->registers[i].pci && !d->registers[i].bytes && d->registers[i].msr == one_name(msr) && d->registers[i].core == core)
			return &d->registers[i];
	return NULL;
}

static struct dry_run_register *find_pci(struct dry_run *d, struct pci_address at)
{
	for (unsigned i = 0; i < d->count; i++) {
		const struct pci_address *r = &d->registers[i].at;
		if (d->registers[i].pci && r->reg == at.reg && r->bus == at.bus && r->device == at.device && r->function == at.function &&
		    r->segment == at.segment)
			return &d->registers[i];
	}
	return NULL;
}

static struct dry_run_register *find_mapped(struct dry_run *d, uint64_t address, unsigned bytes)
{
	for (unsigned i = 0; i < d->count; i++)
		if (d->registers[i].bytes == bytes && d->registers[i].address == address)
			return &d->registers[i];
	return NULL;
}

static enum status dry_run_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	struct dry_run *d = self;
	const struct dry_run_register *r = leaf == CPUID_POWER ? find(d, core, IA32_MISC_ENABLE) : NULL;
	enum status s = d->under->ops->cpuid(d->under->self, core, leaf, subleaf, out);
	if (r && (r->value >> 38 & 1) != 0) /* SDM 14.3.2.1: EAX[1] is 0 while turbo is off */
		out->eax &= ~2u;
	return s;
}

static enum status dry_run_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct dry_run *d = self;
	const struct dry_run_register *r = find(d, core, msr);
	if (!r)
		return d->under->ops->rdmsr(d->under->self, core, msr, value);
	*value = r->value;
	return ST_OK;
}

/* Stores a value in r or, if that is NULL, in a new register. */
static enum status keep(struct dry_run *d, struct dry_run_register *r, struct dry_run_register fresh, uint64_t value)
{
	if (!r) {
		if (d->count == d->capacity)
			return ST_FULL;
		r = &d->registers[d->count++];
		*r = fresh;
	}
	r->value = value;
	return ST_OK;
}

static enum status dry_run_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct dry_run *d = self;
	if (core >= d->under->cores)
		return ST_RANGE;
	return keep(d, find(d, core, msr), (struct dry_run_register){ .msr = one_name(msr), .core = (uint16_t)core }, value);
}

static enum status dry_run_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	const struct access *u = ((struct dry_run *)self)->under;
	return u->ops->rdpmc(u->self, core, index, value);
}

static enum status dry_run_rdtsc(void *self, unsigned core, uint64_t *value)
{
	const struct access *u = ((struct dry_run *)self)->under;
	return u->ops->rdtsc(u->self, core, value);
}

static enum status dry_run_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	struct dry_run *d = self;
	const struct dry_run_register *r = find_pci(d, at);
	if (!r)
		return d->under->ops->pci_read32(d->under->self, at, value);
	*value = (uint32_t)r->value;
	return ST_OK;
}

static enum status dry_run_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	struct dry_run *d = self;
	return keep(d, find_pci(d, at), (struct dry_run_register){ .pci = true, .at = at }, value);
}

static enum status dry_run_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	struct dry_run *d = self;
	const struct dry_run_register *r = find_mapped(d, address, width_bytes);
	if (!r)
		return d->under->ops->mmio_read(d->under->self, address, width_bytes, value);
	*value = r->value;
	return ST_OK;
}

static enum status dry_run_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	struct dry_run *d = self;
	return keep(d, find_mapped(d, address, width_bytes), (struct dry_run_register){ .bytes = (uint8_t)width_bytes, .address = address }, value);
}

static enum status dry_run_map(void *self, struct mapping *m)
{
	const struct access *u = ((struct dry_run *)self)->under;
	return u->ops->map(u->self, m);
}

static enum status dry_run_unmap(void *self, struct mapping *m)
{
	const struct access *u = ((struct dry_run *)self)->under;
	return u->ops->unmap(u->self, m);
}

static enum status dry_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	const struct access *u = ((struct dry_run *)self)->under;
	(void)limit_tsc;
	for (unsigned i = 0; i < n; i++)
		jobs[i].status = jobs[i].core < u->cores ? ST_OK : ST_RANGE;
	for (unsigned i = 0; i < n; i++)
		if (jobs[i].status != ST_OK)
			return jobs[i].status;
	return ST_OK;
}

static void *dry_run_control(void *self, unsigned core)
{
	const struct access *u = ((struct dry_run *)self)->under;
	return u->ops->control(u->self, core);
}

static void *dry_run_ds(void *self, unsigned core)
{
	const struct access *u = ((struct dry_run *)self)->under;
	return u->ops->ds ? u->ops->ds(u->self, core) : NULL;
}

static const struct access_ops dry_run_ops = {
	.cpuid = dry_run_cpuid, .rdmsr = dry_run_rdmsr, .wrmsr = dry_run_wrmsr, .rdpmc = dry_run_rdpmc, .rdtsc = dry_run_rdtsc,
	.pci_read32 = dry_run_pci_read32, .pci_write32 = dry_run_pci_write32, .mmio_read = dry_run_mmio_read, .mmio_write = dry_run_mmio_write,
	.map = dry_run_map, .unmap = dry_run_unmap, .run = dry_run, .control = dry_run_control, .ds = dry_run_ds,
};

void dry_run_init(struct dry_run *d, const struct access *under, struct dry_run_register *registers, unsigned capacity)
{
	*d = (struct dry_run){ .access = *under, .under = under, .registers = registers, .capacity = capacity };
	d->access.ops = &dry_run_ops;
	d->access.self = d;
	d->access.dry = true;
}
