/* runner/data/markup.h: escapes text for XML and HTML. */
#ifndef RUNNER_MARKUP_H
#define RUNNER_MARKUP_H

#include <stdio.h>

/* Prints a character: markup as its entity, control characters other than tab and newline, which XML 1.0 does not allow, as '?'. */
void markup_char(FILE *to, char c);
void markup_text(FILE *to, const char *s);

#endif
