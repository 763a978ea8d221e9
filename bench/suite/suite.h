/* bench/suite/suite.h: runs rows of the benchmark table on a backend and writes what they gave.
 *
 * efi/ and runner/ call this, with the same arguments and the same results: what is written
 * outside the environment block depends on the backend's machine alone. */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "bench/results/report.h"
#include "bench/results/settings.h"
#include "bench/results/table.h"

/* Checks the settings against the tables: a name that matches no row is one line in `problem`. */
MUST_CHECK enum status suite_check(const struct suite_settings *s, char *problem, size_t capacity);
/* The same for what the processor must be able to count: ST_OK, or the name and the reason in `problem`. */
MUST_CHECK enum status suite_check_processor(const struct cpu *cpu, const struct suite_settings *s, char *problem, size_t capacity);
/* The same for cores and nodes that the machine must have. */
MUST_CHECK enum status suite_check_cpuset(const struct access *a, const struct suite_settings *s, char *problem, size_t capacity);
/* Whether these settings take in the row. */
bool suite_selects(const struct suite_settings *s, const struct row *r);
/* Whether they take in something by this name that belongs to these suites (bits of enum suites). */
bool suite_selects_name(const struct suite_settings *s, const char *name, unsigned suites);
/* Runs them. ST_OK whatever the rows gave; another status when nothing could be run at all. */
MUST_CHECK enum status suite_run(const struct access *a, const struct cpu *cpu, const struct suite_settings *s,
                                 const struct suite_host *host, struct suite_summary *out);
/* Equal for runs that may go on in each other's journal: same build, machine and settings. In the journal's first line. */
uint64_t suite_key(const struct access *a, const struct cpu *cpu, const struct suite_settings *s);
/* results.json and penalties.csv from a journal that has its end, byte for byte as the run wrote them, by host->write
 * (get and put as well). ST_MISSING: no beginning or no end; ST_SYNTAX: a damaged line; or what writing gave. */
MUST_CHECK enum status suite_rebuild(const char *journal, size_t bytes, const struct suite_host *host);
/* What a run's directory is called before its number: PRODUCT-ID, the product as a file's name, the id 16 bits
 * of a hash of what stays the same on that machine. */
void suite_run_name(char *to, size_t capacity, const char *product, uint64_t identity);

#endif
