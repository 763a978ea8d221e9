/* runner/data/trace_replay.c: see trace_replay.h.
 *
 * Recorded outcomes are compared with the machine's: whether an access faulted, and the value read from a register that keeps written
 * values, if the trace wrote it before and no events were lost since.
 * Not modelled: the recorded program's work between accesses; no kernel runs. */
#include <stdlib.h>
#include <string.h>

#include "pmu/sim/findings/register.h"
#include "pmu/text.h"
#include "runner/data/trace_replay.h"

#define ANY_CPU 0xFFFFFFFFu
#define PERF_CAPABILITIES 0x345
#define GLOBAL_CTRL 0x38F
#define DEBUGCTL    0x1D9
#define FREEZES     (3u << 11) /* FREEZE_LBRS_ON_PMI, FREEZE_PERFMON_ON_PMI */
/* Range of configuration-space registers, as encoded by pci_code; MSRs are below and above it. */
#define PCI_LEAST 0x10000u
#define PCI_MOST  0xFFFFFFFu

/* The last line that wrote a register: on one processor, or on any (ANY_CPU). */
struct written { uint32_t cpu, address; unsigned line; bool used; };

struct trace_replay {
	struct sim *sim;
	const struct machine *m;
	const struct trace_cpus *cpus;
	struct written *table;
	size_t capacity, count;
	unsigned lost_line[TRACE_CPUS_MOST], lost_all; /* of each processor of the machine */
};

const char *trace_class_name(enum trace_class c)
{
	static const char *const names[TRACE_CLASSES] = { "accepted", "faults", "reserved, faults", "reserved, ignored", "wrong counter", "ignored",
		"undefined", "unmapped", "missing latch", "differs", "unmodelled", "simulator" };
	return c < TRACE_CLASSES ? names[c] : "?";
}

bool trace_class_counts(enum trace_class c, bool strict)
{
	return c != TRACE_ACCEPTED && (strict || (c != TRACE_UNMODELLED && c != TRACE_SIMULATOR));
}

/* ---- what was written ------------------------------------------------------------------------ */

static struct written *slot(struct written *table, size_t capacity, uint32_t cpu, uint32_t address)
{
	size_t at = (size_t)((cpu * 0x9E3779B1u ^ address * 0x85EBCA77u) >> 7) & (capacity - 1);
	while (table[at].used && (table[at].cpu != cpu || table[at].address != address))
		at = (at + 1) & (capacity - 1);
	return &table[at];
}

static enum status note(struct trace_replay *r, uint32_t cpu, uint32_t address, unsigned line)
{
	if (2 * (r->count + 1) > r->capacity) {
		const size_t capacity = 2 * r->capacity;
		struct written *table = calloc(capacity, sizeof(*table));
		if (!table)
			return ST_FULL;
		for (size_t i = 0; i < r->capacity; i++)
			if (r->table[i].used)
				*slot(table, capacity, r->table[i].cpu, r->table[i].address) = r->table[i];
		free(r->table);
		r->table = table;
		r->capacity = capacity;
	}
	struct written *w = slot(r->table, r->capacity, cpu, address);
	r->count += !w->used;
	*w = (struct written){ cpu, address, line, true };
	return ST_OK;
}

static unsigned line_of(const struct trace_replay *r, uint32_t cpu, uint32_t address)
{
	const struct written *w = slot(r->table, r->capacity, cpu, address);
	return w->used ? w->line : 0;
}

static uint32_t pci_code(struct pci_address at)
{
	return (uint32_t)at.bus << 20 | (uint32_t)at.device << 15 | (uint32_t)at.function << 12 | at.reg;
}

static bool is_pci(enum trace_form_op op) { return op == TRACED_PCI_READ32 || op == TRACED_PCI_WRITE32; }

/* ---- findings --------------------------------------------------------------------------------- */

static void name_register(const struct trace_replay *r, const struct traced *t, uint32_t address, char *to, size_t capacity)
{
	struct text out;
	text_init(&out, to, capacity);
	if (is_pci(t->op) || (address != (uint32_t)t->address && address >= PCI_LEAST && address <= PCI_MOST))
		text_fmt(&out, "%04x:%02x:%02x.%u+%x", (unsigned)t->pci.segment, (unsigned)(address >> 20 & 0xFF), (unsigned)(address >> 15 & 31),
		         (unsigned)(address >> 12 & 7), (unsigned)(address & 0xFFF));
	else if (t->op == TRACED_RDPMC)
		text_fmt(&out, "RDPMC 0x%llx", (unsigned long long)t->address);
	else if (t->op == TRACED_MMIO_READ || t->op == TRACED_MMIO_WRITE)
		text_fmt(&out, "memory 0x%llx", (unsigned long long)t->address);
	else
		sim_register_name(&out, r->m, address);
}

