/* bench/suite/suite.c: runs the selected rows and writes each result as it completes. */
#include "bench/multicore/matrix.h"
#include "bench/report/html.h"
#include "bench/suite/cross_check.h"
#include "bench/suite/execute.h"
#include "bench/suite/row_tasks.h"
#include "bench/suite/suite_select.h"
#include "bench/suite/suite_sections.h"
#include "bench/workloads/profile.h"
#include "bench/results/report.h"
#include "bench/results/writer.h"

#define SEED_DEFAULT 20090330u  /* arbitrary; fixed, so that runs can be compared */

/* --- running ----------------------------------------------------------------------------------- */

/* Context of the check whether a contradicted row's status is unexpected. */
struct expectation { const struct access *a; const struct suite_settings *s; };

static bool unexpected_now(const void *self, unsigned row, enum row_status status, bool limited)
{
	const struct expectation *e = self;
	unsigned allowed = suite_expected(e->s->expect, &rows[row], e->a->core_kind);

	return allowed ? !(allowed & 1u << status) : e->a->kind == ACCESS_SIM && !limited;
}

/* Whether a method that a row has besides its own was lost to a fault, a time-out or a failed call. */
static bool method_lost(const struct row_result *r)
{
	const enum sample_verdict s = r->sample.verdict;
	const enum uncore_latency_verdict q = r->queue.verdict;

	return s == SAMPLE_FAULT || s == SAMPLE_TIMEOUT || s == SAMPLE_FAILED ||
	       q == UNCORE_LATENCY_FAULT || q == UNCORE_LATENCY_TIMEOUT || q == UNCORE_LATENCY_FAILED;
}

static bool unexpected(const struct access *a, const struct suite_settings *s, const struct row_result *r)
{
	unsigned allowed = suite_expected(s->expect, r->row, a->core_kind);

	if (allowed)
		return !(allowed & 1u << r->status);
	if (a->kind != ACCESS_SIM)
		return false;
	if (method_lost(r))
		return true;
	return r->status != ROW_OK && !(r->status == ROW_UNSUPPORTED && r->absent) && !(r->status == ROW_UNPROVEN && (r->unprovable || r->limited));
}

/* Result of a row that an earlier boot began and did not complete: the machine crashed in it. */
static void crashed(const struct row *r, const struct cpu *cpu, struct row_result *out)
{
	memset(out, 0, sizeof(*out));
	out->row = r;
	out->name = r->name;
	out->kind = r->kind;
	out->unit = r->unit;
	out->revision = r->revision;
	out->status = ROW_CRASHED;
	out->cycles_milli = out->ns_milli = -1;
	out->kernel = "";
	out->latency_sources = cpu->processor->latency_sources;
	str_copy(out->reason, sizeof(out->reason), "the machine stopped in it; it was not tried again");
}

/* Runs one row's kernel under a profile, or marks it as crashed, and writes the counts. */
static void run_profile(struct writer *w, struct bench *b, const struct suite_settings *s, const struct profile_plan *plan,
                        const struct row *row, const struct progress *p, bool begun)
{
	struct profile_result r;
	bool odd;

	if (begun) {
		memset(&r, 0, sizeof(r));
		crashed(row, b->cpu, &r.row);
	} else {
		writer_start(w, row->name);
		if (w->host->progress)
			w->host->progress(w->host->self, p);
		profile_row(b, plan, row, &r);
	}
	r.row.core_kind = w->a->core_kind;
	w->out->rows++;
	w->out->by_status[r.row.status]++;
	odd = unexpected(w->a, s, &r.row);
	w->out->unexpected += odd;
	w->out->disturbances = b->disturbance.counts;
	writer_profile(w, plan, &r, odd);
}

/* Whether a row uses shared levels. Core events do not, except code lines from the L3. */
static bool is_shared(const struct row *r)
{
	return r->pair ? r->pair->code == CODE_LINES_L3 : r->statistic != STAT_MINIMUM && r->kind != KIND_SAMPLED;
}

