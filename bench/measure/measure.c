/* bench/measure/measure.c: the measuring loop: one row on one core.
 *
 * A round has a pair of windows, of n and 2n units of work, each of the test, the baseline and the clock, in an order drawn from the seed (of two
 * kernels: window_order). The slope cancels what both windows have in common. Kernels prepare the working set before each. The first round warms up. */
#include "bench/measure/cores.h"
#include "bench/measure/smt_probe.h"
#include "bench/measure/vector_width.h"

#define REPETITIONS_SIMULATED 5
#define STREAMS_SIMULATED 7          /* pairs of a bandwidth: of only three, half contain a line that random replacement has lost */
#define STREAMS_PART 2u              /* windows are longer by this factor on real machines, which have more noise */
#define REPETITIONS_SHARED 51
#define MEAN_PAIRS_LEAST 10u          /* simulated: fewest pairs; more until the standard error of the mean is small */
#define MEAN_PAIRS 20u
#define MEAN_SURE 300                /* below 1/N of the mean */
#define MEAN_SHORTER 16u             /* iterations, or as many as evict the wrapper's lines from the L1 */
#define MEAN_ASTRAY 5u               /* coprime to a page's lines: windows start at each of them in turn */
#define REPETITIONS_PRIVATE 201      /* for a minimum, many short windows beat few long ones */
#define CAP_TSC_DIVISOR 4            /* a row stops after a quarter of a second */
#define LEAST_PAIRS 5                /* but not before this many pairs */
#define ROUNDS_FACTOR 2              /* rejected windows are repeated, for at most as many rounds again */
#define ROUNDS_PROBED 200            /* where another thread may occupy the core for long */
#define PROBED_LEAST 16              /* undisturbed rounds: fewer may agree by chance */
#define PROBED_ASKED 64
#define PROBED_FACTOR 4               /* longer windows: one TSC tick is then below 0.1 % */
#define STREAM_ATTEMPTS 4u             /* attempts at a level in which the counters find lines missing, each with its own windows */
#define STREAM_LEAST 128u            /* iterations from the L3 where neither window evicts the wrapper's lines from the L2 */
#define STREAM_LONGER 3u             /* doublings of a level's windows until their mean is accurate */
#define FIRMWARE_WAIT_MS 100         /* by then an SMM agent that owns a counter has restarted it */

static const struct event *find_cycles(const struct cpu *cpu)
{
	static const char *const names[] = { "cycles", "cycles.general" };

	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		const struct expression *x = concept_counted(cpu->processor, names[i]);
		const struct event *e = x && x->term_count == 1 ? x->terms[0].event : NULL;
		if (e && (!e->fixed || cpu->fixed_mask >> (e->fixed - 1) & 1 || e->counter_mask & cpu->general_mask))
			return e;
	}
	return NULL;
}

/* Before the first use of counters: stops counters that firmware left on; those that it restarts are left to it. Counters that keep no value or do
 * not answer are not used. */
static void look_at_counters(struct bench *b)
{
	struct firmware_counter list[FIRMWARE_COUNTERS_MAX];
	uint64_t start, now;

	counters_answer(b->a, &b->own, b->core);
	if (counters_firmware_check(b->a, &b->own, b->core, list, &b->firmware_on) != ST_OK)
		return;
	if (b->firmware_on && b->a->ops->rdtsc(b->a->self, b->core, &start) == ST_OK) {
		do {
			if (b->a->ops->rdtsc(b->a->self, b->core, &now) != ST_OK)
				return;
		} while (now - start < b->a->tsc_hz / 1000 * FIRMWARE_WAIT_MS);
		if (counters_firmware_recheck(b->a, &b->own, b->core, list, b->firmware_on) != ST_OK)
			return;
		for (unsigned i = 0; i < b->firmware_on; i++)
			b->firmware_returned += list[i].returned;
	}
	(void)(counters_verify(b->a, &b->own, b->core) == ST_OK);
}

