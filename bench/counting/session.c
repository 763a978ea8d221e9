/* bench/counting/session.c: see session.h. */
#include "bench/counting/session.h"

#include "bench/measure/reduce.h"
#include "pmu/core/freq_lock.h"

#define SEED_DEFAULT    20090330u  /* as in a suite */
#define LINES_BYTES      (1u << 20) /* the longest text: every metric and event by box */
#define NAME_BYTES      96u
#define INTERVALS       10u        /* printed by default */

struct session {
	struct bench bench;
	struct request_list requests;
	struct stat_plan plan;
	struct stat_workload workload;
	struct stat_result result;
	const struct session_settings *settings;
	const struct suite_host *host;
	struct session_summary *summary;
	char *lines;
};

static enum status take_names(struct request_list *l, const struct cpu *cpu, const struct session_settings *s, struct text *problem)
{
	enum status st = ST_OK;

	request_init(l, cpu->processor);
	if (!(s->events && s->events[0]) && !(s->metrics && s->metrics[0])) {
		text_fmt(problem, "nothing to count: name events (-e) or metrics (-M)");
		return ST_SYNTAX;
	}
	if (s->events)
		st = request_events(l, s->events, problem);
	if (st == ST_OK && s->metrics && s->metrics[0])
		st = request_metrics(l, s->metrics, problem);
	return st;
}

static void flush(struct session *s, struct text *t)
{
	if (s->host->print && t->length)
		s->host->print(s->host->self, s->lines);
	text_init(t, s->lines, LINES_BYTES);
}

static void tell_interval(void *self, const struct stat_result *r)
{
	struct session *s = self;
	struct text t;

	text_init(&t, s->lines, LINES_BYTES);
	stat_counts(&t, r, s->settings->format, s->settings->detail, STAT_INTERVALS);
	flush(s, &t);
}

static bool stop(void *self)
{
	struct session *s = self;

	if (s->host->stop && s->host->stop(s->host->self))
		s->summary->stopped = true;
	return s->summary->stopped;
}

static uint64_t ticks_of(const struct session *s, uint64_t us)
{
	return (uint64_t)mul_div((int64_t)us, (int64_t)s->bench.a->tsc_hz, 1000000);
}

static enum status count_workload(struct session *s, const char *name, struct text *problem)
{
	const struct session_settings *k = s->settings;
	struct stat_settings how = { .windows = k->windows, .ticks = ticks_of(s, k->duration_us), .interval_ticks = ticks_of(s, k->interval_us),
	                             .interval = tell_interval, .stop = stop, .self = s };
	struct text t;
	enum status st = stat_workload_open(&s->workload, &s->bench, name, k->cores, problem), closed;

	if (!how.windows && !how.ticks) {
		how.windows = how.interval_ticks ? 0 : SESSION_WINDOWS;
		how.ticks = INTERVALS * how.interval_ticks;
	}
	if (how.ticks)
		how.windows = 0;
	text_init(&t, s->lines, LINES_BYTES);
	if (st == ST_OK && how.interval_ticks && s->plan.runs > 1) {
		text_fmt(problem, "these events take %u runs, an interval has one: ask for fewer at once", s->plan.runs);
		st = ST_RANGE;
	}
	if (st == ST_OK) {
		if (k->format != STAT_CSV || !s->summary->workloads) /* a CSV has one line of names; the last column says the workload */
			stat_head(&t, &s->plan, &s->workload, k->format, how.interval_ticks != 0 ? STAT_INTERVALS : STAT_WHOLE_RUN);
		flush(s, &t);
		st = stat_run(&s->plan, &s->workload, &how, &s->result, problem);
	}
	if (st == ST_OK && !how.interval_ticks) {
		stat_counts(&t, &s->result, k->format, k->detail, STAT_WHOLE_RUN);
		flush(s, &t);
	}
	for (unsigned i = 0; i < s->requests.count && st == ST_OK; i++)
		s->summary->uncounted += !s->result.values[i].counted && !how.interval_ticks;
	closed = stat_workload_close(&s->workload);
	s->summary->workloads++;
	s->summary->runs += s->plan.runs;
	if (closed != ST_OK && st == ST_OK) {
		text_fmt(problem, "workload %s could not be ended: %s", name, status_name(closed));
		st = closed;
	}
	return st;
}

static enum status count_all(struct session *s, struct text *problem)
{
	const char *at = s->settings->workload;
	enum status st = ST_OK;

	while (*at && st == ST_OK && !s->summary->stopped) {
		char name[NAME_BYTES];
		size_t n = 0;

		for (; *at && *at != ','; at++)
			if (*at != ' ' && n < sizeof(name) - 1)
				name[n++] = *at;
		name[n] = 0;
		at += *at == ',';
		if (n)
			st = count_workload(s, name, problem);
	}
	return st;
}

enum status session_run(const struct access *a, const struct cpu *cpu, const struct session_settings *settings,
                        const struct suite_host *host, struct session_summary *out, char *problem, size_t capacity)
{
	struct session *s = host->get(host->self, sizeof(*s));
	struct freq_locks locks;
	struct text t;
	enum status st = s ? ST_OK : ST_FULL;

	memset(out, 0, sizeof(*out));
	text_init(&t, problem, capacity);
	if (st == ST_OK)
		st = take_names(&s->requests, cpu, settings, &t);
	if (st == ST_OK) {
		s->settings = settings;
		s->host = host;
		s->summary = out;
		s->lines = host->get(host->self, LINES_BYTES);
		st = s->lines ? ST_OK : ST_FULL;
	}
	if (st == ST_OK) {
		freq_lock_clocks(a, cpu, &locks);
		bench_init(&s->bench, a, cpu, host, 0, settings->seed ? settings->seed : SEED_DEFAULT);
		st = stat_plan(&s->plan, &s->requests, &s->bench, &t);
	}
	if (st == ST_OK)
		st = count_all(s, &t);
	if (st != ST_OK && !t.length)
		text_fmt(&t, "%s", status_name(st));
	if (s && s->lines)
		host->put(host->self, s->lines, LINES_BYTES);
	if (s)
		host->put(host->self, s, sizeof(*s));
	return st;
}
