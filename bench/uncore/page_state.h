/* bench/uncore/page_state.h: checks that a row's loads found their DRAM pages in the state it claims, by the memory controller's counts.
 *
 * A page hit needs no activate; a page miss needs a precharge because another page is open. In a window, hits = reads - activates and misses =
 * precharges of page misses (manual 331051-002, 2.5.7; Levinthal's guide, tables 34 to 36). Where activates of writes are counted too, this is a
 * lower bound on hits; a chase writes nothing.
 * Not modelled: concurrent reads by other agents. */
#ifndef BENCH_PAGE_STATE_H
#define BENCH_PAGE_STATE_H

#include "bench/catalogue/result.h"

struct loop;
/* Rows of ORDER_OPEN_PAGES must hit, rows over BASELINE_OPEN_PAGES must miss; other rows are left alone. Call it before the loop's working sets are
 * released. An ok or noisy row becomes `unproven` if counts are missing or contradict it, and `unsupported` if the controller closes pages by
 * itself. The counts go into the proof. */
void page_state_row(struct loop *l, struct row_result *out);

#endif
