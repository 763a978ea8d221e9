/* pmu/backend/msr_guard.c: refuses writes that the processor's description does not list; saves and restores. */
#include "pmu/backend/msr_guard.h"
#include "pmu/sampling_gate.h"

static const struct writable_msr *listed(struct msr_guard *g, uint32_t msr)
{
	struct msr_guard_placed r;
	for (unsigned i = 0; i < g->processor->msr_count; i++)
		if (msr >= g->processor->msrs[i].first && msr <= g->processor->msrs[i].last)
			return &g->processor->msrs[i];
	if (!msr_guard_placed_listed(&g->places, g->processor, UNCORE_MSR, msr, &r))
		return NULL;
	g->placed = (struct writable_msr){ .first = msr, .last = msr, .mask = r.mask, .restore = r.restore, .what = r.what, .source = r.box->source };
	return &g->placed;
}

#define PCI_VENDOR_INTEL 0x8086u
#define LEAF_FEATURES    7
#define LEAF_KIND        0x1A

enum afterwards { PUT_BACK, LEFT };

/* Matches the access against one register of a function; several entries may share a register (fields of filters). */
static void take(struct pci_address at, uint32_t reg, uint64_t bits, enum afterwards afterwards, const struct uncore_device *d, const char *what,
                 struct msr_guard_pci *out)
{
	if (at.reg == reg)
		*out = (struct msr_guard_pci){ .mask = out->mask | (uint32_t)bits, .restore = afterwards == PUT_BACK, .device = d, .what = what };
}

static void take_counter(struct pci_address at, uint32_t reg, const struct uncore_box *b, const struct uncore_device *d,
                         struct msr_guard_pci *out)
{
	take(at, reg, UINT32_MAX, PUT_BACK, d, "counter, low half", out);
	take(at, reg + 4, b->width >= 64 ? UINT32_MAX : (1ull << (b->width - 32)) - 1, PUT_BACK, d, "counter, high half", out);
}

static void take_own(struct pci_address at, const struct uncore_box *b, const struct uncore_device *d, struct msr_guard_pci *out)
{
	for (unsigned c = 0; c < b->counters; c++) {
		take(at, b->control + c * b->control_stride, b->selectable, PUT_BACK, d, "select of a counter", out);
		if (b->selectable >> 32)
			take(at, b->control + c * b->control_stride + 4, b->selectable >> 32, PUT_BACK, d, "select of a counter, high half", out);
		take_counter(at, b->counter + c * b->counter_stride, b, d, out);
	}
	if (b->fixed_control) {
		take(at, b->fixed_control, b->fixed_enable | b->fixed_reset, PUT_BACK, d, "control of the fixed counter", out);
		take_counter(at, b->fixed_counter, b, d, out);
	}
	if (b->box_control)
		take(at, b->box_control, b->box_keep | b->box_reset | b->box_freeze, LEFT, d, "resets and freezes the box", out);
	if (b->box_status)
		take(at, b->box_status, b->box_status_mask, LEFT, d, "overflow bits, cleared by writing 1", out);
}

bool msr_guard_pci_listed(const struct processor *p, struct pci_address at, struct msr_guard_pci *out)
{
	*out = (struct msr_guard_pci){ 0 };
	for (unsigned n = 0; n < p->box_count; n++) {
		const struct uncore_box *b = &p->boxes[n];
		for (unsigned i = 0; b->space == UNCORE_PCI && !b->type && i < b->instances; i++) {
			const struct uncore_device *d = &b->devices[i];
			if (d->device != at.device)
				continue;
			if (d->function == at.function)
				take_own(at, b, d, out);
			for (unsigned f = 0; f < b->filter_count; f++) {
				const struct uncore_filter *k = &b->filters[f];
				const uint8_t function = k->function == UNCORE_OWN ? d->function : k->function;
				if (function == at.function)
					take(at, k->reg, ((2ull << k->high) - 1) & ~((1ull << k->low) - 1), PUT_BACK, d, "filter of the box", out);
			}
		}
	}
	return out->device != NULL;
}

static struct msr_guard_saved *find_saved(struct msr_guard *g, unsigned core, uint32_t msr)
{
	for (unsigned i = 0; i < g->count; i++)
		if (!g->saved[i].pci && !g->saved[i].bytes && g->saved[i].msr == msr && g->saved[i].core == core)
			return &g->saved[i];
	return NULL;
}

static enum status refuse(struct msr_guard *g)
{
	g->refused++;
	return ST_REFUSED;
}