#define STUDY_LINES 4096u
#define TURBO_PART 100u /* 1 %: half of a row's tolerance */
#define FREQ_LOCK_PART 33u /* 3 %: tolerance of a locked clock */

static const struct freq_lock_state *lock_held(const struct freq_locks *locks, const char *name)
{
	for (unsigned i = 0; i < locks->count; i++)
		if (str_equal(locks->list[i].lock->name, name) && !locks->list[i].refused && !locks->list[i].absent)
			return &locks->list[i];
	return NULL;
}

/* The ratio of the base clock, which is that of the TSC (SDM 18.7.3); 0: not known. HWP ignores it as a request, but its value is the same. */
static uint64_t base_ratio(const struct freq_locks *locks)
{
	for (unsigned i = 0; i < locks->count; i++)
		if (str_equal(locks->list[i].lock->name, "core_ratio") && !locks->list[i].refused)
			return locks->list[i].wanted;
	return 0;
}

/* A clock that changes within windows shows only its mean, which differs from a locked ratio. */
static void judge_uncore_clock(struct bench *b, const struct freq_locks *locks, struct row_result *r)
{
	const struct freq_lock_state *uncore = lock_held(locks, "uncore_ratio");
	const uint64_t hz = r->queue.uncore_hz, base = base_ratio(locks);
	const uint64_t wanted = uncore && base ? (uint64_t)mul_div((int64_t)b->a->tsc_hz, (int64_t)uncore->wanted, (int64_t)base) : 0;
	struct text reason;

	if (r->status == ROW_OK && is_shared(r->row) && b->uncore_wandered && !hz) { /* this row did not monitor the clock */
		r->status = ROW_UNPROVEN;
		str_copy(r->reason, sizeof(r->reason), "the uncore clock moved");
	}
	if (!hz || !wanted || (hz > wanted ? hz - wanted : wanted - hz) <= wanted / FREQ_LOCK_PART)
		return;
	b->uncore_wandered = true;
	if (r->status != ROW_OK)
		return;
	r->status = ROW_UNPROVEN;
	text_init(&reason, r->reason, sizeof(r->reason));
	text_fmt(&reason, "the uncore clock was ");
	text_fixed(&reason, (int64_t)(hz / 1000000), 3);
	text_fmt(&reason, " GHz, pinned at ");
	text_fixed(&reason, (int64_t)(wanted / 1000000), 3);
}

/* Whether the machine has turbo mode and every way to disable it was refused. */
static bool turbo_stays(const struct freq_locks *locks)
{
	bool stays = false;

	for (unsigned i = 0; i < locks->count; i++)
		if (str_equal(locks->list[i].lock->name, "turbo") && !locks->list[i].absent) {
			if (!locks->list[i].refused)
				return false;
			stays = true;
		}
	return stays;
}

/* Why the core clock may be another than the base clock, or NULL. */
static const char *core_clock_open(const struct freq_locks *locks)
{
	for (unsigned i = 0; i < locks->count; i++)
		if (str_equal(locks->list[i].lock->name, "hwp") && locks->list[i].refused)
			return "firmware has switched HWP on, and the requested level could not be held: the core clock ";
	return turbo_stays(locks) ? "turbo mode could not be switched off: the core clock " : NULL;
}

/* Values in seconds, or of units with a clock of their own, depend on the core clock: they need the base clock, which is that of the TSC. */
static void judge_core_clock(const struct bench *b, const struct freq_locks *locks, struct row_result *r)
{
	const uint64_t base = b->a->tsc_hz, hz = r->core_hz;
	const char *why = core_clock_open(locks);
	struct text reason;

	if (r->status != ROW_OK || (r->kind != KIND_THROUGHPUT && !is_shared(r->row)) || !why ||
	    (hz > base ? hz - base : base - hz) <= base / TURBO_PART)
		return;
	r->status = ROW_UNPROVEN;
	text_init(&reason, r->reason, sizeof(r->reason));
	text_fmt(&reason, "%s", why);
	text_fmt(&reason, hz ? "was " : "is not known");
	if (hz)
		text_fixed(&reason, (int64_t)(hz / 1000000), 3);
	text_fmt(&reason, hz ? " GHz" : "");
}

