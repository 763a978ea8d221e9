/* tests/unit/support/reviewed.h: lists of reviewed differences between our tables and an oracle (tables/processors/NAME/reviewed*.csv).
 * kind: same (only another name), differs, unknown (to the oracle), absent (from our table on purpose), pmu (the oracle's name of the
 * processor; it stands in no comparison). */
#ifndef TESTS_REVIEWED_H
#define TESTS_REVIEWED_H

#include <stdbool.h>
#include <stdint.h>

struct review { char name[96], kind[16], oracle[256], reason[256]; bool used; };

/* Reads tables/processors/`list`.csv ("nehalem-ep/reviewed"); a file that is not there is an empty list. The test fails on a line without a reason. */
void reviewed_read(const char *list);
/* What the list's line of the kind `pmu` names; "" if the oracle has no such processor, NULL if the list has no such line. */
const char *reviewed_pmu(void);
/* The first line whose pattern fits the name, marked as used; NULL if there is none. */
struct review *reviewed_find(const char *name);
/* Fails the test for a line that fitted nothing (or, of the kind `absent`, something). */
void reviewed_check_stale(void);

/* One event: ours and the oracle's codes (known = the oracle has it). Counted below, printed if it is reviewed or unexplained. */
void reviewed_judge(const struct review *r, const char *name, const char *asked, bool known, bool same, uint64_t ours, uint64_t theirs);
struct reviewed_counts { unsigned agree, differ, unknown, bad; };
/* Prints and returns the counts since reviewed_read. */
struct reviewed_counts reviewed_sum(const char *what, const char *oracle);

/* libpfm4's codes of a name, up to `most`; false: it does not know the name. Encodes for processors that this machine is not. */
bool reviewed_ask_libpfm(const char *name, uint64_t *codes, unsigned most);

/* Calls `each` with the first two codes of every unit of every event of one of libpfm4's PMUs; the name is NUL-terminated. */
void reviewed_walk_libpfm(const char *pmu, void (*each)(const char *name, const uint64_t codes[2]));

#endif
