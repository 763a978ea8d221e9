/* runner/commands/publish.c: `stallmeter publish`: copies a run without data that identify the machine.
 *
 * Removes keys of serial numbers, UUIDs, asset tags, host names and MAC addresses, and anything that looks like a UUID or
 * a MAC address in other strings. The removed keys are listed, never their values. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "bench/report/html.h"
#include "pmu/text.h"
#include "runner/options/command.h"
#include "runner/data/reader.h"
#include "runner/data/rundir.h"

static const char *to_folder = "results";

static unsigned publish_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--to", OPTION_TEXT, &to_folder, "FOLDER", NULL, 0, 0, "where the copy's directory is made (default: results)"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

struct copy {
	struct text json, removed;
	const struct document *d;
	char path[256];
	unsigned count;
};

static bool names_a_machine(const char *key)
{
	static const char *const words[] = {"serial", "uuid", "asset", "mac_", "hostname", "host_name", "node_name", "sku", "owner_name"};
	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (strcasestr(key, words[i]))
			return true;
	/* MSR 0x4F is the processor's inventory number (SDM volume 4: MSR_PPIN) */
	return !strcasecmp(key, "mac") || !strcasecmp(key, "0x4f") || !strcasecmp(key, "ppin");
}

/* Length of the match of `pattern` at s: 'h' is a hexadecimal digit, '-' either separator; 0: no match, or a further digit follows. */
static size_t shaped(const char *s, const char *pattern)
{
	size_t n = 0;
	for (; pattern[n]; n++)
		if (pattern[n] == 'h' ? !isxdigit((unsigned char)s[n]) : s[n] != '-' && s[n] != ':')
			return 0;
	return isxdigit((unsigned char)s[n]) ? 0 : n;
}

