/* tests/expect/expect_branch.c: the cost of a misprediction in the loops of asm/branch.asm, and of a store to code, from the text of a machine file.
 *
 * From one misprediction to the execution of the next branch: core.mispredict_cycles until the right path is allocated, and the chain from the copy of
 * the choice, which is known by then, to its branch. An iteration that is predicted overlaps fetch, decoding and allocation with its neighbours; after a
 * misprediction these restart, which adds up to the cycles of anew(). Not modelled: the port that the wrong path took. */
#include "tests/expect/expect_branch.h"

#include <string.h>

#include "tests/expect/expect_core.h"

static int64_t field(struct machine_text *t, const char *section, const char *key) { return (int64_t)machine_field(t, section, key); }
static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* Cycles that front end and allocation take, without overlap, for that many instructions of that many bytes in that many pieces of code. */
static int64_t anew(struct machine_text *t, int64_t instructions, int64_t bytes, int64_t pieces)
{
	const int64_t width = larger(1, smaller(field(t, "core", "issue_width"), field(t, "core", "retire_width"))), group = larger(1, field(t, "front", "decode_bytes"));
	const int64_t fetched = bytes / group + pieces * (1 + field(t, "front", "taken_cycles")), decoded = instructions / larger(1, field(t, "front", "decode_width")) + pieces;

	return larger(fetched, decoded) + instructions / width + 1;
}

enum status branch_milli(struct machine_text *t, const char *row, int64_t *least_milli, int64_t *most_milli)
{
	const int64_t dispatch = field(t, "core", "dispatch_cycles"), branch = cost_of(t, "branch").latency, one = cost_of(t, "int").latency;
	const int64_t compared = field(t, "core", "macrofusion") ? 0 : one, copied = dispatch + (field(t, "core", "move_elimination") ? 0 : one);
	int64_t chain, more;

	if (!strcmp(row, "branch.conditional.penalty")) {
		chain = field(t, "core", "mispredict_cycles") + copied + compared + branch;
		more = anew(t, 9, 26, 2);
	} else if (!strcmp(row, "branch.indirect.penalty")) {
		chain = field(t, "core", "mispredict_cycles") + copied + branch;
		more = anew(t, 11, 31, 3);
	} else if (!strcmp(row, "branch.return.penalty")) { /* the return address is stored, and forwarded to the return */
		chain = field(t, "core", "mispredict_cycles") + dispatch + larger(cost_of(t, "std").latency, cost_of(t, "sta").latency) + field(t, "store", "forward_cycles") + branch;
		more = anew(t, 9, 24, 3);
	} else if (!strcmp(row, "sync.self_modifying_code.penalty")) { /* from the store's retirement on; the next store dispatches after its allocation */
		chain = field(t, "core", "smc_cycles") + dispatch + larger(cost_of(t, "std").latency, cost_of(t, "sta").latency);
		more = anew(t, 11, 20, 4);
	} else {
		return ST_MISSING;
	}
	/* Of what restarts, more than half may lie before a conditional branch, which comes late in its iteration and waits for nothing else; a predicted indirect
	 * jump costs some of it, too. The address of a return is stored early, and forwarded while the rest restarts. */
	const int64_t sooner = !strcmp(row, "branch.conditional.penalty") ? 250 : !strcmp(row, "branch.indirect.penalty") ? 350 : 400;
	const int64_t later = !strcmp(row, "branch.conditional.penalty") ? 700 : !strcmp(row, "branch.indirect.penalty") ? 350 : 250;
	*least_milli = 1000 * chain - sooner * more;
	*most_milli = 1000 * chain + later * more;
	return t->missing ? ST_SYNTAX : ST_OK;
}
