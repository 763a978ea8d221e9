/* bench/measure.c: the measuring loop: one row on one core.
 *
 * Pairs of windows of n and 2n units of work, test, baseline and clock interleaved in an order drawn from
 * the seed; the slope drops what is the same for both. Before each window the working set is prepared by
 * kernels. The first round is a warm-up. */
#include "bench/measure.h"

#define REPETITIONS_SIMULATED 5
#define REPETITIONS_SHARED 51
#define REPETITIONS_PRIVATE 201      /* for a minimum many short windows are better than few long ones */
#define CAP_TSC_DIVISOR 4            /* a row stops repeating after a quarter of a second */
#define LEAST_PAIRS 5                /* but not before this many */
#define ROUNDS_FACTOR 2              /* rejected windows are repeated, up to as many rounds again */
#define CLOCK_ADDS 8192u             /* dependent adds in the shorter clock window */
#define ADDS_PER_ITERATION 16u       /* of k_add_chain */
#define REFRESH_LOADS_MAX 4096u      /* visited before each window of a warm working set */
#define REFRESH_VISITS 4u            /* a small one that often: random replacement keeps not all at once */
#define MSR_SMI_COUNT 0x34u          /* SDM vol. 4, table 2-15: [31:0] SMIs since reset, Nehalem and later */
#define IA32_MPERF 0xE7u             /* SDM vol. 3, 14.2: CPUID 6 ECX[0] says that both are there */
#define IA32_APERF 0xE8u
#define RATIO_TOLERANCE_MICRO 10000  /* 1 % */

struct working_set {
	const struct kernel *kernel;
	struct shape shape;
	struct mapping map;
	bool mapped;
	uint64_t at;     /* where the next window goes on: node, or byte offset of a stream */
	uint32_t window; /* units of work in the shorter window */
};

struct counting {
	struct plan plan;
	const struct row_proof *proofs;
	unsigned proof_count, events; /* events = proofs + 1 for the cycles */
	bool on;
};

const struct kernel *kernel_find(const char *name)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, name))
			return k;
	return NULL;
}

bool proof_holds(const struct row_proof *proofs, unsigned n, const int64_t *per_unit_milli, const char *unit,
                 struct text *text)
{
	bool holds = true;

	for (unsigned i = 0; i < n; i++) {
		if (i)
			text_fmt(text, ", ");
		text_fmt(text, "%s ", proofs[i].event);
		text_fixed(text, per_unit_milli[i], 3);
		text_fmt(text, " per %s", proofs[i].per_load ? "load" : unit);
		if (per_unit_milli[i] < proofs[i].low_milli || per_unit_milli[i] > proofs[i].high_milli)
			holds = false;
	}
	return holds;
}

static const struct event *find_cycles(const struct cpu *cpu)
{
	static const char *const names[] = { "CPU_CLK_UNHALTED.THREAD", "CPU_CLK_UNHALTED.CORE",
		"CPU_CLK_UNHALTED.THREAD_P", "CPU_CLK_UNHALTED.CORE_P" };

	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		const struct event *e = event_find(cpu->processor, names[i]);

		if (e)
			return e;
	}
	return NULL;
}

/* --- disturbances ------------------------------------------------------------------------------ */

static bool read_msr(struct bench *b, uint32_t msr, uint64_t *value)
{
	return b->a->ops->rdmsr(b->a->self, b->core, msr, value) == ST_OK;
}

static void disturbance_before(struct bench *b)
{
	struct disturbance *d = &b->disturbance;

	if (d->smi_known)
		d->smi_known = read_msr(b, MSR_SMI_COUNT, &d->smi);
	if (d->ratio_known)
		d->ratio_known = read_msr(b, IA32_MPERF, &d->mperf) && read_msr(b, IA32_APERF, &d->aperf);
}

