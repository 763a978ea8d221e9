/* bench/measure/loop.h: shared by the files of the measuring loop: window.c (one run of one kernel), window_set_up.c and window_prepare.c (working
 * sets and their cache state), evidence.c (a row's counters, and what samples mean), measure.c (the loop itself). */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include "bench/measure/measure.h"
#include "pmu/core/concept.h"

#define CLOCK_ADDS 8192u             /* dependent adds in the shorter clock window */
#define SMT_PROBE_NOPS 8192u           /* iterations of k_nop, some two cycles each, in the shorter window */
#define CHAIN_OPERATIONS 16u         /* an iteration of k_add_chain, of k_imul_chain */
#define RUNS_ANY PLAN_RUNS_MAX        /* no limit on a plan's runs */

struct working_set {
	const struct kernel *kernel;
	struct shape shape;
	struct mapping map;
	bool mapped;
	uint64_t at;     /* start of the next window: node, or byte offset of a stream */
	uint32_t window;  /* units of work: longer window minus shorter */
	uint32_t shorter; /* units of work of the shorter window */
	uint32_t flushed_left; /* rings of several regions (curve_regions): flushed nodes not yet read */
	uint32_t fresh_left;   /* CURVE_OVERLAP: nodes that points may read before the next pass over the whole ring */
	uint64_t emptied;   /* of a ring beyond all caches: nodes whose lines, left by earlier rows, windows have flushed */
	const struct row_pair *pair;
	enum fill fill;  /* of a pair's buffer */
	enum code code;
	struct mapping code_map;
	bool code_mapped;
};

struct counting {
	struct plan plan;
	const struct event *list[ROW_EVENTS_MAX]; /* in the plan's order: the cycles, then those of the proof's concepts */
	unsigned events;
	const struct row_proof *proofs;
	const struct expression *expressions[ROW_PROOFS_MAX]; /* the processor's expression of each proof's concept */
	unsigned proof_count;
	unsigned instructions;             /* index of the retired instructions in the list; 0: not counted */
	/* Reasons for no proofs, NULL or false if they do not apply. */
	const struct event *uncounted;     /* an event that would prove the row, but that no counter of this machine counts */
	const struct expression *unproving; /* a concept's expression on this processor: none, or inexact */
	bool node_unknown;                 /* the expression does not distinguish nodes, and the node is not known */
	bool crowded;                      /* the events do not fit into so few runs */
	bool absence;                      /* the events count more than the row's stall, so they prove only its absence */
	uint32_t unmodelled;               /* bit i: a simulated machine knows list[i] by name only, and a 0 read for it is not a count */
	bool on;
};

enum loop_kernel { KERNEL_TEST, KERNEL_BASELINE, KERNEL_CLOCK, KERNEL_SMT_PROBE };

struct loop;
/* Calls of other methods around the windows of a row; each may be NULL. bench/suite/execute.c lists them. */
struct loop_hooks {
	void (*begin)(struct loop *l, struct row_result *out); /* before the first window */
	void (*before)(struct loop *l);                        /* before each window of the test whose cycles are counted */
	void (*after)(struct loop *l, unsigned keep, bool longer); /* after it: the shorter or the longer window of pair `keep` */
	void (*value)(struct loop *l, uint64_t code, struct row_result *out); /* when the row has a value; `code`: address of a curve's code, else 0 */
	void (*end)(struct loop *l, struct row_result *out);   /* after the last window; the working sets are still mapped */
};

struct loop {
	struct bench *b;
	const struct row *row;
	struct working_set sets[2];
	unsigned set_count;
	struct counting counting;
	const struct loop_hooks *hooks; /* NULL: none */
	void *beside;       /* the hooks' own state for this row */
	unsigned pairs;     /* accepted pairs of windows so far */
	unsigned rejected;
	bool work_agrees;   /* the retired instructions equal those of the kernel */
	bool unsure;        /* a stream whose windows differ at any length: the row takes many of them, and their mean */
	bool smt_probed;    /* bench/measure/smt_probe.h detects rounds in which the core was shared */
	uint32_t clock_adds;
	struct job job;     /* the last one, for a fault's vector and address */
};

