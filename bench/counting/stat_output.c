/* bench/counting/stat_output.c: see stat_output.h. Values are whole or fixed-point with three decimals. */
#include "bench/counting/stat_output.h"

#include "bench/measure/reduce.h"

/* Formats as text, then pads on the left. */
static void column(struct text *t, unsigned width, const char *s)
{
	const size_t n = str_length(s);

	for (size_t i = n; i < width; i++)
		text_char(t, ' ');
	text_fmt(t, "%s", s);
}

static void fixed(char *to, size_t capacity, int64_t milli, bool known)
{
	struct text t;

	text_init(&t, to, capacity);
	if (known)
		text_fixed(&t, milli, 3);
	else
		text_char(&t, '-');
}

/* A rate per second with an SI prefix: "12.345 M". */
static void rate(char *to, size_t capacity, uint64_t value, uint64_t ticks, uint64_t hz)
{
	static const char *const prefixes[] = { "", " k", " M", " G", " T" };
	int64_t a_second = ticks ? mul_div((int64_t)value, (int64_t)hz, (int64_t)ticks) : 0, part = a_second;
	unsigned p = 0;
	struct text t;

	text_init(&t, to, capacity);
	if (!ticks) {
		text_char(&t, '-');
		return;
	}
	while (part >= 1000000 && p + 2 < COUNT_OF(prefixes))
		part /= 1000, p++;
	if (part >= 1000) {
		text_fixed(&t, part, 3);
		text_fmt(&t, "%s", prefixes[p + 1]);
	} else {
		text_fmt(&t, "%lld", (long long)a_second);
	}
}

/* The workload as -w takes it. */
static void workload_name(struct text *t, const struct stat_workload *w)
{
	text_fmt(t, "%s%s", w->kind == STAT_WORK ? "account." : "", w->name);
}

/* CSV: ends a line with the workload, of which several may run one after the other. */
static void csv_end(struct text *t, const struct stat_result *r)
{
	text_char(t, ',');
	workload_name(t, r->workload);
	text_char(t, '\n');
}

static const struct stat_run *run_of(const struct stat_result *r, const struct stat_value *v)
{
	return &r->runs[v->run];
}

/* The count of one event in one instance, and the units of work and the cycles that it is divided by: a core's own, else those of all cores. */
struct figure { const char *where; const struct request *q; const struct stat_value *v; uint64_t value, units, cycles; };

static struct figure of_all(const struct stat_result *r, const char *where, const struct request *q, const struct stat_value *v, uint64_t value)
{
	const struct stat_run *run = run_of(r, v);

	return (struct figure){ where, q, v, value, run->units, run->known ? run->cycles : 0 };
}

static struct figure of_core(const struct stat_result *r, const char *where, const struct request *q, const struct stat_value *v, unsigned i)
{
	const struct stat_run *run = run_of(r, v);

	return (struct figure){ where, q, v, v->by_core[i], run->units / r->workload->count, run->known ? v->cycles_by_core[i] : 0 };
}

static void text_line(struct text *t, const struct stat_result *r, const struct figure *f)
{
	const struct stat_run *run = run_of(r, f->v);
	char number[32];
	struct text n;

	text_init(&n, number, sizeof(number));
	text_fmt(&n, "%llu", (unsigned long long)f->value);
	column(t, 16, number);
	fixed(number, sizeof(number), f->units ? mul_div((int64_t)f->value, 1000, (int64_t)f->units) : 0, f->units != 0);
	column(t, 14, number);
	fixed(number, sizeof(number), f->cycles ? mul_div((int64_t)f->value, 1000, (int64_t)f->cycles) : 0, f->cycles != 0);
	column(t, 11, number);
	rate(number, sizeof(number), f->value, run->ticks, r->workload->b->a->tsc_hz);
	column(t, 12, number);
	const char *note = request_note(f->q);

	text_fmt(t, " %3u  %s%s%s%s%s\n", f->v->run, f->q->name, f->where, note[0] ? " (" : "", note, note[0] ? ")" : "");
}

