/* bench/workloads/profile.h: counts a list of events over the kernels of rows.
 *
 * A profile is a named list of the processor's profiles.txt (the guide's appendix 1), or event names separated by commas. The planner packs it into
 * the fewest runs. Each run counts pairs of windows of n and 2n units of the row's work; the slope cancels what lies outside the kernel. Where they
 * are fixed counters, instructions and cycles are counted in every run, which makes events of different runs comparable per instruction. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "bench/measure/loop.h"

/* Default rows: every cache level and DRAM, streams, lines of other cores, branches, code beyond the L1I, a divider. */
#define PROFILE_ROWS "load.l1.latency,load.l3.latency,load.dram_local.latency,load.l3_modified_other_core.latency," \
	"triad.l2.bandwidth,triad.dram.bandwidth,branch.conditional.penalty,frontend.l1i_l2.penalty,exec.divsd_hard.interval"

#define PROFILE_NAME_MAX 32

/* What to count, and how. */
struct profile_plan {
	const char *name, *title;     /* of the profile; "events" for a list */
	struct plan plan;
	uint16_t lbr_select;          /* last-branch filter of the profile, 0 none */
	uint32_t period;              /* events between two records of a precise event, 0: no records are taken */
};

struct profile_event {
	const struct plan_slot *slot;
	int64_t unit_milli, spread_milli;   /* per unit of the row's work; median absolute deviation */
	int64_t instructions_micro;         /* per instruction of the same windows; -1 unknown */
	int64_t cycles_micro;               /* per cycle of the same windows; -1 unknown */
	const struct quirk *overcounts;     /* the quirk by which it overcounts; NULL: none known */
	bool uncounted;                     /* the simulated machine does not model the event */
};

/* A branch of the row's kernel in the last-branch records: offsets in the kernel where it runs there, else virtual addresses. */
struct profile_branch {
	uint64_t from, to;
	bool from_kernel, to_kernel;
	uint32_t count, mispredicted;
};
#define PROFILE_BRANCHES 16

/* Last-branch records left by the profile's filter while the row's kernel ran. */
struct profile_branches {
	enum status status;
	char reason[80];                   /* why there are none */
	uint32_t snapshots, records;       /* windows; records of the kernel's own branches in all windows */
	uint32_t others;                   /* records of the wrapper, and earlier ones */
	struct profile_branch list[PROFILE_BRANCHES]; /* most frequent first; others count in `records` only */
	unsigned count;
	int64_t calls_milli;               /* near calls per unit, by the profile's count; -1 unknown */
};

/* Records of one precise event of the profile, taken while the row's kernel ran. */
struct profile_site { uint32_t offset, count; };  /* of the instruction after the one that caused the record, in the kernel or its generated code */
#define PROFILE_SITES  8
#define PROFILE_RECORDS 16  /* precise events of a profile, at most */
#define PROFILE_SOURCES 16  /* codes of data sources */
struct profile_records {
	const struct event *event;
	enum status status;
	char reason[80];                    /* why there are none */
	uint32_t records, others;           /* of the row's kernel; of the wrapper */
	uint64_t events;                    /* counted beside on another counter; 0: none was free */
	bool full;                          /* the buffer filled: later records are missing */
	struct profile_site sites[PROFILE_SITES]; /* most frequent first */
	unsigned site_count;
	uint32_t addresses, outside;        /* linear addresses known, in the row's working set and elsewhere */
	bool computed;                      /* from registers and code, where the record has no field for them */
	uint32_t lines, pages;              /* of 64 bytes and 4 KiB that they name */
	uint32_t sources[PROFILE_SOURCES];  /* records by data source, load-latency event only */
	uint64_t latency_sum;
};

/* One row's kernel under a profile. */
struct profile_result {
	struct row_result row;              /* status, reason, kernel, sizes; no value */
	const char *unit;                   /* "load", "iteration", "event" */
	struct profile_event events[PLAN_EVENTS_MAX];
	unsigned count, runs, samples, rejected;
	int64_t instructions_milli, cycles_milli; /* per unit, of the first run; -1 unknown */
	struct profile_branches branches;  /* only if the plan has a filter */
	struct profile_records records[PROFILE_RECORDS]; /* only if it has a period */
	unsigned record_count;
	const struct latency_source *sources; /* names of data sources; NULL: none */
};

/* Finds and plans `what`: a profile of this processor, or a list of events. After either, ",lbr=KIND+KIND" takes last-branch records of these
 * kinds (lbr_filter_name) or of "all", and ",records=N" a record after every N events of each precise event. On failure `problem` has the name and
 * the reason: ST_MISSING: no such profile or event; ST_UNSUPPORTED: cannot be programmed here; ST_FULL: too many. */
MUST_CHECK enum status profile_find(const struct cpu *cpu, const char *what, struct profile_plan *out, char *problem, size_t capacity);
/* Measures one row's kernel. Failures are in *out. */
void profile_row(struct bench *b, const struct profile_plan *p, const struct row *r, struct profile_result *out);

/* JSON: one element of "profile" of the results. */
void profile_json(struct text *t, const struct profile_plan *p, const struct profile_result *r);
/* Lines for screen and log. */
void profile_lines(struct text *t, const struct profile_plan *p, const struct profile_result *r);

/* --- profile_options.c ------------------------------------------------------------------------- */

/* Cuts the options off the end of `list`, in any order, into lbr_select and period. ST_SYNTAX: *problem has which. */
MUST_CHECK enum status profile_options_cut(char *list, struct profile_plan *out, struct text *problem);

/* --- profile_records.c ------------------------------------------------------------------------- */

/* Takes records of each precise event of the plan; as profile_branches_take. */
void profile_records_take(struct loop *l, const struct profile_plan *p, struct profile_result *out);
/* The value of key "records"; lines for screen and log. */
void profile_records_json(struct text *t, const struct profile_plan *p, const struct profile_result *r);
void profile_records_lines(struct text *t, const struct profile_plan *p, const struct profile_result *r);

/* --- profile_branches.c ------------------------------------------------------------------------ */

/* Takes last-branch records of a row's kernel in its state; `l` is the row's loop, set up and warm. */
void profile_branches_take(struct loop *l, const struct profile_plan *p, struct profile_result *out);
/* The value of key "last_branches"; lines for screen and log. */
void profile_branches_json(struct text *t, const struct profile_plan *p, const struct profile_result *r);
void profile_branches_lines(struct text *t, const struct profile_plan *p, const struct profile_result *r);

#endif
