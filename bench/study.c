/* bench/study.c: see study.h. */
#include "bench/study.h"

#include "bench/loop.h"
#include "bench/operand.h"
#include "pmu/lbr.h"
#include "pmu/offcore.h"
#include "pmu/pebs.h"

#define CHOICES_BYTES 4096u
#define CHOICES_MOST  3u
#define STEADY_TURNS  4000u     /* of k_study under PEBS */
#define LOAD_BYTES    (1u << 20) /* of the buffer whose loads are added up: twice Nehalem's L2 and more */
#define SNAPSHOTS     64u
#define WORDS         4096u     /* visited by the loads whose addresses are put together */
#define RANGES_MAX    1024u
#define REGISTER_RCX  1u

struct range { uint32_t from, to; }; /* offsets in the kernel: first and last address that ran */

struct study {
	struct bench *b;
	struct study_result *out;
	const struct kernel *kernel;
	struct mapping map;
	struct job job;
	struct range *ranges;
	unsigned range_count;
};

const char *study_part_name(enum study_part p)
{
	static const char *const names[STUDY_PARTS] = { "trip counts", "call arguments", "load addresses", "basic blocks",
		"call counts", "precise cycles", "loads by source", "memory traffic" };

	return (unsigned)p < STUDY_PARTS ? names[p] : "?";
}

static void failed(struct study *s, enum study_part part, enum status st, const char *why)
{
	s->out->parts[part].status = st;
	str_copy(s->out->parts[part].reason, sizeof(s->out->parts[part].reason), why ? why : status_name(st));
}

static enum status run(struct study *s, const char *name, uint64_t a0, uint64_t a1, uint64_t a2)
{
	const struct kernel *k = kernel_find(name);
	uint64_t arguments[6] = { a0, a1, a2 };
	struct window ignored;

	return k ? window_run(s->b, k, arguments, NULL, 0, &ignored, &s->job) : ST_BROKEN;
}

static void add_value(struct study_values *v, uint64_t value)
{
	v->bins[value < STUDY_BINS ? value : STUDY_BINS - 1]++;
	if (v->count == 0 || value < v->least)
		v->least = value;
	if (v->count == 0 || value > v->most)
		v->most = value;
	v->mean_milli += (int64_t)value; /* a sum until finish_values */
	v->count++;
}

static void finish_values(struct study_values *v)
{
	if (v->count)
		v->mean_milli = mul_div(v->mean_milli, 1000, v->count);
}

/* --- code ---------------------------------------------------------------------------------------- */

static const uint8_t *code(const struct study *s) { return kernel_code + s->kernel->offset; }

static bool inside(const struct study *s, uint64_t ip)
{
	return ip - (WINDOW_CODE + s->kernel->offset) < s->kernel->bytes;
}

static uint32_t offset_of(const struct study *s, uint64_t ip)
{
	return (uint32_t)(ip - (WINDOW_CODE + s->kernel->offset));
}

/* Length of a branch by its opcode (SDM vol. 2): what lies behind it is a basic block's start. 0: none. */
static unsigned branch_bytes(const uint8_t *at)
{
	if ((at[0] & 0xF0) == 0x70 || at[0] == 0xEB)
		return 2;
	if (at[0] == 0xE8 || at[0] == 0xE9)
		return 5;
	if (at[0] == 0xC3)
		return 1;
	return at[0] == 0x0F && (at[1] & 0xF0) == 0x80 ? 6 : 0;
}

static bool is_conditional(const uint8_t *at)
{
	return (at[0] & 0xF0) == 0x70 || (at[0] == 0x0F && (at[1] & 0xF0) == 0x80);
}

/* A counted loop: CMP of two registers (REX.W 39 /r) and a short JB back. */
struct counted { uint32_t branch, behind, target; unsigned induction, limit; };

