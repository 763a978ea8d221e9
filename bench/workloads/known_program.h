/* bench/workloads/known_program.h: precise sampling and last-branch records checked on a small program of known loops, branches and calls
 * (k_known_program), two checks of the events themselves, and the interference of two threads of a core.
 *
 * Levinthal's guide: "Loop Tripcounts", "Call Counts and Function Arguments", "LBRs and Basic Block Execution Counts", "Precise Execution Events",
 * and the identity that retired loads by source add up to all retired loads.
 * Sprunt, IEEE Micro 2002: fp_add_latency and l1_miss on one and on two threads. */
#ifndef BENCH_STUDY_H
#define BENCH_STUDY_H

#include "pmu/base.h"
#include "pmu/text.h"

#define KNOWN_PROGRAM_BINS   8   /* values 0 .. 6, and 7 and above */
#define KNOWN_PROGRAM_LOOPS  4
#define KNOWN_PROGRAM_BLOCKS 24

/* Distribution of the values found in records. */
struct known_program_values {
	uint32_t count;
	int64_t mean_milli, rms_milli;
	uint64_t least, most;
	uint32_t bins[KNOWN_PROGRAM_BINS];
	uint64_t sum, squares, parts_of_one; /* of the values; parts_of_one: of their reciprocals, in 2^-20 */
};

enum known_program_part { KNOWN_PROGRAM_TRIPS, KNOWN_PROGRAM_ARGUMENTS, KNOWN_PROGRAM_ADDRESSES, KNOWN_PROGRAM_BLOCKS_PART, KNOWN_PROGRAM_CALLS, KNOWN_PROGRAM_CYCLES, KNOWN_PROGRAM_LOADS,
	KNOWN_PROGRAM_TRAFFIC, KNOWN_PROGRAM_THREADS, KNOWN_PROGRAM_PARTS };
const char *known_program_part_name(enum known_program_part p);

struct known_program_loop {
	uint32_t branch;            /* offset of the loop's branch in the kernel */
	struct known_program_values trips;   /* one per invocation, from the last-branch records of whole iterations */
	struct known_program_values sampled; /* from the registers of precise records, each weighted by 1 / its trip count; the shadow still hides some */
};

/* A basic block: from a branch target or the address after a branch, up to the next branch or block. */
struct known_program_block { uint32_t start; uint32_t executions; int64_t per_iteration_milli; };
/* A conditional branch taken at least once. */
struct known_program_branch { uint32_t at, taken, passed; };

/* One thread of a core: uops retired per cycle in millionths, L1 misses per iteration in thousandths, and the other thread's uops in the same
 * cycles, where the same counters can count them. */
struct known_program_rate { int64_t uops_micro, misses_milli, other_micro; bool other_known; };
/* A kernel on one thread of a core, then on both at once. */
struct known_program_smt_pair { const char *name, *kernel; struct known_program_rate alone, together[2]; };
#define KNOWN_PROGRAM_SMT_PAIRS 2
/* Uops per cycle of both threads together. Where one thread's counters see both threads, the mean of both threads' readings; else the sum of each
 * thread's own count. */
int64_t known_program_together_micro(const struct known_program_smt_pair *c);

struct known_program_result {
	bool ran;
	struct { enum status status; char reason[80]; } parts[KNOWN_PROGRAM_PARTS];
	struct known_program_loop loops[KNOWN_PROGRAM_LOOPS];
	uint32_t loop_count;
	struct known_program_values argument;       /* RCX at the entry of the called routine */
	uint32_t iterations;                     /* complete iterations of the outer loop in all trajectories */
	struct known_program_block blocks[KNOWN_PROGRAM_BLOCKS];
	uint32_t block_count;
	struct known_program_branch branches[KNOWN_PROGRAM_BLOCKS];
	uint32_t branch_count;
	uint32_t calls, call_sites;         /* calls recorded, and their distinct call sites */
	uint32_t cycle_records;             /* of the precise cycle event: all, and those within the kernel */
	uint32_t cycle_records_inside;
	int64_t cycles_milli;               /* cycles that these records represent, per cycle counted */
	uint64_t loads, sources;            /* loads retired; sum of all their sources */
	uint32_t addresses;                 /* records of plain loads from the buffer with a reconstructed address */
	uint32_t addresses_right;           /* ... that holds the value loaded */
	uint64_t read_lines[2], nt_lines[2];/* DRAM lines of this node and of others: read, written non-temporally */
	uint64_t nt_lines_stored;           /* lines the loop stored */
	struct known_program_smt_pair contests[KNOWN_PROGRAM_SMT_PAIRS];
};

struct bench;
/* Runs all parts. A part that cannot run has its status and reason in *out. */
void known_program_run(struct bench *b, struct known_program_result *out);
/* JSON: the value of key "study" of the results. */
void known_program_json(struct text *t, const struct known_program_result *s);
/* Table: lines below it. */
void known_program_lines(struct text *t, const struct known_program_result *s);

#endif