void bench_init(struct bench *b, const struct access *a, const struct cpu *cpu, const struct suite_host *host, unsigned repetitions, uint64_t seed)
{
	memset(b, 0, sizeof(*b));
	b->a = a;
	b->own = *cpu;
	b->cpu = &b->own;
	b->tlb_told = cpu->tlb;
	b->host = host;
	b->repetitions = repetitions < SAMPLES_MAX ? repetitions : SAMPLES_MAX;
	b->seed = seed;
	random_init(&b->random, seed);
	if (a->kind == ACCESS_NATIVE)
		b->uncore.absent = "this backend has no uncore counters";
	else if (uncore_find(a, cpu, &b->uncore) != ST_OK)
		b->uncore.absent = "the sockets could not be distinguished";
	b->last_level_nodes = cores_find(a, &b->own, &b->groups);
	memset(&b->cpuset, true, sizeof(b->cpuset));
	if (a->kind != ACCESS_NATIVE)
		look_at_counters(b);
	if (counters_exist(b->cpu))
		b->cycles = find_cycles(b->cpu);
	noise_check_find(b);
}

/* --- the loop ---------------------------------------------------------------------------------- */

static enum status one_window(struct loop *l, enum loop_kernel what, bool longer, unsigned run, unsigned keep, struct window *out, bool *disturbed)
{
	struct bench *b = l->b;
	enum status st;

	bench_working(b);
	if (what == KERNEL_CLOCK || what == KERNEL_SMT_PROBE) {
		const struct kernel *k = kernel_find(what == KERNEL_CLOCK ? "k_add_chain" : "k_nop");
		uint64_t arguments[6] = { (what == KERNEL_CLOCK ? l->clock_adds / CHAIN_OPERATIONS : SMT_PROBE_NOPS) << longer };

		if (!k)
			return ST_BROKEN;
		noise_check_before(b);
		st = window_run(b, k, arguments, NULL, 0, out, &l->job);
	} else {
		struct working_set *w = &l->sets[what];
		uint64_t units = w->shorter + (longer ? w->window : 0u);
		const enum window_role role = what == KERNEL_TEST ? WINDOW_TEST : WINDOW_BASELINE;

		st = window_prepare(b, l->row, w, role, units, &l->job);
		if (st != ST_OK)
			return st;
		noise_check_before(b);
		const bool looked_at = what == KERNEL_TEST && run == 0 && l->hooks;
		if (looked_at && l->hooks->before)
			l->hooks->before(l);
		st = window_units_reloaded(b, l->row, w, role, units, &l->counting, run, out, &l->job);
		if (looked_at && l->hooks->after && st == ST_OK)
			l->hooks->after(l, keep, longer);
	}
	if (st == ST_OK && noise_check_after(b))
		*disturbed = true;
	return st;
}

/* A round: one pair of each, in an order drawn from the seed, stored as pair number `keep`. */
static enum status one_round(struct loop *l, unsigned run, unsigned keep, bool *disturbed)
{
	struct bench *b = l->b;
	uint32_t order[8];
	unsigned kinds = l->set_count + (b->cycles ? 0 : 1) + l->smt_probed;