static bool counted_loop(const uint8_t *at, uint32_t offset, struct counted *out)
{
	if ((at[0] & 0xF8) != 0x48 || at[1] != 0x39 || at[2] < 0xC0 || at[3] != 0x72 || at[4] < 0x80)
		return false;
	out->induction = (at[2] & 7u) | (at[0] & 1u) << 3;
	out->limit = (at[2] >> 3 & 7u) | (at[0] >> 2 & 1u) << 3;
	out->branch = offset + 3;
	out->behind = offset + 5;
	out->target = out->behind - (0x100u - at[4]);
	return true;
}

/* --- PEBS: trip counts, arguments, cycles ------------------------------------------------------- */

/* Samples one event of s->kernel, called with `start` and the numbers behind it. The records are read by the
 * caller. */
static bool sample(struct study *s, enum study_part part, struct pebs *p, struct pebs_request *q, const char *event,
                   uint64_t start, uint64_t turns, uint64_t step)
{
	const char *why = NULL;
	enum status st, stopped;

	q->event = event_find(s->b->cpu->processor, event);
	if (!q->event) {
		failed(s, part, ST_UNSUPPORTED, "this processor has no such precise event");
		return false;
	}
	st = pebs_open(p, s->b->a, s->b->cpu, s->b->core, &why);
	if (st == ST_OK)
		st = pebs_start(p, q, 1, &why);
	if (st != ST_OK) {
		failed(s, part, st, why);
		return false;
	}
	st = run(s, s->kernel->name, start, turns, step);
	stopped = pebs_stop(p);
	if (st == ST_OK)
		st = stopped;
	if (st != ST_OK)
		failed(s, part, st, NULL);
	return st == ST_OK;
}

/* Of the two registers that a loop compares, the one with the larger mean is the trip count (guide). Its values
 * are those of the records: a loop shows as often as its branch was sampled, a long one more often than a
 * short one. */
static void study_one_loop(struct study *s, const struct pebs *p, const struct counted *c)
{
	struct study_loop *loop = &s->out->loops[s->out->loop_count];
	uint64_t base = WINDOW_CODE + s->kernel->offset, sums[2] = { 0, 0 };
	struct pebs_record r;

	loop->branch = c->branch;
	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < p->records && pebs_read(p, i, &r) == ST_OK; i++) {
			if (r.ip != base + c->target && r.ip != base + c->behind)
				continue;
			if (pass == 0) {
				sums[0] += r.gpr[c->induction];
				sums[1] += r.gpr[c->limit];
			} else {
				add_value(&loop->trips, r.gpr[sums[1] >= sums[0] ? c->limit : c->induction]);
			}
		}
	finish_values(&loop->trips);
	s->out->loop_count++;
}

static void study_trips(struct study *s)
{
	struct pebs p;
	struct pebs_request q = { .period = 71 };
	struct counted c;

	if (!sample(s, STUDY_TRIPS, &p, &q, "BR_INST_RETIRED.CONDITIONAL", s->map.va, STEADY_TURNS, 0))
		return;
	for (uint32_t i = 0; i + 5 <= s->kernel->bytes && s->out->loop_count < STUDY_LOOPS; i++)
		if (counted_loop(code(s) + i, i, &c))
			study_one_loop(s, &p, &c);
}

static void study_arguments(struct study *s)
{
	struct pebs p;
	struct pebs_request q = { .period = 13 };
	struct pebs_record r;

	if (!sample(s, STUDY_ARGUMENTS, &p, &q, "BR_INST_RETIRED.NEAR_CALL", s->map.va, STEADY_TURNS, 0))
		return;
	for (unsigned i = 0; i < p.records && pebs_read(&p, i, &r) == ST_OK; i++)
		if (inside(s, r.ip) && offset_of(s, r.ip)) /* the wrapper's call enters at 0 */
			add_value(&s->out->argument, r.gpr[REGISTER_RCX]);
	finish_values(&s->out->argument);
}

/* The linear addresses of plain loads, from the registers; each must be where what the load brought lies. So
 * the words that k_touch visits hold numbers that are nowhere else. */