static void csv_line(struct text *t, const struct stat_result *r, const struct figure *f, bool intervals)
{
	const struct stat_run *run = run_of(r, f->v);
	char number[32];

	if (intervals) {
		text_fixed(t, mul_div((int64_t)r->since_ticks, 1000000000, (int64_t)r->workload->b->a->tsc_hz), 9);
		text_char(t, ',');
	}
	text_fmt(t, "\"%s\",\"%s\",%llu,%s,", f->q->name, f->where, (unsigned long long)f->value, r->workload->unit);
	fixed(number, sizeof(number), f->units ? mul_div((int64_t)f->value, 1000, (int64_t)f->units) : 0, f->units != 0);
	text_fmt(t, "%s,", number);
	fixed(number, sizeof(number), f->cycles ? mul_div((int64_t)f->value, 1000, (int64_t)f->cycles) : 0, f->cycles != 0);
	text_fmt(t, "%s,%lld,%u,%s", number, run->ticks ? (long long)mul_div((int64_t)f->value, (int64_t)r->workload->b->a->tsc_hz, (int64_t)run->ticks) : 0LL,
	         f->v->run, request_note(f->q));
	csv_end(t, r);
}

static void json_figure(struct text *t, const struct stat_result *r, const struct figure *f)
{
	const struct stat_run *run = run_of(r, f->v);

	text_fmt(t, "{\"event\": \"");
	text_json(t, f->q->name);
	text_fmt(t, "\", \"where\": \"%s\", \"value\": %llu, \"run\": %u, \"ticks\": %llu, \"units\": %llu, \"per_unit\": ", f->where,
	         (unsigned long long)f->value, f->v->run, (unsigned long long)run->ticks, (unsigned long long)f->units);
	text_fixed_or_null(t, f->units ? mul_div((int64_t)f->value, 1000, (int64_t)f->units) : 0, 3, f->units != 0);
	text_fmt(t, ", \"per_cycle\": ");
	text_fixed_or_null(t, f->cycles ? mul_div((int64_t)f->value, 1000, (int64_t)f->cycles) : 0, 3, f->cycles != 0);
	text_fmt(t, ", \"per_second\": %lld", run->ticks ? (long long)mul_div((int64_t)f->value, (int64_t)r->workload->b->a->tsc_hz, (int64_t)run->ticks) : 0LL);
	if (request_note(f->q)[0])
		text_fmt(t, ", \"note\": \"%s\"", request_note(f->q));
	text_char(t, '}');
}

struct output { struct text *t; const struct stat_result *r; enum stat_format format; bool intervals, more; };

static void figure(struct output *o, struct figure one)
{
	const struct figure *f = &one;

	if (o->format == STAT_TEXT) {
		text_line(o->t, o->r, f);
	} else if (o->format == STAT_CSV) {
		csv_line(o->t, o->r, f, o->intervals);
	} else {
		text_fmt(o->t, "%s", o->more ? ", " : "");
		json_figure(o->t, o->r, f);
	}
	o->more = true;
}

static void instances(struct output *o, const struct request *q, const struct stat_value *v, enum stat_detail d)
{
	const struct bench *b = o->r->workload->b;
	char where[32];
	struct text t;

	for (unsigned i = 0; q->kind == REQUEST_CORE && d == STAT_BY_BOX && o->r->workload->count > 1 && i < o->r->workload->count; i++) {
		text_init(&t, where, sizeof(where));
		text_fmt(&t, " core %u", o->r->workload->cores[i]);
		figure(o, of_core(o->r, where, q, v, i));
	}
	for (unsigned s = 0; q->kind == REQUEST_UNCORE && d != STAT_SUM && s < b->uncore.sockets; s++) {
		const uint64_t present = b->uncore.present[s][q->box - b->cpu->processor->boxes];
		uint64_t sum = 0;

		for (unsigned i = 0; i < UNCORE_INSTANCES_MAX; i++) {
			sum += v->by_box[s][i];
			if (d != STAT_BY_BOX || !(present >> i & 1) || (q->instance >= 0 && (unsigned)q->instance != i))
				continue;
			text_init(&t, where, sizeof(where));
			text_fmt(&t, " socket %u box %u", s, i);
			figure(o, of_all(o->r, where, q, v, v->by_box[s][i]));
		}
		text_init(&t, where, sizeof(where));
		text_fmt(&t, " socket %u", s);
		if (d == STAT_BY_SOCKET)
			figure(o, of_all(o->r, where, q, v, sum));
	}
}

