/* bench/uncore/boxes.c: see bench/uncore/boxes.h. */
#include "bench/uncore/boxes.h"

void boxes_note(const struct uncore *u, struct box_types *out)
{
	const struct processor *p = u->cpu ? u->cpu->processor : NULL;

	memset(out, 0, sizeof(*out));
	if (!p || !p->box_count)
		return;
	out->absent = u->absent;
	out->count = p->box_count < UNCORE_BOXES_MAX ? p->box_count : UNCORE_BOXES_MAX;
	for (unsigned b = 0; b < out->count; b++) {
		out->types[b].name = p->boxes[b].name;
		if (u->absent || u->box_absent[b])
			str_copy(out->types[b].absent, sizeof(out->types[b].absent), u->absent ? u->absent : u->box_absent[b]);
		str_copy(out->types[b].partly, sizeof(out->types[b].partly), u->box_partly[b]);
		for (unsigned s = 0; s < u->sockets && !u->absent; s++)
			out->types[b].boxes += uncore_instances(u, &p->boxes[b], s);
	}
}

void boxes_json(struct text *t, const struct box_types *b)
{
	text_char(t, '[');
	for (unsigned i = 0; i < b->count; i++) {
		text_fmt(t, "%s{\"box\": \"%s\", \"boxes\": %u, \"absent\": ", i ? ", " : "", b->types[i].name, b->types[i].boxes);
		if (b->types[i].absent[0]) {
			text_char(t, '"');
			text_json(t, b->types[i].absent);
			text_char(t, '"');
		} else {
			text_fmt(t, "null");
		}
		if (b->types[i].partly[0]) {
			text_fmt(t, ", \"missing\": \"");
			text_json(t, b->types[i].partly);
			text_char(t, '"');
		}
		text_char(t, '}');
	}
	text_char(t, ']');
}

void boxes_table_lines(struct text *t, const struct box_types *b)
{
	if (b->absent) {
		text_fmt(t, "uncore: nothing is counted: %s\n", b->absent);
		return;
	}
	for (unsigned i = 0; i < b->count; i++)
		if (b->types[i].absent[0])
			text_fmt(t, "uncore: %s: %s\n", b->types[i].name, b->types[i].absent);
		else if (b->types[i].partly[0])
			text_fmt(t, "uncore: %s\n", b->types[i].partly);
}
