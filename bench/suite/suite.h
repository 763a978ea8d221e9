/* bench/suite/suite.h: runs rows of the benchmark table on a backend and writes their results.
 *
 * efi/ and runner/ call it with the same arguments and get the same results: everything outside the environment block depends only on the
 * backend's machine. */
#ifndef BENCH_SUITE_H
#define BENCH_SUITE_H

#include "bench/results/report.h"
#include "bench/results/settings.h"
#include "bench/results/table.h"

/* Checks the settings against the tables: a name that matches no row is one line in `problem`. */
MUST_CHECK enum status suite_check(const struct suite_settings *s, char *problem, size_t capacity);
/* Checks that the processor can count what the settings need: ST_OK, or the name and the reason in `problem`. */
MUST_CHECK enum status suite_check_processor(const struct cpu *cpu, const struct suite_settings *s, char *problem, size_t capacity);
/* Checks that the machine has the cores and nodes of the settings. */
MUST_CHECK enum status suite_check_cpuset(const struct access *a, const struct suite_settings *s, char *problem, size_t capacity);
/* Whether the settings select the row. */
bool suite_selects(const struct suite_settings *s, const struct row *r);
/* Whether they select the item of this name, which belongs to these suites (bits of enum suites). */
bool suite_selects_name(const struct suite_settings *s, const char *name, unsigned suites);
/* Runs the selected rows. ST_OK whatever their results; another status when nothing could run at all. */
MUST_CHECK enum status suite_run(const struct access *a, const struct cpu *cpu, const struct suite_settings *s,
                                 const struct suite_host *host, struct suite_summary *out);
/* The same on n kinds of cores of one machine, one after the other, with @KIND appended to the names of rows. Kind CORE_KIND_ALL runs only the
 * rows of all cores. */
MUST_CHECK enum status suite_run_kinds(const struct suite_kind *kinds, unsigned n, const struct suite_settings *s, const struct suite_host *host,
                                       struct suite_summary *out);
/* A key of build, machine and settings in the journal's first line: a run may resume a journal with an equal key. */
uint64_t suite_key(const struct suite_kind *kinds, unsigned n, const struct suite_settings *s);
/* Rebuilds results.json and penalties.csv from a complete journal, byte for byte as the run wrote them. Uses host->write, get and put.
 * ST_MISSING: no first or no end line; ST_SYNTAX: a damaged line; or the status of the write. */
MUST_CHECK enum status suite_rebuild(const char *journal, size_t bytes, const struct suite_host *host);
/* Name of a run's directory without its number: PRODUCT-ID. PRODUCT is the product in characters of a file name; ID is 16 bits of a hash of the
 * machine's permanent properties. */
void suite_run_name(char *to, size_t capacity, const char *product, uint64_t identity);

#endif
