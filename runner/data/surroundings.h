/* runner/data/surroundings.h: the circumstances of the measurements: machine, firmware, registers, settings. */
#ifndef RUNNER_SURROUNDINGS_H
#define RUNNER_SURROUNDINGS_H

#include "bench/results/document.h"
#include "pmu/text.h"

/* The sections of results.json with this information; "" is the head. */
extern const char *const surroundings_sections[];
extern const unsigned surroundings_sections_count;

const struct doc_node *surroundings_section(const struct document *d, const char *section);
/* A value as one line: lists and objects in parentheses, null as "-". */
void surroundings_value(struct text *t, const struct document *d, const struct doc_node *n);
/* Whether a key describes the run (its date, its label) rather than the machine. */
bool surroundings_of_the_day(const char *key);

#endif
