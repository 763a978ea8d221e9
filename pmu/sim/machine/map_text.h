/* pmu/sim/machine/map_text.h: lines and cells of the comma-separated text of an event map, of cores and of the uncore. */
#ifndef SIM_MAP_TEXT_H
#define SIM_MAP_TEXT_H

#include "pmu/base.h"

struct map_text { const char *at, *end; unsigned line; }; /* what is still to be read; number of the last line read */
struct map_cell { const char *at; size_t length; };
struct map_name { const char *name; uint32_t value; };

/* Whether n characters are the name b; any_case: b may be in capitals where the text is not. */
bool map_same(const char *a, size_t n, const char *b, bool any_case);
/* NULL: none of the list's n names. */
const struct map_name *map_find_name(const struct map_name *list, unsigned n, const char *at, size_t length, bool any_case);
/* The next line that is neither blank nor a comment, without blanks at its end; false: there is none. */
bool map_next_line(struct map_text *text, struct map_cell *line);
/* Number of lines of a text; what follows the last line end counts as one. */
size_t map_lines(const char *text, size_t bytes);
/* Copies a cell to *at with a terminating zero, and moves *at past it. */
const char *map_keep(char **at, const struct map_cell *words);
/* The next cell of a line, without the separator; the line then begins after it. */
struct map_cell map_cut(struct map_cell *rest, char separator);

#endif