/* Shared levels run at the uncore clock. Without a lock that clock may change, so such rows are unproven. */
static void judge_locks(const struct freq_locks *locks, struct row_result *r)
{
	for (unsigned i = 0; i < locks->count && r->status == ROW_OK && is_shared(r->row); i++)
		if (locks->list[i].refused && str_equal(locks->list[i].lock->name, "uncore_ratio")) {
			r->status = ROW_UNPROVEN;
			str_copy(r->reason, sizeof(r->reason), "the uncore clock may wander: its ratios could not be pinned");
		}
}

/* Runs one row, or marks it as crashed, and writes it. */
static void run_row(struct writer *w, struct bench *b, const struct suite_settings *s, struct row_tasks *tasks, const struct progress *p, bool begun)
{
	const struct row *row = p->row;
	struct row_result r;
	bool odd;

	if (begun) {
		crashed(row, b->cpu, &r);
	} else {
		writer_start(w, row->name);
		if (w->host->progress)
			w->host->progress(w->host->self, p);
		if (!row_tasks_take(tasks, row, &r, &w->out->instructions))
			execute_row(b, row, &r);
		judge_locks(&w->out->locks, &r);
		judge_core_clock(b, &w->out->locks, &r);
		judge_uncore_clock(b, &w->out->locks, &r);
	}
	r.core_kind = w->a->core_kind;
	w->out->rows++;
	w->out->by_status[r.status]++;
	odd = unexpected(w->a, s, &r);
	w->out->unexpected += odd;
	if (r.kind == KIND_PENALTY && (r.status == ROW_OK || r.status == ROW_NOISY))
		w->penalty_milli[row - rows] = r.value_milli;
	w->out->disturbances = b->disturbance.counts;
	writer_row(w, &r, odd);
	if (w->host->row_done)
		w->host->row_done(w->host->self, &r);
	if (r.matrix)
		w->host->put(w->host->self, r.matrix, matrix_bytes(b));
}

static bool is_whole(const struct access *a) { return a->core_kind && str_equal(a->core_kind, CORE_KIND_ALL); }

/* For all kinds of cores together only core pairs and the bandwidth of memory are measured: the bandwidth of their own caches is the sum of the
 * kinds'. */
static bool asked_of(const struct access *a, const struct suite_settings *s, const struct row *r)
{
	return is_whole(a) ? (r->order == ORDER_MATRIX || (r->order == ORDER_MULTICORE && r->target == TARGET_DRAM)) && suite_selects_name(s, r->name, r->suites) : suite_selects(s, r);
}

static struct progress progress_of(const struct access *a, const struct suite_settings *s)
{
	struct progress p = { 0 };

	for (unsigned i = 0; i < rows_count; i++)
		if (asked_of(a, s, &rows[i])) {
			p.total++;
			p.work_total += rows[i].budget;
		}
	return p;
}

/* Runs the selected rows; `profile` NULL: measures them. */
static void run_rows(struct writer *w, struct bench *b, const struct suite_settings *s, const struct profile_plan *profile)
{
	struct progress p = progress_of(w->a, s);
	struct row_tasks tasks = { 0 };

	for (unsigned i = 0; i < rows_count && !profile && tasks.count < ROW_TASKS_MOST; i++)
		if (row_tasks_may(&rows[i]) && asked_of(w->a, s, &rows[i]) && w->earlier[i] == RESUMED_NOTHING)
			tasks.rows[tasks.count++] = &rows[i];
	row_tasks_start(&tasks, b);
	for (unsigned i = 0; i < rows_count; i++) {
		if (!asked_of(w->a, s, &rows[i]))
			continue;
		p.row = &rows[i];
		if (w->earlier[i] != RESUMED_DONE) {
			if (w->host->stop && w->host->stop(w->host->self)) {
				w->out->stopped = true;
				break;
			}
			if (profile)
				run_profile(w, b, s, profile, &rows[i], &p, w->earlier[i] == RESUMED_BEGUN);
			else
				run_row(w, b, s, &tasks, &p, w->earlier[i] == RESUMED_BEGUN);
		}
		p.done++;
		p.work_done += rows[i].budget;
	}
	row_tasks_end(&tasks);
	if (!profile) {
		cross_check_run(w, unexpected_now, &(struct expectation){ w->a, s });
		if (!is_whole(w->a))
			suite_sections_run(w, b, s);
	}
}

