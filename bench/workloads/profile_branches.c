/* bench/workloads/profile_branches.c: last-branch records under a profile that names a filter.
 *
 * Levinthal's guide, "Last Branch Record (LBR)" and its profile of branches: with every branch but near calls filtered out, the records are the
 * last sixteen calls and their call sites. Each site is credited with its records' share of the calls counted. */
#include "bench/workloads/profile.h"
#include "pmu/core/concept.h"
#include "pmu/core/lbr.h"

#define NOT_CALLS (LBR_JCC | LBR_NEAR_RET | LBR_NEAR_INDIRECT_JMP | LBR_NEAR_REL_JMP | LBR_FAR_BRANCH)

#define SNAPSHOTS 4u

/* Converts an address in the row's kernel, or in its generated code, to an offset there. */
static uint64_t code_offset(const struct working_set *w, uint64_t address, bool *inside)
{
	uint64_t kernel = address - (SPACE_CODE + w->kernel->offset), code = address - w->code_map.va;

	*inside = kernel < w->kernel->bytes || (w->code_mapped && code < w->code_map.bytes);
	return kernel < w->kernel->bytes ? kernel : *inside ? code : address;
}

static void note(struct profile_branches *out, const struct working_set *w, const struct lbr_pair *pair)
{
	struct profile_branch b = { .count = 1, .mispredicted = pair->mispredicted };
	unsigned i = 0;

	b.from = code_offset(w, pair->from, &b.from_kernel);
	b.to = code_offset(w, pair->to, &b.to_kernel);
	if (!b.from_kernel) {
		out->others++;
		return;
	}
	out->records++;
	while (i < out->count && (out->list[i].from != b.from || out->list[i].to != b.to))
		i++;
	if (i == PROFILE_BRANCHES)
		return;
	if (i == out->count) {
		out->list[out->count++] = b;
		return;
	}
	out->list[i].count++;
	out->list[i].mispredicted += b.mispredicted;
	for (; i > 0 && out->list[i - 1].count < out->list[i].count; i--) {
		b = out->list[i];
		out->list[i] = out->list[i - 1];
		out->list[i - 1] = b;
	}
}

/* One window of the row's kernel that freezes the LBR stack at its end. */
static enum status window(struct loop *l, uint64_t units, uint64_t frozen)
{
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	struct measure_block *block = b->a->ops->control(b->a->self, b->core);
	const struct kernel *wrapper = kernel_find("k_measure_recorded");
	uint64_t arguments[6];
	enum status st;

	window_arguments(b, w, units, arguments);
	st = wrapper && block ? window_load(b, b->core, w->kernel, arguments, NULL, 0, &l->job) : ST_BROKEN;
	if (st != ST_OK)
		return st;
	block->gate = frozen;
	l->job.entry = SPACE_CODE + wrapper->offset;
	st = b->a->ops->run(b->a->self, &l->job, 1, 0);
	if (st == ST_OK)
		w->at = block->result;
	return st;
}

static int64_t calls_counted(const struct processor *p, const struct profile_result *r)
{
	const struct event *calls = concept_event(p, "branch.retired.call");

	for (unsigned i = 0; i < PLAN_EVENTS_MAX; i++) {
		const struct profile_event *e = &r->events[i];

		if (e->slot && calls && e->slot->event == calls)
			return e->uncounted ? -1 : e->unit_milli;
	}
	return -1;
}

