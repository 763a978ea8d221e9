/* tests/unit/support/table_find.h: lookups in the product's tables that only tests need. Include after cmocka.h. */
#ifndef TESTS_UNIT_TABLE_FIND_H
#define TESTS_UNIT_TABLE_FIND_H

#include <string.h>

#include "bench/workloads/stall_model.h"
#include "pmu/core/concept.h"

/* The descriptor of that name; the test fails if there is none. */
static inline const struct processor *processor_named(const char *name)
{
	for (unsigned i = 0; i < processor_count; i++)
		if (!strcmp(processors[i].name, name))
			return &processors[i];
	fail_msg("no processor %s", name);
	return NULL;
}

/* The concept of that name in tables/concepts.csv; NULL if there is none. */
static inline const struct concept *concept_known(const char *name)
{
	for (unsigned i = 0; i < concept_count; i++)
		if (!strcmp(concepts[i].name, name))
			return &concepts[i];
	return NULL;
}

/* The stall term of that key; STALL_TERMS_MAX: none. */
static inline unsigned stall_find(const char *key)
{
	for (unsigned t = 0; t < stall_term_count; t++)
		if (!strcmp(stall_terms[t].key, key))
			return t;
	return STALL_TERMS_MAX;
}

#endif