/* Runs after the rows of the full suite. On a simulated machine every feature that the machine has must work. */
static void run_known_program(struct writer *w, struct bench *b, const struct suite_settings *s)
{
	unsigned odd = 0;

	if (!suite_asks_for_all(s) || w->out->stopped || w->a->kind == ACCESS_NATIVE || *w->study_earlier == RESUMED_DONE)
		return;
	if (*w->study_earlier == RESUMED_BEGUN) {
		w->out->study.ran = true;
		for (unsigned p = 0; p < KNOWN_PROGRAM_PARTS; p++) {
			w->out->study.parts[p].status = ST_STOPPED;
			str_copy(w->out->study.parts[p].reason, sizeof(w->out->study.parts[p].reason), "the machine stopped in the study");
		}
	} else {
		struct progress p = progress_of(w->a, s);

		writer_start(w, KNOWN_PROGRAM_NAME);
		p.done = p.total;
		p.work_done = p.work_total;
		if (w->host->progress)
			w->host->progress(w->host->self, &p);
		known_program_run(b, &w->out->study);
	}
	for (unsigned p = 0; w->a->kind == ACCESS_SIM && p < KNOWN_PROGRAM_PARTS; p++)
		if (w->out->study.parts[p].status != ST_OK && w->out->study.parts[p].status != ST_UNSUPPORTED)
			odd++;
	w->out->unexpected += odd;
	writer_known_program(w, odd);
}

static uint64_t seed_of(const struct suite_settings *s)
{
	return s->seed ? s->seed : SEED_DEFAULT;
}

uint64_t suite_key(const struct suite_kind *kinds, unsigned n, const struct suite_settings *s)
{
	const struct access *a = kinds[0].a;
	const char *const texts[] = { a->name, report_build(), settings_rows(s), s->profile ? s->profile : "", s->label ? s->label : "", s->expect ? s->expect : "",
		s->cores ? s->cores : "", s->nodes ? s->nodes : "", s->kernels ? s->kernels : "" };
	const uint64_t numbers[] = { seed_of(s), s->repetitions, s->vector_bits | (uint64_t)s->ibs_misses << 16, kinds[0].cpu->signature, a->cores, a->nodes };
	uint64_t h = FNV1A64_START;

	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		h = fnv1a64(h, texts[i], str_length(texts[i]) + 1);
	for (unsigned i = 0; i < n && kinds[i].a->core_kind; i++)
		h = fnv1a64(h, kinds[i].a->core_kind, str_length(kinds[i].a->core_kind) + 1);
	return fnv1a64(h, numbers, sizeof(numbers));
}

/* Writes the report. A failure is reported and leaves the results intact. */
static void write_report(struct writer *w)
{
	if (w->host->write && !w->json.full)
		writer_failed(w, html_file(w->host, w->json.at, w->json.length));
}

/* Saves the locks of the previous kind of cores, and prints what its known program showed. */
static void next_kind(struct writer *w)
{
	struct suite_summary *out = w->out;
	char lines[STUDY_LINES];
	struct text t;

	out->locks_before[out->kinds_before].core_kind = out->core_kind;
	out->locks_before[out->kinds_before++].locks = out->locks;
	if (!out->study.ran)
		return;
	text_init(&t, lines, sizeof(lines));
	text_fmt(&t, "on %s:\n", out->core_kind);
	known_program_lines(&t, &out->study);
	if (w->host->print)
		w->host->print(w->host->self, lines);
	memset(&out->study, 0, sizeof(out->study));
}

