/* bench/workloads/known_program_branches.c: last-branch records of a known program: blocks, branches, calls. See known_program.h. */
#include "bench/workloads/known_program_parts.h"
#include "pmu/core/lbr.h"

#define SNAPSHOTS  64u
#define RANGES_MAX (SNAPSHOTS * LBR_PAIRS_MAX) /* room for all: otherwise iterations would be counted whose ranges are not */
/* Records of a whole iteration of k_known_program: 3 branches of its inner loops, one of the if/else, call, return, and the outer loop's branch at
 * either end. */
#define TURN_RECORDS 8u

/* Length of a branch by its opcode (SDM vol. 2): a basic block starts after it. 0: no branch. */
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

/* One run of k_known_program that freezes the LBR stack at its end. */
static enum status snapshot(struct known_program *s, uint32_t filter, struct lbr_pair *pairs, unsigned *n, const char **why)
{
	struct lbr l;
	uint32_t iterations = 8 + random_below(&s->b->random, 8), start = random_below(&s->b->random, KNOWN_PROGRAM_CHOICES_BYTES / 2);
	enum status stopped, st = lbr_open(&l, s->b->a, s->b->cpu, s->b->core, why);

	if (st == ST_OK)
		st = lbr_start(&l, filter);
	if (st != ST_OK)
		return st;
	st = known_program_call(s, "k_known_program", s->map.va + start, iterations, lbr_frozen(&l));
	stopped = lbr_stop(&l, pairs, n);
	return st == ST_OK ? stopped : st;
}

/* The outer loop's branch: the conditional branch that jumps back furthest. 0: none seen. */
static uint64_t back_edge(const struct known_program *s, const struct lbr_pair *pairs, unsigned n)
{
	uint64_t best = 0, span = 0;

	for (unsigned i = 0; i < n; i++)
		if (known_program_inside(s, pairs[i].from) && pairs[i].from > pairs[i].to && pairs[i].from - pairs[i].to > span &&
		    is_conditional(known_program_code(s) + known_program_offset(s, pairs[i].from))) {
			best = pairs[i].from;
			span = pairs[i].from - pairs[i].to;
		}
	return best;
}

/* Keeps the ranges of complete iterations of the outer loop. The freeze always happens at the same point of the program: a trajectory cut anywhere
 * else would over-count the code before that point. */
static void keep_iterations(struct known_program *s, const struct lbr_pair *pairs, unsigned n)
{
	uint64_t edge = back_edge(s, pairs, n);
	unsigned newest = n;

	for (unsigned i = 0; i < n && edge; i++) {
		if (pairs[i].from != edge)
			continue;
		for (unsigned k = newest; k < i && s->range_count < RANGES_MAX; k++)
			if (known_program_inside(s, pairs[k + 1].to) && known_program_inside(s, pairs[k].from))
				s->ranges[s->range_count++] = (struct known_program_range){ known_program_offset(s, pairs[k + 1].to), known_program_offset(s, pairs[k].from) };
		if (newest < n)
			s->out->iterations++;
		newest = i;
	}
}

static void add_block(struct known_program_result *out, uint32_t start)
{
	unsigned at = out->block_count;

	for (unsigned i = 0; i < out->block_count; i++)
		if (out->blocks[i].start == start)
			return;
	if (at == KNOWN_PROGRAM_BLOCKS)
		return;
	for (; at > 0 && out->blocks[at - 1].start > start; at--)
		out->blocks[at] = out->blocks[at - 1];
	out->blocks[at] = (struct known_program_block){ .start = start };
	out->block_count++;
}

static void add_branch(struct known_program_result *out, uint32_t at)
{
	for (unsigned i = 0; i < out->branch_count; i++)
		if (out->branches[i].at == at)
			return;
	if (out->branch_count < KNOWN_PROGRAM_BLOCKS)
		out->branches[out->branch_count++] = (struct known_program_branch){ .at = at };
}

/* An iteration's ranges lie with the newest first: an invocation of a loop ends where its branch is passed, and every branch before that was taken. */
static void count_trips(const struct known_program *s, struct known_program_loop *loop)
{
	uint64_t trips = 0;

	for (unsigned i = s->range_count; i-- > 0;) {
		const struct known_program_range *r = &s->ranges[i];

		if (loop->branch < r->from || loop->branch > r->to)
			continue;
		trips++;
		if (loop->branch != r->to) {
			known_program_value(&loop->trips, trips);
			trips = 0;
		}
	}
	known_program_values_end(&loop->trips, KNOWN_PROGRAM_EQUAL);
}

