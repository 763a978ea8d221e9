/* bench/measure/noise_check.c: detects what disturbs a window: SMIs, clock changes, thermal and power limits, an active sibling thread.
 *
 * With turbo off, a window at a clock other than the run's is discarded like one in which the clock changes: the change may lie between two
 * rows.
 *
 * Where no register counts SMIs (before Nehalem) or shows the clock ratio (NetBurst), a window's cycles are compared with its TSC ticks. An SMI
 * that freezes the counters loses cycles; another clock changes their ratio to the ticks.
 *
 * Not detected: uncounted SMIs that freeze no counters, in most windows of a row; other users of the caches and of memory.
 * bench/measure/smt_probe.h detects other users of the core. */
#include "bench/measure/cores.h"
#include "bench/measure/loop.h"

#define MSR_SMI_COUNT 0x34u          /* SDM vol. 4, table 2-15: [31:0] SMIs since reset, Nehalem and later */
#define IA32_MPERF 0xE7u             /* SDM vol. 3, 14.2: both exist if CPUID 6 ECX[0] is set */
#define IA32_APERF 0xE8u
/* SDM vol. 3, 15.8.2.5 and 15.8.4: CPUID 1 EDX[22] reports both. Status bits: thermal status, PROCHOT#, critical temperature, power limit,
 * current limit, cross-domain limit; each has a sticky log bit beside it. */
#define IA32_CLOCK_MODULATION 0x19Au
#define IA32_THERM_STATUS     0x19Cu
#define THERMAL_NOW           0x5415u
#define THERMAL_LOG           0xA82Au
#define THRESHOLD_LOGS        0x280u /* logs of threshold interrupts that other software may use: kept */
#define CLOCK_MODULATED       0x10u
#define MSR_UNCORE_PERF_STATUS 0x621u /* Linux 6.12 uncore-frequency: [6:0] the current ratio; exists where MSR_UNCORE_RATIO_LIMIT does */
#define RATIO_TOLERANCE_MICRO 10000  /* 1 % */
#define RATIO_TICKS_LEAST 1000u      /* of MPERF: reading it takes a varying number of ticks */

#define ELAPSED_ITERATIONS 8u        /* of 8 divisions of 13 to 40 cycles; doubled until a window takes */
#define ELAPSED_NS 1000              /* so that steps of the TSC, a bus clock of 10 ns, are at most 1/100 */
#define ELAPSED_ITERATIONS_MOST 512u
#define ELAPSED_PAIRS 16u
#define ELAPSED_PART 64              /* tolerance: 1/N of a window, plus reads outside its ticks: of a different number of counters, */
#define ELAPSED_FEWER_CYCLES 400
#define ELAPSED_MORE_NS 800          /* and of the result block, which may come from another socket's memory */

#define SIBLING_AWAKE_PART 8u     /* limit: 1/N of a window, plus the time to wake the sibling and read its register: */
#define SIBLING_READS_HZ 500000u /* 2 us */

static int64_t magnitude(int64_t n)
{
	return n < 0 ? -n : n;
}

static bool read_sibling(struct bench *b, uint64_t *mperf)
{
	return b->a->ops->rdmsr(b->a->self, b->disturbance.sibling, IA32_MPERF, mperf) == ST_OK;
}

static bool read_msr(const struct bench *b, uint32_t msr, uint64_t *value)
{
	return b->a->ops->rdmsr(b->a->self, b->core, msr, value) == ST_OK;
}

/* Processors with MSR 0x620, the limits of the uncore ratio, also have the MSR of the current ratio. */
static bool shows_uncore_ratio(const struct bench *b)
{
	const struct processor *p = b->cpu->processor;
	uint64_t value;

	for (unsigned i = 0; i < p->freq_lock_count; i++)
		if (str_equal(p->freq_locks[i].name, "uncore_ratio"))
			return read_msr(b, MSR_UNCORE_PERF_STATUS, &value);
	return false;
}

/* Notes a change of the uncore clock. It discards no window: rows of the core alone are valid at any uncore clock. */
static void look_at_uncore(struct bench *b)
{
	struct noise_check *d = &b->disturbance;
	uint64_t value;

	if (!d->uncore_known || b->core != d->uncore_core)
		return;
	d->uncore_known = read_msr(b, MSR_UNCORE_PERF_STATUS, &value);
	if (!d->uncore_ratio)
		d->uncore_ratio = value & 0x7F;
	else if (d->uncore_known && (value & 0x7F) != d->uncore_ratio)
		b->uncore_wandered = true;
}

