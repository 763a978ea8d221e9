/* bench/suite/listing.c: see listing.h. */
#include "bench/suite/listing.h"

#include "pmu/counters/counters.h"
#include "pmu/backend/dry_run.h"
#include "pmu/backend/msr_guard.h"

#define REGISTERS_REST 4096u /* of the uncore and of PCI functions */
#define REGISTERS_CORE 128u  /* at most, of a logical processor, that a run may touch */
#define LINE_BYTES    512u

void listing_init(struct listing *l, const struct processor *p, const struct access *a)
{
	memset(l, 0, sizeof(*l));
	l->processor = p;
	l->access = a;
	if (a && box_place_find(a, p, &l->places) != ST_OK)
		l->places.count = 0;
}

const struct writable_msr *listing_register(const struct processor *p, uint32_t msr)
{
	for (unsigned i = 0; i < p->msr_count; i++)
		if (msr >= p->msrs[i].first && msr <= p->msrs[i].last)
			return &p->msrs[i];
	return NULL;
}

/* --- words ------------------------------------------------------------------------------------- */

static bool extra_is(const struct listing *l, uint32_t msr, uint64_t value)
{
	if (!msr)
		return true;
	for (unsigned i = 0; i < l->extra_count; i++)
		if (l->extras[i].msr == msr)
			return l->extras[i].value == value;
	return false;
}

static void remember(struct listing *l, uint32_t msr, uint64_t value)
{
	unsigned i = 0;

	while (i < l->extra_count && l->extras[i].msr != msr)
		i++;
	if (i == LISTING_EXTRAS)
		return;
	l->extras[i].msr = msr;
	l->extras[i].value = value;
	if (i == l->extra_count)
		l->extra_count++;
}

static bool is_extra(const struct processor *p, uint32_t msr)
{
	for (unsigned i = 0; i < p->event_count; i++)
		if (p->events[i].extra_msr == msr)
			return true;
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++)
			if (p->boxes[b].events[i].extra_msr == msr)
				return true;
	return false;
}

/* The first event with this encoding and extra register; others with the same encoding are synonyms. */
static const char *core_event(const struct listing *l, uint64_t select, const char **source)
{
	const struct processor *p = l->processor;

	for (unsigned i = 0; i < p->event_count; i++)
		if (p->events[i].counter_mask && counter_select(&p->events[i]) == select &&
		    extra_is(l, p->events[i].extra_msr, p->events[i].extra_value)) {
			*source = p->events[i].source;
			return p->events[i].name;
		}
	return NULL;
}

/* The event that a box's select register programs: an exact match of the bits, else a match of event code and unit mask with any threshold. */
static const char *select_event(const struct listing *l, const struct uncore_box *box, uint64_t select, const char **source)
{
	const uint64_t code = 0xFFFF | 1u << 21 | ~(uint64_t)UINT32_MAX;

	for (unsigned exact = 2; exact-- > 0;)
		for (unsigned i = 0; (select & box->enable || !box->enable) && select && i < box->event_count; i++) {
			const struct uncore_event *e = &box->events[i];
			const uint64_t own = e->select | (uint64_t)e->umask << 8 | (uint64_t)e->extended << 21 | e->high;

			if (e->fixed || !extra_is(l, e->extra_msr, e->extra_value))
				continue;
			if (exact ? (own | (uint64_t)e->cmask << 24 | box->enable) == select : !e->cmask && own == (select & code)) {
				*source = e->source;
				return e->name;
			}
		}
	return NULL;
}

static const char *box_event(const struct listing *l, uint32_t msr, uint64_t select, const char **source)
{
	const struct processor *p = l->processor;

	for (unsigned b = 0; b < p->box_count; b++) {
		const struct uncore_box *box = &p->boxes[b];

		for (unsigned i = 0; box->space == UNCORE_MSR && !box->type && i < box->instances; i++)
			if (msr - (box->control + (box->places ? box->places[i] : i * box->stride)) < box->counters)
				return select_event(l, box, select, source);
	}
	return NULL;
}

