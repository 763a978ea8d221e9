/* pmu/sim/sim_run.c: jobs on the simulated machine: decode once, execute, account; the core whose
 * clock is lowest goes next.
 *
 * A job starts with empty pipelines and the caches as they were; it ends when its routine returns to
 * END_IP, which lies outside the window. Not modelled: interrupts other than SMIs, other privilege levels than 0, what
 * an SMI does to caches and that counters of some processors go on in it. */
#include "pmu/sim/sim_state.h"
#include "pmu/sim/ops.h"
#include "pmu/text.h"

#define END_IP (~0xFFFull)
#define LIMIT_TSC_PRESET (1ull << 33)
#define INSTRUCTION_BYTES_MAX 15u
#define RECALL_WAIT 64u  /* branches of a run before it is worth while */
#define WAKE_CYCLES 100 /* between two runs; at least one, so that time goes on */

/* --- code ----------------------------------------------------------------------------------- */

static bool pinned(const struct sim *s, const struct code_entry *e)
{
	for (unsigned i = 0; i < s->threads; i++)
		if (s->harts[i].running == e)
			return true;
	return false;
}

static void say_unknown(struct sim *s, uint64_t ip, const uint8_t *bytes, unsigned n)
{
	struct text t;
	text_init(&t, s->problem, sizeof(s->problem));
	text_fmt(&t, "instruction at 0x%llx is outside the simulated subset:", (unsigned long long)ip);
	for (unsigned i = 0; i < n; i++)
		text_fmt(&t, " %02x", bytes[i]);
}

/* Decodes what is at ip into its entry. */
static __attribute__((noinline)) const struct code_entry *decode_at(struct sim *s, uint64_t ip, uint8_t *vector)
{
	struct code_entry *e = &s->code[ip % CODE_ENTRIES];
	if (pinned(s, e))
		return NULL;
	const struct mapping *m = sim_find(s, ip, 1);
	if (!m || !m->executable) {
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
		say_unknown(s, ip, bytes, bad < left ? bad : (unsigned)left);
		*vector = 6;
		return NULL;
	}
	struct insn next;
	unsigned length = e->insn.length;
	bool follows = e->insn.fusible_first && length < left && decode(bytes + length, left - length, &next, &bad) == ST_OK;
	core_plan_make(&s->m, &e->insn, follows ? &next : NULL, &e->plan);
	e->pointer = e->insn.op == OP_MOV && e->insn.kind == KIND_RM && e->insn.operand_bytes == 8;
	e->ip = ip;
	return e;
}

/* The decoded instruction at an address; NULL with *vector when there is none. */
static inline const struct code_entry *sim_code(struct sim *s, uint64_t ip, uint8_t *vector)
{
	const struct code_entry *e = &s->code[ip % CODE_ENTRIES];
	return e->ip == ip ? e : decode_at(s, ip, vector);
}

