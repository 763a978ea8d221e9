/* tests/unit/support/sim_names.h: names of operations and of timing classes of the simulated machine, for messages. */
#ifndef TESTS_UNIT_SIM_NAMES_H
#define TESTS_UNIT_SIM_NAMES_H

#include "pmu/sim/isa/ops.h"
#include "pmu/sim/machine/machine.h"

/* An operation, as in pmu/sim/isa/ops.def. */
static inline const char *op_name(unsigned op)
{
	static const char *const names[] = {
#define OP(name, class, attributes) #name,
#include "pmu/sim/isa/ops.def"
#undef OP
	};
	return op < sizeof(names) / sizeof(names[0]) ? names[op] : "?";
}

/* A timing class as an [exec] line writes it; NULL beyond UC_COUNT. */
static inline const char *machine_class_name(unsigned uop_class)
{
	static const char *const names[] = {
#define CLASS(id, name, latency, ports, busy) [UC_##id] = #name,
#include "pmu/sim/machine/machine_class.def"
#undef CLASS
	};
	return uop_class < UC_COUNT ? names[uop_class] : NULL;
}

#endif