/* True when the window just run is to be thrown away. */
static bool disturbance_after(struct bench *b)
{
	struct disturbance *d = &b->disturbance;
	uint64_t smi, aperf, mperf;
	bool disturbed = false;

	if (d->smi_known && read_msr(b, MSR_SMI_COUNT, &smi) && (uint32_t)smi != (uint32_t)d->smi)
		disturbed = true;
	if (d->ratio_known && read_msr(b, IA32_MPERF, &mperf) && read_msr(b, IA32_APERF, &aperf) && mperf > d->mperf) {
		int64_t ratio = mul_div((int64_t)(aperf - d->aperf), 1000000, (int64_t)(mperf - d->mperf));
		int64_t moved = ratio > d->last_ratio_micro ? ratio - d->last_ratio_micro : d->last_ratio_micro - ratio;

		if (d->last_ratio_micro && moved > RATIO_TOLERANCE_MICRO)
			disturbed = true;
		d->last_ratio_micro = ratio;
	}
	return disturbed;
}

void bench_init(struct bench *b, const struct access *a, const struct cpu *cpu, const struct suite_host *host,
                unsigned repetitions, uint64_t seed)
{
	struct cpuid_regs r;
	uint64_t value;

	memset(b, 0, sizeof(*b));
	b->a = a;
	b->cpu = cpu;
	b->host = host;
	b->repetitions = repetitions < SAMPLES_MAX ? repetitions : SAMPLES_MAX;
	random_init(&b->random, seed);
	if (cpu->pmu_version || cpu->general_counters)
		b->cycles = find_cycles(cpu);
	/* The SMI count stands in no CPUID bit: one read tells. A kernel's own machine has no MSRs. */
	if (a->kind != ACCESS_NATIVE && str_equal(cpu->vendor, "GenuineIntel"))
		b->disturbance.smi_known = read_msr(b, MSR_SMI_COUNT, &value);
	if (a->kind != ACCESS_NATIVE && a->ops->cpuid(a->self, b->core, 0, 0, &r) == ST_OK && r.eax >= 6 &&
	    a->ops->cpuid(a->self, b->core, 6, 0, &r) == ST_OK)
		b->disturbance.ratio_known = r.ecx & 1;
}

/* --- one run of one kernel --------------------------------------------------------------------- */

struct window { uint64_t tsc, result; uint64_t counts[ROW_EVENTS_MAX]; };

/* Runs kernel(arguments) under the wrapper. `counting` with `run` says which counters to read, NULL none. */
static enum status run_kernel(struct bench *b, const struct kernel *k, const uint64_t arguments[6],
                              const struct counting *c, unsigned run, struct window *out, struct job *job)
{
	struct measure_block *block = b->a->ops->control(b->a->self, b->core);
	const struct kernel *wrapper = kernel_find("k_measure");
	unsigned slots[ROW_EVENTS_MAX], n = 0;
	enum status st;

	if (!block || !wrapper)
		return ST_BROKEN;
	memset(block, 0, sizeof(*block));
	block->kernel = WINDOW_CODE + k->offset;
	for (unsigned i = 0; i < 6; i++)
		block->argument[i] = arguments[i];
	block->serialise = b->cpu->processor->serialise_cpuid;
	if (c && c->on)
		for (unsigned i = 0; i < c->events; i++)
			if (c->plan.slots[i].run == run) {
				slots[n] = i;
				block->index[n++] = c->plan.slots[i].rdpmc_index;
			}
	block->counters = n;
	memset(job, 0, sizeof(*job));
	job->core = b->core;
	job->entry = WINDOW_CODE + wrapper->offset;
	job->argument = WINDOW_CONTROL + b->core * CONTROL_BYTES;
	st = b->a->ops->run(b->a->self, job, 1, 0);
	if (st != ST_OK)
		return st;
	memset(out, 0, sizeof(*out));
	out->tsc = block->tsc_after - block->tsc_before;
	out->result = block->result;
	for (unsigned i = 0; i < n; i++) {
		const struct plan_slot *s = &c->plan.slots[slots[i]];
		unsigned width = s->fixed ? b->cpu->fixed_width : b->cpu->general_width;
		uint64_t mask = width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;

		out->counts[slots[i]] = (block->after[i] - block->before[i]) & mask;
	}
	return ST_OK;
}