	window_order(l, order, 2 * kinds, keep & 1);
	for (unsigned i = 0; i < 2 * kinds; i++) {
		enum loop_kernel what = order[i] / 2 < l->set_count ? (enum loop_kernel)(order[i] / 2) : (enum loop_kernel)(KERNEL_CLOCK + order[i] / 2 - l->set_count);
		bool longer = order[i] & 1;
		struct window w;
		enum status st = one_window(l, what, longer, run, keep, &w, disturbed);

		if (st != ST_OK)
			return st;
		if (what >= KERNEL_CLOCK) {
			struct pair *of = what == KERNEL_CLOCK ? &b->clock[keep] : &b->smt_probes[keep];

			*(longer ? &of->longer : &of->shorter) = (int64_t)w.tsc;
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

static bool short_streams(const struct loop *l)
{
	return l->row->order == ORDER_STREAMS && l->row->kind == KIND_THROUGHPUT && l->b->a->kind == ACCESS_SIM;
}

/* Drops rounds in which the core was shared; returns how many of n remain. */
static unsigned sieve(struct loop *l, unsigned n)
{
	struct bench *b = l->b;
	bool keep[SAMPLES_MAX];
	unsigned kept = 0;

	(void)smt_probe_keep(b->smt_probes, b->clock, n, &b->smt_probe_least_micro, keep);
	for (unsigned i = 0; i < n; i++) {
		if (!keep[i])
			continue;
		b->clock[kept] = b->clock[i];
		b->smt_probes[kept] = b->smt_probes[i];
		for (unsigned s = 0; s < l->set_count; s++)
			b->tsc[s][kept] = b->tsc[s][i];
		kept++;
	}
	l->rejected += n - kept;
	return kept;
}

static enum status all_rounds(struct loop *l, unsigned run)
{
	struct bench *b = l->b;
	const bool surely = !b->repetitions && short_streams(l) && (l->row->statistic == STAT_MEAN || l->unsure);
	unsigned wanted = b->repetitions ? b->repetitions : surely ? run ? l->pairs : MEAN_PAIRS : short_streams(l) ? STREAMS_SIMULATED : b->a->kind == ACCESS_SIM ? REPETITIONS_SIMULATED :
		l->row->statistic == STAT_MINIMUM ? REPETITIONS_PRIVATE : REPETITIONS_SHARED;
	unsigned rounds = 1 + wanted * (l->smt_probed ? ROUNDS_PROBED : ROUNDS_FACTOR), good = 0;
	uint64_t start = 0, now = 0, cap = b->a->tsc_hz / CAP_TSC_DIVISOR * (l->smt_probed ? 2 + b->patience : 1);
	bool timed = b->a->kind != ACCESS_SIM && b->a->ops->rdtsc(b->a->self, b->core, &start) == ST_OK;

	for (unsigned round = 0; round < rounds && good < wanted; round++) {
		bool disturbed = false;
		const enum status st = one_round(l, run, good, &disturbed);

		if (st != ST_OK)
			return st;
		if (round == 0)
			continue; /* warm-up */
		if (disturbed)
			l->rejected++;
		else
			good++;
		if (surely && !run && good >= MEAN_PAIRS_LEAST && reduce_slope_is_sure(b->tsc[0], good, MEAN_SURE))
			break;
		if (timed && good >= LEAST_PAIRS && b->a->ops->rdtsc(b->a->self, b->core, &now) == ST_OK && now - start > cap)
			break;
		if (l->smt_probed && good == wanted && (good = sieve(l, good)) >= wanted / 2)
			break;
	}
	if (l->smt_probed && (good = sieve(l, good)) < PROBED_LEAST) {
		l->rejected += good;
		good = 0;
	}
	if (run == 0 || good < l->pairs)
		l->pairs = good;
	return ST_OK;
}

/* `warm`: passes over the working sets come first. */
static enum status measure(struct loop *l, bool warm)
{
	struct bench *b = l->b;
	unsigned runs = l->counting.on ? l->counting.plan.runs : 1;
	enum status st = ST_OK, stopped;

	/* The test last, and once more after a baseline: with random replacement each set evicts lines of the other, and a window has too few loads to
	 * bring them back. */
	for (unsigned s = !warm ? 0 : l->set_count > 1 ? 2 * l->set_count : 1; s-- > 0 && st == ST_OK;)
		st = window_warm_up(b, l->row, &l->sets[s % l->set_count], s % l->set_count == 0 ? WINDOW_TEST : WINDOW_BASELINE, &l->job);
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

/* --- a row ------------------------------------------------------------------------------------- */

void row_failed(struct row_result *out, enum status st, const struct job *job, const char *where)
{
	struct text reason;
	text_init(&reason, out->reason, sizeof(out->reason));
	out->status = row_status_of(st);
	if (st == ST_FULL)
		text_fmt(&reason, "%s: no memory for it", where);
	else if (job && st == ST_TIMEOUT && job->status == ST_TIMEOUT && job->ip && job->ip != job->entry)
		text_fmt(&reason, "the kernel did not end in time on core %u, at 0x%llx", job->core, (unsigned long long)job->ip);
	else if (job && st == ST_TIMEOUT)
		text_fmt(&reason, "core %u did not answer in time", job->core);
	else if (job && st == ST_FAULT && job->status != ST_FAULT)
		text_fmt(&reason, "a register could not be read or written");
	else
		text_fmt(&reason, "%s: %s", where, status_name(st));
	if (job && st == ST_FAULT && job->status == ST_FAULT)
		text_fmt(&reason, ", vector %u at 0x%llx", job->vector, (unsigned long long)job->ip);
}

bool row_begin(struct bench *b, const struct row *r, struct row_result *out)
{
	const struct kernel *k = kernel_choose(r, b->cpu, b->kernels);

	memset(out, 0, sizeof(*out));
	/* A row draws from its own sequence, whatever ran before it. */
	random_init(&b->random, fnv1a64(b->seed, r->name, str_length(r->name)));
	struct text remark;
	text_init(&remark, out->remark, sizeof(out->remark));
	if (b->cpu->hypervisor && b->a->kind == ACCESS_HW)
		text_fmt(&remark, "virtual: measured in a virtual machine");
	if (b->firmware_on) {
		text_fmt(&remark, remark.length ? "; " : "");
		text_fmt(&remark, "firmware had left %u counters on; %u of them came on again and are not used", b->firmware_on,
		         b->firmware_returned);
	}
	out->row = r;
	out->name = r->name;
	out->kind = r->kind;
	out->unit = r->unit;
	out->revision = r->revision;
	out->cycles_milli = out->ns_milli = -1;
	out->latency_sources = b->cpu->processor->latency_sources;
	out->kernel = k ? k->name : "";
	if (k)
		return true;
	out->status = ROW_UNSUPPORTED;
	out->absent = true;
	str_copy(out->reason, sizeof(out->reason), "no kernel for this processor's instruction set");
	return false;
}

static enum status shapes(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;
	const struct row *r = l->row;
	enum status st = shape_of_test(r, b->cpu, &l->sets[0].shape, out->reason, sizeof(out->reason));

	if (st == ST_OK && l->set_count > 1)
		st = shape_of_baseline(r, b->cpu, &l->sets[0].shape, &l->sets[1].shape, out->reason, sizeof(out->reason));
	if (st != ST_OK) {
		out->status = st == ST_MISSING ? ROW_UNSUPPORTED : row_status_of(st);
		out->absent = st == ST_UNSUPPORTED;
		return st;
	}
	if (r->node != NODE_OWN && cores_node(b, r->node) == cores_node(b, NODE_OWN))
		str_copy(out->reason, sizeof(out->reason), r->node == NODE_DISTANT ? "one memory node a socket" : b->a->nodes > 1 ? "no memory node of another socket" : "one memory node");
	else if (!cores_wanted(r) || cores_there(b, r, out->reason, sizeof(out->reason)) == ST_OK)
		return ST_OK;
	out->status = ROW_UNSUPPORTED;
	out->absent = true;
	return ST_UNSUPPORTED;
}

/* Whether the longer window of an L3 stream nearly fills the L2 and evicts the wrapper's lines from it. */
static bool fills_l2(const struct loop *l, const struct working_set *w)
{
	const struct cpu_cache *l2 = cpu_cache(l->b->cpu, 2);

	return l->row->target == TARGET_L3 && l2 && (uint64_t)(w->shorter + w->window) * w->kernel->data_bytes > l2->bytes / 4 * 3;
}

/* Whether the shorter window of a stream from beyond the L1 evicts the wrapper's lines from it, as the longer one does, and from the L2 if that one
 * does. No window evicts them from a last level. */
static bool pushes_wrapper(const struct loop *l, const struct working_set *w)
{
	const struct cpu_cache *from = cpu_cache(l->b->cpu, fills_l2(l, w) ? 2 : 1);

	return l->row->order != ORDER_STREAMS || l->row->kind != KIND_THROUGHPUT || l->row->target == TARGET_L1 || !from ||
		(uint64_t)w->shorter * w->kernel->data_bytes >= 2 * from->bytes;
}

/* Whether a ring fills some sets of its cache: a wrapper's line then evicts one of the ring's, which evicts the next. After one lap all are back. */
static bool fills_sets(const struct loop *l, const struct working_set *w)
{
	const struct cpu_cache *l2 = cpu_cache(l->b->cpu, 2);

	return l->row->target == TARGET_L2 && w->shape.order == ORDER_LINES && l2 && w->shape.bytes > l2->bytes - cpu_cache_way_bytes(l2);
}

static enum status set_up(struct loop *l, unsigned s, struct row_result *out)
{
	const struct row_pair *pair = l->row->pair;
	struct working_set *w = &l->sets[s];

	w->kernel = kernel_find(s && pair && pair->base ? pair->base : out->kernel);
	const bool mean = l->row->statistic == STAT_MEAN; /* nearly all of such a window is counted */

	w->window = l->row->window / (short_streams(l) && !mean ? STREAMS_PART : 1);
	if (l->smt_probed && l->row->kind == KIND_LATENCY && !pair)
		w->window *= PROBED_FACTOR;
	if (fills_sets(l, w) && w->window < w->shape.nodes)
		w->window = w->shape.nodes;
	w->shorter = mean ? MEAN_SHORTER : w->window;
	while (w->kernel && short_streams(l) && w->window > STREAM_LEAST && fills_l2(l, w))
		w->shorter = w->window /= 2;
	while (w->kernel && !pushes_wrapper(l, w))
		w->shorter *= 2;
	/* n and 2n. For L3 streams only the shorter one grows where it must evict the L2's lines: both would cost too much */
	if (mean)
		w->shorter += MEAN_ASTRAY;
	else if (l->row->target != TARGET_L3)
		w->window = w->shorter;
	w->pair = pair;
	if (pair) {
		w->fill = s ? pair->base_fill : pair->fill;
		w->code = s ? pair->base_code : pair->code;
		if (s && pair->beyond_l1) /* two such buffers would take each other's room in the L2 */
			w->map = l->sets[0].map;
	}
	return w->kernel ? window_set_up(l->b, w, s, out) : ST_MISSING;
}

bool loop_begin(struct loop *l, struct bench *b, const struct row *r, enum loop_sets sets, struct row_result *out)
{
	enum status st = ST_OK;

	memset(l, 0, sizeof(*l));
	l->b = b;
	l->row = r;
	l->set_count = sets == LOOP_TEST_ALONE || r->baseline == BASELINE_NONE ? 1 : 2;
	/* with few rounds, as a user may ask for, too few would agree */
	l->smt_probed = !b->cycles && b->a->kind == ACCESS_NATIVE && r->statistic == STAT_MINIMUM && r->kind != KIND_THROUGHPUT &&
	               (!b->repetitions || b->repetitions >= PROBED_ASKED);
	l->clock_adds = CLOCK_ADDS * (l->smt_probed ? PROBED_FACTOR : 1);
	b->disturbance.last_ratio_micro = 0;
	if (shapes(l, out) != ST_OK)
		return false;
	out->footprint_bytes = l->sets[0].shape.bytes;
	for (unsigned s = 0; s < l->set_count && st == ST_OK; s++)
		st = set_up(l, s, out);
	out->page_bytes = l->sets[0].map.page_bytes;
	if (st == ST_OK) {
		if ((st = vector_width_choose(l, out)) == ST_OK)
			return true;
		row_failed(out, st, &l->job, "trying the kernels");
		loop_end(l, out);
		return false;
	}
	if ((st == ST_UNSUPPORTED || st == ST_MISSING) && out->reason[0]) {
		out->status = ROW_UNSUPPORTED;
		out->absent = st == ST_UNSUPPORTED;
	} else {
		row_failed(out, st, NULL, st == ST_MISSING ? "the baseline's kernel" : "mapping the working set");
	}
	loop_end(l, out);
	return false;
}

void loop_end(struct loop *l, struct row_result *out)
{
	struct bench *b = l->b;

	for (unsigned s = 0; s < l->set_count; s++)
		if (l->sets[s].code_mapped && b->a->ops->unmap(b->a->self, &l->sets[s].code_map) != ST_OK && out->status == ROW_OK)
			row_failed(out, ST_BROKEN, NULL, "unmapping the code");
	for (unsigned s = 0; s < l->set_count; s++)
		if (l->sets[s].mapped && b->a->ops->unmap(b->a->self, &l->sets[s].map) != ST_OK && out->status == ROW_OK)
			row_failed(out, ST_BROKEN, NULL, "unmapping the working set");
}

/* Whether windows of a simulated stream in a cache scatter more than its value may. With random replacement a line of the wrapper or the stream is
 * lost now and then, in longer windows hardly more often; and a window may keep one of several steady states to its end. Doubling only the longer
 * window reduces the shorter one's effect on the slope. */
static bool unsure_stream(const struct loop *l)
{
	return short_streams(l) && !l->b->repetitions && l->pairs > 1 && !reduce_slope_is_sure(l->b->tsc[0], l->pairs, MEAN_SURE);
}

/* Measures and reduces. Passes of a stream take no longer if few lines are missing from a level with random replacement. Only the counters show it;
 * then more passes follow, the windows' own included. */
static const char *measure_until_there(struct loop *l, struct row_result *out, enum status *st)
{
	const bool warm = l->row->order == ORDER_STREAMS && l->row->prepare == PREPARE_WARM;

	for (unsigned extra = 0, longer = 0, measured = 0;; measured++) {
		if ((*st = measure(l, measured <= extra)) != ST_OK)
			return "running the kernel";
		if ((*st = evidence_reduce(l, out)) != ST_OK)
			return "reducing the samples";
		if (warm && !l->unsure && unsure_stream(l)) {
			l->unsure = longer++ == STREAM_LONGER;
			l->sets[0].window *= l->unsure ? 1 : 2;
			while (!pushes_wrapper(l, &l->sets[0])) /* the longer window now evicts the wrapper's lines, so the shorter one must too */
				l->sets[0].shorter *= 2;
		} else if (!warm || out->status != ROW_UNPROVEN || !l->counting.proof_count || ++extra >= STREAM_ATTEMPTS) {
			return NULL;
		}
	}
}

void measure_row(struct bench *b, const struct row *r, const struct loop_hooks *hooks, void *beside, struct row_result *out)
{
	const char *failed;
	struct loop l;
	enum status st;
	bool quiet = true, switched = r->prefetch == PREFETCH_OFF && prefetchers_known(b);
	uint64_t found = 0;

	if (!loop_begin(&l, b, r, LOOP_WITH_BASELINE, out))
		return;
	l.hooks = hooks;
	l.beside = beside;
	evidence_plan(b, r, RUNS_ANY, &l.counting);
	out->reason[0] = 0;
	if (switched)
		quiet = switched = prefetchers_off(b, &found);
	if (hooks->begin)
		hooks->begin(&l, out);
	failed = measure_until_there(&l, out, &st);
	if (failed)
		row_failed(out, st, &l.job, failed);
	else if (hooks->value)
		hooks->value(&l, 0, out);
	if (hooks->end)
		hooks->end(&l, out);
	if (switched && !prefetchers_back(b, found))
		quiet = false;
	/* In sequential order prefetches fetch lines too, and last-level misses include theirs. */
	const bool unknown = r->prefetch == PREFETCH_OFF && !b->cpu->processor->prefetch_msr && !evidence_counts(&l.counting, "prefetch.hardware");
	const bool foreseen = (r->order == ORDER_STREAMS || (r->pair && r->pair->beyond_l1)) && unknown && l.counting.proof_count;
	if ((!quiet || foreseen) && out->status == ROW_OK) {
		out->status = ROW_UNPROVEN;
		str_copy(out->reason, sizeof(out->reason), foreseen ? "how the prefetchers are switched off is not known" : "the prefetchers could not be switched off");
	}
	if (!failed && (st = window_leave(b, r, &l.sets[0], &l.job)) != ST_OK)
		row_failed(out, st, &l.job, "flushing what was stored");
	loop_end(&l, out);
}
