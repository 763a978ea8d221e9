/* efi/app/config.c: strict reading of the settings. Every problem is one line: file, line, and what was expected. Nothing
 * is guessed, and nothing runs before all settings are valid. */
#include "efi/app/config.h"
#include "bench/measure/reduce.h"
#include "efi/firmware/console.h"
#include "efi/firmware/fwcfg.h"
#include "efi/network/address.h"
#include "pmu/backend/core_kind.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/text.h"

#define INI_BYTES_MAX     0x10000u
#define OPTIONS_BYTES     2048u
#define KEYS "backend, suite, mode, profile, count, metrics, workload, interval_ms, duration_ms, kind, cores, nodes, processors, repetitions, vector_bits, kernels, ibs_misses, label, seed, end, expect, resume, boots, watchdog, upload"
#define BACKENDS "auto, hw, sim:NAME or sim:FILE"

void config_problem(struct config *c, const struct origin *from, const char *format, ...)
{
	struct text t;
	va_list args;
	if (c->problem[0] != 0)
		return;
	text_init(&t, c->problem, sizeof(c->problem));
	text_fmt(&t, "%s:%u: ", from->file, from->line);
	va_start(args, format);
	text_vfmt(&t, format, args);
	va_end(args);
	str_one_line(c->problem);
}

static bool is(const char *name, const char *at, size_t n)
{
	return str_length(name) == n && memcmp(name, at, n) == 0;
}

static void take_text(struct config *c, const struct origin *from, const char *key, char *to,
                      const char *value, size_t n)
{
	if (n >= CONFIG_TEXT) {
		config_problem(c, from, "%s: expected at most %u bytes, found %zu", key, CONFIG_TEXT - 1, n);
		return;
	}
	memcpy(to, value, n);
	to[n] = 0;
}

/* Built-in machines are given by name; anything that looks like a path or has an extension is a file. */
static bool looks_like_file(const char *s)
{
	for (; *s != 0; s++)
		if (*s == '\\' || *s == '/' || *s == '.')
			return true;
	return false;
}

static void take_backend(struct config *c, const struct origin *from, const char *value, size_t n)
{
	c->backend_from = *from;
	c->machine[0] = 0;
	if (is("auto", value, n)) {
		c->backend = BACKEND_AUTO;
	} else if (is("hw", value, n)) {
		c->backend = BACKEND_HW;
	} else if (n > 4 && memcmp(value, "sim:", 4) == 0) {
		c->backend = BACKEND_SIM;
		take_text(c, from, "backend", c->machine, value + 4, n - 4);
		for (unsigned i = 0; i < machine_files_count; i++)
			if (str_equal(machine_files[i].name, c->machine))
				return;
		if (looks_like_file(c->machine))
			return;
		struct text t;
		char names[400];
		text_init(&t, names, sizeof(names));
		for (unsigned i = 0; i < machine_files_count; i++)
			text_fmt(&t, "%s%s", i == 0 ? "" : ", ", machine_files[i].name);
		config_problem(c, from, "backend: unknown machine \"%s\"; expected one of %s, or a file such as sim:my.machine",
		               c->machine, names);
	} else {
		config_problem(c, from, "backend: expected " BACKENDS ", found \"%.*s\"", (int)n, value);
	}
}

static void take_number(struct config *c, const struct origin *from, const char *key, const char *value,
                        size_t n, uint64_t most, uint64_t *to)
{
	uint64_t v = 0;
	if (parse_u64(value, n, &v) != ST_OK || v > most)
		config_problem(c, from, "%s: expected a number from 0 to %lu, found \"%.*s\"", key,
		               (unsigned long)most, (int)n, value);
	else
		*to = v;
}

static void take_unsigned(struct config *c, const struct origin *from, const char *key, const char *value, size_t n, unsigned most, unsigned *out)
{
	uint64_t number = *out;

	take_number(c, from, key, value, n, most, &number);
	*out = (unsigned)number;
}