void noise_check_find(struct bench *b)
{
	const struct access *a = b->a;
	struct noise_check *d = &b->disturbance;
	struct cpuid_regs r;
	uint64_t value;

	if (a->kind == ACCESS_NATIVE) /* the native backend has no MSRs */
		return;
	if (str_equal(b->cpu->vendor, "GenuineIntel")) { /* no CPUID bit reports the SMI count: probe it with a read */
		d->smi_known = read_msr(b, MSR_SMI_COUNT, &value);
		if (a->ops->cpuid(a->self, b->core, 1, 0, &r) == ST_OK)
			d->thermal_known = r.edx >> 22 & 1;
	}
	if (a->ops->cpuid(a->self, b->core, 0, 0, &r) == ST_OK && r.eax >= 6 && a->ops->cpuid(a->self, b->core, 6, 0, &r) == ST_OK) {
		d->ratio_known = r.ecx & 1;
		d->turbo = r.eax >> 1 & 1;
	}
	d->uncore_known = shows_uncore_ratio(b);
	d->uncore_core = b->core;
	d->sibling_known = d->ratio_known && cores_choose(b, b->core, RELATION_SAME_CORE, 0, &d->sibling) == ST_OK;
}

static bool counts_cycles(const struct bench *b, const struct counting *c, unsigned run)
{
	return c && c->on && b->cycles && c->plan.slots[0].event == b->cycles && c->plan.slots[0].run == run;
}

void noise_check_look_at_elapsed(struct bench *b, const struct counting *c, unsigned run)
{
	struct noise_check *d = &b->disturbance;
	const struct kernel *divides = kernel_find("k_divsd_chain_hard");
	struct window least[2] = { { .tsc = UINT64_MAX }, { .tsc = UINT64_MAX } }; /* SMIs and a slower clock only add ticks */
	uint64_t iterations = ELAPSED_ITERATIONS;
	struct window w = { 0 };
	struct job job;

	if (d->elapsed_looked || (d->smi_known && d->ratio_known) || d->turbo || b->a->kind == ACCESS_NATIVE || !divides || !counts_cycles(b, c, run))
		return;
	d->elapsed_looked = true;
	for (bool cold = true;; cold = false) { /* the first window misses the caches */
		const uint64_t arguments[6] = { iterations };

		if (window_run(b, divides, arguments, c, run, &w, &job) != ST_OK)
			return;
		if (cold)
			continue;
		if ((int64_t)w.tsc >= mul_div((int64_t)b->a->tsc_hz, ELAPSED_NS, 1000000000) || iterations >= ELAPSED_ITERATIONS_MOST)
			break;
		iterations *= 2;
	}
	for (unsigned i = 0; i < 2 * ELAPSED_PAIRS; i++) {
		const uint64_t arguments[6] = { iterations << i % 2 };

		if (window_run(b, divides, arguments, c, run, &w, &job) != ST_OK)
			return;
		/* Among windows of equal ticks take the fewest cycles: the first window misses the caches in its reads outside the ticks. */
		if (w.tsc < least[i % 2].tsc || (w.tsc == least[i % 2].tsc && w.counts[0] < least[i % 2].counts[0]))
			least[i % 2] = w;
	}
	d->lost = false;
	if (least[1].tsc <= least[0].tsc || least[1].counts[0] <= least[0].counts[0])
		return;
	d->elapsed_micro = mul_div((int64_t)(least[1].counts[0] - least[0].counts[0]), 1000000, (int64_t)(least[1].tsc - least[0].tsc));
	d->elapsed_more = (int64_t)least[0].counts[0] - mul_div((int64_t)least[0].tsc, d->elapsed_micro, 1000000);
}

void noise_check_elapsed(struct bench *b, const struct counting *c, unsigned run, const struct window *w)
{
	struct noise_check *d = &b->disturbance;

	if (!d->elapsed_micro || !counts_cycles(b, c, run))
		return;
	const int64_t more = (int64_t)w->counts[0] - mul_div((int64_t)w->tsc, d->elapsed_micro, 1000000) - d->elapsed_more;
	const int64_t outside = more < 0 ? ELAPSED_FEWER_CYCLES : mul_div(mul_div((int64_t)b->a->tsc_hz, ELAPSED_MORE_NS, 1000000000), d->elapsed_micro, 1000000);

	d->lost |= magnitude(more) > ((int64_t)w->counts[0] - more) / ELAPSED_PART + outside;
}

bool noise_check_smi(const struct bench *b, uint64_t *count)
{
	return b->disturbance.smi_known && read_msr(b, MSR_SMI_COUNT, count);
}

