/* pmu/sim/backend/sim_env.c: what exec, the core and the counters ask the simulated machine for: code, decoded once, bytes of memory,
 * time-stamps and registers in the middle of a run. */
#include "pmu/sim/backend/sim_state.h"
#include "pmu/sim/isa/ops.h"
#include "pmu/text.h"

#define INSTRUCTION_BYTES_MAX 15u

/* --- code ----------------------------------------------------------------------------------- */

static bool pinned(const struct sim *s, const struct code_entry *e)
{
	for (unsigned i = 0; i < s->threads; i++)
		if (s->harts[i].running == e)
			return true;
	return false;
}

static void report_unknown(struct sim *s, uint64_t ip, const uint8_t *bytes, unsigned n)
{
	struct text t;
	text_init(&t, s->problem, sizeof(s->problem));
	text_fmt(&t, "instruction at 0x%llx is outside the simulated subset:", (unsigned long long)ip);
	for (unsigned i = 0; i < n; i++)
		text_fmt(&t, " %02x", bytes[i]);
}

struct code_entry *sim_code_of(const struct sim *s, unsigned kind)
{
	return kind == 0 ? s->code : kind == 1 && s->small ? s->harts[s->threads - 1].code : NULL;
}

const struct code_entry *sim_decode(struct sim *s, struct hart *h, uint64_t ip, uint8_t *vector)
{
	struct code_entry *e = &h->code[ip % CODE_ENTRIES];
	if (pinned(s, e))
		return NULL;
	const struct mapping *m = sim_find(s, ip, 1);
	if (!m || !m->executable || ip - SPACE_BASE >= SPACE_END - SPACE_BASE) {
		struct text t;
		text_init(&t, s->problem, sizeof(s->problem));
		text_fmt(&t, "no code at 0x%llx", (unsigned long long)ip);
		*vector = 14;
		return NULL;
	}
	const uint8_t *bytes = (const uint8_t *)m->host + (ip - m->va);
	uint64_t left = m->bytes - (ip - m->va);
	unsigned bad;
	e->ip = 0;
	if (decode(bytes, left, &e->insn, &bad) != ST_OK) {
		report_unknown(s, ip, bytes, bad < left ? bad : (unsigned)left);
		*vector = 6;
		return NULL;
	}
	struct insn next;
	unsigned length = e->insn.length;
	bool follows = e->insn.fusible_first && length < left && decode(bytes + length, left - length, &next, &bad) == ST_OK;
	core_plan_make(h->m, &e->insn, follows ? &next : NULL, &e->plan);
	e->pointer = e->insn.op == OP_MOV && e->insn.kind == KIND_RM && e->insn.operand_bytes == 8;
	e->ip = ip;
	return e;
}

/* The decoded instruction at an address; NULL with *vector when there is none. */
static inline const struct code_entry *sim_code(struct sim *s, struct hart *h, uint64_t ip, uint8_t *vector)
{
	const struct code_entry *e = &h->code[ip % CODE_ENTRIES];
	return e->ip == ip ? e : sim_decode(s, h, ip, vector);
}

/* Bytes at va .. va + n - 1 change: drops the instructions that were decoded from any of them. */
static bool forget_code(struct sim *s, uint64_t va, unsigned n)
{
	bool any = false;
	struct code_entry *code;
	for (unsigned kind = 0; (code = sim_code_of(s, kind)) != NULL; kind++)
		for (uint64_t ip = va - 2 * INSTRUCTION_BYTES_MAX; ip != va + n; ip++) {
			struct code_entry *e = &code[ip % CODE_ENTRIES];
			if (e->ip == ip && !pinned(s, e)) {
				e->ip = 0;
				any = true;
			}
		}
	return any;
}

/* --- what exec and the core ask for --------------------------------------------------------- */

static void *env_memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct hart *h = self;
	struct sim *s = h->sim;
	const struct mapping *m = sim_find(s, va, bytes);
	if (!m)
		return NULL;
	/* Decoded or not: how long an instruction stays decoded is no property of the machine. */
	if (write && m->executable && (forget_code(s, va, bytes) || memory_has_code(s->memory, h->physical, m->pa + (va - m->va))))
		h->code_stored = va;
	s->ranges[exec_range_slot(va)] = (struct exec_range){ m->va, m->bytes, m->host, !m->executable };
	s->range_pa[exec_range_slot(va)] = m->pa;
	return (uint8_t *)m->host + (va - m->va);
}

static enum status env_rdpmc(void *self, uint32_t index, uint64_t *value)
{
	struct hart *h = self;
	h->now = core_serialise(h->core);
	return counters_rdpmc(h->counters, index, value);
}