/* Whether the two windows of each kernel follow one another, the longer one first in every other round. */
static inline bool loop_has_neighbours(const struct loop *l)
{
	return l->row->pair && l->row->statistic == STAT_MINIMUM && l->b->cycles;
}

/* --- measure.c --------------------------------------------------------------------------------- */

/* Measures a row after row_begin, on b->core; calls `hooks`, whose state is `beside`. *out gets every outcome: a fault, a
 * missing event, a spread. */
void measure_row(struct bench *b, const struct row *r, const struct loop_hooks *hooks, void *beside, struct row_result *out);
/* Names the row in *out and chooses its kernel; false: the processor supports none, and *out has the reason. */
bool row_begin(struct bench *b, const struct row *r, struct row_result *out);
/* Sets the row's status from st, with a reason; `job`, if given, has a fault's vector and address. */
void row_failed(struct row_result *out, enum status st, const struct job *job, const char *where);

enum loop_sets { LOOP_TEST_ALONE, LOOP_WITH_BASELINE };
/* Maps and fills the working sets of a row whose kernel *out names: the test's, and the baseline's if `sets` and the row have one. False:
 * *out has the reason, and nothing is mapped. loop_end unmaps. */
bool loop_begin(struct loop *l, struct bench *b, const struct row *r, enum loop_sets sets, struct row_result *out);
void loop_end(struct loop *l, struct row_result *out);

/* --- prefetchers.c ----------------------------------------------------------------------------- */

/* Whether the processor has switches for its prefetchers. */
bool prefetchers_known(const struct bench *b);
/* Switches the prefetchers of b->core off; prefetchers_back restores *found. False when there are no
 * such switches, or they do not keep the written value. */
bool prefetchers_off(struct bench *b, uint64_t *found);
/* The same except for the adjacent-line prefetcher; false also where its bit is not known. */
bool prefetchers_pair(struct bench *b, uint64_t *found);
bool prefetchers_back(struct bench *b, uint64_t found);

/* --- window.c, window_prepare.c, window_set_up.c ------------------------------------------------ */

/* Draws the order of a round's n windows, numbered 2 * kernel + longer. Where loop_has_neighbours, those of a kernel follow one another, the longer one
 * first or last: the wrapper's call of a kernel is predicted where the same kernel ran last, thus in a window of either length in every other round,
 * and the least windows of both lengths, of test and baseline alike, contain no misprediction of it. */
void window_order(struct loop *l, uint32_t *order, unsigned n, bool longer_first);

/* The owner of a working set: the row, or its baseline. */
enum window_role { WINDOW_TEST, WINDOW_BASELINE };
/* The outcome of one run of one kernel under the wrapper. */
#define WINDOW_EVENTS_MAX MEASURE_COUNTERS_MAX
struct window { uint64_t began, tsc, result; /* began: TSC */ uint64_t counts[WINDOW_EVENTS_MAX]; };

/* Runs kernel(arguments) under the wrapper, which reads the counters of run `run` of the plan; NULL: none. */
MUST_CHECK enum status window_run(struct bench *b, const struct kernel *k, const uint64_t arguments[6],
                                  const struct counting *c, unsigned run, struct window *out, struct job *job);
/* The same on any core. */
MUST_CHECK enum status window_run_on(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                                     const struct counting *c, unsigned run, struct window *out, struct job *job);
/* Its two halves, for multicore runs: fills a core's block and job; reads the block afterwards. */
MUST_CHECK enum status window_load(struct bench *b, unsigned core, const struct kernel *k, const uint64_t arguments[6],
                                   const struct counting *c, unsigned run, struct job *job);
