/* pmu/sim/counters/counter_state.h: internals of the register file, for counter*.c, netburst*.c and cpuid.c only. */
#ifndef SIM_COUNTER_STATE_H
#define SIM_COUNTER_STATE_H

#include "pmu/sim/counters/counter.h"
#include "pmu/sim/machine/event_map.h"
#include "pmu/sim/counters/netburst.h"
#include "pmu/sim/amd/ibs.h"

#define GENERAL_MAX 18
#define FIXED_MAX   7
#define COUNTER_METRICS_MAX 8
#define LBR_MAX     32
#define MTRR_VARIABLE 8
#define MTRR_FIXED    11

enum counter_unit { UNIT_ONE, UNIT_TSC, UNIT_BUS };

/* One counter, general or fixed. While its tap runs, the value is base + the tap's count. */
struct counter {
	uint64_t base;         /* value when the tap was set */
	uint64_t wraps;        /* wraps since then that the status register already shows */
	uint64_t start_cycle;  /* when the tap was set */
	uint64_t counted_cycle; /* every_cycle: the cycle up to which it has counted, at a retirement */
	uint64_t precise;      /* mask of enum precise */
	uint64_t armed_cycle;
	enum counter_unit unit;
	uint32_t thousandths;  /* counts per 1000 occurrences: 1000, more for slots, other with a fault switch */
	bool tapped;           /* a tap counts for it */
	bool any;              /* ... the signals of both threads of the core (AnyThread) */
	bool retired;          /* counters_retired counts for it: PEBS or the load-latency facility */
	bool tagged;           /* ... and only loads tagged by the load-latency facility */
	bool by_retirement;    /* its event is only known at retirement */
	bool every_cycle;      /* PEBS with a condition that holds in every cycle (TOTAL_CYCLES) */
	bool armed;            /* PEBS: overflowed; the next occurrence from armed_cycle on writes a record */
	const char *told;      /* the mistake in its select that has been reported */
};

struct counters {
	const struct machine *m;
	struct signals *signals;
	struct signals *both;    /* signals of both threads of the core; NULL: one thread per core */
	struct counters_env env;
	unsigned thread;

	struct counter general[GENERAL_MAX], fixed[FIXED_MAX];
	uint64_t evtsel[GENERAL_MAX];
	uint64_t fixed_ctrl, global_ctrl, global_status;
	uint64_t metrics_base[COUNTER_METRICS_MAX + 1]; /* PERF_METRICS: slots of each byte, then all slots, when the taps were set */
	bool metrics_on;
	struct counters *first;  /* of the core's first thread: holds the registers that a core has once (prefetch, lbr_select, hwcr) */
	bool user;               /* code runs at CPL 3 */
	bool started;            /* the start-up sequence of AAK100 has run, or is not needed */
	bool starting;           /* ... its counters are on */

	uint64_t ds_area, pebs_enable, load_latency, debugctl, lbr_select;
	uint64_t debug_extended; /* AMD: DBG_EXTN_CFG, whose bit 6 enables last-branch records */
	uint64_t pebs_groups;    /* MSR_PEBS_DATA_CFG */
	uint64_t retired_before; /* cycle of the last retirement that counters_retired has seen */
	uint64_t lbr_from[LBR_MAX], lbr_to[LBR_MAX], lbr_info[LBR_MAX], lbr_tos;
	uint64_t lbr_last_cycle;
	uint64_t tsx_force_abort; /* MSR 0x10F */
	uint64_t lbr_ctl, lbr_depth; /* architectural: IA32_LBR_CTL, IA32_LBR_DEPTH */
	uint64_t offcore[2];
	uint64_t frontend;       /* MSR_PEBS_FRONTEND */
	uint64_t pebs_written;   /* records since reset, for fault.pebs_drop_every */
	uint32_t tag_state;      /* of the generator that tags loads */

