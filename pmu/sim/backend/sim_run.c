/* pmu/sim/backend/sim_run.c: jobs on the simulated machine: execute, account; the core whose clock is lowest goes next.
 *
 * Loads and stores wait in a core's buffers long before they request their lines. Of several cores the one whose next request is earliest is
 * stepped next, as far as core_asks can tell. Otherwise one core would reserve shared resources for all its buffered requests, and earlier
 * requests of the others would queue behind them.
 *
 * A job starts with empty pipelines, empty TLBs and paging-structure caches (the load of CR3 that enters it flushes them), and the caches as
 * they were. It ends when its routine returns to END_IP, which lies outside the address space. Not modelled: interrupts other than SMIs,
 * privilege levels other than 0, what an SMI does to caches, counters that keep counting within one. */
#include "pmu/sim/backend/sim_state.h"
#include "pmu/sim/isa/ops.h"
#include "pmu/text.h"

#define END_IP (~0xFFFull)
#define LIMIT_TSC_PRESET (1ull << 33)
#define RECALL_WAIT 64u  /* branches of a run before it is worth while */
#define RECALL_BEYOND 16u /* ... and until it is tried again after loads from beyond the L2: see memo_note */
#define UNDO_CYCLES 1000000u /* that a job's undo routine may take at least */
#define WAKE_CYCLES 100 /* between two runs; at least one, so that time goes on */

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
	h->core_memory = s->from.get(s->from.self, core_bytes(h->m));
	if (!h->core_memory)
		return ST_FULL;
	const struct signal_room room = { s->from.self, s->from.get, s->from.put };
	signals_attach_room(s->signals[h->thread], &room);
	const unsigned core = h->thread / 2;
	if (s->both[core] && !signals_attached(s->both[core]))
		signals_attach_room(s->both[core], &room);
	const struct hart *o = sibling(s, h);
	h->core = core_init(h->core_memory, h->m, h->thread / (unsigned)s->m.topology_threads, h->thread, s->memory,
	                    s->signals[h->thread], &s->hooks[h->thread], o ? o->core : NULL);
	h->beyond = memory_went_beyond(s->memory, h->thread / (unsigned)s->m.topology_threads);
	return ST_OK;
}

/* A record that comes while no job runs goes through the firmware's page tables. */
static void look_at_sampling(struct sim *s, const struct hart *h, const char *why)
{
	struct sim_finding f = { .kind = FIND_UNMAPPED, .thread = h->thread, .address = 0x600, .value = SPACE_DS + h->thread * DS_BYTES, .why = why };
	if (counters_armed(h->counters))
		sim_record(s, h->thread, &f);
}

static enum status fresh_start(struct hart *h, uint64_t entry, uint64_t argument)
{
	uint64_t rsp = SPACE_CONTROL + (h->thread + 1) * CONTROL_BYTES - 8;
	uint64_t *top = sim_bytes(h, rsp, 8, true);
	if (!top)
		return ST_BROKEN;
	*top = h->end_ip = END_IP;
	h->regs.gpr[RN_RDI] = argument;
	h->regs.gpr[RN_RSP] = rsp;
	h->regs.rip = entry;
	return ST_OK;
}

static enum status hart_start(struct sim *s, struct hart *h, struct job *j, const struct sim_registers *given)
{
	look_at_sampling(s, h, "PEBS is armed as a job begins: no DS area is mapped before");
	exec_reset(&h->regs);
	enum status st = given ? sim_space_start(s, h, given) : fresh_start(h, j->entry, j->argument);
	if (st != ST_OK)
		return st;
	h->job = j;
	h->now = s->now;
	j->status = ST_OK;
	j->vector = 0;
	j->ip = j->entry;
	return ST_OK;
}

static bool never_sleeps(const struct sim *s, const struct hart *h)
{
	return s->m.fault_busy_core == h->thread + 1;
}

/* After a job that did not end, what it left enabled is undone before anything else runs. */
static bool undo(struct sim *s, struct hart *h)
{
	const struct hart *o = sibling(s, h);
	if (!h->job->undo || h->undoing)
		return false;
	exec_reset(&h->regs);
	if (fresh_start(h, h->job->undo, h->job->argument) != ST_OK)
		return false;
	h->undoing = true;
	core_park(h->core);
	core_resume(h->core, h->now, !(o && (o->job || never_sleeps(s, o))));
	core_want_retired(h->core, counters_want_retired(h->counters));
	if (s->limit_cycle < h->now + UNDO_CYCLES)
		s->limit_cycle = h->now + UNDO_CYCLES;
	return true;
}

