/* tests/unit/support/reviewed.h: lists of reviewed differences between our tables and an oracle (tables/processors/NAME/reviewed*.csv).
 * kind: same (under another name), differs, unknown (to the oracle), absent (from our table on purpose), pmu (the oracle's name of the
 * processor, which is not compared). */
#ifndef TESTS_REVIEWED_H
#define TESTS_REVIEWED_H

#include <stdbool.h>
#include <stdint.h>

struct review { char name[96], kind[16], oracle[256], reason[256]; bool used; };

/* Reads tables/processors/`list`.csv ("nehalem-ep/reviewed"); a missing file is an empty list. A line without a reason fails the test. */
void reviewed_read(const char *list);
/* The oracle's name of the processor, from the list's line of the kind `pmu`; "" if the oracle lacks it, NULL if the list has no such line. */
const char *reviewed_pmu(void);
/* The first line whose pattern matches the name, marked as used; NULL if there is none. */
struct review *reviewed_find(const char *name);
/* Fails the test if a line matched no name, or a line of the kind `absent` matched one. */
void reviewed_check_stale(void);

/* Judges one event by our code and the oracle's (known: the oracle has it). Counts the outcome, and prints it if it is reviewed or unexplained. */
void reviewed_judge(const struct review *r, const char *name, const char *asked, bool known, bool same, uint64_t ours, uint64_t theirs);
struct reviewed_counts { unsigned agree, differ, unknown, bad; };
/* Prints and returns the counts since reviewed_read. */
struct reviewed_counts reviewed_sum(const char *what, const char *oracle);

/* libpfm4's codes of a name, up to `most`; false: it does not know the name. Also encodes events of processors other than the host's. */
bool reviewed_ask_libpfm(const char *name, uint64_t *codes, unsigned most);

/* Calls `each` with the first two codes of every event of a libpfm4 PMU, alone and with each of its unit masks. */
void reviewed_walk_libpfm(const char *pmu, void (*each)(const char *name, const uint64_t codes[2]));

#endif