static size_t identity_at(const char *s, bool begins)
{
	static const char *const shapes[] = {"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "hh-hh-hh-hh-hh-hh"};
	for (size_t i = 0; begins && i < COUNT_OF(shapes); i++) {
		size_t n = shaped(s, shapes[i]);
		if (n)
			return n;
	}
	return 0;
}

static void note(struct copy *c, const char *why)
{
	text_fmt(&c->removed, "%s: %s\n", c->path, why);
	c->count++;
}

static void copy_string(struct copy *c, const char *s)
{
	bool found = false, begins = true;
	text_char(&c->json, '"');
	while (*s) {
		char one[8] = "";
		size_t n = identity_at(s, begins);
		if (n) {
			text_fmt(&c->json, "removed");
			found = true;
			s += n;
			begins = false;
			continue;
		}
		begins = !isxdigit((unsigned char)*s);
		/* one whole character at a time, so that text_json sees valid UTF-8 */
		for (n = 1; n < 4 && ((unsigned char)s[n] & 0xC0) == 0x80; n++)
			;
		memcpy(one, s, n);
		text_json(&c->json, one);
		s += n;
	}
	text_char(&c->json, '"');
	if (found)
		note(c, "a UUID or MAC address within a string");
}

static void copy_value(struct copy *c, const struct doc_node *n);

static void copy_members(struct copy *c, const struct doc_node *n)
{
	bool object = n->type == DOC_OBJECT, first = true;
	size_t length = strlen(c->path);
	unsigned index = 0;
	text_char(&c->json, object ? '{' : '[');
	for (const struct doc_node *m = doc_begin(c->d, n); m; m = doc_next(c->d, m), index++) {
		if (object)
			snprintf(c->path + length, sizeof(c->path) - length, "%s%.80s", length ? "." : "", m->key);
		else
			snprintf(c->path + length, sizeof(c->path) - length, "[%u]", index);
		/* CPUID leaf 3 is the serial number of the Pentium III (SDM volume 2, CPUID) */
		bool leaf_3 = length == 5 && !strncmp(c->path, "cpuid", 5) && m->type == DOC_LIST && !strcmp(doc_first(c->d, m)->string, "0x3");
		if (leaf_3 || (object && names_a_machine(m->key))) {
			note(c, "names a machine or its owner");
		} else {
			text_fmt(&c->json, first ? "" : length ? ", " : ",\n");
			first = false;
			if (object) {
				text_char(&c->json, '"');
				text_json(&c->json, m->key);
				text_fmt(&c->json, "\": ");
			}
			copy_value(c, m);
		}
		c->path[length] = 0;
	}
	text_char(&c->json, object ? '}' : ']');
}

static void copy_value(struct copy *c, const struct doc_node *n)
{
	switch (n->type) {
	case DOC_NULL: text_fmt(&c->json, "null"); return;
	case DOC_BOOL: text_fmt(&c->json, "%s", n->truth ? "true" : "false"); return;
	case DOC_NUMBER: text_fmt(&c->json, "%s", n->string); return;
	case DOC_STRING: copy_string(c, n->string); return;
	case DOC_LIST:
	case DOC_OBJECT: copy_members(c, n); return;
	}
}

static enum status write_report(struct rundir *dir, const struct copy *c, const char *note_text)
{
	static struct results clean;
	char problem[256];
	size_t bytes = 0;
	char *html = malloc(HTML_BYTES_MOST);
	enum status st = html ? reader_parse(&clean, c->json.at, c->json.length, READER_DOCUMENT, "copy", problem, sizeof(problem)) : ST_FULL;
	if (st == ST_OK) {
		st = html_report(&clean.d, note_text, html, HTML_BYTES_MOST, &bytes);
		reader_free(&clean);
	}
	if (st == ST_OK)
		st = rundir_write(dir, "report.html", html, bytes);
	free(html);
	return st;
}

static int publish(const struct command *c, const struct results *r, const char *name)
{
	struct copy copy = {.d = &r->d};
	struct rundir dir;
	char problem[1600];
	size_t most = r->d.used * 6 + r->d.count * 8u + 4096;
	char *json = malloc(most), *removed = malloc(most);
	int status = EXIT_BROKEN;
	if (json && removed) {
		text_init(&copy.json, json, most);
		text_init(&copy.removed, removed, most);
		copy_value(&copy, doc_root(&r->d));
		text_char(&copy.json, '\n');
		if (!copy.count)
			text_fmt(&copy.removed, "nothing: no key and no string of these results names a machine\n");
		enum status st = rundir_make(&dir, to_folder, name, problem, sizeof(problem));
		if (st != ST_OK)
			complain(c, "%s", problem);
		else {
			st = rundir_write(&dir, "results.json", copy.json.at, copy.json.length);
			if (st == ST_OK)
				st = rundir_write(&dir, "removed.txt", copy.removed.at, copy.removed.length);
			if (st == ST_OK)
				st = write_report(&dir, &copy, r->note);
			if (st != ST_OK)
				complain(c, "%s: %s", dir.path, status_name(st));
			else
				printf("published: %s\nremoved:\n%s", dir.path, copy.removed.at);
			status = st == ST_OK ? EXIT_GOOD : EXIT_BROKEN;
			rundir_close(&dir);
		}
	}
	free(json);
	free(removed);
	return status;
}

static int publish_command(const struct command *c, int operands, char **operand)
{
	static struct results r;
	char name[41];
	if (!operand_open_one(c, &r, operands, operand))
		return EXIT_BAD_INPUT;
	const struct doc_node *root = doc_root(&r.d), *machine = doc_get(&r.d, root, "machine");
	int status = EXIT_ROWS;
	if (doc_true(&r.d, root, "simulated"))
		complain(c, "%s: refused: a simulated machine says nothing about real hardware", r.path);
	else if (doc_true(&r.d, machine, "virtual"))
		complain(c, "%s: refused: measured in a virtual machine", r.path);
	else if (r.cut)
		complain(c, "%s: refused: %s", r.path, r.note);
	else {
		str_file_name(name, sizeof(name), doc_string(&r.d, machine, "brand"));
		status = publish(c, &r, name);
	}
	reader_free(&r);
	return status;
}

const struct command command_publish = {
	"publish", "RUN", "Copies a run into results/, without data that identify the machine or its owner.",
	"The copy has results.json, report.html and removed.txt, which lists the removed data. Simulated, virtual and\n"
	"incomplete runs are refused, with exit status 1.\n",
	publish_options, publish_command,
};