void profile_branches_take(struct loop *l, const struct profile_plan *p, struct profile_result *r)
{
	struct bench *b = l->b;
	struct working_set *w = &l->sets[0];
	struct profile_branches *out = &r->branches;
	struct lbr_pair pairs[LBR_PAIRS_MAX];
	struct lbr lbr;
	const char *why = NULL;
	unsigned n = 0;
	enum status st = lbr_open(&lbr, b->a, b->cpu, b->core, &why);

	out->calls_milli = (p->lbr_select & NOT_CALLS) == NOT_CALLS ? calls_counted(b->cpu->processor, r) : -1; /* else the records are not calls */
	for (unsigned i = 0; i < SNAPSHOTS && st == ST_OK; i++) {
		const uint64_t units = w->window * (1 + i % 2);
		enum status stopped;

		st = window_prepare(b, l->row, w, WINDOW_TEST, units, &l->job);
		if (st == ST_OK)
			st = lbr_start(&lbr, p->lbr_select);
		if (st != ST_OK)
			break;
		st = window(l, units, lbr_frozen(&lbr));
		stopped = lbr_stop(&lbr, pairs, &n);
		st = st == ST_OK ? stopped : st;
		for (unsigned k = 0; k < n && st == ST_OK; k++)
			note(out, w, &pairs[k]);
		out->snapshots++;
	}
	out->status = st;
	if (st != ST_OK)
		str_copy(out->reason, sizeof(out->reason), why ? why : status_name(st));
}

/* --- output ------------------------------------------------------------------------------------ */

/* Calls per unit from a call site: the share of its records in all calls counted; -1 unknown. */
static int64_t calls_of(const struct profile_branches *b, const struct profile_branch *one)
{
	return b->calls_milli < 0 || !b->records ? -1 : mul_div(b->calls_milli, one->count, b->records);
}

void profile_branches_json(struct text *t, const struct profile_plan *p, const struct profile_result *r)
{
	const struct profile_branches *b = &r->branches;

	if (!p->lbr_select || r->row.status != ROW_OK) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "{\"select\": \"0x%X\", \"status\": \"%s\", \"reason\": \"", p->lbr_select, status_name(b->status));
	text_json(t, b->reason);
	text_fmt(t, "\", \"windows\": %u, \"records\": %u, \"others\": %u, \"branches\": [", b->snapshots, b->records, b->others);
	for (unsigned i = 0; i < b->count; i++) {
		const struct profile_branch *one = &b->list[i];
		int64_t calls = calls_of(b, one);

		text_fmt(t, "%s{\"from\": %llu, \"to\": ", i ? ", " : "", (unsigned long long)one->from);
		text_fmt(t, one->to_kernel ? "%llu" : "null", (unsigned long long)one->to);
		text_fmt(t, ", \"records\": %u, \"mispredicted\": %u, \"calls\": ", one->count, one->mispredicted);
		if (calls < 0)
			text_fmt(t, "null");
		else
			text_fixed(t, calls, 3);
		text_fmt(t, "}");
	}
	text_fmt(t, "]}");
}

void profile_branches_lines(struct text *t, const struct profile_plan *p, const struct profile_result *r)
{
	const struct profile_branches *b = &r->branches;

	if (!p->lbr_select)
		return;
	text_fmt(t, "  last-branch records without");
	for (unsigned bit = 0; lbr_filter_name(bit); bit++)
		if (p->lbr_select >> bit & 1)
			text_fmt(t, " %s", lbr_filter_name(bit));
	text_fmt(t, " (filter 0x%X): ", p->lbr_select);
	if (b->status != ST_OK) {
		text_fmt(t, "%s\n", b->reason);
		return;
	}
	text_fmt(t, "%u of the kernel's in %u windows\n", b->records, b->snapshots);
	for (unsigned i = 0; i < b->count; i++) {
		const struct profile_branch *one = &b->list[i];
		int64_t calls = calls_of(b, one);

		text_fmt(t, "    +%llu to ", (unsigned long long)one->from);
		text_fmt(t, one->to_kernel ? "+%llu" : "code elsewhere", (unsigned long long)one->to);
		text_fmt(t, ": %u records", one->count);
		if (calls >= 0) {
			text_fmt(t, ", ");
			text_fixed(t, calls, 3);
			text_fmt(t, " calls a %s", r->unit);
		}
		text_char(t, '\n');
	}
}
