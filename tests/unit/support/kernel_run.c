/* tests/unit/support/kernel_run.c: see kernel_run.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench/catalogue/kernel.h"
#include "tests/unit/support/kernel_run.h"

const struct kernel *kernel_named(const char *name)
{
	const struct kernel *k = kernel_find(name);
	if (!k)
		fail_msg("no kernel %s", name);
	return k;
}

uint64_t kernel_at(const char *name) { return SPACE_CODE + kernel_named(name)->offset; }

struct measure_block *kernel_run(const struct access *a, unsigned core, const char *name, const uint64_t *arguments, unsigned n)
{
	struct measure_block *b = a->ops->control(a->self, core);
	struct job j = { .core = core, .entry = kernel_at("k_measure"), .argument = SPACE_CONTROL + core * CONTROL_BYTES };
	memset(b, 0, sizeof(*b));
	b->kernel = kernel_at(name);
	for (unsigned i = 0; i < n; i++)
		b->argument[i] = arguments[i];
	assert_int_equal(a->ops->run(a->self, &j, 1, 0), ST_OK);
	assert_int_equal(j.status, ST_OK);
	return b;
}
