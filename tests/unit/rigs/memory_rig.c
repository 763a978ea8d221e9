/* tests/unit/rigs/memory_rig.c */
#include <stdarg.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>
#include "tests/unit/rigs/memory_rig.h"

static bool rig_pages(void *self, uint64_t va, struct page_info *out)
{
	const struct rig *r = self;
	if (va < RIG_VA || va - RIG_VA >= r->m.dram_node_bytes * r->m.topology_sockets)
		return false;
	const uint64_t pa = (va - RIG_VA) & ~(r->page_bytes - 1);
	*out = (struct page_info){ .pa = pa, .page_bytes = r->page_bytes, .node = (unsigned)(pa / r->m.dram_node_bytes) };
	return true;
}

void rig_preset(struct rig *r)
{
	char problem[256] = "";
	const struct machine_file *f = machine_builtin("nehalem-ep");
	memset(r, 0, sizeof(*r));
	assert_non_null(f);
	if (machine_read("nehalem-ep.machine", f->text, f->bytes, &r->m, problem, sizeof(problem)))
		fail_msg("%s", problem);
	r->m.prefetch_present = 0;
	r->page_bytes = 4096;
}

void rig_open(struct rig *r)
{
	const unsigned threads = (unsigned)(r->m.topology_sockets * r->m.topology_cores * r->m.topology_threads);
	r->signals = calloc(threads, sizeof(*r->signals));
	for (unsigned i = 0; i < threads; i++)
		r->signals[i] = signals_init(calloc(1, signals_bytes()));
	r->bytes = memory_bytes(&r->m);
	r->at = aligned_alloc(64, (r->bytes + 63) & ~(size_t)63);
	memset(r->at, 0, r->bytes);
	r->s = memory_init(r->at, &r->m, r->signals, rig_pages, r);
}

void rig_close(struct rig *r)
{
	const unsigned threads = (unsigned)(r->m.topology_sockets * r->m.topology_cores * r->m.topology_threads);
	for (unsigned i = 0; i < threads; i++)
		free(r->signals[i]);
	free(r->signals);
	free(r->at);
}

struct mem_reply rig_access(struct rig *r, unsigned core, enum mem_kind kind, uint64_t pa, uint64_t cycle)
{
	const struct mem_request q = { .kind = kind, .core = core, .thread = core * (unsigned)r->m.topology_threads,
	                               .va = RIG_VA + pa, .pa = pa, .bytes = 8, .ip = 0x400000, .cycle = cycle };
	struct mem_reply reply = { 0 };
	memory_access(r->s, &q, &reply);
	return reply;
}

void rig_listen(struct rig *r, unsigned thread, unsigned tap, enum signal sig)
{
	struct tap t = { .on = true };
	t.listen[sig / 64] = 1ull << (sig % 64);
	signals_tap(r->signals[thread], tap, &t);
}

uint64_t rig_count(struct rig *r, unsigned thread, unsigned tap)
{
	return signals_tap_get(r->signals[thread], tap)->value;
}

uint64_t rig_l3(const struct machine *m, uint64_t more)
{
	const uint64_t ticks = (m->l3_uncore_cycles + more) * m->tick_per_uncore_cycle;
	return m->l3_core_cycles + (ticks + m->tick_per_core_cycle - 1) / m->tick_per_core_cycle;
}

uint64_t rig_ps(const struct machine *m, uint64_t ps)
{
	const unsigned __int128 n = (unsigned __int128)ps * m->clock_bus_hz_times_3 * m->clock_core_ratio, d = 3000000000000ull;
	return (uint64_t)((n + d - 1) / d);
}