/* Milliseconds with up to three digits after the decimal point. */
static void take_ms(struct config *c, const struct origin *from, const char *key, const char *value, size_t n, uint64_t *us)
{
	uint64_t whole = 0, part = 0;
	size_t point = 0;
	while (point < n && value[point] != '.')
		point++;
	char digits[4] = "000";
	bool good = parse_u64(value, point, &whole) == ST_OK && n != point + 1 && n <= point + 4;
	for (size_t i = point + 1; good && i < n; i++)
		digits[i - point - 1] = value[i];
	good = good && parse_u64(digits[0] == '0' ? digits[1] == '0' ? digits + 2 : digits + 1 : digits, digits[0] == '0' ? digits[1] == '0' ? 1 : 2 : 3, &part) == ST_OK;
	if (!good || whole > 86400000 || whole * 1000 + part == 0)
		config_problem(c, from, "%s: expected milliseconds, 0.001 to 86400000, found \"%.*s\"", key, (int)n, value);
	else
		*us = whole * 1000 + part;
}

/* The keys of counting. False: another key. */
static bool take_count(struct config *c, const struct origin *from, const char *key, size_t key_length, const char *value, size_t n)
{
	if (is("count", key, key_length) || is("metrics", key, key_length)) {
		c->count_from = *from;
		take_text(c, from, key[0] == 'c' ? "count" : "metrics", key[0] == 'c' ? c->count : c->metrics, value, n);
	} else if (is("workload", key, key_length)) {
		take_text(c, from, "workload", c->workload, value, n);
	} else if (is("interval_ms", key, key_length)) {
		take_ms(c, from, "interval_ms", value, n, &c->interval_us);
	} else if (is("duration_ms", key, key_length)) {
		take_ms(c, from, "duration_ms", value, n, &c->duration_us);
	} else {
		return false;
	}
	if (!is("count", key, key_length) && !is("metrics", key, key_length))
		c->how_from = *from;
	return true;
}

/* The keys that select cores and nodes. False: another key. */
static bool take_cores(struct config *c, const struct origin *from, const char *key, size_t key_length, const char *value, size_t n)
{
	if (is("kind", key, key_length)) {
		c->kind_from = *from;
		for (unsigned i = 1; i < CORE_KIND_NAMES; i++)
			if (is(core_kind_names[i], value, n)) {
				take_text(c, from, "kind", c->kind, value, n);
				return true;
			}
		config_problem(c, from, "kind: expected p, e, lpe or all, found \"%.*s\"", (int)n, value);
	} else if (is("cores", key, key_length)) {
		c->cores_from = *from;
		take_text(c, from, "cores", c->cores, value, n);
	} else if (is("nodes", key, key_length)) {
		c->nodes_from = *from;
		take_text(c, from, "nodes", c->nodes, value, n);
	} else {
		return false;
	}
	return true;
}

/* The key `upload`. False: another key. */
static bool take_upload(struct config *c, const struct origin *from, const char *key, size_t key_length, const char *value, size_t n)
{
	struct address a;
	if (!is("upload", key, key_length))
		return false;
	take_text(c, from, "upload", c->upload, value, n);
	if (c->upload[0] != 0 && (address_parse(&a, c->upload) != ST_OK || c->upload[str_length(c->upload) - 1] != '/'))
		config_problem(c, from, "upload: expected " ADDRESS_EXPECTED ", found \"%s\"", c->upload);
	return true;
}