static void hart_end(struct sim *s, struct hart *h, enum status st, uint8_t vector)
{
	if (!h->undoing) {
		h->job->status = st;
		h->job->vector = vector;
		h->job->ip = h->regs.rip;
	}
	h->now = core_serialise(h->core);
	h->running = NULL;
	if (st != ST_OK && undo(s, h))
		return;
	core_park(h->core);
	look_at_sampling(s, h, "PEBS is armed as a job ends: no DS area is mapped after it");
	h->undoing = false;
	h->job = NULL;
	h->running = NULL;
	if (h->now > s->now)
		s->now = h->now;
	if (!(sibling(s, h) && sibling(s, h)->job)) /* the core was awake until now */
		boxes_core(s->boxes, h->physical, false);
}

/* The loaded value may be the address of the next load, as in a chase. If that load will miss the L2, prefetches what the simulator itself will
 * read for it: the bytes, and the entries of the large caches. No simulated state changes. */
static inline void look_ahead(const struct hart *h, const struct code_entry *c)
{
	const struct sim *s = h->sim;
	uint64_t va;
	if (s->no_look_ahead)
		return;
	__builtin_memcpy(&va, (const uint8_t *)&h->regs + c->insn.dst_at, 8);
	const unsigned slot = exec_range_slot(va);
	const uint64_t at = va - s->ranges[slot].va;
	if (at >= s->ranges[slot].bytes)
		return;
	memory_look_ahead(s->memory, h->physical, s->range_pa[slot] + at);
	__builtin_prefetch(s->ranges[slot].host + at); /* last: it waits for the host's page walk, behind which no other would begin */
}

/* An SMI stops a hart and all its counters for a while; the clocks keep running. SMIs between runs are only counted. */
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
	return signals_any(s->both[h->thread / 2]) || (s->m.pmu_netburst && signals_any(s->signals[h->thread ^ 1]));
}

/* Counters of both threads are read or written: whether this thread's sibling has yet to reach the cycle in which that happens. If not, everything
 * before that cycle is complete. */
static bool wait_for_sibling(struct sim *s, struct hart *h, const struct insn *in)
{
	const struct hart *o = sibling(s, h);
	if (!o || !o->job || (in->op != OP_WRMSR && (in->op != OP_RDPMC || !counts_are_shared(s, h))))
		return false;
	h->now = core_serialise(h->core);
	if (core_grant(o->core) / 2 < h->now)
		return true;
	signal_close(s->both[h->thread / 2], h->now);
	return false;
}

/* Sleeping cycles among the first n, of a core that is alternately awake and asleep for `period` cycles each. */
static uint64_t asleep(uint64_t n, uint64_t period)
{
	return n / (2 * period) * period + (n / period & 1 ? n % period : 0);
}

void sim_slept(struct sim *s, struct hart *h, uint64_t until)
{
	const uint64_t period = s->m.fault_busy_us * (s->m.core_hz / 1000000);
	if (until <= h->now)
		return;
	if (!never_sleeps(s, h))
		counters_halted(h->counters, until - h->now);
	else if (period)
		counters_halted(h->counters, asleep(until, period) - asleep(h->now, period));
	h->now = until;
}

static void look_ahead_of(void *self, const struct code_entry *c) { look_ahead(self, c); }

