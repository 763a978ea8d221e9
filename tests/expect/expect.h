/* tests/expect/expect.h: what a row should find on a machine, from the text of its machine file.
 *
 * A kernel does not measure a field itself, but a formula over fields. The formulas here are written from
 * tables/machines/FORMAT.md, and know nothing of the simulator's code. */
#ifndef TESTS_EXPECT_H
#define TESTS_EXPECT_H

#include "pmu/base.h"

/* What a row should give: `least` to `most` in thousandths of the row's unit. */
struct expectation { int64_t least_milli, most_milli; };

/* Computes the expectation of a row. `format` is the text of FORMAT.md, whose presets replace fields that the
 * file omits or calls unknown. ST_MISSING: no formula for this row. ST_UNSUPPORTED: on this machine the
 * row has nothing to measure. ST_SYNTAX: the texts do not parse. */
MUST_CHECK enum status expect_row(const char *machine, const char *format, const char *row, struct expectation *out);

/* Whether this machine may hide what the row looks for; the row is then `unsupported`. */
bool expect_may_hide(const char *machine, const char *format, const char *row);
/* Whether a size that is `unproven` for this reason is the size of another structure of the machine, which filled first. */
bool expect_is_limited(const char *machine, const char *format, const char *row, int64_t milli, const char *reason);

/* How long a load of a row holds an entry of the uncore's read tracker, from allocation to deallocation, in thousandths of uncore cycles, without
 * the way between core and queue. 5 % on either side. Statuses as above. */
MUST_CHECK enum status expect_queue(const char *machine, const char *format, const char *row, struct expectation *out);

/* The texts that formulas read. missing: neither text has a requested field. */
struct machine_text { const char *machine, *format; bool missing; };
/* A field's value; 0 if it is missing. machine_field: with several memory nodes a socket (topology.nodes) that of a node as if it were a socket: cores, slices,
 * channels and bytes of the L3 are divided by the nodes, sockets multiplied. machine_told: as it is in the text. */
uint64_t machine_told(struct machine_text *t, const char *section, const char *key);
uint64_t machine_field(struct machine_text *t, const char *section, const char *key);
/* How many entries above the page's own a walk loads, for random addresses within that many bytes: those that no paging-structure cache holds.
 * `page`: log2 of the page's size, 12, 21 or 30. */
void machine_walk_loads(struct machine_text *t, unsigned page, uint64_t span_bytes, uint64_t *least, uint64_t *most);
/* A field of the machine, by section and key. ST_MISSING when neither text has it. */
MUST_CHECK enum status expect_field(const char *machine, const char *format, const char *section, const char *key,
                                    uint64_t *value);

#endif