static void take(struct config *c, const struct origin *from, const char *key, size_t key_length,
                 const char *value, size_t n)
{
	static const char *const ends[] = {
		[END_MENU] = "menu", [END_RETURN] = "return", [END_REBOOT] = "reboot",
		[END_SHUTDOWN] = "shutdown", [END_EXIT] = "exit",
	};
	static const char *const starts[] = { [START_AUTO] = "auto", [START_SIPI] = "sipi", [START_ONE] = "one" };

	/* messages and the journal hold values within lines; a quoted load option may contain any character */
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)value[i] < ' ' || value[i] == 127) {
			config_problem(c, from, "%.*s: expected no control characters", (int)key_length, key);
			return;
		}
	if (take_count(c, from, key, key_length, value, n) || take_cores(c, from, key, key_length, value, n) || take_upload(c, from, key, key_length, value, n))
		return;
	if (is("backend", key, key_length)) {
		take_backend(c, from, value, n);
	} else if (is("suite", key, key_length)) {
		c->suite_from = *from;
		if (n == 0)
			config_problem(c, from, "suite: expected quick, full, or row names separated by commas");
		else
			take_text(c, from, "suite", c->suite, value, n);
	} else if (is("mode", key, key_length)) {
		c->plan = is("plan", value, n);
		if (!c->plan && !is("measure", value, n))
			config_problem(c, from, "mode: expected measure or plan, found \"%.*s\"", (int)n, value);
	} else if (is("profile", key, key_length)) {
		c->profile_from = *from;
		take_text(c, from, "profile", c->profile, value, n);
	} else if (is("processors", key, key_length)) {
		for (unsigned i = 0; i < COUNT_OF(starts); i++)
			if (is(starts[i], value, n)) {
				c->processors = (enum start)i;
				return;
			}
		config_problem(c, from, "processors: expected auto, sipi or one, found \"%.*s\"", (int)n, value);
	} else if (is("repetitions", key, key_length)) {
		take_unsigned(c, from, "repetitions", value, n, SAMPLES_MAX, &c->repetitions);
	} else if (is("vector_bits", key, key_length)) {
		c->vector_bits_from = *from;
		take_unsigned(c, from, "vector_bits", value, n, 512, &c->vector_bits);
	} else if (is("kernels", key, key_length)) {
		c->kernels_from = *from;
		take_text(c, from, "kernels", c->kernels, value, n);
	} else if (is("ibs_misses", key, key_length)) {
		c->ibs_misses_from = *from;
		take_unsigned(c, from, "ibs_misses", value, n, 2048, &c->ibs_misses);
	} else if (is("seed", key, key_length)) {
		take_number(c, from, "seed", value, n, UINT64_MAX, &c->seed);
	} else if (is("label", key, key_length)) {
		take_text(c, from, "label", c->label, value, n);
	} else if (is("expect", key, key_length)) {
		c->expect_from = *from;
		take_text(c, from, "expect", c->expect, value, n);
	} else if (is("resume", key, key_length)) {
		if (!is("yes", value, n) && !is("no", value, n))
			config_problem(c, from, "resume: expected yes or no, found \"%.*s\"", (int)n, value);
		c->resume = is("yes", value, n);
	} else if (is("boots", key, key_length)) {
		take_unsigned(c, from, "boots", value, n, BOOT_VARIANCE_MAX, &c->boots);
	} else if (is("watchdog", key, key_length)) {
		take_unsigned(c, from, "watchdog", value, n, WATCHDOG_S_MAX, &c->watchdog_s);
		c->watchdog_given = true;
	} else if (is("end", key, key_length)) {
		for (unsigned i = 0; i < COUNT_OF(ends); i++)
			if (is(ends[i], value, n)) {
				c->end = (enum end_action)i;
				return;
			}
		config_problem(c, from, "end: expected menu, return, reboot, shutdown or exit, found \"%.*s\"",
		               (int)n, value);
	} else {
		config_problem(c, from, "unknown key \"%.*s\"; expected one of " KEYS, (int)key_length, key);
	}
}

static void read_text(struct config *c, const char *name, const char *text, size_t bytes)
{
	struct origin from = { name, 0 };
	struct ini r;
	enum status s;
	/* Editors on Windows put a UTF-8 byte order mark in front. */
	size_t skip = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
	ini_init(&r, text + skip, bytes - skip);
	while ((s = ini_next(&r)) != ST_MISSING) {
		from.line = r.line;
		if (s != ST_OK)
			config_problem(c, &from, "%s; expected \"key = value\"", r.problem);
		else if (r.section_length != 0)
			config_problem(c, &from, "section [%.*s]; expected no sections", (int)r.section_length, r.section);
		else
			take(c, &from, r.key, r.key_length, r.value, r.value_length);
	}
}

