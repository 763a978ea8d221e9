/* pmu/backend/core_kind.h: a layer that presents the cores of one kind of a hybrid machine as a machine of their own.
 *
 * Cores of a kind have the same CPUID leaf 0x1A EAX (SDM volume 2A): [31:24] 0x40 large, 0x20 small, [23:0] its model. The layer numbers them from 0.
 * Registers, counters and control areas that belong to a core are reached by that number; no access reaches a core of another kind. */
#ifndef PMU_CORE_KIND_H
#define PMU_CORE_KIND_H

#include "pmu/access.h"

#define CORE_KINDS_MAX 4

/* A kind of core: its name ("p" large, "e" small, "lpe" a second kind of small ones), its CPUID leaf 0x1A EAX, its first core and their number. */
struct core_kind_range { const char *name; uint32_t kind; unsigned first, count; };

/* The kinds of a machine, in the order of their first cores; of each kind only the first contiguous range of cores. Returns their number; 0: leaf
 * 0x1A reports nothing, or CPUID fails: all cores are assumed to be alike. */
unsigned core_kinds(const struct access *a, struct core_kind_range kinds[CORE_KINDS_MAX]);

struct core_kind {
	struct access access;      /* the layer: cores of the kind, from 0 on */
	const struct access *under;
	struct core_kind_range range;
};

/* All cores together, as one more kind. */
#define CORE_KIND_ALL "all"
/* All names of kinds; the first, "", is for cores of kinds that are not distinguished. */
#define CORE_KIND_NAMES 5
extern const char *const core_kind_names[CORE_KIND_NAMES];

/* Puts the layer over a backend. ST_MISSING: it has no cores of that name. */
MUST_CHECK enum status core_kind_init(struct core_kind *k, const struct access *under, const char *name);

#endif
