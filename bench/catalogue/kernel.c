/* bench/catalogue/kernel.c: see kernel.h. */
#include "bench/catalogue/kernel.h"

const struct kernel *kernel_find(const char *name)
{
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, name))
			return k;
	return NULL;
}

static bool has(const char *list, const char *name)
{
	const size_t n = str_length(name);

	for (const char *at = list; *at;) {
		const char *piece = at + (*at == ' '), *end = piece;

		while (*end && *end != ',' && *end != ' ')
			end++;
		if ((size_t)(end - piece) == n && !memcmp(piece, name, n))
			return true;
		for (at = end; *at == ' ' || *at == ',';)
			at++;
	}
	return false;
}

bool kernel_is_wanted(const struct row *r, const char *name, const char *list)
{
	if (!list || has(list, name))
		return true;
	for (const char *const *other = r->kernels; *other; other++)
		if (has(list, *other))
			return false;
	return true;
}

const struct kernel *kernel_choose(const struct row *r, const struct cpu *cpu, const char *list)
{
	for (const char *const *name = r->kernels; *name; name++) {
		const struct kernel *k = kernel_find(*name);

		if (k && (k->isa & ~cpu->isa) == 0 && kernel_is_wanted(r, *name, list))
			return k;
	}
	return NULL;
}