static void uncounted(struct output *o, const struct request *q, const char *why)
{
	if (o->format == STAT_TEXT)
		text_fmt(o->t, "%16s%41s  %s: %s\n", "-", "", q->name, why);
	else if (o->format == STAT_CSV) {
		text_fmt(o->t, "%s\"%s\",\"%s\",,,,,,,", o->intervals ? "," : "", q->name, why);
		csv_end(o->t, o->r);
	} else
		text_fmt(o->t, "%s{\"event\": \"%s\", \"value\": null, \"why\": \"%s\"}", o->more ? ", " : "", q->name, why);
	o->more = true;
}

static void unmodelled(struct output *o, const struct request *q, const struct stat_value *v)
{
	char line[160];
	struct text why;

	text_init(&why, line, sizeof(line));
	text_fmt(&why, "not modelled by this simulated machine");
	if (v->unmodelled_why && v->unmodelled_why[0])
		text_fmt(&why, ": %s", v->unmodelled_why);
	uncounted(o, q, line);
}

/* Reports boxes that are missing from the sums. */
static void missing(struct output *o, const struct request *q)
{
	const struct bench *b = o->r->workload->b;
	const char *partly = q->kind == REQUEST_UNCORE ? b->uncore.box_partly[q->box - b->cpu->processor->boxes] : "";
	char why[112];
	struct text t;

	if (!partly[0])
		return;
	text_init(&t, why, sizeof(why));
	text_fmt(&t, "without %s", partly);
	uncounted(o, q, why);
}

/* Bytes per second of a metric in bytes; -1: another unit, or unknown. */
static int64_t metric_rate(const struct stat_result *r, const struct request_metric *of, const struct stat_metric *m)
{
	const struct stat_run *run = &r->runs[of->events.count ? r->values[of->request[0]].run : 0];

	/* over the windows' time, as for the events' rates: the counters run longer, but no data moves then */
	if (!m->known || m->milli < 0 || !run->ticks || !str_equal(of->metric->unit, "bytes"))
		return -1;
	return mul_div(m->milli / 1000, (int64_t)r->workload->b->a->tsc_hz, (int64_t)run->ticks);
}

static void metrics(struct output *o)
{
	const struct request_list *l = o->r->plan->requests;

	for (unsigned i = 0; i < l->metric_count; i++) {
		const struct stat_metric *m = &o->r->metrics[i];
		const struct uncore_metric *of = l->metrics[i].metric;
		const int64_t a_second = metric_rate(o->r, &l->metrics[i], m);
		char number[32], gb[32] = "", runs[48] = "";
		struct text t;

		fixed(number, sizeof(number), m->milli, m->known);
		text_init(&t, runs, sizeof(runs));
		if (m->known && m->first_run != m->last_run)
			text_fmt(&t, "its events are of runs %u to %u", m->first_run, m->last_run);
		if (o->format == STAT_TEXT) {
			column(o->t, 16, number);
			if (a_second >= 0) {
				text_init(&t, gb, sizeof(gb));
				text_fixed(&t, a_second / 1000000, 3);
				text_fmt(&t, " GB/s");
			}
			text_fmt(o->t, "  %-12s", m->known ? of->unit : "");
			column(o->t, 24, gb);
			text_fmt(o->t, "     %s%s%s%s\n", of->name, m->known && !runs[0] ? "" : ": ", m->known ? "" : m->why, runs);
		} else if (o->format == STAT_CSV) {
			if (o->intervals)
				text_fixed(o->t, mul_div((int64_t)o->r->since_ticks, 1000000000, (int64_t)o->r->workload->b->a->tsc_hz), 9);
			text_fmt(o->t, "%s\"%s\",\"%s\",%s,%s,,,", o->intervals ? "," : "", of->name, m->known ? "metric" : m->why, m->known ? number : "", of->unit);
			if (a_second >= 0)
				text_fmt(o->t, "%lld", (long long)a_second);
			text_fmt(o->t, ",,%s", runs);
			csv_end(o->t, o->r);
		} else {
			text_fmt(o->t, "%s{\"metric\": \"%s\", \"unit\": \"%s\", \"value\": ", i ? ", " : "", of->name, of->unit);
			text_fixed_or_null(o->t, m->milli, 3, m->known);
			if (a_second >= 0)
				text_fmt(o->t, ", \"per_second\": %lld", (long long)a_second);
			if (runs[0])
				text_fmt(o->t, ", \"note\": \"%s\"", runs);
			text_fmt(o->t, "%s%s%s}", m->known ? "" : ", \"why\": \"", m->known ? "" : m->why, m->known ? "" : "\"");
		}
	}
}