static void study_addresses(struct study *s)
{
	const struct kernel *known = s->kernel;
	struct pebs p;
	struct pebs_request q = { .period = 31 };
	struct pebs_record r;
	struct operand o;
	uint64_t *word = (uint64_t *)(void *)((uint8_t *)s->map.host + CHOICES_BYTES);

	s->kernel = kernel_find("k_touch");
	for (unsigned i = 0; i < WORDS; i++)
		word[i] = (uint64_t)i << 32 | random_below(&s->b->random, UINT32_MAX);
	if (s->kernel && sample(s, STUDY_ADDRESSES, &p, &q, "MEM_INST_RETIRED.LOADS", s->map.va + CHOICES_BYTES, WORDS, sizeof(*word))) {
		for (unsigned i = 0; i < p.records && pebs_read(&p, i, &r) == ST_OK; i++) {
			uint64_t there = 0;

			if (!inside(s, r.ip) || operand_before(code(s), s->kernel->bytes, offset_of(s, r.ip), r.gpr, &o) != ST_OK)
				continue; /* the wrapper's */
			s->out->addresses++;
			if (o.destination > 15 || o.address - s->map.va > s->map.bytes - o.bytes)
				continue;
			memcpy(&there, (const uint8_t *)s->map.host + (o.address - s->map.va), o.bytes);
			s->out->addresses_right += there == r.gpr[o.destination];
		}
		if (!s->out->addresses || s->out->addresses_right != s->out->addresses)
			failed(s, STUDY_ADDRESSES, ST_BROKEN, "addresses from registers are not those of the loads");
	}
	memset(word, 0, WORDS * sizeof(*word)); /* numbers again for the triad */
	s->kernel = known;
}

static void study_cycles(struct study *s)
{
	struct pebs p;
	struct pebs_request q = { .period = 499, .companion = true };
	struct pebs_record r;

	if (!sample(s, STUDY_CYCLES, &p, &q, "INST_RETIRED.TOTAL_CYCLES", s->map.va, STEADY_TURNS, 0))
		return;
	s->out->cycle_records = p.records;
	for (unsigned i = 0; i < p.records && pebs_read(&p, i, &r) == ST_OK; i++)
		s->out->cycle_records_inside += inside(s, r.ip);
	if (q.has_companion && q.events)
		s->out->cycles_milli = mul_div((int64_t)(p.records * (q.period + 1) + q.since), 1000, (int64_t)q.events);
	if (p.full)
		failed(s, STUDY_CYCLES, ST_FULL, "the buffer filled");
	else if (!p.records)
		failed(s, STUDY_CYCLES, ST_UNSUPPORTED, "the event left no record");
}

/* --- LBR: blocks, branches, calls ---------------------------------------------------------------- */

/* One run of k_study that freezes the stack at its end. */
static enum status snapshot(struct study *s, uint32_t filter, struct lbr_pair *pairs, unsigned *n, const char **why)
{
	struct lbr l;
	uint32_t turns = 8 + random_below(&s->b->random, 8), start = random_below(&s->b->random, CHOICES_BYTES / 2);
	enum status stopped, st = lbr_open(&l, s->b->a, s->b->cpu, s->b->core, why);

	if (st == ST_OK)
		st = lbr_start(&l, filter);
	if (st != ST_OK)
		return st;
	st = run(s, "k_study", s->map.va + start, turns, lbr_frozen(&l) | 1ull << 63);
	stopped = lbr_stop(&l, pairs, n);
	return st == ST_OK ? stopped : st;
}

/* The outer loop's branch: the conditional one that jumps back furthest. 0 if none was seen. */
static uint64_t back_edge(const struct study *s, const struct lbr_pair *pairs, unsigned n)
{
	uint64_t best = 0, span = 0;

	for (unsigned i = 0; i < n; i++)
		if (inside(s, pairs[i].from) && pairs[i].from > pairs[i].to && pairs[i].from - pairs[i].to > span &&
		    is_conditional(code(s) + offset_of(s, pairs[i].from))) {
			best = pairs[i].from;
			span = pairs[i].from - pairs[i].to;
		}
	return best;
}

