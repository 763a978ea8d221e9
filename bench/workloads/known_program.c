/* bench/workloads/known_program.c: see known_program.h. Its PEBS parts: trip counts, arguments, addresses, cycles. */
#include "bench/workloads/known_program.h"

#include "bench/sampling/pebs_address.h"
#include "bench/workloads/known_program_parts.h"
#include "pmu/core/concept.h"
#include "pmu/counters/pebs.h"

#define CHOICES_MOST  3u
#define STEADY_ITERATIONS  4000u     /* of k_known_program under PEBS */
#define WORDS         4096u     /* words read by the loads whose addresses are reconstructed */
#define REGISTER_RCX  1u
#define ONE           (1ull << 20) /* of the weights 1 / trip count */

const char *known_program_part_name(enum known_program_part p)
{
	static const char *const names[KNOWN_PROGRAM_PARTS] = { "trip counts", "call arguments", "load addresses", "basic blocks",
		"call counts", "precise cycles", "loads by source", "memory traffic", "two threads" };

	return (unsigned)p < KNOWN_PROGRAM_PARTS ? names[p] : "?";
}

void known_program_failed(struct known_program *s, enum known_program_part part, enum status st, const char *why)
{
	s->out->parts[part].status = st;
	str_copy(s->out->parts[part].reason, sizeof(s->out->parts[part].reason), why ? why : status_name(st));
}

enum status known_program_call(struct known_program *s, const char *name, uint64_t a0, uint64_t a1, uint64_t a2)
{
	const struct kernel *k = kernel_find(name);
	uint64_t arguments[6] = { a0, a1, a2 };
	struct window ignored;

	return k ? window_run(s->b, k, arguments, NULL, 0, &ignored, &s->job) : ST_BROKEN;
}

void known_program_value(struct known_program_values *v, uint64_t value)
{
	v->bins[value < KNOWN_PROGRAM_BINS ? value : KNOWN_PROGRAM_BINS - 1]++;
	if (v->count == 0 || value < v->least)
		v->least = value;
	if (v->count == 0 || value > v->most)
		v->most = value;
	v->sum += value;
	v->squares += value * value;
	v->parts_of_one += value ? ONE / value : 0;
	v->count++;
}

/* Newton's method from above. */
static uint64_t root(uint64_t x)
{
	uint64_t r = x, next = (x + 1) / 2;

	while (next < r) {
		r = next;
		next = (r + x / r) / 2;
	}
	return r;
}

/* Weights w = 1 / n turn the sums of 1, n and n^2 over the values into those of 1 / n, 1 and n. */
void known_program_values_end(struct known_program_values *v, enum known_program_weight weight)
{
	const bool per_value = weight == KNOWN_PROGRAM_INVERSE;

	if (!v->count || (per_value && !v->parts_of_one))
		return;
	if (per_value) {
		v->mean_milli = mul_div(v->count, 1000 * (int64_t)ONE, (int64_t)v->parts_of_one);
		v->rms_milli = (int64_t)root((uint64_t)mul_div((int64_t)v->sum, 1000000 * (int64_t)ONE, (int64_t)v->parts_of_one));
	} else {
		v->mean_milli = mul_div((int64_t)v->sum, 1000, v->count);
		v->rms_milli = (int64_t)root((uint64_t)mul_div((int64_t)v->squares, 1000000, v->count));
	}
}

/* --- code -------------------------------------------------------------------------------------- */

/* A counted loop: CMP of two registers (REX.W 39 /r), then a short JB back. */
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

/* --- trip counts, arguments, addresses, cycles ------------------------------------------------------- */

