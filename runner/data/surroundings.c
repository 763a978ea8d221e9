/* runner/data/surroundings.c: see surroundings.h. */
#include <string.h>

#include "runner/data/surroundings.h"

const char *const surroundings_sections[] = {"", "machine", "environment", "registers", "settings"};
const unsigned surroundings_sections_count = COUNT_OF(surroundings_sections);

const struct doc_node *surroundings_section(const struct document *d, const char *section)
{
	return section[0] ? doc_get(d, doc_root(d), section) : doc_root(d);
}

void surroundings_value(struct text *t, const struct document *d, const struct doc_node *n)
{
	if (n->type == DOC_LIST || n->type == DOC_OBJECT) {
		bool first = true;
		text_char(t, '(');
		for (const struct doc_node *c = doc_begin(d, n); c; c = doc_next(d, c), first = false) {
			text_fmt(t, "%s%s%s", first ? "" : ", ", c->key, c->key[0] ? " " : "");
			surroundings_value(t, d, c);
		}
		text_char(t, ')');
	} else if (n->type == DOC_BOOL)
		text_fmt(t, "%s", n->truth ? "yes" : "no");
	else
		text_fmt(t, "%s", n->type == DOC_NULL ? "-" : n->string);
}

bool surroundings_of_the_day(const char *key)
{
	static const char *const keys[] = {"started", "finished", "label", "rows", "summary", "study", "cpuid", "machine", "registers",
		"environment", "settings", "seed", "schema", "row_ms"};
	for (unsigned i = 0; i < COUNT_OF(keys); i++)
		if (!strcmp(key, keys[i]))
			return true;
	return strstr(key, "time") || strstr(key, "date_of_run");
}