/* Keeps the stretches that ran in whole turns of the outer loop. The freeze always comes at the same place of
 * the program: a trajectory cut anywhere else would favour what lies before that. */
static void keep_turns(struct study *s, const struct lbr_pair *pairs, unsigned n)
{
	uint64_t edge = back_edge(s, pairs, n);
	unsigned newest = n;

	for (unsigned i = 0; i < n && edge; i++) {
		if (pairs[i].from != edge)
			continue;
		for (unsigned k = newest; k < i && s->range_count < RANGES_MAX; k++)
			if (inside(s, pairs[k + 1].to) && inside(s, pairs[k].from))
				s->ranges[s->range_count++] = (struct range){ offset_of(s, pairs[k + 1].to), offset_of(s, pairs[k].from) };
		if (newest < n)
			s->out->turns++;
		newest = i;
	}
}

static void add_block(struct study_result *out, uint32_t start)
{
	unsigned at = out->block_count;

	for (unsigned i = 0; i < out->block_count; i++)
		if (out->blocks[i].start == start)
			return;
	if (at == STUDY_BLOCKS)
		return;
	for (; at > 0 && out->blocks[at - 1].start > start; at--)
		out->blocks[at] = out->blocks[at - 1];
	out->blocks[at] = (struct study_block){ .start = start };
	out->block_count++;
}

static void add_branch(struct study_result *out, uint32_t at)
{
	for (unsigned i = 0; i < out->branch_count; i++)
		if (out->branches[i].at == at)
			return;
	if (out->branch_count < STUDY_BLOCKS)
		out->branches[out->branch_count++] = (struct study_branch){ .at = at };
}

/* All blocks of a stretch ran once; its last branch was taken, those before it were not. */
static void count_blocks(struct study *s)
{
	struct study_result *out = s->out;

	for (unsigned i = 0; i < s->range_count; i++) {
		const uint8_t *last = code(s) + s->ranges[i].to;

		add_block(out, s->ranges[i].from);
		if (is_conditional(last)) {
			add_block(out, s->ranges[i].to + branch_bytes(last));
			add_branch(out, s->ranges[i].to);
		}
	}
	for (unsigned i = 0; i < s->range_count; i++) {
		const struct range *r = &s->ranges[i];

		for (unsigned k = 0; k < out->block_count; k++)
			out->blocks[k].executions += out->blocks[k].start >= r->from && out->blocks[k].start <= r->to;
		for (unsigned k = 0; k < out->branch_count; k++) {
			out->branches[k].taken += out->branches[k].at == r->to;
			out->branches[k].passed += out->branches[k].at >= r->from && out->branches[k].at < r->to;
		}
	}
	for (unsigned k = 0; k < out->block_count && out->turns; k++)
		out->blocks[k].per_turn_milli = mul_div(out->blocks[k].executions, 1000, out->turns);
}

static void study_blocks(struct study *s)
{
	struct lbr_pair pairs[LBR_PAIRS_MAX];
	const char *why = NULL;
	unsigned n;

	s->ranges = s->b->host->get(s->b->host->self, RANGES_MAX * sizeof(*s->ranges));
	if (!s->ranges) {
		failed(s, STUDY_BLOCKS_PART, ST_FULL, "no memory");
		return;
	}
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		enum status st = snapshot(s, 0, pairs, &n, &why);

		if (st != ST_OK) {
			failed(s, STUDY_BLOCKS_PART, st, why);
			break;
		}
		keep_turns(s, pairs, n);
	}
	count_blocks(s);
	if (s->out->parts[STUDY_BLOCKS_PART].status == ST_OK && !s->out->turns)
		failed(s, STUDY_BLOCKS_PART, ST_MISSING, "no trajectory holds a whole turn of the loop");
	s->b->host->put(s->b->host->self, s->ranges, RANGES_MAX * sizeof(*s->ranges));
}

