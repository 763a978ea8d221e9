/* tests/unit/support/closed_loop.c: the suite on a simulated machine. */
#include "tests/unit/support/closed_loop.h"

#include "tests/unit/support/host_pages.h"
#include "tests/unit/support/sim_look.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILE_BYTES 131072u

char *loop_changed(const char *text, const char *section, const char *key, const char *value)
{
	struct ini ini;
	size_t n = strlen(text);
	char *out = malloc(n + 256), *at = out;
	const char *from = text, *head;

	ini_init(&ini, text, n);
	while (ini_next(&ini) == ST_OK)
		if (ini.section_length == strlen(section) && !memcmp(ini.section, section, ini.section_length) &&
		    ini.key_length == strlen(key) && !memcmp(ini.key, key, ini.key_length)) {
			at += sprintf(at, "%.*s%s", (int)(ini.value - text), text, value);
			from = ini.value + ini.value_length;
			strcpy(at, from);
			return out;
		}
	char header[64];
	snprintf(header, sizeof(header), "[%s]\n", section);
	head = strstr(text, header);
	if (head) {
		head += strlen(header);
		sprintf(at, "%.*s%s = %s\n%s", (int)(head - text), text, key, value, head);
	} else {
		sprintf(at, "%s\n[%s]\n%s = %s\n", text, section, key, value);
	}
	return out;
}

char *loop_built_in_changed(const char *machine, const char *list)
{
	char copy[200], *save = NULL, *out = strdup(loop_built_in(machine));
	snprintf(copy, sizeof(copy), "%s", list);
	for (char *one = strtok_r(copy, ",", &save); one; one = strtok_r(NULL, ",", &save)) {
		char *key = strchr(one, '.'), *value = strchr(one, '='), *more;
		*key++ = 0, *value++ = 0;
		more = loop_changed(out, one, key, value);
		free(out);
		out = more;
	}
	return out;
}

char *loop_file(const char *path)
{
	char *text = calloc(1, FILE_BYTES);
	FILE *f = fopen(path, "r");

	if (!f || !text)
		fail_msg("%s does not open", path);
	assert_true(fread(text, 1, FILE_BYTES, f) < FILE_BYTES);
	fclose(f);
	return text;
}

const char *loop_built_in(const char *name)
{
	for (unsigned i = 0; i < machine_files_count; i++)
		if (!strcmp(machine_files[i].name, name)) {
			static char copy[65536];
			assert_true(machine_files[i].bytes < sizeof(copy));
			memcpy(copy, machine_files[i].text, machine_files[i].bytes);
			copy[machine_files[i].bytes] = 0;
			return copy;
		}
	fail_msg("no machine %s", name);
	return NULL;
}

char *loop_machine(const char *name, const char *const (*fields)[3], unsigned count)
{
	char *text = strdup(loop_built_in(name));

	for (unsigned i = 0; i < count; i++) {
		char *before = text;

		text = loop_changed(before, fields[i][0], fields[i][1], fields[i][2]);
		free(before);
	}
	return text;
}

/* --- a run ------------------------------------------------------------------------------------- */


/* Records the instructions of each row. */
static void row_done(void *self, const struct row_result *row)
{
	struct memory_host *h = self;
	struct loop_run *r = (struct loop_run *)((char *)h - offsetof(struct loop_run, host));
	struct sim_totals now;
	sim_totals(r->sim, &now);
	r->cost[h->result_count] = now.instructions - r->counted;
	r->counted = now.instructions;
	r->row_done(self, row);
}

void loop_open(struct loop_run *r, const char *text)
{
	char problem[256] = "";
	memset(r, 0, sizeof(*r));
	if (machine_read("test.machine", text, strlen(text), &r->machine, problem, sizeof(problem)) != ST_OK)
		fail_msg("%s", problem);
	assert_int_equal(sim_open(&r->machine, &host_pages, &r->sim), ST_OK);
	assert_int_equal(cpu_identify(sim_access(r->sim), &r->cpu), ST_OK);
	r->saved = calloc(MSR_GUARD_SAVED_MAX, sizeof(*r->saved));
	msr_guard_init(&r->guard, sim_access(r->sim), r->cpu.processor, r->saved, MSR_GUARD_SAVED_MAX);
	memory_host_init(&r->host);
	r->row_done = r->host.host.row_done;
	r->host.host.row_done = row_done;
}

void loop_suite(struct loop_run *r, const char *suite)
{
	struct suite_settings s = { .suite = suite };
	struct sim_totals before, after;
	sim_totals(r->sim, &before);
	assert_int_equal(suite_run(&r->guard.access, &r->cpu, &s, &r->host.host, &r->sum), ST_OK);
	sim_totals(r->sim, &after);
	r->instructions = after.instructions - before.instructions;
}

void loop_print(const struct loop_run *r)
{
	char line[4096];
	struct text t;
	struct table table = {.proofs = true};
	text_init(&t, line, sizeof(line));
	table_head(&t);
	fputs(line, stderr);
	for (unsigned i = 0; i < r->host.result_count; i++) {
		text_init(&t, line, sizeof(line));
		table_line(&t, &table, &r->host.results[i]);
		fputs(line, stderr);
	}
}

void loop_keeps_to_budgets(const struct loop_run *r)
{
	for (unsigned i = 0; i < r->host.result_count; i++)
		if (r->cost[i] > r->host.results[i].row->budget)
			fail_msg("%s: %llu instructions, declared %u", r->host.results[i].name, (unsigned long long)r->cost[i],
			         r->host.results[i].row->budget);
}

void loop_close(struct loop_run *r)
{
	assert_int_equal(sim_found(r->sim, FIND_UNMAPPED), 0);
	assert_int_equal(msr_guard_restore(&r->guard), ST_OK);
	assert_int_equal(r->host.taken, 0);
	memory_host_free(&r->host);
	sim_close(r->sim);
	free(r->saved);
}

uint64_t loop_msr(const struct loop_run *r, unsigned core, uint32_t address)
{
	const struct access *a = sim_access(r->sim);
	uint64_t value = 0;
	assert_int_equal(a->ops->rdmsr(a->self, core, address, &value), ST_OK);
	return value;
}

const struct freq_lock_state *loop_lock_of(const struct freq_locks *p, const char *name, uint32_t address)
{
	for (unsigned i = 0; i < p->count; i++)
		if (!strcmp(p->list[i].lock->name, name) && p->list[i].lock->msr == address)
			return &p->list[i];
	fail_msg("no %s in 0x%x", name, address);
	return NULL;
}
