/* tests/unit/rigs/uncore_rig.c: see uncore_rig.h. */
#include "tests/unit/support/sim_look.h"
#include "tests/unit/rigs/uncore_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "asm/kernel.h"
#include "tests/unit/support/host_pages.h"
#include "tests/unit/support/kernel_run.h"

void uncore_rig_open_bare(struct uncore_rig *r, const struct machine *m)
{
	memset(r, 0, sizeof(*r));
	r->machine = *m;
	r->entries = calloc(RIG_TRACE_MAX, sizeof(*r->entries));
	r->saved = calloc(MSR_GUARD_SAVED_MAX, sizeof(*r->saved));
	assert_true(r->entries && r->saved);
	assert_int_equal(sim_open(m, &host_pages, &r->sim), ST_OK);
	assert_int_equal(cpu_identify(sim_access(r->sim), &r->cpu), ST_OK);
	trace_init(&r->trace, sim_access(r->sim), r->entries, RIG_TRACE_MAX);
	msr_guard_init(&r->guard, &r->trace.access, r->cpu.processor, r->saved, MSR_GUARD_SAVED_MAX);
	r->a = &r->guard.access;
}

void uncore_rig_open(struct uncore_rig *r, const struct machine *m)
{
	uncore_rig_open_bare(r, m);
	for (unsigned node = 0; node < 2 && node < r->a->nodes; node++) {
		r->array[node] = (struct mapping){ .va = RIG_ARRAY(node), .bytes = RIG_BYTES, .page_bytes = PAGE_2M, .node = node };
		assert_int_equal(r->a->ops->map(r->a->self, &r->array[node]), ST_OK);
	}
	r->lock = (struct mapping){ .va = SPACE_DATA + 4 * PAGE_1G, .bytes = PAGE_4K, .page_bytes = PAGE_4K };
	assert_int_equal(r->a->ops->map(r->a->self, &r->lock), ST_OK);
	assert_int_equal(r->a->ops->wrmsr(r->a->self, 0, 0x1A4, 0xF), ST_OK);
	assert_int_equal(uncore_find(r->a, &r->cpu, &r->u), ST_OK);
}

void uncore_rig_close(struct uncore_rig *r)
{
	assert_int_equal(msr_guard_restore(&r->guard), ST_OK);
	assert_int_equal(r->guard.refused, 0);
	sim_close(r->sim);
	free(r->entries);
	free(r->saved);
}

void uncore_rig_run(struct uncore_rig *r, unsigned core, const char *kernel, const uint64_t *arguments, unsigned n)
{
	(void)kernel_run(r->a, core, kernel, arguments, n);
}

void uncore_rig_start(struct uncore_rig *r, struct uncore_plan *plan, const char *const *names, unsigned n, unsigned socket)
{
	const char *problem = "";
	const enum status st = uncore_plan(&r->u, names, n, plan, &problem);
	if (st != ST_OK)
		fail_msg("%s: %s", problem, status_name(st));
	assert_int_equal(plan->runs, 1);
	assert_int_equal(uncore_start(r->a, &r->u, plan, 0, socket, r->lock.va), ST_OK);
}

uint64_t uncore_rig_findings(struct uncore_rig *r, enum finding_kind *kind, const char **why)
{
	const struct sim_finding *last;
	const uint64_t n = sim_last_finding(r->sim, &last);
	if (kind)
		*kind = last->kind;
	if (why)
		*why = n ? last->why : NULL;
	return n;
}
