/* pmu/sim/findings/finding.c: see finding.h. */
#include "pmu/sim/findings/finding.h"
#include "pmu/text.h"

const char *sim_finding_kind_name(enum finding_kind k)
{
	static const char *const names[FIND_COUNT] = { "faults", "reserved, faults", "reserved, ignored", "wrong counter", "ignored", "undefined",
		"unmodelled", "missing latch", "unmapped", "simulator", "unmodelled" };
	return k < FIND_COUNT ? names[k] : "?";
}

void sim_finding_none(struct sim_finding *f)
{
	if (!f)
		return;
	f->why = NULL;
	if (f->more)
		f->more->n = 0;
}

void sim_finding_add(struct sim_finding *f, const struct sim_finding *one)
{
	struct sim_findings *more = f ? f->more : NULL;
	if (!f)
		return;
	if (!f->why) {
		*f = *one;
		f->more = more;
	} else if (more && more->n < SIM_FINDINGS_MOST) {
		more->at[more->n] = *one;
		more->at[more->n++].more = NULL;
	}
}

void sim_finding_where(struct sim_finding *f, const char *what, unsigned n)
{
	struct text t;
	text_init(&t, f->where, sizeof(f->where));
	text_fmt(&t, "%s %u", what, n);
}
