/* bench/report/html_sections.c: sections beside the rows. */
#include "bench/report/html.h"

/* Profiles: events counted over the kernels of rows. */
void html_profile(struct html *h, const struct doc_node *section)
{
	if (section->type != DOC_LIST || !section->count)
		return;
	html_section(h, "profile", "Profile", "Events counted while the kernels of these rows ran, for each unit of a row's work.");
	html_table(h, "Events of each row's kernel", "row|verdict|event|#per unit|#spread|#per 1000 instructions|#per 1000 cycles");
	for (const struct doc_node *p = doc_begin(h->d, section); p; p = doc_next(h->d, p)) {
		const struct doc_node *events = doc_get(h->d, p, "events");

		for (const struct doc_node *e = doc_begin(h->d, events); e; e = doc_next(h->d, e)) {
			text_fmt(&h->t, "<tr><th scope=\"row\">");
			html_text(h, doc_string(h->d, p, "row"));
			text_fmt(&h->t, "</th><td>");
			html_verdict(h, doc_string(h->d, p, "status"));
			text_fmt(&h->t, "</td>");
			html_cell(h, doc_string(h->d, e, "name"));
			html_cell_node(h, doc_get(h->d, e, "value"), 3);
			html_cell_node(h, doc_get(h->d, e, "spread"), 3);
			html_cell_node(h, doc_get(h->d, e, "per_1000_instructions"), 1);
			html_cell_node(h, doc_get(h->d, e, "per_1000_cycles"), 1);
			text_fmt(&h->t, "</tr>\n");
		}
		if (p->next)
			text_fmt(&h->t, "</tbody><tbody>\n");
	}
	html_table_end(h);
}