/* All blocks of a range ran once. Its last branch was taken, earlier ones were not. */
static void count_blocks(struct known_program *s)
{
	struct known_program_result *out = s->out;

	for (unsigned i = 0; i < s->range_count; i++) {
		const uint8_t *last = known_program_code(s) + s->ranges[i].to;

		add_block(out, s->ranges[i].from);
		if (is_conditional(last)) {
			add_block(out, s->ranges[i].to + branch_bytes(last));
			add_branch(out, s->ranges[i].to);
		}
	}
	for (unsigned i = 0; i < s->range_count; i++) {
		const struct known_program_range *r = &s->ranges[i];

		for (unsigned k = 0; k < out->block_count; k++)
			out->blocks[k].executions += out->blocks[k].start >= r->from && out->blocks[k].start <= r->to;
		for (unsigned k = 0; k < out->branch_count; k++) {
			out->branches[k].taken += out->branches[k].at == r->to;
			out->branches[k].passed += out->branches[k].at >= r->from && out->branches[k].at < r->to;
		}
	}
	for (unsigned k = 0; k < out->loop_count; k++)
		count_trips(s, &out->loops[k]);
	for (unsigned k = 0; k < out->block_count && out->iterations; k++)
		out->blocks[k].per_iteration_milli = mul_div(out->blocks[k].executions, 1000, out->iterations);
}

void known_program_blocks(struct known_program *s)
{
	struct lbr_pair pairs[LBR_PAIRS_MAX];
	const char *why = NULL;
	struct lbr l;
	unsigned n;
	enum status opened = lbr_open(&l, s->b->a, s->b->cpu, s->b->core, &why);

	if (opened == ST_OK && l.pairs < TURN_RECORDS) {
		opened = ST_UNSUPPORTED;
		why = "the stack of records is shorter than an iteration of the loop";
	}
	if (opened != ST_OK) {
		known_program_failed(s, KNOWN_PROGRAM_BLOCKS_PART, opened, why);
		return;
	}
	s->ranges = s->b->host->get(s->b->host->self, RANGES_MAX * sizeof(*s->ranges));
	if (!s->ranges) {
		known_program_failed(s, KNOWN_PROGRAM_BLOCKS_PART, ST_FULL, "no memory");
		return;
	}
	for (unsigned i = 0; i < SNAPSHOTS; i++) {
		enum status st = snapshot(s, 0, pairs, &n, &why);

		if (st != ST_OK) {
			known_program_failed(s, KNOWN_PROGRAM_BLOCKS_PART, st, why);
			break;
		}
		keep_iterations(s, pairs, n);
	}
	count_blocks(s);
	if (s->out->parts[KNOWN_PROGRAM_BLOCKS_PART].status == ST_OK && !s->out->iterations)
		known_program_failed(s, KNOWN_PROGRAM_BLOCKS_PART, ST_MISSING, "no trajectory holds a whole iteration of the loop");
	s->b->host->put(s->b->host->self, s->ranges, RANGES_MAX * sizeof(*s->ranges));
}

void known_program_calls(struct known_program *s)
{
	struct lbr_pair pairs[LBR_PAIRS_MAX];
	uint64_t sites[LBR_PAIRS_MAX];
	const char *why = NULL;
	unsigned n, known;
	enum status st = snapshot(s, LBR_FILTER_ALL & ~(uint32_t)(LBR_CPL_EQ_0 | LBR_NEAR_REL_CALL), pairs, &n, &why);

	if (st != ST_OK) {
		known_program_failed(s, KNOWN_PROGRAM_CALLS, st, why ? why : st == ST_UNSUPPORTED ? "no filter of last-branch records" : NULL);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		if (!known_program_inside(s, pairs[i].from))
			continue;
		s->out->calls++;
		for (known = 0; known < s->out->call_sites && sites[known] != pairs[i].from; known++)
			;
		if (known == s->out->call_sites)
			sites[s->out->call_sites++] = pairs[i].from;
	}
}
