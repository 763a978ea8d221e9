/* efi/processor/hw.c: struct access_ops on the machine that runs us. Every operation that can fault runs as a guarded,
 * isolated call on its core. */
#include "efi/processor/hw.h"
#include "asm/kernel.h"
#include "efi/firmware/console.h"
#include "efi/processor/pci.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define LIMIT_MS 60000u /* of a job if the caller gives none */

static enum status op_on(void *self, unsigned core, void (*entry)(struct register_op *), uint64_t index, uint64_t *value)
{
	struct register_op op = { .index = index, .value = *value };
	enum status s = core_call(self, core, entry, &op);
	if (s == ST_OK)
		*value = op.value;
	return s;
}

static enum status hw_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	struct register_op op = { .index = leaf, .subindex = subleaf };
	enum status s = core_call(self, core, op_cpuid, &op);
	*out = (struct cpuid_regs){ (uint32_t)op.value, (uint32_t)(op.value >> 32), (uint32_t)op.more, (uint32_t)(op.more >> 32) };
	return s;
}

static enum status hw_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	*value = 0;
	return op_on(self, core, op_rdmsr, msr, value);
}

static enum status hw_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	return op_on(self, core, op_wrmsr, msr, &value);
}

static enum status hw_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	*value = 0;
	return op_on(self, core, op_rdpmc, index, value);
}

static enum status hw_rdtsc(void *self, unsigned core, uint64_t *value)
{
	*value = 0;
	return op_on(self, core, op_rdtsc, 0, value);
}

/* --- PCI: ECAM where MCFG covers the bus, else ports 0xCF8 and 0xCFC (PCI 3.0, 3.2.2.3.2) -------- */
enum transfer { TRANSFER_READ, TRANSFER_WRITE };

static enum status hw_mmio(void *self, uint64_t address, unsigned width, uint64_t *value, enum transfer transfer)
{
	struct register_op op = { .index = address, .value = *value, .more = width };
	if ((width != 1 && width != 2 && width != 4 && width != 8) || address % width != 0)
		return ST_RANGE;
	enum status s = core_call(self, 0, transfer == TRANSFER_WRITE ? op_write : op_read, &op);
	if (s == ST_OK && transfer == TRANSFER_READ)
		*value = op.value;
	return s;
}

static enum status hw_mmio_read(void *self, uint64_t address, unsigned width, uint64_t *value)
{
	*value = 0;
	return hw_mmio(self, address, width, value, TRANSFER_READ);
}

static enum status hw_mmio_write(void *self, uint64_t address, unsigned width, uint64_t value)
{
	return hw_mmio(self, address, width, &value, TRANSFER_WRITE);
}

static enum status hw_pci(void *self, struct pci_address at, uint32_t *value, enum transfer transfer)
{
	uint64_t address, wide = *value;
	if (at.device > 31 || at.function > 7 || at.reg > 4092 || at.reg % 4 != 0)
		return ST_RANGE;
	if (pci_ecam_address(self, at, &address)) {
		enum status s = hw_mmio(self, address, 4, &wide, transfer);
		*value = (uint32_t)wide;
		return s;
	}
	if (at.segment != 0 || at.reg > 252)
		return ST_UNSUPPORTED;
	if (transfer == TRANSFER_WRITE)
		pci_port_write32(at.bus, at.device, at.function, at.reg, *value);
	else
		*value = pci_port_read32(at.bus, at.device, at.function, at.reg);
	return ST_OK;
}

static enum status hw_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	*value = 0;
	return hw_pci(self, at, value, TRANSFER_READ);
}

static enum status hw_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	return hw_pci(self, at, &value, TRANSFER_WRITE);
}

/* --- memory --------------------------------------------------------------------------------------- */
static uint64_t memory_bytes(const struct mapping *m) { return m->repeats ? m->page_bytes : m->bytes; }

static enum status hw_map(void *self, struct mapping *m)
{
	struct hw *h = self;
	uint64_t pa = 0;
	m->host = NULL;
	m->pa = 0;
	m->owner = NULL;
	if (m->page_bytes != PAGE_4K && m->page_bytes != PAGE_2M && m->page_bytes != PAGE_1G)
		return ST_UNSUPPORTED;
	if (m->page_bytes == PAGE_1G && !h->space.page_1g)
		return ST_UNSUPPORTED;
	if (m->node >= h->access.nodes || m->bytes == 0 || m->bytes % m->page_bytes != 0 || m->va % m->page_bytes != 0 ||
	    m->va < SPACE_SCRATCH || m->va >= SPACE_END || m->bytes > SPACE_END - m->va)
		return ST_RANGE;
	enum status s = physical_get(h->acpi, h->wb_above, memory_bytes(m), m->page_bytes, m->node, &pa);
	if (s != ST_OK)
		return s;
	for (uint64_t at = 0; s == ST_OK && at < m->bytes; at += memory_bytes(m)) {
		s = space_map(&h->space, m->va + at, pa, memory_bytes(m), m->page_bytes, m->executable);
		if (s != ST_OK)
			space_unmap(&h->space, m->va, at, m->page_bytes);
	}
	if (s != ST_OK) {
		physical_put(pa, memory_bytes(m));
		return s;
	}
	m->host = (void *)(uintptr_t)pa; /* the firmware identity-maps memory */
	m->pa = pa;
	m->owner = h;
	return ST_OK;
}

static enum status hw_unmap(void *self, struct mapping *m)
{
	struct hw *h = self;
	if (m->owner != h)
		return ST_RANGE;
	space_unmap(&h->space, m->va, m->bytes, m->page_bytes);
	physical_put(m->pa, memory_bytes(m));
	m->owner = NULL;
	m->host = NULL;
	return ST_OK;
}