/* What a unit of work is: a load of a chase, an iteration of a stream. */
static uint32_t units_per_iteration(const struct working_set *w)
{
	return w->shape.order == ORDER_STREAMS ? 1 : w->kernel->loads;
}

static enum status run_units(struct bench *b, struct working_set *w, uint64_t units, const struct counting *c,
                             unsigned run, struct window *out, struct job *job)
{
	uint64_t arguments[6] = { 0 };
	uint64_t iterations = units / units_per_iteration(w);
	enum status st;

	if (w->shape.order == ORDER_STREAMS) {
		arguments[0] = w->map.va;
		arguments[1] = w->map.va + w->shape.array_bytes + w->shape.skew_bytes;
		arguments[2] = w->map.va + 2 * (w->shape.array_bytes + w->shape.skew_bytes);
		arguments[3] = iterations;
		arguments[4] = w->shape.array_bytes - 1;
		arguments[5] = w->at;
	} else {
		arguments[0] = w->at;
		arguments[1] = iterations;
	}
	st = run_kernel(b, w->kernel, arguments, c, run, out, job);
	if (st == ST_OK)
		w->at = out->result;
	return st;
}

/* Brings the working set into its state before a window of `units`. */
static enum status prepare(struct bench *b, const struct row *r, struct working_set *w, bool test, uint64_t units,
                           struct job *job)
{
	const struct kernel *flush = kernel_find("k_flush_chain");
	struct window ignored;

	if (test && r->prepare == PREPARE_FLUSH) {
		uint64_t arguments[6] = { w->at, units };

		return flush ? run_kernel(b, flush, arguments, NULL, 0, &ignored, job) : ST_BROKEN;
	}
	if (w->shape.order == ORDER_STREAMS || (test && r->place == PLACE_DRAM))
		return ST_OK;
	units = (uint64_t)w->shape.nodes * REFRESH_VISITS;
	if (units > REFRESH_LOADS_MAX)
		units = REFRESH_LOADS_MAX;
	return run_units(b, w, units, NULL, 0, &ignored, job);
}

/* The first visit. */
static enum status warm_up(struct bench *b, const struct row *r, struct working_set *w, bool test, struct job *job)
{
	const struct cpu_cache *last = cpu_cache(b->cpu, cpu_last_level(b->cpu));
	struct window ignored;
	uint64_t units;

	if (test && r->prepare == PREPARE_FLUSH)
		return ST_OK;
	if (w->shape.order != ORDER_STREAMS)
		/* A chase beyond all caches needs no visit: what preparing it left cached is its oldest part. */
		units = r->place == PLACE_DRAM && test ? 0 : w->shape.nodes;
	else if (r->prepare == PREPARE_FILL)
		/* 4/3 of the last level: from then on it gives back a modified line for each that comes in */
		units = (last ? last->bytes : 0) / w->kernel->data_bytes * 4 / 3;
	else
		units = r->place == PLACE_DRAM ? 0 : w->shape.array_bytes / 256;
	return units ? run_units(b, w, units, NULL, 0, &ignored, job) : ST_OK;
}

/* --- setting up -------------------------------------------------------------------------------- */

static enum status map_working_set(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	uint64_t page = w->shape.page_bytes;
	enum status st;

	for (;;) {
		memset(&w->map, 0, sizeof(w->map));
		w->map.va = WINDOW_DATA + slot * PAGE_1G;
		w->map.page_bytes = page;
		w->map.bytes = (w->shape.span_bytes + page - 1) / page * page;
		st = b->a->ops->map(b->a->self, &w->map);
		if (st != ST_UNSUPPORTED || page == PAGE_4K)
			break;
		page = PAGE_4K;
		str_copy(out->remark, sizeof(out->remark), "4 KiB pages: no 2 MiB pages to be had; TLB misses are in it");
	}
	w->mapped = st == ST_OK;
	return st;
}

static enum status set_up(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out)
{
	enum status st = map_working_set(b, w, slot, out);
	uint32_t *work;
	size_t bytes = 2 * sizeof(uint32_t) * (size_t)w->shape.nodes;