/* Continues by recalling what the core did in the same state, or records it (core_memo.h). */
static __attribute__((noinline)) enum status recall(struct sim *s, struct hart *h, uint64_t until, uint8_t *vector)
{
	if (h->m != &s->m) { /* recorded states are those of large cores */
		s->recall_wait = RECALL_WAIT;
		return ST_OK;
	}
	if (!core_is_alone(h->core) || *h->beyond) {
		s->recall_wait = *h->beyond ? RECALL_BEYOND : RECALL_WAIT;
		return ST_OK;
	}
	if (!s->memo && !s->m.front_uop_cache) /* what a uop cache holds is no part of a recorded state */
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

static __attribute__((noinline)) void code_changed(struct sim *s, struct hart *h)
{
	core_code_changed(h->core, h->code_stored);
	h->code_stored = 0;
	if (s->memo)
		memo_forget(s->memo);
}

/* When the hart is granted its next step; the lowest is stepped next. Two threads of a core are stepped in the order of their allocation: the
 * later one waits for the earlier one, whatever that one waits for. */
static inline uint64_t grant_of(const struct sim *s, const struct hart *h)
{
	if (s->m.topology_threads < 2)
		return 2 * max_cycle(core_clock(h->core), h->asks);
	const struct hart *o = sibling(s, h);
	const uint64_t own = core_grant(h->core), other = o && o->job ? core_grant(o->core) : UINT64_MAX;
	return other < own ? max_cycle(own, max_cycle(other, 2 * o->asks) + 1) : max_cycle(own, 2 * h->asks);
}

/* Until when it may go on, where `next` is the lowest of all others. */
static inline uint64_t grant_until(const struct sim *s, const struct hart *h, uint64_t next)
{
	const struct hart *o = sibling(s, h);
	const uint64_t other = o && o->job ? core_grant(o->core) : UINT64_MAX;
	return other < next ? other : next;
}

/* Whether another hart is to go before this instruction asks for its line. */
static inline bool asks_later(struct hart *h, const struct code_entry *c, uint64_t until_grant)
{
	if (!c->insn.load && !c->insn.store)
		return false;
	h->asks = core_asks(h->core, &c->insn, &c->plan);
	return 2 * h->asks > until_grant;
}

/* Two threads a core: goes on with the instruction before until another hart is granted its step. */
static enum status go_on(struct sim *s, struct hart *h, uint64_t until_grant)
{
	enum status st = ST_OK;
	while (st == ST_OK && core_unfinished(h->core)) {
		core_expect(h->core, NULL, 0);
		if (core_grant(h->core) > until_grant)
			return ST_OK;
		st = core_go_on(h->core);
	}
	if (h->code_stored)
		code_changed(s, h);
	return st;
}

/* Two threads a core: whether another hart is to go before this instruction is carried out. */
static bool gives_way(const struct hart *h, const struct code_entry *c, uint64_t ip, uint64_t until_grant)
{
	const enum op op = c->insn.op;
	if (op != OP_RDPMC && op != OP_RDTSC && op != OP_RDTSCP && op != OP_CPUID && op != OP_WRMSR) /* these serialise first */
		core_expect(h->core, &c->plan, ip);
	return core_grant(h->core) > until_grant;
}

/* The cycle until which a hart may run: its own limit, that of the run, and the next SMI. */
static inline uint64_t last_cycle(const struct sim *s, const struct hart *h, uint64_t until)
{
	if (until > s->limit_cycle)
		until = s->limit_cycle;
	return s->m.fault_smi_period_us && until > h->next_smi ? h->next_smi : until;
}

/* Ends the job of a hart that stopped on a fault, at its routine's return or at the time limit; else takes SMIs. `unfinished`: the sibling was
 * granted a step within an instruction. */
static inline __attribute__((always_inline)) void hart_stopped(struct sim *s, struct hart *h, enum status st, uint8_t vector, bool unfinished)
{
	if (st != ST_OK) {
		if (!s->problem[0]) {
			struct text t;
			text_init(&t, s->problem, sizeof(s->problem));
			text_fmt(&t, "exception %u at 0x%llx", vector, (unsigned long long)h->regs.rip);
		}
		hart_end(s, h, st == ST_FAULT ? ST_FAULT : st, vector);
	} else if (h->regs.rip == h->end_ip && !unfinished) {
		hart_end(s, h, ST_OK, 0);
	} else if (core_clock(h->core) > s->limit_cycle) {
		hart_end(s, h, ST_TIMEOUT, 0);
	} else if (s->m.fault_smi_period_us && !unfinished) {
		take_smis(s, h, true);
	}
}

/* Runs one hart until its grant is later than that or its job ends. */
static inline __attribute__((always_inline)) void hart_go(struct sim *s, struct hart *h, uint64_t until_grant, bool only, const bool twins)
{
	const uint64_t until = last_cycle(s, h, until_grant / 2);
	struct effects e;
	uint8_t vector = 0;
	enum status st = ST_OK;
	uint64_t count = 0;
	bool first = true; /* it has been granted its step */
	const bool pairs = twins && s->both[0] != NULL;
	do {
		const uint64_t ip = h->regs.rip;
		const struct code_entry *c = &h->code[ip % CODE_ENTRIES];
		if (twins && core_unfinished(h->core)) {
			st = go_on(s, h, until_grant);
			vector = 14;
			if (st != ST_OK || core_unfinished(h->core))
				break;
		}
		if (__builtin_expect(c->ip != ip, 0)) {
			if (ip == h->end_ip)
				break;
			h->running = NULL; /* the last one is over: its place may be taken */
			c = sim_decode(s, h, ip, &vector);
			if (!c) {
				st = ST_FAULT;
				break;
			}
		}
		h->running = c;
		if (twins && gives_way(h, c, ip, until_grant))
			break;
		if (!only && !first && asks_later(h, c, until_grant))
			break;
		first = false;
		h->asks = 0;
		if (pairs && wait_for_sibling(s, h, &c->insn))
			break;
		if (c->pointer && exec_pointer(&h->regs, &c->insn, s->ranges, &e)) {
			if (*h->beyond)
				look_ahead(h, c);
		} else {
			st = exec(&h->regs, &c->insn, &h->env, &e, &vector);
			if (st != ST_OK)
				break;
		}
		st = core_account(h->core, &c->insn, &c->plan, &e, ip);
		if (st != ST_OK) {
			vector = 14;
			break;
		}
		count++;
		if (twins && core_unfinished(h->core))
			continue;
		if (__builtin_expect(h->code_stored, 0))
			code_changed(s, h);
		if (c->plan.branch && only && !--s->recall_wait) {
			st = recall(s, h, until, &vector);
			if (st != ST_OK)
				break;
		}
	} while (core_clock(h->core) <= until);
	h->instructions += count;
	h->running = NULL;
	hart_stopped(s, h, st, vector, twins && core_unfinished(h->core));
}

static OWN_PAGE void hart_run(struct sim *s, struct hart *h, uint64_t until_grant, bool only)
{
	hart_go(s, h, until_grant, only, false);
}

static __attribute__((noinline)) void hart_run_twin(struct sim *s, struct hart *h, uint64_t until_grant, bool only)
{
	hart_go(s, h, until_grant, only, true);
}

/* Runs the harts until their jobs have ended. */
static void run_all(struct sim *s, struct hart **running, unsigned left)
{
	uint64_t grant[MACHINE_THREADS_MAX]; /* of each; what one hart does changes its own and its sibling's alone */
	for (unsigned i = 0; i < left; i++)
		grant[i] = grant_of(s, running[i]);
	while (left) {
		unsigned least = 0;
		uint64_t next = UINT64_MAX;
		for (unsigned i = 1; i < left; i++) {
			if (grant[i] < grant[least]) {
				next = grant[least];
				least = i;
			} else if (grant[i] < next) {
				next = grant[i];
			}
		}
		struct hart *const h = running[least], *const o = sibling(s, h);
		(s->m.topology_threads > 1 ? hart_run_twin : hart_run)(s, h, grant_until(s, h, next), left == 1);
		if (!h->job) {
			running[least] = running[--left];
			grant[least] = grant[left];
		} else {
			grant[least] = grant_of(s, h);
		}
		for (unsigned i = 0; o && o->job && i < left; i++)
			if (running[i] == o)
				grant[i] = grant_of(s, o);
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
	sim_firmware(s);
	uint64_t cycles = limit_tsc > UINT64_MAX / s->m.clock_core_ratio ? UINT64_MAX / 2
	                : limit_tsc * s->m.clock_core_ratio / s->m.clock_tsc_ratio;
	uint64_t start = s->now;
	s->limit_cycle = start + cycles;
	if (s->space.page)
		sim_space_forget(s);
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
			st = hart_start(s, h, &jobs[i], s->given ? &s->given[i] : NULL);
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
		boxes_core(s->boxes, h->physical, true);
		memory_cr3_load(s->memory, h->physical);
		core_resume(h->core, start, !(o && (o->job || never_sleeps(s, o))));
		sim_slept(s, h, start);
		core_want_retired(h->core, counters_want_retired(h->counters));
	}
	s->recall_wait = s->recall_off ? UINT32_MAX : RECALL_WAIT;
	run_all(s, running, left);
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