static enum status hw_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	struct hw *h = self;
	const enum status s = cores_run(h, jobs, n, limit_tsc);
	/* A row of all pairs of many processors lasts longer than a watchdog's period: each job that returns counts as progress. */
	if (h->watchdog != NULL)
		watchdog_feed_seldom(h->watchdog, read_tsc(), h->clock->tsc_hz);
	return s;
}

static void *hw_control(void *self, unsigned core)
{
	struct hw *h = self;
	return core < h->access.cores ? h->cores[core]->control : NULL;
}

static void *hw_ds(void *self, unsigned core)
{
	struct hw *h = self;
	return core < h->access.cores ? h->cores[core]->ds : NULL;
}

static const struct access_ops ops = {
	.cpuid = hw_cpuid, .rdmsr = hw_rdmsr, .wrmsr = hw_wrmsr, .rdpmc = hw_rdpmc, .rdtsc = hw_rdtsc,
	.pci_read32 = hw_pci_read32, .pci_write32 = hw_pci_write32,
	.mmio_read = hw_mmio_read, .mmio_write = hw_mmio_write,
	.map = hw_map, .unmap = hw_unmap, .run = hw_run, .control = hw_control, .ds = hw_ds,
};

#define MSR_SYSCFG       0xC0010010u
#define SYSCFG_TOM2      (3u << 21)   /* MtrrTom2En, Tom2ForceMemTypeWB: APM vol. 2, 7.9.6 */
#define MSR_TOM2         0xC001001Du
#define TOM2_ADDRESS     0x0000FFFFFF800000ull

/* AMD's processors from family 10h on can force memory between 4 GiB and TOM2 to be write-back. 0: this one does not, or lacks the registers,
 * as under an emulator or a hypervisor. */
static uint64_t forced_write_back(struct hw *h)
{
	uint32_t vendor[4], r[4];
	uint64_t syscfg, top;
	cpuid_raw(0, 0, vendor);
	cpuid_raw(1, 0, r);
	const bool amd = vendor[2] == 0x444D4163u || vendor[2] == 0x656E6975u; /* "cAMD", and Hygon's "uine" */
	const unsigned family = (r[0] >> 8 & 15) + ((r[0] >> 8 & 15) == 15 ? r[0] >> 20 & 0xFF : 0);
	if (!amd || family < 0x10 || hw_rdmsr(h, 0, MSR_SYSCFG, &syscfg) != ST_OK || (syscfg & SYSCFG_TOM2) != SYSCFG_TOM2)
		return 0;
	return hw_rdmsr(h, 0, MSR_TOM2, &top) == ST_OK ? top & TOM2_ADDRESS : 0;
}

enum contents { CONTENTS_CODE, CONTENTS_DATA };

static enum status map_fixed(struct hw *h, uint64_t va, uint64_t bytes, unsigned node, enum contents contents, void **host)
{
	uint64_t pa;
	enum status s = physical_get(h->acpi, h->wb_above, bytes, PAGE_4K, node, &pa);
	if (s != ST_OK && node != 0)
		s = physical_get(h->acpi, h->wb_above, bytes, PAGE_4K, 0, &pa);
	if (s == ST_OK)
		s = space_map(&h->space, va, pa, bytes, PAGE_4K, contents == CONTENTS_CODE);
	if (s == ST_OK)
		*host = (void *)(uintptr_t)pa;
	return s;
}

static enum status map_areas(struct hw *h)
{
	size_t code_bytes = (size_t)(kernel_code_end - kernel_code);
	void *code;
	enum status s = map_fixed(h, SPACE_CODE, (code_bytes + 0xFFF) & ~0xFFFull, h->core_node[0], CONTENTS_CODE, &code);
	if (s != ST_OK)
		return s;
	memcpy(code, kernel_code, code_bytes);
	for (unsigned i = 0; i < h->access.cores && s == ST_OK; i++) {
		struct core *c = h->cores[i];
		s = map_fixed(h, SPACE_CONTROL + i * CONTROL_BYTES, CONTROL_BYTES, c->node, CONTENTS_DATA, &c->control);
		if (s == ST_OK)
			s = map_fixed(h, SPACE_DS + i * DS_BYTES, DS_BYTES, c->node, CONTENTS_DATA, &c->ds);
	}
	return s;
}

enum status hw_open(struct hw **out, const struct acpi *acpi, const struct clock *clock, enum start how, bool *may_return)
{
	struct hw *h = pages_get(sizeof(*h));
	*out = NULL;
	if (h == NULL)
		return ST_FULL;
	h->acpi = acpi;
	h->clock = clock;
	h->tsc_per_ms = clock_ticks(clock, 1);
	h->limit_ms = LIMIT_MS;
	h->access = (struct access){ .ops = &ops, .self = h, .kind = ACCESS_HW, .name = "hw",
		.nodes = acpi->nodes, .tsc_hz = clock->tsc_hz, .core_node = h->core_node, .distance = acpi->distance };
	enum status s = space_open(&h->space, acpi);
	if (s != ST_OK)
		return s;
	cores_start(h, how);
	if (h->access.cores == 0)
		return ST_FULL;
	for (unsigned i = 0; i < h->access.cores; i++)
		h->core_node[i] = (uint8_t)h->cores[i]->node;
	h->wb_above = forced_write_back(h);
	s = map_areas(h);
	pci_open(h);
	if (s == ST_OK)
		*out = h;
	else
		*may_return = cores_stop(h);
	return s;
}

bool hw_close(struct hw *h)
{
	return cores_stop(h);
}