/* Describes a register of a box whose address the machine reports. False: it is none. */
static bool listing_placed(const struct listing *l, struct text *t, unsigned space, uint64_t address, uint64_t value)
{
	const char *source = NULL, *event = NULL;
	struct msr_guard_placed r;

	if (!msr_guard_placed_listed(&l->places, l->processor, space, address, &r))
		return false;
	text_fmt(t, "box %s: %s [%s]", r.box->name, r.what, r.box->source);
	if (l->restoring)
		text_fmt(t, ": as found");
	else if (str_equal(r.what, "select of a counter") && (event = select_event(l, r.box, value, &source)) != NULL)
		text_fmt(t, ": %s [%s]", event, source);
	return true;
}

/* Describes a PCI function's register: its box and, if it selects one, the event. */
static void listing_pci(const struct listing *l, struct text *t, const struct trace_entry *e)
{
	const struct processor *p = l->processor;
	const char *source = NULL, *event;
	struct msr_guard_pci r;

	if (listing_placed(l, t, UNCORE_PCI, box_place_encoded(e->pci), e->value))
		return;
	if (!msr_guard_pci_listed(p, e->pci, &r)) {
		text_fmt(t, "not on the list of registers that may be written");
		return;
	}
	for (unsigned b = 0; b < p->box_count; b++) {
		const struct uncore_box *box = &p->boxes[b];

		if (box->space != UNCORE_PCI || r.device < box->devices || r.device >= box->devices + box->instances)
			continue;
		text_fmt(t, "box %s: %s [%s]", box->name, r.what, box->source);
		if (l->restoring)
			text_fmt(t, ": as found");
		else if (e->pci.function == r.device->function && e->pci.reg - box->control < box->counters * box->control_stride &&
		         (e->pci.reg - box->control) % box->control_stride == 0 &&
		         (event = select_event(l, box, e->value, &source)) != NULL)
			text_fmt(t, ": %s [%s]", event, source);
	}
}

/* The same for a register in memory. */
static void listing_mapped(const struct listing *l, struct text *t, const struct trace_entry *e)
{
	const char *source = NULL, *event;
	struct msr_guard_placed r;

	if (listing_placed(l, t, UNCORE_MMIO, e->address, e->value))
		return;
	if (!l->access || !msr_guard_mapped_listed(l->access, l->processor, &l->places, e->address, &r)) {
		text_fmt(t, "not on the list of registers that may be written");
		return;
	}
	text_fmt(t, "box %s: %s [%s]", r.box->name, r.what, r.box->source);
	if (l->restoring)
		text_fmt(t, ": as found");
	else if (r.offset - r.box->control < r.box->counters * r.box->control_stride && (event = select_event(l, r.box, e->value, &source)) != NULL)
		text_fmt(t, ": %s [%s]", event, source);
}

/* Whether a quirk requires the write. Writes of 0 have other causes too. */
static bool is_quirk(const struct quirk *q, const struct trace_entry *e)
{
	for (unsigned i = 0; i < q->write_count; i++)
		if (e->value && q->writes[i].msr == e->address && q->writes[i].value == e->value)
			return true;
	return false;
}

void listing_write(struct listing *l, struct text *t, const struct trace_entry *e)
{
	const uint32_t msr = (uint32_t)e->address;
	const struct writable_msr *m = listing_register(l->processor, msr);
	const char *source = NULL, *event = NULL;

	if (e->op == TRACE_PCI_WRITE32) {
		listing_pci(l, t, e);
		return;
	}
	if (e->op == TRACE_MMIO_WRITE) {
		listing_mapped(l, t, e);
		return;
	}
	if (is_extra(l->processor, msr))
		remember(l, msr, e->value);
	if (!m && listing_placed(l, t, UNCORE_MSR, msr, e->value))
		return;
	if (!m) {
		text_fmt(t, "not on the list of registers that may be written");
		return;
	}
	text_fmt(t, "%s [%s]", m->what, m->source);
	if (l->restoring) {
		text_fmt(t, ": as found");
		return;
	}
	if (str_starts(m->what, "IA32_PERFEVTSEL"))
		event = core_event(l, e->value, &source);
	if (!event)
		event = box_event(l, msr, e->value, &source);
	if (event)
		text_fmt(t, ": %s [%s]", event, source);
	for (unsigned q = 0; !event && q < l->processor->quirk_count; q++)
		if (is_quirk(&l->processor->quirks[q], e)) {
			text_fmt(t, ": quirk %s [%s]", l->processor->quirks[q].name, l->processor->quirks[q].erratum);
			return;
		}
}