static uint32_t address_of(const struct traced *t) { return is_pci(t->op) ? pci_code(t->pci) : (uint32_t)t->address; }

static struct trace_finding *add(const struct trace_replay *r, struct trace_verdict *v, const struct traced *t, enum trace_class class, const char *why)
{
	if (v->count == TRACE_FINDINGS)
		return &v->finding[TRACE_FINDINGS - 1];
	struct trace_finding *f = &v->finding[v->count++];
	*f = (struct trace_finding){ .class = class };
	const struct sim_register *k = t->op == TRACED_RDMSR || t->op == TRACED_WRMSR ? sim_register_find(r->m, (uint32_t)t->address) : NULL;
	f->paragraph = k ? k->paragraph : t->op == TRACED_RDPMC ? "SDM volume 2, RDPMC" : NULL;
	name_register(r, t, address_of(t), f->register_name, sizeof(f->register_name));
	str_copy(f->text, sizeof(f->text), why);
	return f;
}

static void add_sim(const struct trace_replay *r, struct trace_verdict *v, const struct traced *t, unsigned cpu, const struct sim_finding *s)
{
	static const enum trace_class of[FIND_COUNT] = {
		[FIND_FAULT] = TRACE_FAULTS, [FIND_RESERVED] = TRACE_RESERVED_FAULTS, [FIND_RESERVED_IGNORED] = TRACE_RESERVED_IGNORED,
		[FIND_WRONG_COUNTER] = TRACE_WRONG_COUNTER, [FIND_IGNORED] = TRACE_IGNORED, [FIND_UNDEFINED] = TRACE_UNDEFINED,
		[FIND_UNMODELLED] = TRACE_UNMODELLED, [FIND_NO_LATCH] = TRACE_NO_LATCH, [FIND_UNMAPPED] = TRACE_UNMAPPED,
		[FIND_SIMULATOR] = TRACE_SIMULATOR, [FIND_OUTSIDE] = TRACE_UNMODELLED,
	};
	struct trace_finding *f = add(r, v, t, of[s->kind], s->why);
	str_copy(f->where, sizeof(f->where), s->where);
	str_copy(f->event, sizeof(f->event), s->event ? s->event : "");
	f->paragraph = s->cite ? s->cite : f->paragraph;
	const unsigned lost = r->lost_line[cpu] > r->lost_all ? r->lost_line[cpu] : r->lost_all;
	if (!s->clash)
		return;
	name_register(r, t, s->clash, f->clash, sizeof(f->clash));
	f->clash_line = line_of(r, cpu, s->clash);
	if (!f->clash_line)
		f->clash_line = line_of(r, ANY_CPU, s->clash);
	f->lost_line = lost > f->clash_line ? lost : 0;
}

/* ---- accesses --------------------------------------------------------------------------------- */

static enum status carry_out(const struct access *m, unsigned cpu, const struct traced *t, uint64_t *answer)
{
	uint32_t word = 0;
	enum status st = ST_OK;
	*answer = 0;
	switch (t->op) {
	case TRACED_RDMSR: return m->ops->rdmsr(m->self, cpu, (uint32_t)t->address, answer);
	case TRACED_WRMSR: return m->ops->wrmsr(m->self, cpu, (uint32_t)t->address, t->value);
	case TRACED_RDPMC: return m->ops->rdpmc(m->self, cpu, (uint32_t)t->address, answer);
	case TRACED_PCI_READ32:
		st = m->ops->pci_read32(m->self, t->pci, &word);
		*answer = word;
		return st;
	case TRACED_PCI_WRITE32: return m->ops->pci_write32(m->self, t->pci, (uint32_t)t->value);
	case TRACED_MMIO_READ: return m->ops->mmio_read(m->self, t->address, t->width_bytes, answer);
	case TRACED_MMIO_WRITE: return m->ops->mmio_write(m->self, t->address, t->width_bytes, t->value);
	case TRACED_RUN: case TRACED_LOST: case TRACED_CPUS: break;
	}
	return ST_OK;
}

static bool writes(enum trace_form_op op) { return op == TRACED_WRMSR || op == TRACED_PCI_WRITE32 || op == TRACED_MMIO_WRITE; }

/* Whether the value of a read is predictable: the register keeps written values, and the trace wrote it. PERF_CAPABILITIES is constant. */
static bool is_known(const struct trace_replay *r, unsigned cpu, const struct traced *t)
{
	if (t->op != TRACED_RDMSR)
		return false;
	const struct sim_register *k = sim_register_find(r->m, (uint32_t)t->address);
	const unsigned line = line_of(r, cpu, (uint32_t)t->address);
	return t->address == PERF_CAPABILITIES || (k && k->holds && line && line > r->lost_line[cpu] && line > r->lost_all);
}

