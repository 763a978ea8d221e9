/* pmu/core/plan.h: the assignment of events to runs and counters. pmu/counters/ makes and programs it, on NetBurst with pmu/netburst/. */
#ifndef PMU_PLAN_H
#define PMU_PLAN_H

#include "pmu/core/cpu.h"

#define PLAN_EVENTS_MAX 64
#define PLAN_RUNS_MAX   64

/* Where one event of a list is counted. */
struct plan_slot {
	const struct event *event;
	uint8_t run;            /* number of the run, from 0 */
	bool fixed;
	uint8_t counter;        /* general or fixed counter number */
	uint32_t rdpmc_index;   /* ECX for RDPMC, for the measure block */
};

struct plan {
	struct plan_slot slots[PLAN_EVENTS_MAX]; /* in the order requested */
	uint8_t count;
	uint8_t runs;
};

#endif