	if (st != ST_OK || w->shape.order == ORDER_STREAMS)
		return st;
	work = b->host->get(b->host->self, bytes);
	if (!work)
		return ST_FULL;
	shape_link(&w->shape, &w->map, &b->random, work);
	b->host->put(b->host->self, work, bytes);
	/* Any node is on the cycle; the first line of consecutive nodes is one. */
	w->at = w->map.va;
	if (w->shape.order == ORDER_SPARSE)
		for (uint64_t offset = 0; offset < w->map.bytes; offset += w->shape.line_bytes)
			if (*(uint64_t *)((uint8_t *)w->map.host + offset)) {
				w->at = *(uint64_t *)((uint8_t *)w->map.host + offset);
				break;
			}
	return ST_OK;
}

/* Chooses the first proof set whose events the processor has, and plans it together with cycles. */
static void plan_counting(struct bench *b, const struct row *r, struct counting *c, struct text *why)
{
	const struct event *events[ROW_EVENTS_MAX];
	const char *problem = "";

	memset(c, 0, sizeof(*c));
	if (!b->cycles) {
		text_fmt(why, "no performance counters");
		return;
	}
	events[0] = b->cycles;
	c->events = 1;
	for (const struct row_proof_set *set = r->proofs; set && set->proofs[0].event[0]; set++) {
		unsigned n = 0;

		while (n < ROW_PROOFS_MAX && set->proofs[n].event &&
		       (events[1 + n] = event_find(b->cpu->processor, set->proofs[n].event)))
			n++;
		if (n < ROW_PROOFS_MAX && set->proofs[n].event)
			continue; /* the processor lacks one */
		if (plan_events(b->cpu, events, 1 + n, &c->plan, &problem) != ST_OK)
			continue;
		c->proofs = set->proofs;
		c->proof_count = n;
		c->events = 1 + n;
		c->on = true;
		return;
	}
	if (problem[0])
		text_fmt(why, "no counter can count %s", problem);
	else
		text_fmt(why, "this processor has no event that proves it");
	c->on = plan_events(b->cpu, events, 1, &c->plan, &problem) == ST_OK;
}

/* --- the loop ---------------------------------------------------------------------------------- */

enum what { WHAT_TEST, WHAT_BASELINE, WHAT_CLOCK };

struct loop {
	struct bench *b;
	const struct row *row;
	struct working_set sets[2];
	unsigned set_count;
	struct counting counting;
	unsigned pairs;     /* good ones so far */
	unsigned rejected;
	struct job job;     /* the last one, for a fault's vector and address */
};

static enum status one_window(struct loop *l, enum what what, bool longer, unsigned run, struct window *out,
                              bool *disturbed)
{
	struct bench *b = l->b;
	enum status st;

	if (what == WHAT_CLOCK) {
		const struct kernel *adds = kernel_find("k_add_chain");
		uint64_t arguments[6] = { CLOCK_ADDS / ADDS_PER_ITERATION << longer };

		if (!adds)
			return ST_BROKEN;
		disturbance_before(b);
		st = run_kernel(b, adds, arguments, NULL, 0, out, &l->job);
	} else {
		struct working_set *w = &l->sets[what];
		uint64_t units = (uint64_t)w->window << longer;

		st = prepare(b, l->row, w, what == WHAT_TEST, units, &l->job);
		if (st != ST_OK)
			return st;
		disturbance_before(b);
		st = run_units(b, w, units, &l->counting, run, out, &l->job);
	}
	if (st == ST_OK && disturbance_after(b))
		*disturbed = true;
	return st;
}

/* A round: one pair of everything, in an order drawn from the seed. Kept as pair number `keep`. */
static enum status one_round(struct loop *l, unsigned run, unsigned keep, bool *disturbed)
{
	struct bench *b = l->b;
	uint32_t order[6];
	unsigned kinds = l->set_count + (b->cycles ? 0 : 1);

