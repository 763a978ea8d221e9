/* pmu/backend/trace.c: records accesses; see trace.h. */
#include "pmu/backend/trace.h"
#include "pmu/sampling_gate.h"

/* Passes the entry to the sink or appends it to the list; counts it as dropped if the list is full. */
static void record(struct trace *t, struct trace_entry e, enum status status)
{
	e.status = (uint8_t)status;
	if (t->sink)
		t->sink(t->sink_self, &e);
	else if (t->count < t->capacity)
		t->entries[t->count++] = e;
	else
		t->dropped++;
}

static enum status trace_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	struct trace *t = self;
	enum status s = t->under->ops->cpuid(t->under->self, core, leaf, subleaf, out);
	struct trace_entry e = { .op = TRACE_CPUID, .core = (uint16_t)core, .address = leaf, .subleaf = subleaf };
	if (s == ST_OK)
		e.regs = *out;
	record(t, e, s);
	return s;
}

static enum status trace_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct trace *t = self;
	enum status s = t->under->ops->rdmsr(t->under->self, core, msr, value);
	record(t, (struct trace_entry){ .op = TRACE_RDMSR, .core = (uint16_t)core, .address = msr,
	                                .value = s == ST_OK ? *value : 0 }, s);
	return s;
}

static enum status trace_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct trace *t = self;
	enum status s = t->under->ops->wrmsr(t->under->self, core, msr, value);
	record(t, (struct trace_entry){ .op = TRACE_WRMSR, .core = (uint16_t)core, .address = msr, .value = value }, s);
	return s;
}

static enum status trace_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	struct trace *t = self;
	enum status s = t->under->ops->rdpmc(t->under->self, core, index, value);
	record(t, (struct trace_entry){ .op = TRACE_RDPMC, .core = (uint16_t)core, .address = index,
	                                .value = s == ST_OK ? *value : 0 }, s);
	return s;
}

static enum status trace_rdtsc(void *self, unsigned core, uint64_t *value)
{
	struct trace *t = self;
	enum status s = t->under->ops->rdtsc(t->under->self, core, value);
	record(t, (struct trace_entry){ .op = TRACE_RDTSC, .core = (uint16_t)core }, s);
	return s;
}

static enum status trace_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	struct trace *t = self;
	enum status s = t->under->ops->pci_read32(t->under->self, at, value);
	record(t, (struct trace_entry){ .op = TRACE_PCI_READ32, .pci = at, .value = s == ST_OK ? *value : 0 }, s);
	return s;
}

static enum status trace_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	struct trace *t = self;
	enum status s = t->under->ops->pci_write32(t->under->self, at, value);
	record(t, (struct trace_entry){ .op = TRACE_PCI_WRITE32, .pci = at, .value = value }, s);
	return s;
}

static enum status trace_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	struct trace *t = self;
	enum status s = t->under->ops->mmio_read(t->under->self, address, width_bytes, value);
	record(t, (struct trace_entry){ .op = TRACE_MMIO_READ, .address = address, .width_bytes = (uint8_t)width_bytes,
	                                .value = s == ST_OK ? *value : 0 }, s);
	return s;
}

static enum status trace_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	struct trace *t = self;
	enum status s = t->under->ops->mmio_write(t->under->self, address, width_bytes, value);
	record(t, (struct trace_entry){ .op = TRACE_MMIO_WRITE, .address = address, .width_bytes = (uint8_t)width_bytes,
	                                .value = value }, s);
	return s;
}

static enum status trace_map(void *self, struct mapping *m)
{
	struct trace *t = self;
	return t->under->ops->map(t->under->self, m);
}

static enum status trace_unmap(void *self, struct mapping *m)
{
	struct trace *t = self;
	return t->under->ops->unmap(t->under->self, m);
}

