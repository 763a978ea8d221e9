/* tests/unit/support/fake_access.c: see fake_access.h. */
#include "tests/unit/support/fake_access.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct fake_msr *fake_find(struct fake *f, unsigned core, uint32_t number)
{
	for (unsigned i = 0; i < f->msr_count; i++)
		if (f->msrs[i].number == number && f->msrs[i].core == core)
			return &f->msrs[i];
	return NULL;
}

void fake_msr(struct fake *f, unsigned core, uint32_t number, uint64_t value)
{
	struct fake_msr *m = fake_find(f, core, number);
	if (!m) {
		assert_true(f->msr_count < FAKE_MSRS);
		m = &f->msrs[f->msr_count++];
	}
	*m = (struct fake_msr){ .number = number, .core = core, .value = value };
}

uint64_t fake_value(struct fake *f, unsigned core, uint32_t number)
{
	struct fake_msr *m = fake_find(f, core, number);
	assert_non_null(m);
	return m->value;
}

static enum status fake_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	struct fake *f = self;
	*out = (struct cpuid_regs){ 0 };
	if (f->kinds && leaf == 0x1A) {
		out->eax = f->kinds[core];
		return ST_OK;
	}
	if (f->cpuid_hook && f->cpuid_hook(f, leaf, out))
		return ST_OK;
	for (unsigned i = 0; i < f->leaf_count; i++)
		if (f->leaves[i].leaf == leaf && f->leaves[i].subleaf == subleaf)
			*out = f->leaves[i].regs;
	return ST_OK;
}

static enum status fake_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct fake_msr *m = fake_find(self, core, msr);
	if (!m)
		return ST_FAULT;
	*value = m->value;
	return ST_OK;
}

static enum status fake_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct fake *f = self;
	struct fake_msr *m = fake_find(f, core, msr);
	if (!m)
		return ST_FAULT;
	if (f->fault_after && --f->fault_after == 0) {
		f->fault_after = 1;
		return ST_FAULT;
	}
	assert_true(f->log_count < FAKE_LOG);
	f->log[f->log_count++] = (struct fake_write){ core, msr, value };
	if (!m->stuck)
		m->value = value;
	return ST_OK;
}

static enum status fake_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	return fake_rdmsr(self, core, index & 1u << 30 ? 0x309 + (index & 0xFF) : 0xC1 + index, value);
}

static enum status fake_rdtsc(void *self, unsigned core, uint64_t *value)
{
	(void)self, (void)core;
	*value = 12345;
	return ST_OK;
}

static enum status fake_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	const struct fake *f = self;
	*value = at.reg;
	if (f->window && !at.bus && !at.device && !at.function)
		*value = at.reg == 0 ? 0x1008086 : at.reg == 0x48 ? (uint32_t)f->window : at.reg == 0x4C ? (uint32_t)(f->window >> 32) : 0;
	return ST_OK;
}

static enum status fake_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	(void)self, (void)at, (void)value;
	return ST_OK;
}

/* The 8-byte register that contains the address; NULL outside the window. */
static uint64_t *mapped(struct fake *f, uint64_t address)
{
	const uint64_t base = f->window & ~0xFFFull;
	return f->window && address - base < sizeof(f->mapped) ? &f->mapped[(address - base) / 8] : NULL;
}

static enum status fake_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	struct fake *f = self;
	const uint64_t *at = mapped(f, address);
	*value = !at ? address : width_bytes == 8 ? *at : (uint32_t)(*at >> address % 8 * 8);
	return ST_OK;
}

static enum status fake_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	struct fake *f = self;
	uint64_t *at = mapped(f, address);
	f->mapped_writes++;
	if (at && width_bytes == 8)
		*at = value;
	else if (at)
		*at = (*at & ~(0xFFFFFFFFull << address % 8 * 8)) | (value & 0xFFFFFFFF) << address % 8 * 8;
	return ST_OK;
}

static enum status fake_map(void *self, struct mapping *m)
{
	(void)self, (void)m;
	return ST_UNSUPPORTED;
}

static enum status fake_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	(void)self, (void)limit_tsc;
	for (unsigned i = 0; i < n; i++)
		jobs[i].status = ST_UNSUPPORTED;
	return ST_UNSUPPORTED;
}

static void *fake_control(void *self, unsigned core)
{
	(void)self, (void)core;
	return NULL;
}

static void *fake_ds(void *self, unsigned core)
{
	struct fake *f = self;
	return core < f->access.cores ? f->ds : NULL;
}

static const struct access_ops fake_ops = {
	.cpuid = fake_cpuid, .rdmsr = fake_rdmsr, .wrmsr = fake_wrmsr, .rdpmc = fake_rdpmc, .rdtsc = fake_rdtsc,
	.pci_read32 = fake_pci_read32, .pci_write32 = fake_pci_write32, .mmio_read = fake_mmio_read,
	.mmio_write = fake_mmio_write, .map = fake_map, .unmap = fake_map, .run = fake_run, .control = fake_control, .ds = fake_ds,
};

void fake_init(struct fake *f, unsigned cores)
{
	memset(f, 0, sizeof(*f));
	f->access = (struct access){ .ops = &fake_ops, .self = f, .kind = ACCESS_SIM, .name = "fake", .cores = cores, .nodes = 1 };
}
