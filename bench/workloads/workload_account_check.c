/* bench/workloads/workload_account_check.c: compares a workload's counts with its known behaviour. An event that counts something other than its
 * concept contradicts it.
 *
 * Known facts: stalled and active cycles add up to all cycles; uops that retire were issued. The two workloads without random branches execute a
 * known number of instructions and never starve for fetched ones. That of dependent loads has a miss in flight nearly always.
 * Not covered: events that are off by a little; the trust table checks them (trust.h). */
#include "bench/workloads/workload_account.h"
#include "bench/catalogue/kernel.h"

#define IDENTITY_PERCENT 3     /* tolerance for counters read one after the other */
#define UOPS_AN_INSTRUCTION 4  /* at most; at least half a uop per instruction where they are fused */

static bool differs(const struct account_result *r, unsigned stall, unsigned active, struct text *t)
{
	const int64_t cycles = r->bundle_cycles[stall], sum = r->value[stall] + r->value[active], off = sum > cycles ? sum - cycles : cycles - sum;

	/* it is an identity only within one run */
	if (!r->known[stall] || !r->known[active] || r->bundle_cycles[active] != cycles || off * 100 <= cycles * IDENTITY_PERCENT)
		return false;
	text_fmt(t, "%s: %lld cycles without and %lld with it are not the %lld there were", r->event[stall], (long long)r->value[stall], (long long)r->value[active],
	         (long long)cycles);
	return true;
}

/* Whether the numbers of retired and issued uops are possible for that many instructions; 0: their number is not known. */
static bool uops_are_possible(const struct account_result *r, int64_t instructions, struct text *t)
{
	const int64_t uops = r->value[Q_RETIRED_UOPS], issued = r->value[Q_ISSUED_UOPS] + r->value[Q_ISSUED_FUSED];

	if (r->known[Q_RETIRED_UOPS] && instructions && (uops * 2 < instructions || uops > instructions * UOPS_AN_INSTRUCTION)) {
		text_fmt(t, "%s: %lld uops retired of %lld instructions", r->event[Q_RETIRED_UOPS], (long long)uops, (long long)instructions);
		return false;
	}
	if (r->known[Q_RETIRED_UOPS] && r->known[Q_ISSUED_UOPS] && issued * 2 < uops) {
		text_fmt(t, "%s: %lld uops issued, of which %lld retired", r->event[Q_ISSUED_UOPS], (long long)issued, (long long)uops);
		return false;
	}
	return true;
}

bool workload_account_contradicted(const struct account_result *r, char *reason, size_t capacity)
{
	const struct kernel *k = kernel_find(work_kernel(r->kind));
	const bool plain = r->kind == WORK_LATENCY || r->kind == WORK_BANDWIDTH;
	const int64_t starved = workload_account_named(r, "instruction_starvation");
	struct text t;

	text_init(&t, reason, capacity);
	if (differs(r, Q_ISSUE_STALL, Q_ISSUE_ACTIVE, &t) || differs(r, Q_EXECUTE_STALL, Q_EXECUTE_ACTIVE, &t) || differs(r, Q_RETIRE_STALL, Q_RETIRE_ACTIVE, &t))
		return true;
	if (!uops_are_possible(r, plain && k ? (int64_t)(k->instructions * r->iterations) : 0, &t))
		return true;
	if (plain && starved * 2 > r->bundle_cycles[Q_ISSUE_STALL]) {
		text_fmt(&t, "%s: %lld of %lld cycles wait for none, in a loop that is fetched", r->event[Q_RESOURCE_STALL], (long long)starved,
		         (long long)r->bundle_cycles[Q_ISSUE_STALL]);
		return true;
	}
	if (r->kind == WORK_LATENCY && r->known[Q_QUEUE_BUSY] && r->value[Q_QUEUE_BUSY] * 2 < r->bundle_cycles[Q_QUEUE_BUSY]) {
		text_fmt(&t, "%s: %lld of %lld cycles with a miss in flight, of loads that miss", r->event[Q_QUEUE_BUSY], (long long)r->value[Q_QUEUE_BUSY],
		         (long long)r->bundle_cycles[Q_QUEUE_BUSY]);
		return true;
	}
	return false;
}