/* Samples a concept's event over s->kernel called with `start` and the numbers after it. The caller reads the records. */
static bool sample(struct known_program *s, enum known_program_part part, struct pebs *p, struct pebs_request *q, const char *concept,
                   uint64_t start, uint64_t iterations, uint64_t step)
{
	const char *why = NULL;
	enum status st, stopped;

	q->event = concept_event(s->b->cpu->processor, concept);
	if (!q->event || !q->event->pebs) {
		known_program_failed(s, part, ST_UNSUPPORTED, "this processor has no such precise event");
		return false;
	}
	st = pebs_open(p, s->b->a, s->b->cpu, s->b->core, &why);
	if (st == ST_OK)
		st = pebs_start(p, q, 1, &why);
	if (st != ST_OK) {
		known_program_failed(s, part, st, why);
		return false;
	}
	s->b->gate = &p->gate;
	st = known_program_call(s, s->kernel->name, start, iterations, step);
	s->b->gate = NULL;
	stopped = pebs_stop(p);
	if (st == ST_OK)
		st = stopped;
	if (st != ST_OK)
		known_program_failed(s, part, st, NULL);
	return st == ST_OK;
}

/* The trip count is the compared register with the larger mean (guide). A loop appears as often as its branch was sampled: each record counts as 1
 * / its trip count. What remains is the shadow of sampling, which hides branches of loops with few iterations. */
static void known_program_one_loop(struct known_program *s, const struct pebs *p, const struct counted *c)
{
	struct known_program_loop *loop = &s->out->loops[s->out->loop_count];
	uint64_t base = SPACE_CODE + s->kernel->offset, sums[2] = { 0, 0 };
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
				known_program_value(&loop->sampled, r.gpr[sums[1] >= sums[0] ? c->limit : c->induction]);
			}
		}
	known_program_values_end(&loop->sampled, KNOWN_PROGRAM_INVERSE);
	s->out->loop_count++;
}

static void known_program_trips(struct known_program *s)
{
	struct pebs p;
	struct pebs_request q = { .period = 71 };
	struct counted c;

	if (!sample(s, KNOWN_PROGRAM_TRIPS, &p, &q, "branch.retired.cond", s->map.va, STEADY_ITERATIONS, 0))
		return;
	for (uint32_t i = 0; i + 5 <= s->kernel->bytes && s->out->loop_count < KNOWN_PROGRAM_LOOPS; i++)
		if (counted_loop(known_program_code(s) + i, i, &c))
			known_program_one_loop(s, &p, &c);
}

/* Sampled registers alone give no mean: they must be compared with every invocation of whole iterations. */
static void known_program_trips_judge(struct known_program *s)
{
	for (unsigned i = 0; i < s->out->loop_count && s->out->parts[KNOWN_PROGRAM_TRIPS].status == ST_OK; i++)
		if (!s->out->loops[i].trips.count)
			known_program_failed(s, KNOWN_PROGRAM_TRIPS, ST_UNSUPPORTED, "no last-branch records to hold the samples against");
}

static void known_program_arguments(struct known_program *s)
{
	struct pebs p;
	struct pebs_request q = { .period = 13 };
	struct pebs_record r;

	if (!sample(s, KNOWN_PROGRAM_ARGUMENTS, &p, &q, "branch.retired.call", s->map.va, STEADY_ITERATIONS, 0))
		return;
	for (unsigned i = 0; i < p.records && pebs_read(&p, i, &r) == ST_OK; i++)
		if (known_program_inside(s, r.ip) && known_program_offset(s, r.ip)) /* offset 0 is the wrapper's call */
			known_program_value(&s->out->argument, r.gpr[REGISTER_RCX]);
	known_program_values_end(&s->out->argument, KNOWN_PROGRAM_EQUAL);
}

/* Reconstructs the linear addresses of plain loads from the registers. Each must hold the value loaded, so every word that k_touch visits holds a
 * unique number. */