bool listing_trace_line(struct listing *l, struct text *t, const struct trace_entry *e)
{
	if (e->op == TRACE_RDTSC)
		return false;
	trace_line(t, e);
	if (e->op == TRACE_WRMSR || e->op == TRACE_PCI_WRITE32 || e->op == TRACE_MMIO_WRITE) {
		text_fmt(t, " # ");
		listing_write(l, t, e);
	}
	text_char(t, '\n');
	return true;
}

/* --- a run that writes nothing ----------------------------------------------------------------- */

struct planner {
	const struct suite_host *host;
	struct suite_host own;              /* the host that the suite calls */
	struct dry_run dry;
	struct trace trace;
	struct msr_guard guard;
	struct cpu cpu;
	struct suite_summary summary;
	struct suite_plan_summary *out;
	struct listing listing;             /* of the processor, once it is known */
	struct listing trace_listing;
	void (*sink)(void *self, const char *line);
	void *sink_self;
	unsigned saved;                     /* entries of the guard's list that were printed */
	unsigned writes;                    /* of this section */
	uint32_t stays[256];                /* registers that are not restored and that this section has printed */
	unsigned stay_count;
	struct msr_guard_saved *saves;      /* of `capacity` entries */
	unsigned capacity;
	struct dry_run_register *registers; /* of `register_capacity` */
	unsigned register_capacity;
};

static void print(struct planner *p, const struct text *t)
{
	if (p->host->print)
		p->host->print(p->host->self, t->at);
}

static void print_pci(struct text *t, struct pci_address at)
{
	text_fmt(t, "  pci %04X:%02X:%02X.%u+0x%X ", (unsigned)at.segment, (unsigned)at.bus, (unsigned)at.device, (unsigned)at.function,
	         (unsigned)at.reg);
}

static void print_mapped(struct text *t, uint64_t address, unsigned bytes)
{
	text_fmt(t, "  memory 0x%llX, %u bytes ", (unsigned long long)address, bytes);
}

/* Ends a section: prints the values to which its registers are restored. */
static void close_section(struct planner *p)
{
	char line[LINE_BYTES];
	struct text t;

	for (; p->saved < p->guard.count; p->saved++) {
		const struct msr_guard_saved *s = &p->guard.saved[p->saved];

		text_init(&t, line, sizeof(line));
		if (s->pci)
			print_pci(&t, s->at);
		else if (s->bytes)
			print_mapped(&t, s->address, s->bytes);
		else
			text_fmt(&t, "  core %-3u 0x%-4X ", s->core, s->msr);
		text_fmt(&t, "back to 0x%llX at the end\n", (unsigned long long)s->value);
		print(p, &t);
		p->out->restored++;
	}
	for (unsigned i = 0; i < p->stay_count; i++) {
		const struct writable_msr *m = listing_register(p->cpu.processor, p->stays[i]);

		text_init(&t, line, sizeof(line));
		text_fmt(&t, "  0x%-4X stays as it is at the end: %s [%s]\n", p->stays[i], m ? m->what : "", m ? m->source : "");
		print(p, &t);
	}
	p->out->kept += p->stay_count;
	p->stay_count = 0;
}

static void open_section(struct planner *p, const char *name)
{
	char line[LINE_BYTES];
	struct text t;

	close_section(p);
	text_init(&t, line, sizeof(line));
	text_fmt(&t, "%s\n", name);
	print(p, &t);
	p->out->sections++;
	if (!p->sink)
		return;
	text_init(&t, line, sizeof(line));
	text_fmt(&t, "# %s\n", name);
	p->sink(p->sink_self, line);
}

static void note_stay(struct planner *p, uint32_t msr)
{
	const struct writable_msr *m = listing_register(p->cpu.processor, msr);

	if (!m || m->restore)
		return;
	for (unsigned i = 0; i < p->stay_count; i++)
		if (p->stays[i] == msr)
			return;
	if (p->stay_count < COUNT_OF(p->stays))
		p->stays[p->stay_count++] = msr;
}