/* Bytes at va .. va + n - 1 change: what was decoded from them, alone or with what follows, goes. */
static bool forget_code(struct sim *s, uint64_t va, unsigned n)
{
	bool any = false;
	for (uint64_t ip = va - 2 * INSTRUCTION_BYTES_MAX; ip != va + n; ip++) {
		struct code_entry *e = &s->code[ip % CODE_ENTRIES];
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
	if (write && m->executable && forget_code(s, va, bytes))
		h->code_stored = true;
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

/* A kernel that freezes the last-branch records behind its loop. */
static enum status env_wrmsr(void *self, uint32_t msr, uint64_t value)
{
	struct hart *h = self;
	struct sim_finding ignored = { .address = msr };
	h->now = core_serialise(h->core);
	return counters_wrmsr(h->counters, msr, value, &ignored);
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

static bool hook_code(void *self, uint64_t ip, const struct insn **in, const struct core_plan **plan)
{
	struct hart *h = self;
	struct sim *s = h->sim;
	char before = s->problem[0];
	uint8_t vector;
	const struct code_entry *e = sim_code(s, ip, &vector);
	if (!e) {
		s->problem[0] = before; /* nobody executes it: not worth a word */
		return false;
	}
	*in = &e->insn;
	*plan = &e->plan;
	return true;
}

static void *counters_memory(void *self, uint64_t va, unsigned bytes, bool write)
{
	struct hart *h = self;
	const struct mapping *m = sim_find(h->sim, va, bytes);
	(void)write;
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

void sim_run_connect(struct sim *s, struct hart *h)
{
	h->env = (struct exec_env){ .self = h, .memory = env_memory, .rdpmc = env_rdpmc, .rdtsc = env_rdtsc,
	                            .cpuid = env_cpuid, .wrmsr = env_wrmsr, .ranges = s->ranges };
	s->hooks[h->thread] = (struct core_hooks){ .self = h, .known = s->code, .retired = hook_retired, .code = hook_code };
	struct counters_env env = { .self = h, .memory = counters_memory, .prefetchers = counters_prefetchers,
		.uncore_steady = counters_uncore_steady, .cycle = counters_cycle };
	counters_connect(h->counters, &env);
}

uint64_t sim_slowest(void *sim)
{
	const struct sim *s = sim;
	uint64_t least = UINT64_MAX;
	for (unsigned i = 0; i < s->threads; i++)
		if (s->harts[i].job && core_clock(s->harts[i].core) < least)
			least = core_clock(s->harts[i].core);
	return least < UINT64_MAX ? least : s->now;
}

/* --- running -------------------------------------------------------------------------------- */

static struct hart *sibling(const struct sim *s, const struct hart *h)
{
	if (s->m.topology_threads < 2)
		return NULL;
	return &s->harts[h->thread ^ 1];
}

/* The first job of a hart gives it its pipeline. */
static enum status hart_prepare(struct sim *s, struct hart *h)
{
	if (h->core)
		return ST_OK;
	h->core_memory = s->from.get(s->from.self, core_bytes(&s->m));
	if (!h->core_memory)
		return ST_FULL;
	const struct signal_room room = { s->from.self, s->from.get, s->from.put };
	signals_attach_room(s->signals[h->thread], &room);
	const unsigned core = h->thread / 2;
	if (s->both[core] && !signals_attached(s->both[core]))
		signals_attach_room(s->both[core], &room);
	const struct hart *o = sibling(s, h);
	h->core = core_init(h->core_memory, &s->m, h->thread / (unsigned)s->m.topology_threads, h->thread, s->memory,
	                    s->signals[h->thread], &s->hooks[h->thread], o ? o->core : NULL);
	h->beyond = memory_went_beyond(s->memory, h->thread / (unsigned)s->m.topology_threads);
	return ST_OK;
}

static enum status hart_start(struct sim *s, struct hart *h, struct job *j)
{
	uint64_t rsp = WINDOW_CONTROL + (h->thread + 1) * CONTROL_BYTES - 8;
	uint64_t *top = counters_memory(h, rsp, 8, true);
	if (!top)
		return ST_BROKEN;
	*top = END_IP;
	exec_reset(&h->regs);
	h->regs.gpr[RN_RDI] = j->argument;
	h->regs.gpr[RN_RSP] = rsp;
	h->regs.rip = j->entry;
	h->job = j;
	h->now = s->now;
	j->status = ST_OK;
	j->vector = 0;
	j->ip = j->entry;
	return ST_OK;
}

static void hart_end(struct sim *s, struct hart *h, enum status st, uint8_t vector)
{
	h->job->status = st;
	h->job->vector = vector;
	h->job->ip = h->regs.rip;
	h->now = core_serialise(h->core);
	core_park(h->core);
	h->job = NULL;
	h->running = NULL;
	if (h->now > s->now)
		s->now = h->now;
}

/* What a load has brought may be the address of the next one, as in a chase. Where that goes beyond the L2, this program brings near what it
 * will look at for it: the bytes, and the entries of the large caches. Nothing is changed. */
static inline void look_ahead(const struct hart *h, const struct code_entry *c)
{
	const struct sim *s = h->sim;
	uint64_t va;
	__builtin_memcpy(&va, (const uint8_t *)&h->regs + c->insn.dst_at, 8);
	const unsigned slot = exec_range_slot(va);
	const uint64_t at = va - s->ranges[slot].va;
	if (at >= s->ranges[slot].bytes)
		return;
	__builtin_prefetch(s->ranges[slot].host + at);
	memory_look_ahead(s->memory, h->physical, s->range_pa[slot] + at);
}

/* An SMI stops a hart with all its counters for a while; the clocks go on. Those that came between runs only count. */
static void take_smis(struct sim *s, struct hart *h, bool running)
{
	const uint64_t us = s->m.core_hz / 1000000;
	const struct hart *o = sibling(s, h);
	while (h->next_smi <= (running ? core_clock(h->core) : s->now)) {
		if (h->next_smi)
			counters_smi(h->counters);
		h->next_smi += s->m.fault_smi_period_us * us;
		if (!running)
			continue;
		const uint64_t from = core_serialise(h->core), to = from + s->m.fault_smi_us * us;
		core_resume(h->core, to, !(o && o->job));
		h->now = to;
		while (h->next_smi <= to) /* one that comes meanwhile is lost */
			h->next_smi += s->m.fault_smi_period_us * us;
	}
}

/* NetBurst's counters are both threads'; others may count what both do (AnyThread). */
static bool counts_are_shared(const struct sim *s, const struct hart *h)
{
	return signals_any(s->both[h->thread / 2]) || (str_equal(s->m.pmu_events, "netburst") && signals_any(s->signals[h->thread ^ 1]));
}

/* Counters of both threads are read or written: whether this thread's sibling has yet to come to the cycle in which
 * that happens. If not, what happened below it is complete. */
static bool wait_for_sibling(struct sim *s, struct hart *h, const struct insn *in)
{
	const struct hart *o = sibling(s, h);
	if (!o || !o->job || (in->op != OP_WRMSR && (in->op != OP_RDPMC || !counts_are_shared(s, h))))
		return false;
	h->now = core_serialise(h->core);
	if (core_clock(o->core) < h->now)
		return true;
	signal_close(s->both[h->thread / 2], h->now);
	return false;
}

static bool never_sleeps(const struct sim *s, const struct hart *h)
{
	return s->m.fault_busy_core == h->thread + 1;
}

/* Cycles of the first n in which a core sleeps that is awake and asleep in turn, for so many each. */
static uint64_t asleep(uint64_t n, uint64_t turn)
{
	return n / (2 * turn) * turn + (n / turn & 1 ? n % turn : 0);
}

void sim_slept(struct sim *s, struct hart *h, uint64_t until)
{
	const uint64_t turn = s->m.fault_busy_us * (s->m.core_hz / 1000000);
	if (until <= h->now)
		return;
	if (!never_sleeps(s, h))
		counters_halted(h->counters, until - h->now);
	else if (turn)
		counters_halted(h->counters, asleep(until, turn) - asleep(h->now, turn));
	h->now = until;
}

static void look_ahead_of(void *self, const struct code_entry *c) { look_ahead(self, c); }

/* Goes on by what the core did in the same state before, or notes it (core_memo.h). */
static __attribute__((noinline)) enum status recall(struct sim *s, struct hart *h, uint64_t until, uint8_t *vector)
{
	if (!s->memo)
		s->memo = s->from.get(s->from.self, sizeof(*s->memo));
	if (!s->memo) { /* it works without */
		s->recall_wait = UINT32_MAX;
		return ST_OK;
	}
	struct memo_run r = { .regs = &h->regs, .env = &h->env, .until = until, .running = &h->running, .code_stored = &h->code_stored,
	                      .beyond = h->beyond, .self = h, .look_ahead = look_ahead_of };
	const enum status st = core_memo(h->core, s->memo, &r);
	h->instructions += r.instructions;
	s->recall_wait = s->memo->wait;
	*vector = r.vector;
	return st;
}

/* Runs one hart until its clock is beyond `until` or its job ends. */
static void hart_run(struct sim *s, struct hart *h, uint64_t until, bool only)
{
	struct effects e;
	uint8_t vector = 0;
	enum status st = ST_OK;
	if (until > s->limit_cycle)
		until = s->limit_cycle;
	if (s->m.fault_smi_period_us && until > h->next_smi)
		until = h->next_smi;
	uint64_t count = 0;
	const bool pairs = s->both[0] != NULL;
	do {
		const uint64_t ip = h->regs.rip;
		const struct code_entry *c = &s->code[ip % CODE_ENTRIES];
		if (__builtin_expect(c->ip != ip, 0)) {
			if (ip == END_IP)
				break;
			h->running = NULL; /* the last one is over: its place may be taken */
			c = decode_at(s, ip, &vector);
			if (!c) {
				st = ST_FAULT;
				break;
			}
		}
		h->running = c;
		if (__builtin_expect(pairs, 0) && wait_for_sibling(s, h, &c->insn))
			break;
		st = exec(&h->regs, &c->insn, &h->env, &e, &vector);
		if (st != ST_OK)
			break;
		if (c->pointer && *h->beyond)
			look_ahead(h, c);
		st = core_account(h->core, &c->insn, &c->plan, &e, ip);
		if (st != ST_OK) {
			vector = 14;
			break;
		}
		count++;
		if (__builtin_expect(h->code_stored, 0)) {
			h->code_stored = false;
			core_code_changed(h->core);
			if (s->memo)
				memo_forget(s->memo);
		}
		if (c->plan.branch && only && !--s->recall_wait) {
			st = recall(s, h, until, &vector);
			if (st != ST_OK)
				break;
		}
	} while (core_clock(h->core) <= until);
	h->instructions += count;
	h->running = NULL;
	if (st != ST_OK) {
		if (!s->problem[0]) {
			struct text t;
			text_init(&t, s->problem, sizeof(s->problem));
			text_fmt(&t, "exception %u at 0x%llx", vector, (unsigned long long)h->regs.rip);
		}
		hart_end(s, h, st == ST_FAULT ? ST_FAULT : st, vector);
	} else if (h->regs.rip == END_IP) {
		hart_end(s, h, ST_OK, 0);
	} else if (core_clock(h->core) > s->limit_cycle) {
		hart_end(s, h, ST_TIMEOUT, 0);
	} else if (s->m.fault_smi_period_us) {
		take_smis(s, h, true);
	}
}

enum status sim_run(struct sim *s, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	struct hart *running[MACHINE_THREADS_MAX];
	unsigned left = 0;
	enum status first = ST_OK;
	s->problem[0] = 0;
	if (!limit_tsc)
		limit_tsc = LIMIT_TSC_PRESET;
	s->now += WAKE_CYCLES;
	uint64_t cycles = limit_tsc > UINT64_MAX / s->m.clock_core_ratio ? UINT64_MAX / 2
	                : limit_tsc * s->m.clock_core_ratio / s->m.clock_tsc_ratio;
	uint64_t start = s->now;
	s->limit_cycle = start + cycles;
	if (n > s->threads)
		return ST_RANGE;
	for (unsigned i = 0; i < n; i++) {
		if (jobs[i].core >= s->threads || s->harts[jobs[i].core].job)
			goto bad;
		if (s->m.fault_dead_core == jobs[i].core + 1) {
			jobs[i].status = ST_TIMEOUT;
			jobs[i].ip = jobs[i].entry;
			continue;
		}
		struct hart *h = &s->harts[jobs[i].core];
		enum status st = hart_prepare(s, h);
		if (st == ST_OK)
			st = hart_start(s, h, &jobs[i]);
		if (st != ST_OK) {
			h->job = NULL;
			for (unsigned k = 0; k < left; k++)
				running[k]->job = NULL;
			return st;
		}
		running[left++] = h;
	}
	for (unsigned i = 0; i < left; i++) {
		struct hart *h = running[i], *o = sibling(s, h);
		if (s->m.fault_smi_period_us)
			take_smis(s, h, false);
		core_resume(h->core, start, !(o && (o->job || never_sleeps(s, o))));
		sim_slept(s, h, start);
		core_want_retired(h->core, counters_want_retired(h->counters));
	}
	s->recall_wait = s->recall_off ? UINT32_MAX : RECALL_WAIT;
	while (left) {
		unsigned least = 0;
		uint64_t next = UINT64_MAX;
		for (unsigned i = 1; i < left; i++) {
			uint64_t c = core_clock(running[i]->core);
			if (c < core_clock(running[least]->core)) {
				next = core_clock(running[least]->core);
				least = i;
			} else if (c < next) {
				next = c;
			}
		}
		hart_run(s, running[least], next, left == 1);
		if (!running[least]->job)
			running[least] = running[--left];
	}
	for (unsigned i = 0; i < n && first == ST_OK; i++)
		first = jobs[i].status;
	for (unsigned i = 0; i < s->threads; i++) /* a counter that could not count */
		if (signals_starved(s->signals[i]) || (s->both[i / 2] && signals_starved(s->both[i / 2])))
			return ST_FULL;
	return first;
bad:
	for (unsigned k = 0; k < left; k++)
		running[k]->job = NULL;
	return ST_RANGE;
}