void window_read(struct bench *b, unsigned core, const struct counting *c, unsigned run, struct window *out);
/* Changes a filled job so that the wrapper flushes its own lines before it enters the kernel. */
MUST_CHECK enum status window_cold(struct job *job);
/* Arguments of a working set's kernel. */
void window_arguments(const struct bench *b, const struct working_set *w, uint64_t units, uint64_t arguments[6]);
/* Runs a working set's kernel for `units` of work, from the end of the latest window. */
MUST_CHECK enum status window_units(struct bench *b, struct working_set *w, uint64_t units, const struct counting *c,
                                    unsigned run, struct window *out, struct job *job);
/* Whether a working set lies in the L1, or takes half of it with one line per page, and is therefore reloaded within the job that counts: code
 * that runs between two jobs displaces lines of the first level. */
bool window_reloads(const struct bench *b, const struct row *r, const struct working_set *w, enum window_role role);
/* window_units after such a reload, if there is one. */
MUST_CHECK enum status window_units_reloaded(struct bench *b, const struct row *r, struct working_set *w, enum window_role role, uint64_t units,
                                             const struct counting *c, unsigned run, struct window *out, struct job *job);
/* Whether the last level's replacement can still turn out not to be LRU: a probe found that, or some probes remain. */
bool window_may_forget(const struct bench *b);
/* *more: further passes needed to evict all earlier lines from the last level, which `units` iterations up to w->at have just filled. 0 unless a
 * probe found that its replacement is not LRU. The level is probed at most twice a run. units 0: no probe.
 * `filled`: ticks of the pass that filled the level, 0: unknown. */
MUST_CHECK enum status window_fills(struct bench *b, const struct row *r, struct working_set *w, uint64_t units, uint64_t filled, unsigned *more, struct job *job);
/* The kernel that touches the arrays of a row's stream k, one word per line. */
const char *window_warm_kernel(const struct row *r, const struct kernel *k);
/* Arguments of that kernel, or of k_warm_flush, for the lines that `units` iterations of the stream use from w->at on, rounded to its own iterations. */
void window_warm_arguments(const struct bench *b, const struct working_set *w, const struct kernel *warmer, uint64_t units, uint64_t arguments[6]);
/* Without a cycle counter: *tick_micro is core cycles per TSC tick, in millionths, from windows of dependent additions. */
MUST_CHECK enum status window_clock(struct bench *b, struct job *job, int64_t *tick_micro);
/* The same before each attempt at a point of a curve, unless c counts cycles: a real machine's clock moves during the row. Otherwise *tick_micro stays. */
MUST_CHECK enum status window_clock_follow(struct bench *b, const struct counting *c, struct job *job, int64_t *tick_micro);
/* Whether cycles are known: by a counter, or because dependent products take the expected number of additions (compared once a run). False:
 * *why gives the number found. */
bool window_clock_agrees(struct bench *b, struct text *why);
/* Brings the working set into its state before a window of `units`. */
MUST_CHECK enum status window_prepare(struct bench *b, const struct row *r, struct working_set *w, enum window_role role,
                                      uint64_t units, struct job *job);
/* The passes before the first window. */
MUST_CHECK enum status window_warm_up(struct bench *b, const struct row *r, struct working_set *w, enum window_role role,
                                      struct job *job);
/* After a row's last window: flushes the lines that a stream of regular stores modified, whose write-backs would take channel time from later
 * rows, and the lines that other cores were given. */
MUST_CHECK enum status window_leave(struct bench *b, const struct row *r, struct working_set *w, struct job *job);
/* Maps a working set, the slot-th of its row, and fills it. */
MUST_CHECK enum status window_set_up(struct bench *b, struct working_set *w, unsigned slot, struct row_result *out);

/* --- tlb_size.c, tlb_time.c -------------------------------------------------------------------- */

