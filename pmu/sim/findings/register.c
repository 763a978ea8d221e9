/* pmu/sim/findings/register.c: see register.h. */
#include "pmu/sim/findings/register.h"

enum register_scope { ARCHITECTURAL, AMD, AMD_VERSION_2, VERSION_4, NETBURST, SOCKET_UNCORE, BOXES_UNCORE };
enum { VARIES, HOLDS };
static const struct row { struct sim_register r; enum register_scope on; } rows[] = {
#define REGISTER(first, last, on, holds, name, counter, paragraph) { { first, last, holds == HOLDS, name, counter, paragraph }, on },
#include "pmu/sim/findings/registers.def"
#undef REGISTER
};

static bool on_machine(const struct machine *m, enum register_scope on)
{
	switch (on) {
	case ARCHITECTURAL: return m->pmu_version > 0 && !m->pmu_amd;
	case AMD: return m->pmu_amd;
	case AMD_VERSION_2: return m->pmu_amd && m->pmu_version >= 2;
	case VERSION_4: return m->pmu_version >= 4 && !m->pmu_amd;
	case NETBURST: return str_equal(m->pmu_events, "netburst");
	case SOCKET_UNCORE: return str_equal(m->pmu_uncore, "socket");
	case BOXES_UNCORE: return str_equal(m->pmu_uncore, "boxes");
	}
	return false;
}

const struct sim_register *sim_register_find(const struct machine *m, uint32_t msr)
{
	for (unsigned i = 0; i < COUNT_OF(rows); i++)
		if (msr >= rows[i].r.first && msr <= rows[i].r.last && on_machine(m, rows[i].on))
			return &rows[i].r;
	return NULL;
}

void sim_register_complete(const struct machine *m, struct sim_finding *f)
{
	const struct sim_register *r = sim_register_find(m, f->address);
	if (!r)
		return;
	if (!f->cite)
		f->cite = r->paragraph;
	if (!f->where[0] && r->counter)
		sim_finding_where(f, r->counter, f->address - r->first);
}

void sim_register_name(struct text *out, const struct machine *m, uint32_t msr)
{
	const struct sim_register *r = sim_register_find(m, msr);
	if (!r)
		text_fmt(out, "register 0x%x", (unsigned)msr);
	else if (r->first == r->last)
		text_fmt(out, "%s (0x%x)", r->name, (unsigned)msr);
	else
		text_fmt(out, "%s%u (0x%x)", r->name, (unsigned)(msr - r->first), (unsigned)msr);
}