/* The register's value from before the first write, read now if this is the first. */
static enum status save(struct msr_guard *g, unsigned core, uint32_t msr, struct msr_guard_saved **out)
{
	*out = find_saved(g, core, msr);
	if (*out)
		return ST_OK;
	if (g->count == g->capacity)
		return ST_FULL;
	struct msr_guard_saved *s = &g->saved[g->count];
	*s = (struct msr_guard_saved){ .msr = msr, .core = (uint16_t)core, .restore = true };
	enum status status = g->under->ops->rdmsr(g->under->self, core, msr, &s->value);
	if (status != ST_OK)
		return status;
	g->count++;
	*out = s;
	return ST_OK;
}

/* Records a freeze of all boxes of a socket, which no register shows: they must be released at the end. */
static enum status note_freeze(struct msr_guard *g, unsigned core, uint32_t msr, uint64_t value)
{
	for (unsigned b = 0; b < g->processor->box_count; b++) {
		const struct uncore_box *box = &g->processor->boxes[b];
		if (!box->global_freeze || box->global_control != msr || box->global_freeze != value || find_saved(g, core, msr))
			continue;
		if (g->count == g->capacity)
			return ST_FULL;
		g->saved[g->count++] = (struct msr_guard_saved){ .msr = msr, .core = (uint16_t)core, .restore = true, .thaw = true,
		                                             .value = box->global_unfreeze };
	}
	return ST_OK;
}

/* Records the register of an access that raised a fault; returns its status. */
static enum status note_msr(struct msr_guard *g, unsigned core, uint32_t msr, enum status status)
{
	if (status == ST_FAULT)
		g->failure = (struct register_failure){ .known = true, .msr = msr, .core = (uint16_t)core };
	return status;
}

static enum status note_pci(struct msr_guard *g, struct pci_address at, enum status status)
{
	if (status == ST_FAULT)
		g->failure = (struct register_failure){ .known = true, .pci = true, .at = at };
	return status;
}

static enum status note_mapped(struct msr_guard *g, uint64_t address, enum status status)
{
	if (status == ST_FAULT)
		g->failure = (struct register_failure){ .known = true, .mapped = true, .address = address };
	return status;
}

static enum status msr_guard_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	struct msr_guard *g = self;
	const struct writable_msr *m = listed(g, msr);
	struct msr_guard_saved *s;
	if (!m || core > UINT16_MAX || (core >= g->access.cores && core < g->under->cores))
		return refuse(g);
	if (m->restore) {
		bool fresh = !find_saved(g, core, msr);
		enum status status = note_msr(g, core, msr, save(g, core, msr, &s));
		if (status != ST_OK)
			return status;
		/* Bits outside the mask stay as found. */
		if ((value ^ s->value) & ~m->mask) {
			if (fresh)
				g->count--; /* nothing was changed */
			return refuse(g);
		}
	} else if (value & ~m->mask) {
		return refuse(g);
	} else {
		const unsigned before = g->count;
		enum status status = note_freeze(g, core, msr, value);
		if (status != ST_OK)
			return status;
		status = note_msr(g, core, msr, g->under->ops->wrmsr(g->under->self, core, msr, value));
		if (status == ST_FAULT)
			g->count = before; /* nothing was frozen: nothing to release */
		return status;
	}
	return note_msr(g, core, msr, g->under->ops->wrmsr(g->under->self, core, msr, value));
}

/* Whether the function at that address is the described one: compares its id, read once per function. */
static enum status identify(struct msr_guard *g, struct pci_address at, const struct uncore_device *device, bool *good)
{
	uint32_t id;
	at.function = device->function;
	at.reg = 0;
	if (g->known.device == at.device && g->known.bus == at.bus && g->known.segment == at.segment &&
	    g->known.function == at.function && g->known_good) {
		*good = true;
		return ST_OK;
	}
	const enum status s = g->under->ops->pci_read32(g->under->self, at, &id);
	*good = s == ST_OK && id == ((uint32_t)device->id << 16 | PCI_VENDOR_INTEL);
	g->known = at;
	g->known_good = *good;
	return s;
}

static struct msr_guard_saved *find_saved_pci(struct msr_guard *g, struct pci_address at)
{
	for (unsigned i = 0; i < g->count; i++) {
		const struct pci_address *s = &g->saved[i].at;
		if (g->saved[i].pci && s->reg == at.reg && s->bus == at.bus && s->device == at.device && s->function == at.function &&
		    s->segment == at.segment)
			return &g->saved[i];
	}
	return NULL;
}

/* The same for boxes that the machine locates: only the vendor's id of their functions is known. */
static bool listed_pci(struct msr_guard *g, struct pci_address at, struct msr_guard_pci *out, bool *good)
{
	struct msr_guard_placed r;
	uint32_t id;
	if (!msr_guard_placed_listed(&g->places, g->processor, UNCORE_PCI, box_place_encoded(at), &r))
		return false;
	*out = (struct msr_guard_pci){ .mask = (uint32_t)r.mask, .restore = r.restore, .what = r.what };
	at.reg = 0;
	*good = g->under->ops->pci_read32(g->under->self, at, &id) == ST_OK && (id & 0xFFFF) == PCI_VENDOR_INTEL;
	return true;
}