	random_shuffle(&b->random, order, 2 * kinds);
	for (unsigned i = 0; i < 2 * kinds; i++) {
		enum what what = order[i] / 2 < l->set_count ? (enum what)(order[i] / 2) : WHAT_CLOCK;
		bool longer = order[i] & 1;
		struct window w;
		enum status st = one_window(l, what, longer, run, &w, disturbed);

		if (st != ST_OK)
			return st;
		if (what == WHAT_CLOCK) {
			*(longer ? &b->clock[keep].longer : &b->clock[keep].shorter) = (int64_t)w.tsc;
			continue;
		}
		if (run == 0)
			*(longer ? &b->tsc[what][keep].longer : &b->tsc[what][keep].shorter) = (int64_t)w.tsc;
		for (unsigned e = 0; l->counting.on && e < l->counting.events; e++)
			if (l->counting.plan.slots[e].run == run)
				*(longer ? &b->counts[what][e][keep].longer : &b->counts[what][e][keep].shorter) =
					(int64_t)w.counts[e];
	}
	return ST_OK;
}

static enum status all_rounds(struct loop *l, unsigned run)
{
	struct bench *b = l->b;
	unsigned wanted = b->repetitions ? b->repetitions : b->a->kind == ACCESS_SIM ? REPETITIONS_SIMULATED :
		l->row->statistic == STAT_MINIMUM ? REPETITIONS_PRIVATE : REPETITIONS_SHARED;
	unsigned rounds = 1 + wanted * ROUNDS_FACTOR, good = 0;
	uint64_t start = 0, now = 0, cap = b->a->tsc_hz / CAP_TSC_DIVISOR;
	bool timed = b->a->kind != ACCESS_SIM && b->a->ops->rdtsc(b->a->self, b->core, &start) == ST_OK;
	enum status st;

	for (unsigned round = 0; round < rounds && good < wanted; round++) {
		bool disturbed = false;

		st = one_round(l, run, good, &disturbed);
		if (st != ST_OK)
			return st;
		if (round == 0)
			continue; /* warm-up */
		if (disturbed)
			l->rejected++;
		else
			good++;
		if (timed && good >= LEAST_PAIRS && b->a->ops->rdtsc(b->a->self, b->core, &now) == ST_OK && now - start > cap)
			break;
	}
	if (run == 0 || good < l->pairs)
		l->pairs = good;
	return ST_OK;
}

static enum status measure(struct loop *l)
{
	struct bench *b = l->b;
	unsigned runs = l->counting.on ? l->counting.plan.runs : 1;
	enum status st = ST_OK, stopped;

	for (unsigned s = 0; s < l->set_count && st == ST_OK; s++)
		st = warm_up(b, l->row, &l->sets[s], s == 0, &l->job);
	for (unsigned run = 0; run < runs && st == ST_OK; run++) {
		if (l->counting.on) {
			st = counters_start(b->a, b->cpu, &l->counting.plan, run, b->core);
			if (st != ST_OK)
				return st;
		}
		st = all_rounds(l, run);
		if (l->counting.on) {
			stopped = counters_stop(b->a, b->cpu, &l->counting.plan, run, b->core);
			if (st == ST_OK)
				st = stopped;
		}
	}
	return st;
}

/* --- what it means ----------------------------------------------------------------------------- */

