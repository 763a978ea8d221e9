/* efi/app/count.c: see count.h. */
#include "efi/app/count.h"
#include "bench/counting/session.h"
#include "efi/firmware/console.h"
#include "pmu/text.h"

#define COUNTS_BYTES_MAX 0x400000u

struct count_text {
	struct text file;         /* all that was printed so far */
	const struct watchdog *watchdog;
};

static void count_print(void *self, const char *lines)
{
	struct count_text *c = self;
	watchdog_feed(c->watchdog);
	print_text(lines);
	if (c->file.at != NULL)
		text_bytes(&c->file, lines, str_length(lines));
}

static bool count_stop(void *self)
{
	struct count_text *c = self;
	watchdog_feed(c->watchdog);
	return console_stop_pressed();
}

static void *count_get(void *self, size_t bytes)
{
	(void)self;
	return pages_get(bytes);
}

static void count_put(void *self, void *at, size_t bytes)
{
	(void)self;
	pages_put(at, bytes);
}

/* ST_FULL: the text did not fit in memory, and no file is written. */
static enum status keep(const struct count_text *c, const struct count_keeper *keeper)
{
	return c->file.at == NULL || c->file.full ? ST_FULL : keeper->keep(keeper->self, "counts.txt", c->file.at, c->file.length);
}

enum exit_status run_count(struct msr_guard *g, const struct cpu *cpu, const struct config *k, const struct watchdog *watchdog,
                           const struct count_keeper *keeper)
{
	const struct session_settings settings = { .events = k->count, .metrics = k->metrics, .workload = k->workload, .cores = k->cores,
		.interval_us = k->interval_us, .duration_us = k->duration_us, .format = STAT_TEXT, .detail = STAT_BY_BOX, .seed = k->seed };
	char *at = pages_get(COUNTS_BYTES_MAX), problem[512] = "";
	struct count_text c = { .watchdog = watchdog };
	struct session_summary sum;
	if (at != NULL)
		text_init(&c.file, at, COUNTS_BYTES_MAX);
	const struct suite_host host = { .self = &c, .print = count_print, .stop = count_stop, .get = count_get, .put = count_put };
	const enum status s = session_run(&g->access, cpu, &settings, &host, &sum, problem, sizeof(problem));
	const enum status restored = msr_guard_restore(g);
	const struct origin *from = str_starts(problem, "cores: ") ? &k->cores_from : &k->count_from;
	if (s != ST_OK)
		print("%s:%u: %s\n", from->file, from->line, problem[0] != 0 ? problem : status_name(s));
	if (restored != ST_OK)
		print("a register could not be restored: %s\n", status_name(restored));
	const enum status saved = s == ST_OK ? keep(&c, keeper) : ST_OK;
	if (s == ST_OK && saved != ST_OK)
		print("the counts were not kept: %s\n", status_name(saved));
	pages_put(at, COUNTS_BYTES_MAX);
	if (s == ST_MISSING || s == ST_SYNTAX || s == ST_RANGE || s == ST_UNSUPPORTED)
		return EXIT_BAD_INPUT;
	if (s != ST_OK || restored != ST_OK || saved != ST_OK)
		return EXIT_BROKEN;
	return sum.stopped ? EXIT_STOPPED : EXIT_GOOD;
}