void noise_check_before(struct bench *b)
{
	struct noise_check *d = &b->disturbance;

	d->lost = false;
	look_at_uncore(b);
	if (d->smi_known)
		d->smi_known = noise_check_smi(b, &d->smi);
	if (d->ratio_known)
		d->ratio_known = read_msr(b, IA32_MPERF, &d->mperf) && read_msr(b, IA32_APERF, &d->aperf);
	if (d->sibling_known)
		d->sibling_known = read_sibling(b, &d->sibling_mperf);
	if (d->thermal_known)
		d->thermal_known = read_msr(b, IA32_THERM_STATUS, &d->thermal);
	/* A log bit already set would hide a new event. Writing 0 clears it, where the descriptor lists the register. */
	if (d->thermal_known && (d->thermal & THERMAL_LOG) && !d->log_stays) {
		d->log_stays = b->a->ops->wrmsr(b->a->self, b->core, IA32_THERM_STATUS, d->thermal & THRESHOLD_LOGS) != ST_OK;
		d->thermal_known = read_msr(b, IA32_THERM_STATUS, &d->thermal);
	}
}

/* Whether a thermal or power limit, or clock modulation, held the clock down. */
static bool clock_held_down(struct bench *b)
{
	struct noise_check *d = &b->disturbance;
	uint64_t status, modulation;
	bool held = false;

	if (!d->thermal_known || !read_msr(b, IA32_THERM_STATUS, &status))
		return false;
	if (((status | d->thermal) & THERMAL_NOW) || (status & ~d->thermal & THERMAL_LOG)) {
		d->counts.thermal++;
		held = true;
	}
	if (read_msr(b, IA32_CLOCK_MODULATION, &modulation) && (modulation & CLOCK_MODULATED)) {
		d->counts.modulated++;
		held = true;
	}
	return held;
}

/* Whether the clock changed, within the window or since an earlier window of the run. */
static bool clock_moved(struct noise_check *d, uint64_t mperf, uint64_t aperf)
{
	const int64_t last = d->last_ratio_micro, ratio = mul_div((int64_t)(aperf - d->aperf), 1000000, (int64_t)(mperf - d->mperf));
	const bool agrees = last && magnitude(ratio - last) <= RATIO_TOLERANCE_MICRO;

	if (mperf - d->mperf < RATIO_TICKS_LEAST)
		return false;
	d->last_ratio_micro = ratio;
	if (agrees && !d->turbo && !d->run_ratio_micro)
		d->run_ratio_micro = ratio;
	if ((!last || agrees) && (!d->run_ratio_micro || magnitude(ratio - d->run_ratio_micro) <= RATIO_TOLERANCE_MICRO))
		return false;
	d->counts.clock++;
	return true;
}

bool noise_check_after(struct bench *b)
{
	struct noise_check *d = &b->disturbance;
	uint64_t smi, aperf, mperf, awake;
	bool disturbed = d->lost;

	d->counts.windows++;
	d->counts.clock += d->lost;
	look_at_uncore(b);
	if (noise_check_smi(b, &smi)) {
		uint32_t met = (uint32_t)smi - (uint32_t)d->smi;

		d->counts.smi[met < SMI_BINS ? met : SMI_BINS - 1]++;
		disturbed |= met != 0;
	}
	if (d->ratio_known && read_msr(b, IA32_MPERF, &mperf) && read_msr(b, IA32_APERF, &aperf) && mperf > d->mperf) {
		disturbed = clock_moved(d, mperf, aperf) || disturbed;
		if (d->sibling_known && read_sibling(b, &awake) &&
		    awake - d->sibling_mperf > (mperf - d->mperf) / SIBLING_AWAKE_PART + b->a->tsc_hz / SIBLING_READS_HZ)
			disturbed = true;
	}
	return clock_held_down(b) || disturbed;
}

void noise_check_before_multicore(struct bench *b, unsigned core)
{
	const unsigned own = b->core;
	const bool sibling = b->disturbance.sibling_known;

	b->core = core;
	b->disturbance.sibling_known = false;
	noise_check_before(b);
	b->disturbance.sibling_known = sibling;
	b->core = own;
}

bool noise_check_after_multicore(struct bench *b, unsigned core)
{
	const unsigned own = b->core;
	const bool sibling = b->disturbance.sibling_known;
	bool disturbed;

	b->core = core;
	b->disturbance.sibling_known = false;
	disturbed = noise_check_after(b);
	b->disturbance.sibling_known = sibling;
	b->core = own;
	return disturbed;
}