static enum status msr_guard_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	struct msr_guard *g = self;
	struct msr_guard_pci r;
	bool good;
	enum status status = ST_OK;
	if (msr_guard_pci_listed(g->processor, at, &r))
		status = identify(g, at, r.device, &good);
	else if (!listed_pci(g, at, &r, &good))
		return refuse(g);
	if (status != ST_OK)
		return status;
	if (!good)
		return refuse(g);
	if (!r.restore)
		return value & ~r.mask ? refuse(g) : note_pci(g, at, g->under->ops->pci_write32(g->under->self, at, value));
	struct msr_guard_saved *s = find_saved_pci(g, at);
	const bool fresh = !s;
	if (fresh) {
		uint32_t found;
		if (g->count == g->capacity)
			return ST_FULL;
		status = g->under->ops->pci_read32(g->under->self, at, &found);
		if (status != ST_OK)
			return status;
		s = &g->saved[g->count];
		*s = (struct msr_guard_saved){ .pci = true, .at = at, .restore = true, .value = found };
	}
	if ((value ^ s->value) & ~(uint64_t)r.mask)
		return refuse(g); /* bits outside the mask stay as found */
	if (fresh)
		g->count++;
	return note_pci(g, at, g->under->ops->pci_write32(g->under->self, at, value));
}

static enum status msr_guard_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	struct msr_guard *g = self;
	const enum status s = msr_guard_mapped_write(g, address, width_bytes, value);
	return s == ST_REFUSED ? refuse(g) : note_mapped(g, address, s);
}

static enum status msr_guard_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->cpuid(u->self, core, leaf, subleaf, out);
}

static enum status msr_guard_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	struct msr_guard *g = self;
	return note_msr(g, core, msr, g->under->ops->rdmsr(g->under->self, core, msr, value));
}

static enum status msr_guard_rdpmc(void *self, unsigned core, uint32_t index, uint64_t *value)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->rdpmc(u->self, core, index, value);
}

static enum status msr_guard_rdtsc(void *self, unsigned core, uint64_t *value)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->rdtsc(u->self, core, value);
}

static enum status msr_guard_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	struct msr_guard *g = self;
	return note_pci(g, at, g->under->ops->pci_read32(g->under->self, at, value));
}

static enum status msr_guard_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	struct msr_guard *g = self;
	return note_mapped(g, address, g->under->ops->mmio_read(g->under->self, address, width_bytes, value));
}

static enum status msr_guard_map(void *self, struct mapping *m)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->map(u->self, m);
}

static enum status msr_guard_unmap(void *self, struct mapping *m)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->unmap(u->self, m);
}

/* Registers that a job writes itself are checked against the same list, and restored like those written here. */
static enum status look_at_gate(struct msr_guard *g, unsigned core, const struct sampling_gate *gate)
{
	for (unsigned i = 0; gate && i < gate->count; i++) {
		const struct writable_msr *m = listed(g, gate->list[i].msr);
		struct msr_guard_saved *s;
		uint64_t kept = 0;
		if (!m || core > UINT16_MAX)
			return refuse(g);
		if (m->restore) {
			enum status status = save(g, core, gate->list[i].msr, &s);
			if (status != ST_OK)
				return status;
			kept = s->value;
		}
		if (((gate->list[i].on ^ kept) | (gate->list[i].off ^ kept)) & ~m->mask)
			return refuse(g);
	}
	return ST_OK;
}

static enum status msr_guard_run(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	for (unsigned i = 0; i < n; i++) {
		enum status status = look_at_gate(self, jobs[i].core, jobs[i].gate);
		if (status != ST_OK)
			return status;
	}
	return u->ops->run(u->self, jobs, n, limit_tsc);
}

static void *msr_guard_control(void *self, unsigned core)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->control(u->self, core);
}

static void *msr_guard_ds(void *self, unsigned core)
{
	const struct access *u = ((struct msr_guard *)self)->under;
	return u->ops->ds ? u->ops->ds(u->self, core) : NULL;
}

static const struct access_ops msr_guard_ops = {
	.cpuid = msr_guard_cpuid, .rdmsr = msr_guard_rdmsr, .wrmsr = msr_guard_wrmsr, .rdpmc = msr_guard_rdpmc, .rdtsc = msr_guard_rdtsc,
	.pci_read32 = msr_guard_pci_read32, .pci_write32 = msr_guard_pci_write32,
	.mmio_read = msr_guard_mmio_read, .mmio_write = msr_guard_mmio_write,
	.map = msr_guard_map, .unmap = msr_guard_unmap, .run = msr_guard_run, .control = msr_guard_control, .ds = msr_guard_ds,
};

