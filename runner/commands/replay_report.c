/* runner/commands/replay_report.c: see replay_report.h. SARIF 2.1.0 (OASIS); JUnit in the form that its consumers read. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pmu/text.h"
#include "runner/options/command.h"
#include "runner/commands/replay_report.h"
#include "runner/data/markup.h"

#define WORDS 1024

static bool is(const struct replay_report *r, const char *format) { return !strcmp(r->format, format); }

/* Formats a finding as one sentence: "IA32_PEBS_ENABLE (0x3f1), counter 0, UOPS_ISSUED: ...; see ... in line 4 [SDM 18.8.1.1]". */
static void sentence(const struct trace_finding *f, char *to, size_t capacity)
{
	struct text t;
	text_init(&t, to, capacity);
	text_fmt(&t, "%s", f->register_name);
	if (f->where[0])
		text_fmt(&t, ", %s", f->where);
	if (f->event[0])
		text_fmt(&t, ", %s", f->event);
	text_fmt(&t, ": %s", f->text);
	if (f->clash[0])
		text_fmt(&t, "; see %s", f->clash);
	if (f->clash_line)
		text_fmt(&t, " in line %u", f->clash_line);
	else if (f->clash[0])
		text_fmt(&t, ", which this trace does not write");
	if (f->lost_line)
		text_fmt(&t, "; events were lost in line %u", f->lost_line);
	if (f->paragraph)
		text_fmt(&t, " [%s]", f->paragraph);
}

static void json(const char *s)
{
	char out[2 * WORDS];
	struct text t;
	text_init(&t, out, sizeof(out));
	text_json(&t, s);
	printf("\"%s\"", out);
}

/* Prints XML text in ASCII, since a trace's name may not be UTF-8. */
static void xml(const char *s)
{
	for (; *s; s++)
		markup_char(stdout, (unsigned char)*s < 0x7F ? *s : '?');
}

/* The identifier of a class, such as "reserved-faults". */
static const char *id_of(enum trace_class c, char to[32])
{
	str_file_name(to, 32, trace_class_name(c));
	return to;
}

void replay_report_begin(struct replay_report *r)
{
	char id[32];
	if (is(r, "json")) {
		printf("{\"trace\": ");
		json(r->trace);
		printf(", \"machine\": ");
		json(r->machine);
		printf(", \"findings\": [");
	} else if (is(r, "junit")) {
		printf("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"stallmeter replay: ");
		xml(r->machine);
		printf("\">\n");
	} else if (is(r, "sarif")) {
		printf("{\"version\": \"2.1.0\", \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\", \"runs\": [{\"tool\": {\"driver\": "
		       "{\"name\": \"stallmeter replay\", \"rules\": [");
		for (unsigned c = TRACE_ACCEPTED + 1; c < TRACE_CLASSES; c++)
			printf("%s{\"id\": \"%s\", \"shortDescription\": {\"text\": \"%s\"}}", c > 1 ? ", " : "", id_of((enum trace_class)c, id),
			       trace_class_name((enum trace_class)c));
		printf("]}}, \"results\": [");
	}
}

static void json_finding(struct replay_report *r, unsigned line, const struct trace_finding *f)
{
	printf("%s\n  {\"line\": %u, \"class\": \"%s\", \"counts\": %s, \"register\": ", r->written++ ? "," : "", line, trace_class_name(f->class),
	       trace_class_counts(f->class, r->strict) ? "true" : "false");
	json(f->register_name);
	printf(", \"counter\": ");
	json(f->where);
	printf(", \"event\": ");
	json(f->event);
	printf(", \"text\": ");
	json(f->text);
	printf(", \"clash\": ");
	json(f->clash);
	printf(", \"clash_line\": %u, \"lost_line\": %u, \"paragraph\": ", f->clash_line, f->lost_line);
	json(f->paragraph ? f->paragraph : "");
	printf("}");
}

static void sarif_finding(struct replay_report *r, unsigned line, const struct trace_finding *f, const char *words)
{
	char id[32];
	printf("%s\n  {\"ruleId\": \"%s\", \"level\": \"%s\", \"message\": {\"text\": ", r->written++ ? "," : "", id_of(f->class, id),
	       !trace_class_counts(f->class, r->strict) ? "note" : f->class == TRACE_FAULTS || f->class == TRACE_RESERVED_FAULTS ? "error" : "warning");
	json(words);
	printf("}, \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
	json(r->trace);
	printf("}, \"region\": {\"startLine\": %u}}}]", line);
	if (f->clash_line) {
		printf(", \"relatedLocations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
		json(r->trace);
		printf("}, \"region\": {\"startLine\": %u}}}]", f->clash_line);
	}
	printf("}");
}

static void junit_finding(struct replay_report *r, unsigned line, const struct trace_finding *f, const char *words)
{
	if (!trace_class_counts(f->class, r->strict))
		return;
	printf("  <testcase classname=\"");
	xml(r->trace);
	printf("\" name=\"line %u: %s\">\n    <failure type=\"%s\" message=\"", line, trace_class_name(f->class), trace_class_name(f->class));
	xml(words);
	printf("\"/>\n  </testcase>\n");
}

void replay_report_access(struct replay_report *r, unsigned line, const char *text, size_t bytes, const struct trace_verdict *v)
{
	char words[WORDS];
	enum trace_class worst = TRACE_ACCEPTED;
	for (unsigned i = 0; i < v->count; i++) {
		const bool counts = trace_class_counts(v->finding[i].class, r->strict);
		if (worst == TRACE_ACCEPTED || (counts && !trace_class_counts(worst, r->strict)))
			worst = v->finding[i].class;
		r->findings += counts;
	}
	r->count[worst]++;
	if (is(r, "text") && (!r->quiet || trace_class_counts(worst, r->strict)))
		printf("%u: %s: %.*s\n", line, trace_class_name(worst), (int)bytes, text);
	for (unsigned i = 0; i < v->count; i++) {
		const struct trace_finding *f = &v->finding[i];
		sentence(f, words, sizeof(words));
		if (is(r, "json"))
			json_finding(r, line, f);
		else if (is(r, "sarif"))
			sarif_finding(r, line, f, words);
		else if (is(r, "junit"))
			junit_finding(r, line, f, words);
		else if (!r->quiet || trace_class_counts(f->class, r->strict))
			printf("\t%s: %s\n", trace_class_name(f->class), words);
	}
}

void replay_report_end(struct replay_report *r)
{
	bool first = true;
	if (is(r, "json")) {
		printf("\n], \"accesses\": {");
		for (unsigned c = 0; c < TRACE_CLASSES; c++)
			printf("%s\"%s\": %" PRIu64, c ? ", " : "", trace_class_name((enum trace_class)c), r->count[c]);
		printf("}, \"counted\": %" PRIu64 "}\n", r->findings);
	} else if (is(r, "sarif")) {
		printf("\n]}]}\n");
	} else if (is(r, "junit")) {
		printf("  <testcase classname=\"");
		xml(r->trace);
		printf("\" name=\"%" PRIu64 " accesses accepted\"/>\n</testsuite>\n", r->count[TRACE_ACCEPTED]);
	} else {
		for (unsigned c = 0; c < TRACE_CLASSES; c++)
			if (r->count[c] || c == TRACE_ACCEPTED) {
				printf("%s%" PRIu64 " %s", first ? "" : "; ", r->count[c], trace_class_name((enum trace_class)c));
				first = false;
			}
		printf("; %" PRIu64 " findings\n", r->findings);
	}
}