	uint64_t hwcr, prefetch_amd; /* AMD */
	struct sim_ibs ibs;
	uint64_t misc_enable, prefetch, perf_ctl, clock_modulation, therm_interrupt, energy_bias, power_ctl, pkg_cst;
	uint64_t pat, mtrr_default, mtrr_variable[2 * MTRR_VARIABLE], mtrr_fixed[MTRR_FIXED];
	uint64_t apic_base, uncore_limit;
	uint64_t hwp_enable, hwp_package, hwp_request, hwp_interrupt;
	int64_t tsc_offset;
	uint64_t aperf_base, mperf_base; /* value written minus the clock at that time */
	uint64_t halted;
	uint64_t clock_cycle, clock_ticks; /* when the clock last started or stopped varying by itself */
	bool clock_steady;
	uint64_t heat_cleared;             /* number of overheatings when the log was cleared */
	uint32_t smis;

	struct sim_netburst netburst_own, *netburst; /* NetBurst: this thread's registers; those in use, which are
	                                                those of the core's first thread */
	struct sim_netburst_thread netburst_thread;
	uint32_t lint_told[GENERAL_MAX]; /* rules of counter_lint.c that each counter violates and that have been reported */
	struct sim_finding late; /* found while code ran; reported with the next access */
};

/* a * b / c without a wider integer; c is small. */
static inline uint64_t counters_scale(uint64_t a, uint64_t b, uint64_t c)
{
	return a / c * b + a % c * b / c;
}

static inline uint64_t mask_of(uint64_t width)
{
	return width >= 64 ? ~0ull : (1ull << width) - 1;
}

/* The address of a general counter's select register. */
static inline uint32_t counter_selector(const struct counters *p, unsigned n)
{
	return p->m->pmu_amd ? 0xC0010200u + 2 * n : 0x186u + n;
}

/* Records a finding if the caller can take one. */
static inline void find(struct counters *p, struct sim_finding *f, enum finding_kind kind, uint32_t address,
                        uint64_t value, const char *why)
{
	const struct sim_finding one = { .kind = kind, .thread = p->thread, .address = address, .value = value, .why = why };
	sim_finding_add(f, &one);
}

/* counter.c: a counter's value. */
uint64_t counter_general_value(const struct counters *p, unsigned n);
uint64_t counter_fixed_value(const struct counters *p, unsigned i);
/* Masks of existing counters, laid out as in GLOBAL_CTRL: general ones, all. */
uint64_t counter_general_mask(const struct counters *p);
uint64_t counter_enable_mask(const struct counters *p);
/* Whether counter n's select is that of AAK100's start-up sequence. */
bool counter_is_start_selector(const struct counters *p, unsigned n);
/* Updates the overflow bits, and freezes if an overflow and the registers demand it. */
void counters_sync(struct counters *p);
/* Version 4 and later: whether an overflow has frozen the counters, the last-branch records. */
bool counters_frozen(const struct counters *p);
bool counters_lbr_frozen(const struct counters *p);
/* Sets all taps from the registers. `address`: the register that was written. */
void counters_program(struct counters *p, struct sim_finding *f, uint32_t address);

/* counter_metrics.c: PERF_METRICS: its value, its taps, a write (ST_MISSING: there is no such register). */
uint64_t counter_metrics_value(const struct counters *p);
void counter_metrics_program(struct counters *p);
MUST_CHECK enum status counter_metrics_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);

/* counter_frontend.c: subscribes to the event selected by MSR_PEBS_FRONTEND; false: the model has no signal for it. */
bool counter_frontend_listen(const struct counters *p, uint64_t *listen);

/* counter_lint.c. Called before a select changes: mistakes of the new value will be reported anew. */
void counter_lint_select(struct counters *p, unsigned n, uint64_t value);
/* Called after a write to `address`: reports mistakes that involve several registers. */
void counter_lint(struct counters *p, struct sim_finding *f, uint32_t address, uint64_t value);
/* The name of a select's event, or NULL. */
const char *counter_event_name(const struct counters *p, uint64_t select);

/* counter_clock.c: the time in core cycles, parked ones included; in awake core cycles; in awake TSC ticks. */
uint64_t counters_now(const struct counters *p);
uint64_t counters_aperf(const struct counters *p);
uint64_t counters_mperf(const struct counters *p);
/* TSC ticks in the first `cycles` core cycles since the machine's start. */
uint64_t counters_ticks(const struct counters *p, uint64_t cycles);
/* Called after a write that enables or disables turbo or requests a level: the clock starts or stops varying by itself. */
void counters_clock_set(struct counters *p);
uint64_t counters_ratio_now(const struct counters *p);