/* Runs the settings on one kind of cores. */
static enum status run_kind(struct writer *w, struct bench *b, const struct suite_kind *k, const struct suite_settings *s, const struct profile_plan *profile)
{
	struct suite_summary *out = w->out;
	char problem[200];

	writer_kind(w, k->a);
	out->core_kind = k->a->core_kind;
	freq_lock_clocks(k->a, k->cpu, &out->locks);
	bench_init(b, k->a, k->cpu, w->host, s->repetitions, seed_of(s));
	out->last_level_nodes = b->last_level_nodes;
	b->own.isa &= ~suite_too_wide(s->vector_bits);
	b->kernels = s->kernels;
	b->ibs_misses = s->ibs_misses;
	b->disturbance.counts = out->disturbances; /* of earlier boots and kinds */
	const enum status st = cpuset_choose(k->a, s->cores, s->nodes, &b->cpuset, problem, sizeof(problem));
	if (st != ST_OK)
		return st;
	run_rows(w, b, s, profile);
	if (!s->profile && !is_whole(k->a))
		run_known_program(w, b, s);
	out->disturbances = b->disturbance.counts;
	return ST_OK;
}

enum status suite_run_kinds(const struct suite_kind *kinds, unsigned n, const struct suite_settings *s, const struct suite_host *host,
                            struct suite_summary *out)
{
	struct writer w;
	struct bench *b = host->get(host->self, sizeof(*b));
	struct profile_plan profile;
	char problem[200];
	const struct access *a = kinds[0].a;
	uint64_t before;
	enum status st = s->profile ? profile_find(kinds[0].cpu, s->profile, &profile, problem, sizeof(problem)) : ST_OK;

	memset(out, 0, sizeof(*out));
	if (st == ST_OK)
		st = b ? writer_open(&w, a, host, out, s->profile ? PROFILE_BYTES : 0, n) : ST_FULL;
	if (st == ST_OK) {
		if (!host->journal || !writer_earlier(&w))
			writer_head(&w, kinds, n, s, seed_of(s), suite_key(kinds, n, s));
		before = a->instructions ? a->instructions(a->counts_self) : 0;
		for (unsigned i = 0; i < n && st == ST_OK && !out->stopped; i++) {
			if (i > 0 && out->kinds_before < CORE_KINDS_MAX)
				next_kind(&w);
			st = run_kind(&w, b, &kinds[i], s, s->profile ? &profile : NULL);
			if (i == 0)
				boxes_note(&b->uncore, &out->boxes);
		}
		if (a->instructions)
			out->instructions += a->instructions(a->counts_self) - before; /* and those of tasks */
		writer_end(&w);
		write_report(&w);
		writer_close(&w);
	}
	if (b)
		host->put(host->self, b, sizeof(*b));
	return st;
}

enum status suite_run(const struct access *a, const struct cpu *cpu, const struct suite_settings *s, const struct suite_host *host,
                      struct suite_summary *out)
{
	return suite_run_kinds(&(struct suite_kind){ a, cpu }, 1, s, host, out);
}

void suite_run_name(char *to, size_t capacity, const char *product, uint64_t identity)
{
	char name[41];
	struct text t;

	str_file_name(name, sizeof(name), product);
	text_init(&t, to, capacity);
	text_fmt(&t, "%s-%04x", name, (unsigned)(identity & 0xFFFF));
}

enum status suite_rebuild(const char *journal, size_t bytes, const struct suite_host *host)
{
	static const struct access none = { .name = "" };
	struct suite_summary out;
	struct writer w;
	struct suite_host sized = *host;

	memset(&out, 0, sizeof(out));
	sized.journal_bytes = bytes;
	enum status st = writer_open(&w, &none, &sized, &out, 0, CORE_KIND_NAMES);
	if (st != ST_OK)
		return st;
	st = writer_rebuild(&w, journal, bytes);
	if (st == ST_OK)
		write_report(&w);
	writer_close(&w);
	return st != ST_OK ? st : out.files;
}
