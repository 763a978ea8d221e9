/* bench/uncore/page_state.h: whether a row's loads found their DRAM pages as it says, by the memory controller's counts.
 *
 * A page hit needs no activate command, a page miss a precharge because another page is open. So of reads, activates and such precharges in a
 * window: hits = reads - activates, misses = precharges (manual 331051-002, 2.5.7; Levinthal's guide, tables 34 to 36). Where activates of
 * writes are counted with those of reads, hits are at least that: a chase writes nothing.
 * Not told apart: reads that others make meanwhile. */
#ifndef BENCH_PAGE_STATE_H
#define BENCH_PAGE_STATE_H

#include "bench/catalogue/result.h"

struct loop;
/* Rows of ORDER_OPEN_PAGES must hit, those over BASELINE_OPEN_PAGES must miss; others stay as they are. Before the loop's working sets are given
 * back. A row that is ok or noisy becomes `unproven` where counts are lacking or contradict it, and `unsupported` where the controller closes
 * pages by itself. What was counted goes into the proof. */
void page_state_row(struct loop *l, struct row_result *out);

#endif