static void read_file(struct config *c, struct files *files)
{
	const struct origin from = { CONFIG_FILE, 0 };
	char *text;
	size_t bytes, pages_bytes;
	enum status s = files_read(files, CONFIG_FILE, INI_BYTES_MAX, &text, &bytes, &pages_bytes);
	if (s == ST_MISSING)
		return;
	if (s != ST_OK) {
		config_problem(c, &from, "cannot be read (%s); expected a text of at most %u bytes", status_name(s), INI_BYTES_MAX);
		return;
	}
	read_text(c, CONFIG_FILE, text, bytes);
	pages_put(text, pages_bytes);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

enum first_word { FIRST_IS_KEY, FIRST_MAY_BE_PROGRAM };

/* Takes words of the form key=value; a value with blanks is in double quotes. Removes the quotes in `text` itself. */
static void read_words(struct config *c, const char *file, char *text, enum first_word first_word)
{
	struct origin from = { file, 1 };
	bool first = first_word == FIRST_MAY_BE_PROGRAM;
	for (char *at = text;;) {
		while (blank(*at))
			at++;
		if (*at == 0)
			return;
		char *word = at, *to = at, *equals = NULL;
		bool quoted = false;
		for (; *at != 0 && (quoted || !blank(*at)); at++) {
			if (*at == '"') {
				quoted = !quoted;
				continue;
			}
			if (*at == '=' && equals == NULL)
				equals = to;
			*to++ = *at;
		}
		if (*at != 0)
			at++;
		if (quoted)
			config_problem(c, &from, "expected a closing quote in \"%.*s\"", (int)(to - word), word);
		else if (equals != NULL)
			take(c, &from, word, (size_t)(equals - word), equals + 1, (size_t)(to - equals - 1));
		else if (!first) /* the UEFI shell passes the program's own name first */
			config_problem(c, &from, "expected key=value, found \"%.*s\"", (int)(to - word), word);
		first = false;
	}
}

static void read_load_options(struct config *c)
{
	char text[OPTIONS_BYTES];
	if (uefi.loaded == NULL || uefi.loaded->LoadOptions == NULL || uefi.loaded->LoadOptionsSize < 4)
		return;
	/* Boot managers put their own data there, such as a GUID: only printable text is meant for this program. */
	if (uefi.loaded->LoadOptionsSize > 2 * (OPTIONS_BYTES - 1) ||
	    !uefi_ascii(uefi.loaded->LoadOptions, uefi.loaded->LoadOptionsSize / 2, text, sizeof(text)) || text[0] == 0)
		return;
	read_words(c, "load options", text, FIRST_MAY_BE_PROGRAM);
}

static void read_fwcfg(struct config *c)
{
	struct origin from = { FWCFG_OPTIONS, 1 };
	char text[OPTIONS_BYTES];
	enum status s = fwcfg_read(FWCFG_OPTIONS, text, sizeof(text));
	if (s == ST_OK)
		read_words(c, FWCFG_OPTIONS, text, FIRST_IS_KEY);
	else if (s != ST_MISSING)
		config_problem(c, &from, "expected at most %u bytes", OPTIONS_BYTES - 1);
}

const struct origin *config_origin(const struct config *c, const char *problem, const struct origin *otherwise)
{
	const struct { const char *name; const struct origin *from; } settings[] = {
		{ "cores", &c->cores_from }, { "nodes", &c->nodes_from }, { "vector_bits:", &c->vector_bits_from },
		{ "kernels:", &c->kernels_from }, { "ibs_misses:", &c->ibs_misses_from },
	};

	for (unsigned i = 0; i < COUNT_OF(settings); i++)
		if (str_starts(problem, settings[i].name))
			return settings[i].from;
	return otherwise;
}

void config_read(struct config *c, struct files *files, const struct config_text *served)
{
	memset(c, 0, sizeof(*c));
	str_copy(c->suite, sizeof(c->suite), "full");
	c->resume = true;
	c->suite_from = c->backend_from = c->expect_from = c->profile_from = (struct origin){ "default", 0 };
	if (served != NULL)
		read_text(c, served->name, served->text, served->bytes);
	else
		read_file(c, files);
	read_load_options(c);
	read_fwcfg(c);
	if (c->count[0] != 0 || c->metrics[0] != 0) {
		if (c->workload[0] == 0)
			config_problem(c, &c->count_from, "workload: expected with count and metrics: idle, account.NAME or a row");
		if (c->plan || c->profile[0] != 0)
			config_problem(c, &c->count_from, "count and metrics do not go with mode = plan or a profile");
	} else if (c->workload[0] != 0 || c->interval_us != 0 || c->duration_us != 0) { /* otherwise the full suite would run, which nobody asked for */
		config_problem(c, &c->how_from, "workload, interval_ms and duration_ms are of count and metrics, and neither is given");
	}
	/* Without the menu at the end nobody may be there to notice a hang. */
	if (!c->watchdog_given && c->end != END_MENU)
		c->watchdog_s = WATCHDOG_S;
}