/* The number of cores from 0 up to the first of another kind (CPUID 0x1A EAX), whose registers the description does not cover. */
static unsigned alike(const struct access *a)
{
	struct cpuid_regs first, other;

	if (a->ops->cpuid(a->self, 0, LEAF_KIND, 0, &first) != ST_OK)
		return 1;
	for (unsigned core = 1; core < a->cores; core++)
		if (a->ops->cpuid(a->self, core, LEAF_KIND, 0, &other) != ST_OK || other.eax != first.eax)
			return core;
	return a->cores;
}

/* Whether the processor says that its cores are of several kinds (SDM volume 2A, CPUID 7 EDX[15]), also one that has no descriptor of its own. */
static bool is_hybrid(const struct access *a)
{
	struct cpuid_regs r;

	return a->ops->cpuid(a->self, 0, 0, 0, &r) == ST_OK && r.eax >= LEAF_KIND && a->ops->cpuid(a->self, 0, LEAF_FEATURES, 0, &r) == ST_OK &&
	       (r.edx >> 15 & 1) != 0;
}

void msr_guard_init(struct msr_guard *g, const struct access *under, const struct processor *p,
                struct msr_guard_saved *saved, unsigned capacity)
{
	*g = (struct msr_guard){ .access = *under, .under = under, .processor = p, .saved = saved, .capacity = capacity };
	g->access.ops = &msr_guard_ops;
	g->access.self = g;
	if (p->core_type || (!p->models && p->msr_count && under->cores > 1 && is_hybrid(under)))
		g->access.cores = alike(under);
	g->access.failure = &g->failure;
	if (box_place_find(under, p, &g->places) != ST_OK)
		g->places.count = 0;
}

/* The enable bit of a counter whose select takes effect only at its second write, with that bit clear in the first; 0: another register. */
static uint64_t written_twice(const struct processor *p, const struct msr_guard_saved *s)
{
	for (unsigned n = 0; n < p->box_count; n++) {
		const struct uncore_box *b = &p->boxes[n];
		for (unsigned i = 0; b->select_writes > 1 && i < b->instances; i++) {
			const bool pci = b->space == UNCORE_PCI;
			if (b->space == UNCORE_MMIO || b->type)
				continue;
			const bool here = pci ? s->pci && b->devices[i].device == s->at.device && b->devices[i].function == s->at.function : !s->pci && !s->bytes;
			const uint32_t reg = (pci ? s->at.reg : s->msr) - b->control - (pci ? 0 : i * b->stride);
			if (here && reg < b->counters * b->control_stride && reg % b->control_stride == 0)
				return b->enable;
		}
	}
	return 0;
}

static enum status put_back_pci(struct msr_guard *g, const struct msr_guard_saved *s)
{
	const struct access *u = g->under;
	struct msr_guard_pci r = { .mask = UINT32_MAX };
	uint32_t now;
	bool good;
	if (!msr_guard_pci_listed(g->processor, s->at, &r))
		(void)listed_pci(g, s->at, &r, &good);
	const uint64_t twice = written_twice(g->processor, s);
	enum status status = twice ? u->ops->pci_write32(u->self, s->at, (uint32_t)(s->value & ~twice)) : ST_OK;
	if (status == ST_OK)
		status = u->ops->pci_write32(u->self, s->at, (uint32_t)s->value);
	if (status == ST_OK)
		status = u->ops->pci_read32(u->self, s->at, &now);
	if (status == ST_OK && (now ^ s->value) & r.mask)
		status = ST_BROKEN;
	return status;
}

static enum status put_back(struct msr_guard *g, const struct msr_guard_saved *s)
{
	const struct access *u = g->under;
	if (s->pci)
		return put_back_pci(g, s);
	if (s->bytes)
		return msr_guard_mapped_put_back(g, s);
	const struct writable_msr *m = listed(g, s->msr);
	uint64_t now;
	const uint64_t twice = written_twice(g->processor, s);
	enum status status = twice ? u->ops->wrmsr(u->self, s->core, s->msr, s->value & ~twice) : ST_OK;
	if (status == ST_OK)
		status = u->ops->wrmsr(u->self, s->core, s->msr, s->value);
	if (s->thaw)
		return status;
	if (status == ST_OK)
		status = u->ops->rdmsr(u->self, s->core, s->msr, &now);
	if (status == ST_OK && (now ^ s->value) & (m ? m->mask : ~0ull))
		status = ST_BROKEN;
	return status;
}

enum status msr_guard_restore(struct msr_guard *g)
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
	/* What could not be restored stays on the list: another call tries again. */
	for (unsigned i = 0; i < g->count; i++)
		if (g->saved[i].restore)
			g->saved[kept++] = g->saved[i];
	g->count = kept;
	return first;
}