static enum status env_rdtsc(void *self, uint64_t *value)
{
	struct hart *h = self;
	h->now = core_serialise(h->core);
	*value = counters_rdtsc(h->counters);
	return ST_OK;
}

/* A wrapper that starts and stops counters, sampling or the last-branch records round its kernel. */
static enum status env_wrmsr(void *self, uint32_t msr, uint64_t value)
{
	struct hart *h = self;
	struct sim_finding f = { .address = msr, .value = value };
	h->now = core_serialise(h->core);
	enum status st = counters_wrmsr(h->counters, msr, value, &f);
	sim_record(h->sim, h->thread, &f);
	core_want_retired(h->core, counters_want_retired(h->counters));
	return st;
}

static enum status env_cpuid(void *self, uint32_t leaf, uint32_t subleaf, uint32_t out[4])
{
	struct hart *h = self;
	h->now = core_serialise(h->core);
	counters_cpuid(h->counters, leaf, subleaf, out);
	return ST_OK;
}

/* Its handler notes where it was taken and lets the next one come; it takes no time. */
static void take_interrupt(struct hart *h, const struct retired *r)
{
	struct interrupts *i = h->interrupts;
	if (i->count < i->capacity) {
		i->records[i->count].ip = r->next_ip;
		memcpy(i->records[i->count].gpr, h->regs.gpr, sizeof(h->regs.gpr));
		i->count++;
	} else {
		i->dropped++;
	}
	for (unsigned w = 0; w < i->writes; w++) {
		struct sim_finding ignored = { .address = i->again[w].msr };
		if (counters_wrmsr(h->counters, i->again[w].msr, i->again[w].value, &ignored) != ST_OK)
			h->interrupts = NULL; /* a fault in a handler: no more are taken */
	}
}

static void hook_retired(void *self, unsigned thread, const struct retired *r)
{
	struct hart *h = self;
	(void)thread;
	counters_retired(h->counters, r, &h->regs);
	if (h->interrupts && counters_interrupt(h->counters, r->cycle))
		take_interrupt(h, r);
}

static void hook_fetched(void *self, const struct fetched *f)
{
	struct hart *h = self;
	struct page_info page;
	counters_fetched(h->counters, f, sim_page(h->sim, f->va, &page) ? page.page_bytes : 0);
}

static bool hook_code(void *self, uint64_t ip, const struct insn **in, const struct core_plan **plan)
{
	struct hart *h = self;
	struct sim *s = h->sim;
	char before = s->problem[0];
	uint8_t vector;
	const struct code_entry *e = sim_code(s, h, ip, &vector);
	if (!e) {
		s->problem[0] = before; /* never executed, so not worth a message */
		return false;
	}
	*in = &e->insn;
	*plan = &e->plan;
	return true;
}

void *sim_bytes(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct hart *h = self;
	const struct mapping *m = sim_find(h->sim, va, bytes);
	(void)write;
	/* The debug store is mapped in the job's page tables alone, not in those that the firmware goes on with. */
	if (!h->job && va - SPACE_DS < h->sim->threads * DS_BYTES)
		return NULL;
	return m ? (uint8_t *)m->host + (va - m->va) : NULL;
}

static void counters_prefetchers(void *self, unsigned off_mask)
{
	struct hart *h = self;
	memory_prefetchers(h->sim->memory, h->thread / (unsigned)h->sim->m.topology_threads, off_mask);
}

static void counters_uncore_steady(void *self, bool steady)
{
	struct hart *h = self;
	memory_uncore_steady(h->sim->memory, steady, h->job ? h->now : h->sim->now);
}

static uint64_t counters_cycle(void *self)
{
	const struct hart *h = self;
	if (!h->job)
		return h->sim->now;
	return h->now;
}

void sim_env_connect(struct sim *s, struct hart *h)
{
	h->env = (struct exec_env){ .self = h, .memory = env_memory, .rdpmc = env_rdpmc, .rdtsc = env_rdtsc,
	                            .cpuid = env_cpuid, .wrmsr = env_wrmsr, .ranges = s->ranges };
	s->hooks[h->thread] = (struct core_hooks){ .self = h, .known = h->code, .retired = hook_retired, .fetched = hook_fetched, .code = hook_code };
	struct counters_env env = { .self = h, .memory = sim_bytes, .prefetchers = counters_prefetchers,
		.uncore_steady = counters_uncore_steady, .cycle = counters_cycle };
	counters_connect(h->counters, &env);
}