static void known_program_addresses(struct known_program *s)
{
	const struct kernel *known = s->kernel;
	struct pebs p;
	struct pebs_request q = { .period = 31 };
	struct pebs_record r;
	struct operand o;
	uint64_t *word = (uint64_t *)(void *)((uint8_t *)s->map.host + KNOWN_PROGRAM_CHOICES_BYTES);

	s->kernel = kernel_find("k_touch");
	for (unsigned i = 0; i < WORDS; i++)
		word[i] = (uint64_t)i << 32 | random_below(&s->b->random, UINT32_MAX);
	if (s->kernel && sample(s, KNOWN_PROGRAM_ADDRESSES, &p, &q, "load.retired", s->map.va + KNOWN_PROGRAM_CHOICES_BYTES, WORDS, sizeof(*word))) {
		for (unsigned i = 0; i < p.records && pebs_read(&p, i, &r) == ST_OK; i++) {
			uint64_t there = 0;

			if (!known_program_inside(s, r.ip) || pebs_address_before(known_program_code(s), s->kernel->bytes, known_program_offset(s, r.ip), r.gpr, &o) != ST_OK)
				continue; /* a load of the wrapper */
			s->out->addresses++;
			if (o.destination > 15 || o.address - s->map.va > s->map.bytes - o.bytes)
				continue;
			memcpy(&there, (const uint8_t *)s->map.host + (o.address - s->map.va), o.bytes);
			s->out->addresses_right += there == r.gpr[o.destination];
		}
		if (!s->out->addresses || s->out->addresses_right != s->out->addresses)
			known_program_failed(s, KNOWN_PROGRAM_ADDRESSES, ST_BROKEN, "addresses from registers are not those of the loads");
	}
	memset(word, 0, WORDS * sizeof(*word)); /* valid numbers for the triad */
	s->kernel = known;
}

static void known_program_cycles(struct known_program *s)
{
	struct pebs p;
	struct pebs_request q = { .period = 499, .companion = true };
	struct pebs_record r;

	if (!sample(s, KNOWN_PROGRAM_CYCLES, &p, &q, "cycles.precise", s->map.va, STEADY_ITERATIONS, 0))
		return;
	s->out->cycle_records = p.records;
	for (unsigned i = 0; i < p.records && pebs_read(&p, i, &r) == ST_OK; i++)
		s->out->cycle_records_inside += known_program_inside(s, r.ip);
	if (q.has_companion && q.events)
		s->out->cycles_milli = mul_div((int64_t)(p.records * (q.period + 1) + q.since), 1000, (int64_t)q.events);
	if (p.full)
		known_program_failed(s, KNOWN_PROGRAM_CYCLES, ST_FULL, "the buffer filled");
	else if (!p.records)
		known_program_failed(s, KNOWN_PROGRAM_CYCLES, ST_UNSUPPORTED, "the event left no record");
}

/* --- all parts --------------------------------------------------------------------------------- */

void known_program_run(struct bench *b, struct known_program_result *out)
{
	struct known_program s = { .b = b, .out = out, .kernel = kernel_find("k_known_program") };
	enum status st;

	memset(out, 0, sizeof(*out));
	s.map.va = SPACE_DATA;
	s.map.page_bytes = PAGE_4K;
	s.map.bytes = KNOWN_PROGRAM_BUFFER_BYTES;
	out->ran = true;
	st = s.kernel ? b->a->ops->map(b->a->self, &s.map) : ST_BROKEN;
	if (st != ST_OK) {
		for (unsigned p = 0; p < KNOWN_PROGRAM_PARTS; p++)
			known_program_failed(&s, (enum known_program_part)p, st, NULL);
		return;
	}
	for (unsigned i = 0; i < KNOWN_PROGRAM_CHOICES_BYTES; i++)
		((uint8_t *)s.map.host)[i] = (uint8_t)random_below(&b->random, CHOICES_MOST + 1);
	known_program_trips(&s);
	known_program_arguments(&s);
	known_program_addresses(&s);
	known_program_blocks(&s);
	known_program_trips_judge(&s);
	known_program_calls(&s);
	known_program_cycles(&s);
	known_program_loads(&s);
	known_program_traffic(&s);
	known_program_threads(&s);
	st = b->a->ops->unmap(b->a->self, &s.map);
	if (st != ST_OK)
		known_program_failed(&s, KNOWN_PROGRAM_LOADS, st, "unmapping the buffer");
}
