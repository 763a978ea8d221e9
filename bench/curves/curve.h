/* bench/curves/curve.h: rows whose value is found along a curve: how many misses overlap, where a buffer of the core is full.
 *
 * Each point is a piece of code of its own, written at run time, which k_run_code runs over a ring of nodes: a node's first
 * 8 bytes are the address of the next (k_run_code_cold, where lines are many: it flushes those of the wrapper). At a node
 *   CURVE_OVERLAP  the load of the next address and x - 1 loads of other lines of the node start together
 *   CURVE_WALKS    as CURVE_OVERLAP, each load in a page of its own that no TLB level holds
 *   CURVE_TWICE    one line of the node is loaded, and in the same cycle the next address from the same line (x is 1)
 *   CURVE_WINDOW   the next address is loaded (A), then come x fillers, then a load of another line of the node (B), and the
 *                  next node waits for both: as long as B enters the core before A is there, both misses overlap (Wong,
 *                  http://blog.stuffedcow.net/2013/05/measuring-rob-capacity/). x is doubled from 1 until a turn is nearer to one of CURVE_SERIAL
 *                  than to what it takes by what fillers took so far, then the last x before that is searched by
 *                  bisection. Where no step is there to be seen the row says so.
 *   CURVE_SERIAL   as CURVE_WINDOW, but B's address needs the value that frees what B waits for: A's, or that of a filler that misses, which may
 *                  find A's DRAM page open and be there before A
 *   CURVE_SPREAD   as CURVE_OVERLAP, each load in a region of memory of its own, so that no two are of one DRAM page: what a
 *                  miss costs does not hang on which rows other loads have opened
 *   CURVE_PAIRS    lines of x entries of the super queue start together: half as many loads, the other line of each one's pair brought by
 *                  the prefetcher that does that, and for an odd x a load whose pair's other line the L2 has. Then the
 *                  other lines are loaded: what was not brought, since no entry was free, comes from memory now. The
 *                  value is the last x at which they do not take half of a load from memory.
 *   CURVE_CHAINS   no ring: x dependent additions a turn, turns independent of each other; the value is of one addition */
#ifndef BENCH_CURVE_H
#define BENCH_CURVE_H

#include "bench/measure/loop.h"

enum curve_what { CURVE_OVERLAP, CURVE_TWICE, CURVE_WINDOW, CURVE_CHAINS, CURVE_WALKS, CURVE_SPREAD, CURVE_PAIRS, CURVE_SERIAL };
/* What stands between the two loads of CURVE_WINDOW, and which of the core's buffers it fills. */
enum filler {
	FILLER_NOP,     /* reorder buffer: waits for nothing, leaves behind the first load alone */
	FILLER_WAITING, /* reservation station: waits for the first load's value */
	FILLER_LOAD,    /* load buffer: a line in the L1 */
	FILLER_STORE,   /* store buffer: likewise */
	FILLER_MISS     /* fill buffers: each another line that misses, B's as well in a region of its own, as with CURVE_SPREAD. CURVE_PAIRS: the other lines are loaded; any other: they are not */
};
/* How a curve becomes the row's value. */
enum curve_value { VALUE_FLAT /* the first that none undercuts by more than 1 % */, VALUE_LAST, VALUE_KNEE /* the last x before the knee, plus `both` */ };

struct row_curve {
	enum curve_what what;
	enum filler filler;
	enum curve_value value;
	uint16_t most;  /* the largest x that is tried */
	uint8_t both;   /* of the two loads of CURVE_WINDOW, how many take an entry beside the fillers */
};

/* Measures the row. Everything is in *out. */
void curve_row(struct bench *b, const struct row *r, struct row_result *out);
/* Brings the ring into its state before a window of so many turns; runs them, from where the last window ended, by the code
 * at `code`. */
MUST_CHECK enum status curve_prepare(struct loop *l, uint64_t turns);
MUST_CHECK enum status curve_window(struct loop *l, uint64_t code, uint64_t turns, struct window *out);
/* A JSON object. */
void curve_json(struct text *t, const struct curve *c);

/* --- curve_code.c ------------------------------------------------------------------------------ */

#define CURVE_NODE_BYTES 4096u   /* in memory */
#define CURVE_REGIONS 24u        /* of CURVE_SPREAD: as many loads a node at most */
#define CURVE_PAGE (4096u + 64u) /* from one load of CURVE_WALKS to the next: on by a page and a line, not all in one set of the L1 */
#define CURVE_SECOND 2048u       /* where in a node B lies */
#define CURVE_SINGLE 3968u       /* where in a node of CURVE_PAIRS the pair lies of which one line alone is loaded */
#define CURVE_SENDS 8u           /* where in a node of CURVE_TWICE the load lies that sends for its line */
#define CURVE_CODE_BYTES 0x4000u

/* Of how many regions a turn takes a line at most; 0: all lie in the node. */
static inline uint32_t curve_regions(const struct row_curve *c)
{
	return c->what == CURVE_SPREAD ? CURVE_REGIONS : c->what == CURVE_WINDOW && c->filler == FILLER_MISS ? c->most + 2u : 0;
}
/* Writes the code of point x, at most CURVE_CODE_BYTES; returns its length, 0 when it does not fit. `lines` a node; of
 * regions, from one to the next. */
uint32_t curve_code(const struct row_curve *c, uint32_t x, uint32_t lines, uint8_t *code);
/* Where in a node the j-th further line of point x lies, j from 0: `lines` lines a node, a power of two. */
uint32_t curve_line(uint32_t j, uint32_t lines);

#endif