static enum status reduce(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	const struct row *r = l->row;
	struct slope tsc[2], cycles[2], clock, count;
	int64_t spread_micro, scale_milli, per_unit_milli[ROW_PROOFS_MAX];
	int64_t hz = (int64_t)b->a->tsc_hz;
	const char *noise = "";
	struct text proof, reason;
	enum status st = ST_OK;
	bool proven = false;

	out->samples = l->pairs;
	out->rejected = l->rejected;
	if (l->pairs == 0) {
		out->status = ROW_NOISY;
		out->noisy = true;
		str_copy(out->reason, sizeof(out->reason), "every window was disturbed");
		return ST_OK;
	}
	if (!b->cycles && (st = slope_of(b->clock, l->pairs, CLOCK_ADDS, r->statistic, &clock)) != ST_OK)
		return st;
	for (unsigned s = 0; s < l->set_count; s++) {
		st = slope_of(b->tsc[s], l->pairs, l->sets[s].window, r->statistic, &tsc[s]);
		if (st != ST_OK)
			return st;
		if (b->cycles) {
			st = slope_of(b->counts[s][0], l->pairs, l->sets[s].window, r->statistic, &cycles[s]);
			if (st != ST_OK)
				return st;
		} else {
			if (clock.value_micro <= 0)
				clock.value_micro = 1;
			cycles[s].value_micro = mul_div(tsc[s].value_micro, 1000000, clock.value_micro);
			cycles[s].spread_micro = mul_div(tsc[s].spread_micro, 1000000, clock.value_micro);
		}
	}
	if (tsc[0].value_micro > 0)
		out->core_hz = (uint64_t)mul_div(hz, cycles[0].value_micro, tsc[0].value_micro);

	if (r->kind == KIND_THROUGHPUT) {
		int64_t ticks = tsc[0].value_micro > 0 ? tsc[0].value_micro : 1;

		out->value_milli = mul_div((int64_t)l->sets[0].kernel->data_bytes * 1000000000, hz, ticks);
		out->spread_milli = mul_div(out->value_milli, tsc[0].spread_micro, ticks);
		scale_milli = tsc[0].value_micro > 0 ? out->value_milli : 0;
	} else {
		int64_t value = cycles[0].value_micro, ticks = tsc[0].value_micro;

		spread_micro = cycles[0].spread_micro;
		if (l->set_count > 1) {
			value -= cycles[1].value_micro;
			ticks -= tsc[1].value_micro;
			spread_micro += cycles[1].spread_micro;
		}
		out->value_milli = mul_div(value, 1, 1000);
		out->spread_milli = mul_div(spread_micro, 1, 1000);
		out->cycles_milli = out->value_milli;
		out->ns_milli = mul_div(ticks, 1000000, hz);
		scale_milli = mul_div(cycles[0].value_micro, 1, 1000);
	}
	out->noisy = is_noisy(out->spread_milli, scale_milli, l->pairs, r->statistic, &noise);

	text_init(&proof, out->proof, sizeof(out->proof));
	text_init(&reason, out->reason, sizeof(out->reason));
	if (l->counting.proof_count) {
		for (unsigned i = 0; i < l->counting.proof_count; i++) {
			st = slope_of(b->counts[0][1 + i], l->pairs, l->sets[0].window, STAT_MEDIAN, &count);
			if (st != ST_OK)
				return st;
			per_unit_milli[i] = mul_div(count.value_micro, 1, 1000);
			if (l->counting.proofs[i].per_load && r->order == ORDER_STREAMS)
				per_unit_milli[i] = mul_div(per_unit_milli[i], 1, l->sets[0].kernel->loads);
		}
		proven = proof_holds(l->counting.proofs, l->counting.proof_count, per_unit_milli,
		                     r->order == ORDER_STREAMS ? "iteration" : "load", &proof);
		if (!proven)
			text_fmt(&reason, "counted %s", out->proof);
	}
	if (!proven) {
		out->status = ROW_UNPROVEN;
		if (!reason.length)
			text_fmt(&reason, "%s", l->counting.on || b->cycles ? "this processor has no event that proves it" :
			         "no performance counters");
		if (out->noisy)
			text_fmt(&reason, "; noisy: %s", noise);
	} else if (out->noisy) {
		out->status = ROW_NOISY;
		text_fmt(&reason, "%s", noise);
	} else {
		out->status = ROW_OK;
	}
	return ST_OK;
}

/* --- prefetchers ------------------------------------------------------------------------------- */

/* Sets or clears the bits that switch the prefetchers off. False when they do not stay as written. */
static bool prefetchers(struct bench *b, uint64_t want)
{
	const struct processor *p = b->cpu->processor;
	uint64_t value, after;

	if (!read_msr(b, p->prefetch_msr, &value))
		return false;
	want |= value & ~p->prefetch_off;
	if (value == want)
		return true;
	return b->a->ops->wrmsr(b->a->self, b->core, p->prefetch_msr, want) == ST_OK &&
	       read_msr(b, p->prefetch_msr, &after) && after == want;
}

/* --- a row ------------------------------------------------------------------------------------- */

