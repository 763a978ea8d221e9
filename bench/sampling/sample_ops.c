/* bench/sampling/sample_ops.c: IBS samples of ops as the proof of a row whose operations no event of the processor counts.
 *
 * A job takes one sample (pmu/amd/ibs.h); a sample of an op without memory, or with other memory than the row's buffer, is discarded. The
 * registers of every other sample must show the operation that the row is about. The retired instructions give the number of operations. */
#include "bench/sampling/sample_parts.h"

#include "pmu/amd/ibs.h"

#define WANTED 48u          /* accesses of the row */
#define WANTED_REAL 400u    /* a simulated machine has no noise of its own and needs fewer */
#define TRIES_PER_ACCESS 6u /* jobs per wanted sample, at most */
#define LEAST 32u           /* fewer are inconclusive */
#define LINE 64u
#define METHOD "IBS"

static bool is_any(const struct ibs_op *op) { return op->load || op->store; }
static bool is_locked(const struct ibs_op *op) { return op->locked; }
static bool is_store(const struct ibs_op *op) { return op->store && op->bytes; }
/* Decided by its address: AMD's documents do not say for which accesses the processor sets its flag of misaligned ones. */
static bool crosses_line(const struct ibs_op *op) { return op->linear % LINE + op->bytes > LINE; }

/* The property of sampled accesses that replaces a concept's count: `asked` selects the accesses, `show` tests them. */
static const struct tag {
	const char *concept, *are;
	bool (*asked)(const struct ibs_op *);
	bool (*show)(const struct ibs_op *);
} tags[] = {
	{ "lock", "accesses are locked", is_any, is_locked },
	{ "split.store", "stores cross a line", is_store, crosses_line },
};

/* The tag of a row whose proof needs nothing else. */
static const struct tag *tag_of(const struct row *r)
{
	for (unsigned i = 0; r->pair && r->proofs && i < COUNT_OF(tags); i++)
		if (str_equal(r->proofs[0].proofs[0].concept, tags[i].concept) && !r->proofs[0].proofs[1].concept)
			return &tags[i];
	return NULL;
}

static enum status one_sample(struct loop *l, struct ibs *ibs, bool *taken, struct ibs_op *op)
{
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	const unsigned each = w->pair->events;
	const uint64_t units = ((uint64_t)ibs->ops / each + 1) * each; /* at least one op each */
	struct window ignored;
	enum status st = window_prepare(b, l->row, w, WINDOW_TEST, units, &l->job), stopped;

	if (st == ST_OK)
		st = ibs_start(ibs);
	if (st != ST_OK)
		return st;
	b->gate = &ibs->gate;
	st = window_units(b, w, units, NULL, 0, &ignored, &l->job);
	b->gate = NULL;
	stopped = ibs_stop(ibs, taken, op);
	return st != ST_OK ? st : stopped;
}

/* asked: accesses of the row's kind; *shown: those that show what the row is about. */
static enum status all_samples(struct loop *l, struct ibs *ibs, const struct tag *tag, unsigned *asked, unsigned *shown)
{
	const unsigned wanted = l->b->a->kind == ACCESS_SIM ? WANTED : WANTED_REAL;
	const struct mapping *buffer = &l->sets[0].map;

	*asked = *shown = 0;
	for (unsigned tries = 0; tries < wanted * TRIES_PER_ACCESS && *asked < wanted; tries++) {
		struct ibs_op op;
		bool taken;
		const enum status st = one_sample(l, ibs, &taken, &op);

		if (st != ST_OK)
			return st;
		if (!taken || !op.has_linear || op.linear - buffer->va >= buffer->bytes || !tag->asked(&op))
			continue;
		++*asked;
		*shown += tag->show(&op);
	}
	return ST_OK;
}

void sample_ops_row(struct loop *l, struct row_result *row)
{
	const struct tag *tag = tag_of(l->row);
	const char *why;
	struct ibs ibs;
	struct text text;
	unsigned asked, shown;

	if (!tag || !row->unprovable || row->status != ROW_UNPROVEN || !l->work_agrees || !l->sets[0].mapped ||
	    ibs_open(&ibs, l->b->a, l->b->cpu, l->b->core, &why) != ST_OK || all_samples(l, &ibs, tag, &asked, &shown) != ST_OK || asked < LEAST)
		return; /* the row says that no event proves it */
	row->unprovable = false;
	if ((uint64_t)shown * 1000 < (uint64_t)asked * (uint64_t)l->row->proofs[0].proofs[0].low_milli) {
		text_init(&text, row->reason, sizeof(row->reason));
		text_fmt(&text, METHOD ": %u of %u sampled %s", shown, asked, tag->are);
		return;
	}
	text_init(&text, row->proof, sizeof(row->proof));
	text_fmt(&text, METHOD ": %u of %u sampled %s", shown, asked, tag->are);
	row->status = row->noisy ? ROW_NOISY : ROW_OK;
	str_copy(row->reason, sizeof(row->reason), row->noisy ? "the samples spread" : "");
}