static void study_calls(struct study *s)
{
	struct lbr_pair pairs[LBR_PAIRS_MAX];
	uint64_t sites[LBR_PAIRS_MAX];
	const char *why = NULL;
	unsigned n, known;
	enum status st = snapshot(s, LBR_FILTER_ALL & ~(uint32_t)(LBR_CPL_EQ_0 | LBR_NEAR_REL_CALL), pairs, &n, &why);

	if (st != ST_OK) {
		failed(s, STUDY_CALLS, st, why ? why : st == ST_UNSUPPORTED ? "no filter of last-branch records" : NULL);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!inside(s, pairs[i].from))
			continue;
		s->out->calls++;
		for (known = 0; known < s->out->call_sites && sites[known] != pairs[i].from; known++)
			;
		if (known == s->out->call_sites)
			sites[s->out->call_sites++] = pairs[i].from;
	}
}

/* --- loads by source ----------------------------------------------------------------------------- */

/* Lines of memory, of the L3, the L2 and the L1, several loads a line, with and without time between them. */
static enum status loads_window(struct study *s, const struct counting *c, struct window *sum)
{
	static const struct { uint32_t bytes, step; } passes[] = {
		{ LOAD_BYTES, 64 }, { LOAD_BYTES, 64 }, { LOAD_BYTES / 8, 64 }, { LOAD_BYTES / 8, 64 }, { LOAD_BYTES / 64, 16 }, { LOAD_BYTES / 64, 16 } };
	const struct kernel *touch = kernel_find("k_touch");
	enum status st = run(s, "k_flush", s->map.va, LOAD_BYTES / 64, 64);

	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < COUNT_OF(passes) && st == ST_OK; i++) {
		uint64_t arguments[6] = { s->map.va, passes[i].bytes / passes[i].step, passes[i].step };
		struct window w;

		st = touch ? window_run(s->b, touch, arguments, c, 0, &w, &s->job) : ST_BROKEN;
		for (unsigned e = 0; e < c->events && st == ST_OK; e++)
			sum->counts[e] += w.counts[e];
	}
	return st;
}

static void study_loads(struct study *s)
{
	static const char *const groups[2][4] = {
		{ "MEM_INST_RETIRED.LOADS", "MEM_LOAD_RETIRED.L1D_HIT", "MEM_LOAD_RETIRED.HIT_LFB", "MEM_LOAD_RETIRED.L2_HIT" },
		{ "MEM_INST_RETIRED.LOADS", "MEM_LOAD_RETIRED.LLC_UNSHARED_HIT", "MEM_LOAD_RETIRED.OTHER_CORE_L2_HIT_HITM", "MEM_LOAD_RETIRED.LLC_MISS" },
	};
	struct bench *b = s->b;

	for (unsigned g = 0; g < COUNT_OF(groups); g++) {
		const struct event *events[4];
		struct counting c = { .events = 4, .on = true };
		struct window sum;
		const char *problem = NULL;
		enum status st = ST_OK, stopped;

		for (unsigned e = 0; e < 4; e++)
			if (!(events[e] = event_find(b->cpu->processor, groups[g][e]))) {
				failed(s, STUDY_LOADS, ST_UNSUPPORTED, "this processor has no such events");
				return;
			}
		st = plan_events(b->cpu, events, 4, &c.plan, &problem);
		if (st == ST_OK && c.plan.runs != 1)
			st = ST_UNSUPPORTED;
		if (st == ST_OK)
			st = counters_start(b->a, b->cpu, &c.plan, 0, b->core);
		if (st == ST_OK) {
			st = loads_window(s, &c, &sum);
			stopped = counters_stop(b->a, b->cpu, &c.plan, 0, b->core);
			st = st == ST_OK ? stopped : st;
		}
		if (st != ST_OK) {
			failed(s, STUDY_LOADS, st, problem ? problem : "no four counters for them");
			return;
		}
		s->out->loads = sum.counts[0];
		s->out->sources += sum.counts[1] + sum.counts[2] + sum.counts[3];
	}
	if (s->out->loads != s->out->sources)
		failed(s, STUDY_LOADS, ST_BROKEN, "the sources do not add up to the loads");
}

