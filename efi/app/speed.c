/* efi/app/speed.c: see speed.h. */
#include "efi/app/speed.h"
#include "bench/suite/speed.h"
#include "efi/firmware/console.h"
#include "efi/app/simulated.h"
#include "efi/firmware/uefi.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/text.h"

#define FLOOR_CORE   1000u /* thousand instructions a second */
#define FLOOR_BEYOND 500u
#define LEAST_NS     400000000ull
#define RUNS         5 /* the TSC continues while the host runs something else */

static uint64_t tsc_ns(void *self)
{
	const struct clock *c = self;
	const uint64_t t = read_tsc(), khz = c->tsc_hz / 1000;
	return t / khz * 1000000 + t % khz * 1000000 / khz;
}

/* Objects that are too large for the stack. */
struct speed_memory {
	struct machine machine;
	struct cpu cpu;
	struct plan plan;
	struct simulated sim;
	struct msr_guard guard;
	struct msr_guard_saved saved[MSR_GUARD_SAVED_MAX];
};

static enum status prepare(struct speed_memory *r)
{
	char problem[400];
	enum status st = ST_MISSING;
	for (unsigned i = 0; i < machine_files_count; i++)
		if (str_equal(machine_files[i].name, machine_default))
			st = machine_read(machine_default, machine_files[i].text, machine_files[i].bytes, &r->machine, problem, sizeof(problem));
	if (st == ST_OK)
		st = simulated_build(&r->sim, &r->machine);
	if (st != ST_OK)
		return st;
	st = cpu_identify(r->sim.access, &r->cpu);
	if (st == ST_OK)
		st = speed_plan(&r->cpu, &r->plan);
	if (st != ST_OK)
		return st;
	msr_guard_init(&r->guard, r->sim.access, r->cpu.processor, r->saved, MSR_GUARD_SAVED_MAX);
	return ST_OK;
}

unsigned speed_test(const struct clock *clock)
{
	const struct speed_clock by_tsc = { (void *)(uintptr_t)clock, tsc_ns, RUNS };
	struct speed_memory *r = pages_get(sizeof(*r));
	unsigned failed = 0;
	enum status st = r != NULL ? prepare(r) : ST_FULL;
	if (st != ST_OK) {
		print("not ok 1 - the simulated machine could be built: %s\n1..1\n", status_name(st));
		failed = 1;
	}
	for (unsigned i = 0; i < speed_case_count && st == ST_OK; i++) {
		const struct speed_case *c = &speed_cases[i];
		struct speed_result out = { 0, 1 };
		const enum status s = speed_measure(&r->guard.access, &r->cpu, &r->plan, c, 1, &by_tsc, LEAST_NS, &out);
		const unsigned speed = (unsigned)(out.instructions * 1000000 / out.ns), least = c->beyond ? FLOOR_BEYOND : FLOOR_CORE;
		const bool good = s == ST_OK && speed >= least;
		failed += !good;
		print("%s %u - %s: %u.%02u million instructions a second, %u counters armed%s%s\n", good ? "ok" : "not ok", i + 1, c->name,
		      speed / 1000, speed % 1000 / 10, r->plan.count, s == ST_OK ? "" : ": ", s == ST_OK ? "" : status_name(s));
	}
	if (st == ST_OK)
		print("1..%u\n", speed_case_count);
	if (r != NULL) {
		simulated_close(&r->sim);
		pages_put(r, sizeof(*r));
	}
	return failed;
}
