/* tests/unit/rigs/sampling_suite.c: see sampling_suite.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "tests/unit/rigs/sampling_suite.h"

void sampling_suite_open(struct sampling_suite *s, const char *machine, void (*change)(struct machine *m))
{
	sampling_open_machine(&s->rig, machine, change, 0);
	memory_host_init(&s->host);
	s->ibs_misses = 0;
}

void sampling_suite_run(struct sampling_suite *s, const char *suite)
{
	const struct suite_settings settings = { .suite = suite, .ibs_misses = s->ibs_misses };
	assert_int_equal(suite_run(s->rig.a, &s->rig.cpu, &settings, &s->host.host, &s->summary), ST_OK);
}

const struct row_result *sampling_suite_row(const struct sampling_suite *s, const char *row)
{
	const struct row_result *r = memory_host_result(&s->host, row);
	assert_non_null(r);
	return r;
}

void sampling_suite_close(struct sampling_suite *s)
{
	assert_int_equal(s->host.taken, 0);
	memory_host_free(&s->host);
	sampling_close(&s->rig);
}
