/* bench/report/html_machine.c: the machine, its settings, and the sections that no other part draws. */
#include "bench/report/html.h"

#define DEPTH_MOST 6

enum key_style { IN_TABLE, AS_TITLE };

/* A key as words: underscores become blanks; the first letter of a title is capitalised. */
static void key_text(struct html *h, const char *key, enum key_style style)
{
	char word[64];

	str_copy(word, sizeof(word), key);
	if (style == AS_TITLE && word[0] >= 'a' && word[0] <= 'z')
		word[0] = (char)(word[0] - 'a' + 'A');
	for (char *p = word; *p; p++)
		if (*p == '_')
			*p = ' ';
	html_text(h, word);
}

static bool is_plain(const struct doc_node *n)
{
	return n->type != DOC_LIST && n->type != DOC_OBJECT;
}

static void plain(struct html *h, const struct doc_node *n)
{
	if (n->type == DOC_NUMBER)
		html_text(h, n->string);
	else if (n->type == DOC_STRING)
		html_text(h, n->string);
	else if (n->type == DOC_BOOL)
		text_fmt(&h->t, "%s", n->truth ? "yes" : "no");
	else
		text_fmt(&h->t, "-");
}

/* A value on one line, including lists and objects within it. */
static void inline_value(struct html *h, const struct doc_node *n, unsigned depth)
{
	bool first = true;

	if (is_plain(n)) {
		plain(h, n);
		return;
	}
	if (depth == DEPTH_MOST) {
		text_fmt(&h->t, "...");
		return;
	}
	for (const struct doc_node *c = doc_begin(h->d, n); c; c = doc_next(h->d, c)) {
		if (c->type == DOC_STRING && !c->string[0])
			continue; /* an empty reason: none */
		text_fmt(&h->t, "%s", first ? "" : n->type == DOC_OBJECT ? "; " : ", ");
		first = false;
		if (c->key[0]) {
			key_text(h, c->key, IN_TABLE);
			text_fmt(&h->t, " ");
		}
		if (!is_plain(c))
			text_fmt(&h->t, "(");
		inline_value(h, c, depth + 1);
		if (!is_plain(c))
			text_fmt(&h->t, ")");
	}
}

static void pair(struct html *h, const struct doc_node *n)
{
	text_fmt(&h->t, "<tr><th scope=\"row\">");
	key_text(h, n->key, IN_TABLE);
	text_fmt(&h->t, "</th><td>");
	inline_value(h, n, 0);
	text_fmt(&h->t, "</td></tr>\n");
}

static void pairs(struct html *h, const struct doc_node *object, const char *caption)
{
	html_table(h, caption, "what|value");
	for (const struct doc_node *c = doc_begin(h->d, object); c; c = doc_next(h->d, c)) {
		if (!str_equal(c->key, "row_ms")) /* read by programs only */
			pair(h, c);
	}
	html_table_end(h);
}

/* A list of objects: one line each; the first object's keys are the columns. */
static void lines(struct html *h, const struct doc_node *list, const char *caption)
{
	const struct doc_node *first = doc_first(h->d, list);

	text_fmt(&h->t, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"");
	key_text(h, caption, AS_TITLE);
	text_fmt(&h->t, "\"><table><caption>");
	key_text(h, caption, AS_TITLE);
	text_fmt(&h->t, "</caption><thead><tr>");
	for (const struct doc_node *c = doc_begin(h->d, first); c; c = doc_next(h->d, c)) {
		text_fmt(&h->t, "<th scope=\"col\"%s>", c->type == DOC_NUMBER ? " class=\"n\"" : "");
		key_text(h, c->key, IN_TABLE);
		text_fmt(&h->t, "</th>");
	}
	text_fmt(&h->t, "</tr></thead><tbody>\n");
	for (const struct doc_node *line = doc_begin(h->d, list); line; line = doc_next(h->d, line)) {
		text_fmt(&h->t, "<tr>");
		for (const struct doc_node *c = doc_begin(h->d, first); c; c = doc_next(h->d, c)) {
			const struct doc_node *v = doc_get(h->d, line, c->key);

			text_fmt(&h->t, "<td%s>", v->type == DOC_NUMBER ? " class=\"n\"" : "");
			if (v->type == DOC_STRING && (str_equal(c->key, "verdict") || str_equal(c->key, "status")))
				html_verdict(h, v->string);
			else
				inline_value(h, v, 0);
			text_fmt(&h->t, "</td>");
		}
		text_fmt(&h->t, "</tr>\n");
	}
	html_table_end(h);
}