/* counter_msr.c: registers other than the counters. ST_MISSING: not one of them. */
void counter_msr_reset(struct counters *p);
/* Tells the machine which prefetchers are off. */
void counter_msr_prefetchers(struct counters *p);
MUST_CHECK enum status counter_msr_read(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *f);
MUST_CHECK enum status counter_msr_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);

/* counter_hwp.c: hardware-controlled performance states (control.hwp). ST_MISSING: not one of their registers. */
#define COUNTER_HWP_ENABLE 0x770
void counter_hwp_reset(struct counters *p);
/* Whether the request leaves the processor no choice. */
bool counter_hwp_holds(const struct counters *p);
MUST_CHECK enum status counter_hwp_read(struct counters *p, uint32_t msr, uint64_t *value, struct sim_finding *f);
MUST_CHECK enum status counter_hwp_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);

/* counter_amd.c: AMD's counters (pmu.amd) and other registers. ST_MISSING: not one of them. */
MUST_CHECK enum status counter_amd_read(struct counters *p, uint32_t msr, uint64_t *value);
MUST_CHECK enum status counter_amd_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);
/* Records a retired taken branch in AMD's last-branch records. */
void counter_amd_branch(struct counters *p, const struct retired *r);
/* Whether last-branch recording is on. */
static inline bool counter_records_branches(const struct counters *p)
{
	return p->m->pmu_lbr_pairs && (p->m->pmu_amd ? p->debug_extended >> 6 & 1 : p->m->pmu_lbr_architectural ? p->lbr_ctl & 1 : p->debugctl & 1 /* LBR */);
}
/* Whether this is an Intel register that AMD's processors lack. */
bool counter_amd_lacks(uint32_t msr);

/* counter_lbr.c. Records a retired taken branch. */
void counter_lbr_branch(struct counters *p, const struct retired *r);
/* The index of the i-th newest entry. */
unsigned counter_lbr_entry(const struct counters *p, unsigned i);
/* The register at an address (NULL: none); its writable bits; the effects of a write other than on its value (ST_FAULT: #GP). */
uint64_t *counter_lbr_register(struct counters *p, uint32_t msr);
uint64_t counter_lbr_legal(const struct counters *p, uint32_t msr);
MUST_CHECK enum status counter_lbr_written(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);

/* counter_pebs.c: DS area, load latency. ST_MISSING: not one of them. */
MUST_CHECK enum status counter_pebs_read(struct counters *p, uint32_t msr, uint64_t *value);
MUST_CHECK enum status counter_pebs_write(struct counters *p, uint32_t msr, uint64_t value, struct sim_finding *f);
/* Record format 0 (Core 2): the counters cannot be enabled with a PEBS buffer of more than one 4 KiB page. */
bool counter_pebs_hangs(struct counters *p, uint64_t global_ctrl);
/* How often a precise condition holds for a retired instruction. */
unsigned counter_pebs_occurrences(enum precise what, const struct retired *r);
/* Whether PEBS is on for general counter n. */
bool counter_has_pebs(const struct counters *p, unsigned n);
/* counter_adaptive.c: whether records are adaptive; writable bits of MSR_PEBS_DATA_CFG. */
bool counter_adaptive(const struct counters *p);
uint64_t counter_adaptive_legal(const struct counters *p);
/* Size in bytes of a record of counter n; fills it in, with `source` as a load's data source. */
unsigned counter_adaptive_bytes(const struct counters *p, unsigned n);
void counter_adaptive_fill(struct counters *p, unsigned n, const struct retired *r, const struct hart_regs *g, uint64_t source, uint64_t *w);
/* Whether the load-latency event's auxiliary event is counted, or none is needed. */
bool counter_has_auxiliary(const struct counters *p);
/* Whether counter n is enabled for load latency: by LL_EN or, with adaptive records, which have no LL_EN, by PEBS_EN. */
bool counter_latency_enabled(const struct counters *p, unsigned n);
/* Whether counter n's PEBS_EN and LL_EN are both set: without them the load-latency event counts nothing. */
bool counter_has_latency(const struct counters *p, unsigned n);

#endif