static void take_entry(void *self, const struct trace_entry *e)
{
	struct planner *p = self;
	char line[LINE_BYTES];
	struct text t;

	text_init(&t, line, sizeof(line));
	if (p->sink && listing_trace_line(&p->trace_listing, &t, e))
		p->sink(p->sink_self, line);
	if (e->op != TRACE_WRMSR && e->op != TRACE_PCI_WRITE32 && e->op != TRACE_MMIO_WRITE)
		return;
	text_init(&t, line, sizeof(line));
	if (e->op == TRACE_PCI_WRITE32)
		print_pci(&t, e->pci);
	else if (e->op == TRACE_MMIO_WRITE)
		print_mapped(&t, e->address, e->width_bytes);
	else
		text_fmt(&t, "  core %-3u 0x%-4X ", e->core, (unsigned)e->address);
	text_fmt(&t, "<- 0x%-16llX ", (unsigned long long)e->value);
	listing_write(&p->listing, &t, e);
	text_char(&t, '\n');
	print(p, &t);
	if (e->op == TRACE_WRMSR)
		note_stay(p, (uint32_t)e->address);
	p->out->writes++;
}

static void planned_progress(void *self, const struct progress *row)
{
	open_section(self, progress_name(row));
}

static bool planned_stop(void *self)
{
	const struct suite_host *h = ((struct planner *)self)->host;
	return h->stop && h->stop(h->self);
}

static void *planned_get(void *self, size_t bytes)
{
	const struct suite_host *h = ((struct planner *)self)->host;
	return h->get(h->self, bytes);
}

static void planned_put(void *self, void *at, size_t bytes)
{
	const struct suite_host *h = ((struct planner *)self)->host;
	h->put(h->self, at, bytes);
}

enum status suite_plan(const struct access *a, const struct suite_settings *s, const struct suite_host *host,
                       void (*sink)(void *self, const char *line), void *sink_self, struct suite_plan_summary *out,
                       char *problem, size_t capacity)
{
	struct planner *p = host->get(host->self, sizeof(*p));
	enum status st, restored;

	memset(out, 0, sizeof(*out));
	problem[0] = 0;
	if (!p)
		return ST_FULL;
	p->host = host;
	p->out = out;
	p->sink = sink;
	p->sink_self = sink_self;
	p->capacity = msr_guard_capacity(a);
	p->saves = host->get(host->self, p->capacity * sizeof(*p->saves));
	p->register_capacity = REGISTERS_REST + a->cores * REGISTERS_CORE;
	p->registers = host->get(host->self, p->register_capacity * sizeof(*p->registers));
	p->own = (struct suite_host){ .self = p, .progress = planned_progress, .stop = planned_stop, .get = planned_get, .put = planned_put };
	if (p->registers)
		dry_run_init(&p->dry, a, p->registers, p->register_capacity);
	/* Identifying the processor gives the registers their names. */
	st = p->saves && p->registers ? cpu_identify(&p->dry.access, &p->cpu) : ST_FULL;
	if (st == ST_OK)
		st = suite_check_processor(&p->cpu, s, problem, capacity);
	if (st == ST_OK) {
		listing_init(&p->listing, p->cpu.processor, a);
		listing_init(&p->trace_listing, p->cpu.processor, a);
		dry_run_init(&p->dry, a, p->registers, p->register_capacity);
		trace_init(&p->trace, &p->dry.access, NULL, 0);
		p->trace.sink = take_entry;
		p->trace.sink_self = p;
		open_section(p, "before the first row");
		st = cpu_identify(&p->trace.access, &p->cpu);
	}
	if (st == ST_OK) {
		msr_guard_init(&p->guard, &p->trace.access, p->cpu.processor, p->saves, p->capacity);
		st = suite_run(&p->guard.access, &p->cpu, s, &p->own, &p->summary);
		open_section(p, "at the end");
		p->listing.restoring = p->trace_listing.restoring = true;
		restored = msr_guard_restore(&p->guard);
		p->saved = p->guard.count;
		if (st == ST_OK)
			st = restored;
		close_section(p);
		out->refused = p->guard.refused;
	}
	if (p->saves)
		host->put(host->self, p->saves, p->capacity * sizeof(*p->saves));
	if (p->registers)
		host->put(host->self, p->registers, p->register_capacity * sizeof(*p->registers));
	host->put(host->self, p, sizeof(*p));
	return st;
}