/* --- lines by memory ----------------------------------------------------------------------------- */

/* A triad whose lines come from memory, with non-temporal stores, counted by one event. */
static enum status traffic_of(struct study *s, const struct event *e, uint64_t *lines)
{
	struct counting c = { .events = 1, .on = true };
	struct bench *b = s->b;
	uint64_t array = LOAD_BYTES / 4, arguments[6] = { s->map.va, s->map.va + array, s->map.va + 2 * array,
		array / 256, array - 1, 0 };
	const struct kernel *triad = kernel_find("k_triad_nt_sse2");
	const char *problem;
	struct window w;
	enum status stopped, st = run(s, "k_flush", s->map.va, LOAD_BYTES / 64, 64);

	if (st == ST_OK)
		st = plan_events(b->cpu, &e, 1, &c.plan, &problem);
	if (st == ST_OK)
		st = counters_start(b->a, b->cpu, &c.plan, 0, b->core);
	if (st != ST_OK)
		return st;
	st = triad ? window_run(b, triad, arguments, &c, 0, &w, &s->job) : ST_BROKEN;
	stopped = counters_stop(b->a, b->cpu, &c.plan, 0, b->core);
	if (st == ST_OK)
		*lines = w.counts[0];
	s->out->nt_lines_stored = array / 64;
	return st == ST_OK ? stopped : st;
}

static void study_traffic(struct study *s)
{
	struct offcore_traffic t;
	struct study_result *out = s->out;
	enum status st = offcore_traffic(s->b->cpu->processor, &t);

	if (st != ST_OK) {
		failed(s, STUDY_TRAFFIC, st, "this processor has no such events");
		return;
	}
	st = traffic_of(s, t.read_local, &out->read_lines[0]);
	if (st == ST_OK)
		st = traffic_of(s, t.read_remote, &out->read_lines[1]);
	if (st == ST_OK)
		st = traffic_of(s, t.nt_local, &out->nt_lines[0]);
	if (st == ST_OK)
		st = traffic_of(s, t.nt_remote, &out->nt_lines[1]);
	if (st != ST_OK)
		failed(s, STUDY_TRAFFIC, st, NULL);
}

void study_run(struct bench *b, struct study_result *out)
{
	struct study s = { .b = b, .out = out, .kernel = kernel_find("k_study") };
	enum status st;

	memset(out, 0, sizeof(*out));
	s.map.va = WINDOW_DATA;
	s.map.page_bytes = PAGE_4K;
	s.map.bytes = LOAD_BYTES;
	out->ran = true;
	st = s.kernel ? b->a->ops->map(b->a->self, &s.map) : ST_BROKEN;
	if (st != ST_OK) {
		for (unsigned p = 0; p < STUDY_PARTS; p++)
			failed(&s, (enum study_part)p, st, NULL);
		return;
	}
	for (unsigned i = 0; i < CHOICES_BYTES; i++)
		((uint8_t *)s.map.host)[i] = (uint8_t)random_below(&b->random, CHOICES_MOST + 1);
	study_trips(&s);
	study_arguments(&s);
	study_addresses(&s);
	study_blocks(&s);
	study_calls(&s);
	study_cycles(&s);
	study_loads(&s);
	study_traffic(&s);
	st = b->a->ops->unmap(b->a->self, &s.map);
	if (st != ST_OK)
		failed(&s, STUDY_LOADS, st, "unmapping the buffer");
}
