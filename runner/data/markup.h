/* runner/data/markup.h: text within XML and HTML. */
#ifndef RUNNER_MARKUP_H
#define RUNNER_MARKUP_H

#include <stdio.h>

/* One character: markup as its entity, a control character other than tab and newline (which XML 1.0 does not allow) as '?'. */
void markup_char(FILE *to, char c);
void markup_text(FILE *to, const char *s);

#endif