/* Measures TLB sizes by rings of pages and sets b->own.tlb: before the first row about pages, by counts where CPUID does not report them, by
 * time where no counter counts cycles; before the first row of loads from memory, the 2 MiB pages of the first level. */
void tlb_size_look(struct bench *b, const struct row *r);
/* Whether the data TLB keeps pages of 2 MiB as pieces of 4 KiB, so that a chase over more pieces than entries misses: counted once, in jobs of
 * its own. False also where that cannot be counted. */
bool tlb_splits_large_pages(struct bench *b);
/* Whether a level that is told to have `told` entries can be the one found to hold `holds` pages and not `beyond`: in a level of several ways the
 * first pages too many cost little. */
bool tlb_time_agrees(uint32_t told, uint32_t holds, uint32_t beyond);
/* tlb_time.c: the sizes of both levels by time; second 0: no such level was found. `r`: its kernel chases. ST_MISSING: no ring took longer because of
 * its pages. */
MUST_CHECK enum status tlb_time_sizes(struct bench *b, const struct row *r, struct tlb_by_time *sizes);

/* --- evidence.c -------------------------------------------------------------------------------- */

/* Chooses the first set of a row's proofs that the processor can count, and plans its events together with cycles into at most
 * `runs` runs. */
void evidence_plan(struct bench *b, const struct row *r, unsigned runs, struct counting *c);
/* Whether the counted set contains the concept. */
bool evidence_counts(const struct counting *c, const char *concept);
/* The same for one set. False: it cannot be counted in `runs`, and *c has the reason. */
bool evidence_plan_set(struct bench *b, const struct row_proof_set *set, unsigned runs, struct counting *c);
/* The same, also where a simulated machine knows some of the events by name only: c->unmodelled, and the counts are then the least that there can be. */
bool evidence_plan_least(struct bench *b, const struct row_proof_set *set, unsigned runs, struct counting *c);
/* Writes why nothing proves a row (c->proof_count is 0). True: no machine with this processor could prove it. */
bool evidence_lacking(const struct bench *b, const struct counting *c, struct text *why);
/* Appends "; noisy: NOISE" to the reason of an unproven row whose samples are noisy. */
void evidence_add_noise(struct row_result *out, const char *noise);
/* Evaluates the proofs' concepts from the counts of c->list. */
void evidence_values(const struct counting *c, const int64_t *counts, int64_t *values);
/* Whether values per unit of work, in thousandths, lie within the proofs' bounds. Writes "EVENT 1.000 per load, ..." into *text. */
bool evidence_holds(const struct counting *c, const int64_t *per_unit_milli, const char *unit, struct text *text);
/* Writes why counts that evidence_holds found outside the bounds do not prove a row: all of them (`proof`, its text), or where that does not fit, the first
 * such count alone, by its concept. True: each of them has an event that this simulated machine does not model, which the text names then. */
bool evidence_refutes(const struct counting *c, const int64_t *per_unit_milli, const char *unit, const char *proof, struct text *reason);
/* Whether an event of the plan is one that this simulated machine does not model; writes its name. */
bool evidence_unmodelled(const struct counting *c, struct text *reason);
/* Whether the retired instructions per unit of work, in millionths, equal those in the record of the working set's kernel or code: then the row
 * divides by the number of operations that were done. */
enum work_check { WORK_UNKNOWN /* not counted, or the number of units of an iteration is random */, WORK_AGREES, WORK_DIFFERS };
enum work_check evidence_work(const struct counting *c, const struct working_set *w, const int64_t *counts_micro, int64_t *expected_micro);
/* Applies that check to a row, in addition to its proof or, if it has none, as its proof. False: the row is unproven, and *out has the
 * reason. */
bool evidence_work_holds(const struct counting *c, const struct working_set *w, const int64_t *counts_micro, const char *unit, struct row_result *out);
/* Samples to value, spread, proof and status. */
MUST_CHECK enum status evidence_reduce(struct loop *l, struct row_result *out);

#endif