/* Whether hardware may have changed a register that otherwise keeps written values: a freeze at an overflow clears enable bits. */
static bool may_be_frozen(const struct trace_replay *r, unsigned cpu, uint64_t address)
{
	const struct access *m = sim_access(r->sim);
	uint64_t debugctl = 0;
	return (address == GLOBAL_CTRL || address == DEBUGCTL) && m->ops->rdmsr(m->self, cpu, DEBUGCTL, &debugctl) == ST_OK && debugctl & FREEZES;
}

static void compare(struct trace_replay *r, unsigned cpu, const struct traced *t, enum status st, uint64_t answer, struct trace_verdict *v)
{
	char words[TRACE_WORDS];
	struct text out;
	text_init(&out, words, sizeof(words));
	if (t->failed && st == ST_OK) {
		add(r, v, t, TRACE_DIFFERS, "it faulted in the trace; here it succeeds");
	} else if (!t->failed && st == ST_OK && is_known(r, cpu, t) && answer != t->value && !may_be_frozen(r, cpu, t->address)) {
		text_fmt(&out, "it read 0x%llx in the trace; here it reads 0x%llx", (unsigned long long)t->value, (unsigned long long)answer);
		struct trace_finding *f = add(r, v, t, TRACE_DIFFERS, words);
		f->clash_line = line_of(r, cpu, (uint32_t)t->address);
		str_copy(f->clash, sizeof(f->clash), f->clash_line ? f->register_name : "");
	}
}

enum status trace_replay_step(struct trace_replay *r, unsigned line, const struct traced *t, struct trace_verdict *out)
{
	const struct access *m = sim_access(r->sim);
	const bool by_cpu = t->op == TRACED_RDMSR || t->op == TRACED_WRMSR || t->op == TRACED_RDPMC;
	const struct sim_finding *f;
	uint64_t answer, before = 0;
	enum status had = ST_FAULT;
	out->count = 0;
	if (t->op == TRACED_LOST) {
		const unsigned cpu = t->core < TRACE_CPUS_MOST ? r->cpus->map[t->core] : TRACE_CPU_NONE;
		if (cpu == TRACE_CPU_NONE)
			r->lost_all = line;
		else
			r->lost_line[cpu] = line;
	}
	if (t->op == TRACED_LOST || t->op == TRACED_RUN || t->op == TRACED_CPUS)
		return ST_OK;
	const unsigned cpu = by_cpu ? r->cpus->map[t->core] : 0;
	if (cpu >= m->cores)
		return ST_RANGE;
	if (t->op == TRACED_WRMSR && t->failed) /* the value that the recorded write left in place */
		had = m->ops->rdmsr(m->self, cpu, (uint32_t)t->address, &before);
	const enum status st = carry_out(m, cpu, t, &answer);
	if (!(t->failed && st != ST_OK)) { /* if both fault, they agree */
		const bool mmio = t->op == TRACED_MMIO_READ || t->op == TRACED_MMIO_WRITE;
		for (unsigned i = 0; (f = sim_latest(r->sim, i)); i++)
			add_sim(r, out, t, cpu, f);
		if (st != ST_OK && !out->count)
			add(r, out, t, mmio ? TRACE_UNMODELLED : TRACE_FAULTS, mmio ? "the simulated machine has no such register in memory" :
			    "this processor has no such counter");
	}
	compare(r, cpu, t, st, answer, out);
	if (t->failed && st == ST_OK && had == ST_OK && m->ops->wrmsr(m->self, cpu, (uint32_t)t->address, before) != ST_OK)
		return ST_FULL;
	if (!writes(t->op) || t->failed || st != ST_OK)
		return ST_OK;
	const enum status noted = note(r, cpu, address_of(t), line);
	return noted ? noted : note(r, ANY_CPU, address_of(t), line);
}

enum status trace_replay_open(struct trace_replay **out, struct sim *s, const struct machine *m, const struct trace_cpus *cpus)
{
	struct trace_replay *r = calloc(1, sizeof(*r));
	if (r)
		r->table = calloc(1024, sizeof(*r->table));
	if (!r || !r->table) {
		free(r);
		return ST_FULL;
	}
	r->sim = s;
	r->m = m;
	r->cpus = cpus;
	r->capacity = 1024;
	*out = r;
	return ST_OK;
}

void trace_replay_close(struct trace_replay *r)
{
	if (r)
		free(r->table);
	free(r);
}