static enum status trace_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	struct trace *t = self;
	for (unsigned i = 0; i < n; i++)
		for (unsigned k = 0; jobs[i].gate && k < jobs[i].gate->count; k++)
			record(t, (struct trace_entry){ .op = TRACE_WRMSR, .core = (uint16_t)jobs[i].core, .address = jobs[i].gate->list[k].msr,
			                                .value = jobs[i].gate->list[k].on }, ST_OK);
	enum status s = t->under->ops->run(t->under->self, jobs, n, limit_tsc);
	for (unsigned i = 0; i < n; i++) {
		record(t, (struct trace_entry){ .op = TRACE_RUN, .core = (uint16_t)jobs[i].core, .address = jobs[i].entry,
		                                .value = jobs[i].argument }, jobs[i].status);
		for (unsigned k = jobs[i].gate ? jobs[i].gate->count : 0; k-- > 0;)
			if (sampling_gate_closes(jobs[i].gate, k))
				record(t, (struct trace_entry){ .op = TRACE_WRMSR, .core = (uint16_t)jobs[i].core, .address = jobs[i].gate->list[k].msr,
				                                .value = jobs[i].gate->list[k].off }, ST_OK);
	}
	return s;
}

static void *trace_control(void *self, unsigned core)
{
	struct trace *t = self;
	return t->under->ops->control(t->under->self, core);
}

static void *trace_ds(void *self, unsigned core)
{
	struct trace *t = self;
	return t->under->ops->ds ? t->under->ops->ds(t->under->self, core) : NULL;
}

static const struct access_ops trace_ops = {
	.cpuid = trace_cpuid, .rdmsr = trace_rdmsr, .wrmsr = trace_wrmsr, .rdpmc = trace_rdpmc, .rdtsc = trace_rdtsc,
	.pci_read32 = trace_pci_read32, .pci_write32 = trace_pci_write32,
	.mmio_read = trace_mmio_read, .mmio_write = trace_mmio_write,
	.map = trace_map, .unmap = trace_unmap, .run = trace_run, .control = trace_control, .ds = trace_ds,
};

void trace_init(struct trace *t, const struct access *under, struct trace_entry *entries, unsigned capacity)
{
	*t = (struct trace){ .access = *under, .under = under, .entries = entries, .capacity = capacity };
	t->access.ops = &trace_ops;
	t->access.self = t;
}

static const char *const op_names[] = {
	[TRACE_CPUID] = "cpuid", [TRACE_RDMSR] = "rdmsr", [TRACE_WRMSR] = "wrmsr", [TRACE_RDPMC] = "rdpmc",
	[TRACE_RDTSC] = "rdtsc", [TRACE_PCI_READ32] = "pci_read32", [TRACE_PCI_WRITE32] = "pci_write32",
	[TRACE_MMIO_READ] = "mmio_read", [TRACE_MMIO_WRITE] = "mmio_write", [TRACE_RUN] = "run",
};

void trace_line(struct text *out, const struct trace_entry *e)
{
	text_fmt(out, "%s", op_names[e->op]);
	switch (e->op) {
	case TRACE_CPUID:
		text_fmt(out, " %u 0x%X 0x%X 0x%X 0x%X 0x%X 0x%X", (unsigned)e->core, (unsigned)e->address, e->subleaf, e->regs.eax,
		         e->regs.ebx, e->regs.ecx, e->regs.edx);
		break;
	case TRACE_RDTSC:
		text_fmt(out, " %u", (unsigned)e->core);
		break;
	case TRACE_PCI_READ32:
	case TRACE_PCI_WRITE32:
		text_fmt(out, " %04X:%02X:%02X.%u+0x%X 0x%llX", (unsigned)e->pci.segment, (unsigned)e->pci.bus,
		         (unsigned)e->pci.device, (unsigned)e->pci.function, (unsigned)e->pci.reg, (unsigned long long)e->value);
		break;
	case TRACE_MMIO_READ:
	case TRACE_MMIO_WRITE:
		text_fmt(out, " 0x%llX %u 0x%llX", (unsigned long long)e->address, (unsigned)e->width_bytes,
		         (unsigned long long)e->value);
		break;
	default:
		text_fmt(out, " %u 0x%llX 0x%llX", (unsigned)e->core, (unsigned long long)e->address, (unsigned long long)e->value);
	}
	if (e->status != ST_OK)
		text_fmt(out, " %s", status_name((enum status)e->status));
}