static bool is_table(const struct html *h, const struct doc_node *n)
{
	return n->type == DOC_LIST && n->count && doc_first(h->d, n)->type == DOC_OBJECT;
}

void html_generic(struct html *h, const struct doc_node *section)
{
	char id[40];

	if (section->type == DOC_NULL || ((section->type == DOC_LIST || section->type == DOC_OBJECT) && !section->count))
		return;
	str_file_name(id, sizeof(id), section->key);
	text_fmt(&h->t, "</section>\n<section aria-labelledby=\"s-%s\"><h2 id=\"s-%s\">", id, id);
	key_text(h, section->key, AS_TITLE);
	text_fmt(&h->t, "</h2>\n");
	if (is_table(h, section)) {
		lines(h, section, section->key);
		return;
	}
	if (section->type != DOC_OBJECT) {
		text_fmt(&h->t, "<p>");
		inline_value(h, section, 0);
		text_fmt(&h->t, "</p>\n");
		return;
	}
	html_table(h, "Its values", "what|value");
	for (const struct doc_node *c = doc_begin(h->d, section); c; c = doc_next(h->d, c)) {
		if (!is_table(h, c))
			pair(h, c);
	}
	html_table_end(h);
	for (const struct doc_node *c = doc_begin(h->d, section); c; c = doc_next(h->d, c))
		if (is_table(h, c))
			lines(h, c, c->key);
}

static void caches(struct html *h, const struct doc_node *machine)
{
	const struct doc_node *list = doc_get(h->d, machine, "caches");

	html_table(h, "Caches", "#level|type|size|#ways|#bytes a line|#shared by");
	for (const struct doc_node *c = doc_begin(h->d, list); c; c = doc_next(h->d, c)) {
		text_fmt(&h->t, "<tr>");
		html_cell_node(h, doc_get(h->d, c, "level"), 0);
		html_cell(h, doc_string(h->d, c, "type"));
		text_fmt(&h->t, "<td>");
		html_bytes(h, doc_whole(h->d, c, "bytes"));
		text_fmt(&h->t, "</td>");
		html_cell_node(h, doc_get(h->d, c, "ways"), 0);
		html_cell_node(h, doc_get(h->d, c, "line_bytes"), 0);
		html_cell_node(h, doc_get(h->d, c, "shared_by"), 0);
		text_fmt(&h->t, "</tr>\n");
	}
	html_table_end(h);
}

/* The machine's own keys, except those that are tables of their own. */
static void machine_pairs(struct html *h, const struct doc_node *machine)
{
	html_table(h, "Machine", "what|value");
	for (const struct doc_node *c = doc_begin(h->d, machine); c; c = doc_next(h->d, c)) {
		if (!str_equal(c->key, "caches"))
			pair(h, c);
	}
	html_table_end(h);
}

void html_machine(struct html *h)
{
	const struct doc_node *root = doc_root(h->d), *machine = doc_get(h->d, root, "machine");

	html_section(h, "machine", "Machine, firmware, settings", "As found before the first measurement.");
	machine_pairs(h, machine);
	caches(h, machine);
	pairs(h, doc_get(h->d, root, "environment"), "Firmware and place of the run");
	pairs(h, doc_get(h->d, root, "settings"), "Settings");
	text_fmt(&h->t, "<details><summary>Control registers, as found</summary>\n");
	pairs(h, doc_get(h->d, root, "registers"), "Registers: one value when all cores agree");
	text_fmt(&h->t, "</details>\n");
}