/* The shares of the top-down method, printed as metrics. */
static void topdown(struct output *o)
{
	const struct cpu *cpu = o->r->workload->b->cpu;
	bool more = o->r->plan->requests->metric_count != 0;

	for (unsigned i = 0; o->r->plan->requests->topdown && i < TOPDOWN_SHARES; i++) {
		const char *name;
		char number[32];
		int64_t share;

		if (!topdown_share(cpu, &o->r->topdown, i, &name, &share))
			continue;
		fixed(number, sizeof(number), share, true);
		if (o->format == STAT_TEXT) {
			column(o->t, 16, number);
			text_fmt(o->t, "  %-12s topdown.%s\n", "%", name);
		} else if (o->format == STAT_CSV) {
			if (o->intervals)
				text_fixed(o->t, mul_div((int64_t)o->r->since_ticks, 1000000000, (int64_t)o->r->workload->b->a->tsc_hz), 9);
			text_fmt(o->t, "%s\"topdown.%s\",\"metric\",%s,%%,,,,,", o->intervals ? "," : "", name, number);
			csv_end(o->t, o->r);
		} else {
			text_fmt(o->t, "%s{\"metric\": \"topdown.%s\", \"unit\": \"%%\", \"value\": %s}", more ? ", " : "", name, number);
		}
		more = true;
	}
}

void stat_head(struct text *t, const struct stat_plan *p, const struct stat_workload *w, enum stat_format f, enum stat_span span)
{
	char per[24];
	struct text n;

	if (f == STAT_CSV)
		text_fmt(t, "%sname,where,value,unit,per_unit,per_cycle,per_second,run,note,workload\n", span == STAT_INTERVALS ? "time_s," : "");
	if (f != STAT_TEXT)
		return;
	text_fmt(t, "%s%s: ", w->b->a->kind == ACCESS_SIM ? "SIMULATED " : "", w->b->a->name);
	workload_name(t, w);
	text_fmt(t, " on %u core%s%s%s; %u run%s%s\n", w->count, w->count == 1 ? "" : "s", w->result.kernel ? ", " : "", w->result.kernel ? w->result.kernel : "", p->runs, p->runs == 1 ? "" : "s", p->runs == 1 ? "" : " of the same workload, one after the other");
	column(t, 16, "value");
	text_init(&n, per, sizeof(per));
	text_fmt(&n, "per %s", w->unit);
	column(t, 14, per);
	text_fmt(t, "  per cycle    a second run  event\n");
}

void stat_counts(struct text *t, const struct stat_result *r, enum stat_format f, enum stat_detail d, enum stat_span span)
{
	const struct request_list *l = r->plan->requests;
	struct output o = { .t = t, .r = r, .format = f, .intervals = span == STAT_INTERVALS };

	if (f == STAT_JSON) {
		text_fmt(t, "{\"machine\": \"");
		text_json(t, r->workload->b->a->name);
		text_fmt(t, "\", \"simulated\": %s, \"workload\": \"", r->workload->b->a->kind == ACCESS_SIM ? "true" : "false");
		workload_name(t, r->workload);
		text_fmt(t, "\", \"unit\": \"%s\", \"cores\": %u, \"runs\": %u, \"tsc_hz\": %llu, \"since_ticks\": %llu, \"events\": [", r->workload->unit, r->workload->count, r->plan->runs,
		         (unsigned long long)r->workload->b->a->tsc_hz, (unsigned long long)r->since_ticks);
	} else if (f == STAT_TEXT && o.intervals) {
		text_fmt(t, "after ");
		text_fixed(t, mul_div((int64_t)r->since_ticks, 1000000, (int64_t)r->workload->b->a->tsc_hz), 3);
		text_fmt(t, " ms\n");
	}
	for (unsigned i = 0; i < l->count; i++) {
		const struct stat_value *v = &r->values[i];

		if (l->list[i].hidden)
			continue;
		if (v->unmodelled) {
			unmodelled(&o, &l->list[i], v);
			continue;
		}
		if (!v->counted) {
			uncounted(&o, &l->list[i], "not counted");
			continue;
		}
		figure(&o, of_all(r, "", &l->list[i], v, v->value));
		instances(&o, &l->list[i], v, d);
		missing(&o, &l->list[i]);
	}
	if (f == STAT_JSON)
		text_fmt(t, "], \"metrics\": [");
	metrics(&o);
	topdown(&o);
	if (f == STAT_JSON)
		text_fmt(t, "]}\n");
}
