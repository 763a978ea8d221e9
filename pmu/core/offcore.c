/* pmu/core/offcore.c: see offcore.h. Bits of MSR 0x1A6: guide, table 9. */
#include "pmu/core/offcore.h"

#include "pmu/text.h"

#define PREFIX        "OFFCORE_RESPONSE_0."
#define MSR_OFFCORE   0x1A6
#define REQUESTS      0xFFull
#define OTHER         (1ull << 7)  /* request: non-temporal stores among them */
#define OTHER_CORE_HIT (1ull << 9) /* response: where those to local memory are counted */
#define LOCAL_DRAM    (1ull << 14)

const struct event *offcore_find(const struct processor *p, const char *request, const char *response)
{
	char name[96];
	struct text t;
	text_init(&t, name, sizeof(name));
	text_fmt(&t, PREFIX "%s.%s", request, response);
	return t.full ? NULL : event_find(p, name);
}

static bool has_quirk(const struct processor *p, const char *name)
{
	for (unsigned i = 0; i < p->quirk_count; i++)
		if (str_equal(p->quirks[i].name, name))
			return true;
	return false;
}

/* The smallest event of the table that includes `value` and nothing that is not local. */
static const struct event *with_value(const struct processor *p, uint64_t value)
{
	const struct event *best = NULL;
	for (unsigned i = 0; i < p->event_count; i++) {
		const struct event *e = &p->events[i];
		if (e->extra_msr == MSR_OFFCORE && str_starts(e->name, PREFIX) && (e->extra_value & value) == value &&
		    !((e->extra_value ^ value) & REQUESTS) && (!best || bit_count((uint32_t)e->extra_value) < bit_count((uint32_t)best->extra_value)))
			best = e;
	}
	return best;
}

bool offcore_misses_nt_stores(const struct processor *p, const struct event *e, const struct event **instead)
{
	*instead = NULL;
	if (!has_quirk(p, "nehalem-nt-store-source") || e->extra_msr != MSR_OFFCORE || !(e->extra_value & OTHER) ||
	    !(e->extra_value & LOCAL_DRAM) || e->extra_value & OTHER_CORE_HIT)
		return false;
	/* With other requests in it, the wider response would also count lines that other cores held. */
	if ((e->extra_value & REQUESTS) == OTHER)
		*instead = with_value(p, e->extra_value | OTHER_CORE_HIT);
	return true;
}

enum status offcore_traffic(const struct processor *p, struct offcore_traffic *out)
{
	const struct event *instead;
	out->read_local = offcore_find(p, "DATA_IFETCH", "LOCAL_DRAM");
	out->read_remote = offcore_find(p, "DATA_IFETCH", "REMOTE_DRAM");
	out->nt_local = offcore_find(p, "OTHER", "LOCAL_DRAM");
	out->nt_remote = offcore_find(p, "OTHER", "REMOTE_DRAM");
	if (!out->read_local || !out->read_remote || !out->nt_local || !out->nt_remote)
		return ST_UNSUPPORTED;
	if (offcore_misses_nt_stores(p, out->nt_local, &instead))
		out->nt_local = instead;
	return out->nt_local ? ST_OK : ST_UNSUPPORTED;
}
