/* bench/catalogue/kernel.c: see kernel.h. */
#include "bench/catalogue/kernel.h"

const struct kernel *kernel_find(const char *name)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, name))
			return k;
	return NULL;
}

const struct kernel *kernel_choose(const struct row *r, const struct cpu *cpu)
{
	for (const char *const *name = r->kernels; *name; name++) {
		const struct kernel *k = kernel_find(*name);

		if (k && (k->isa & ~cpu->isa) == 0)
			return k;
	}
	return NULL;
}