static const struct kernel *choose_kernel(const struct row *r, const struct cpu *cpu)
{
	for (const char *const *name = r->kernels; *name; name++) {
		const struct kernel *k = kernel_find(*name);

		if (k && (k->isa & ~cpu->isa) == 0)
			return k;
	}
	return NULL;
}

static void fail(struct row_result *out, enum status st, const struct job *job, const char *where)
{
	struct text reason;

	text_init(&reason, out->reason, sizeof(out->reason));
	out->status = ROW_FAULT;
	text_fmt(&reason, "%s: %s", where, status_name(st));
	if (job && st == ST_FAULT)
		text_fmt(&reason, ", vector %u at 0x%llx", job->vector, (unsigned long long)job->ip);
}

void bench_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct loop l;
	struct text reason;
	enum status st;
	bool quiet = true;
	uint64_t found = 0;
	const struct processor *p = b->cpu->processor;
	bool has_prefetch = p->prefetch_msr && b->a->kind != ACCESS_NATIVE;

	memset(out, 0, sizeof(*out));
	memset(&l, 0, sizeof(l));
	out->row = r;
	out->name = r->name;
	out->kind = r->kind;
	out->unit = r->unit;
	out->revision = r->revision;
	out->cycles_milli = out->ns_milli = -1;
	out->kernel = "";
	l.b = b;
	l.row = r;
	l.set_count = r->baseline == BASELINE_NONE ? 1 : 2;
	b->disturbance.last_ratio_micro = 0;

	const struct kernel *k = choose_kernel(r, b->cpu);

	if (!k) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		str_copy(out->reason, sizeof(out->reason), "no kernel for this processor's instruction set");
		return;
	}
	out->kernel = k->name;
	st = shape_of_test(r, b->cpu, &l.sets[0].shape, out->reason, sizeof(out->reason));
	if (st == ST_OK && l.set_count > 1)
		st = shape_of_baseline(r, b->cpu, &l.sets[0].shape, &l.sets[1].shape, out->reason, sizeof(out->reason));
	if (st != ST_OK) {
		out->status = st == ST_UNSUPPORTED || st == ST_MISSING ? ROW_UNSUPPORTED : ROW_FAULT;
		out->absent = st == ST_UNSUPPORTED;
		return;
	}
	if (r->node && b->a->nodes < 2) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		str_copy(out->reason, sizeof(out->reason), "one memory node");
		return;
	}
	out->footprint_bytes = l.sets[0].shape.bytes;
	for (unsigned s = 0; s < l.set_count && st == ST_OK; s++) {
		l.sets[s].kernel = k;
		l.sets[s].window = r->window;
		st = set_up(b, &l.sets[s], s, out);
	}
	if (st != ST_OK) {
		fail(out, st, NULL, "mapping the working set");
		goto unmap;
	}
	out->page_bytes = l.sets[0].map.page_bytes;
	text_init(&reason, out->reason, sizeof(out->reason));
	plan_counting(b, r, &l.counting, &reason);
	out->reason[0] = 0;
	if (has_prefetch && r->prefetch == PREFETCH_OFF) {
		has_prefetch = read_msr(b, p->prefetch_msr, &found);
		quiet = has_prefetch && prefetchers(b, p->prefetch_off);
	}
	st = measure(&l);
	if (st != ST_OK)
		fail(out, st, &l.job, "running the kernel");
	else if ((st = reduce(&l, out)) != ST_OK)
		fail(out, st, NULL, "reducing the samples");
	if (has_prefetch && r->prefetch == PREFETCH_OFF && !prefetchers(b, found & p->prefetch_off))
		quiet = false;
	if (!quiet && out->status == ROW_OK) {
		out->status = ROW_UNPROVEN;
		str_copy(out->reason, sizeof(out->reason), "the prefetchers could not be switched off");
	}
unmap:
	for (unsigned s = 0; s < l.set_count; s++)
		if (l.sets[s].mapped && b->a->ops->unmap(b->a->self, &l.sets[s].map) != ST_OK && out->status == ROW_OK)
			fail(out, ST_BROKEN, NULL, "unmapping the working set");
}
