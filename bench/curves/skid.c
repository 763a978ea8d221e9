/* bench/curves/skid.c: see skid.h. */
#include "bench/curves/skid.h"
#include "bench/catalogue/series.h"

#include "pmu/core/concept.h"
#include "pmu/netburst/netburst_sample.h"

#define HIT_AT    1024u      /* offset of the line that hits, after the last line that misses: another set of the L1 */
#define LINES_MOST 64u
#define RECORDS   96u        /* of a burst */
#define INSTRUCTIONS (2 * SKID_BLOCK + 4)
#define LINE      64u
#define LEAST_RECORDS 64u    /* fewer allow no verdict */
#define RCX 1u
#define RDX 2u

/* Events from one overflow to the next, for one burst each: a record takes one event more, and of two consecutive numbers one has no common factor
 * with the number of lines. */
static const uint64_t periods[] = { 12, 13 };

struct skid {
	struct bench *b;
	const struct row *row;
	struct row_result *out;
	struct loop loop;
	unsigned lines;
	uint32_t load;                     /* offset of the load in the code */
	int16_t number[SKID_CODE_BYTES];    /* number of the instruction at an offset, -1: none begins there */
	uint32_t at[INSTRUCTIONS];         /* records at each instruction */
	uint32_t line[LINES_MOST];         /* records of each line */
	uint32_t records, outside, astray; /* outside the code; with an address on none of the lines */
	uint32_t before, after;            /* records with the registers before the load, after it */
	uint64_t due;
	struct netburst_sample sample;
};

uint32_t skid_code(uint8_t *code, uint32_t *load)
{
	static const uint8_t hit[] = { 0x41, 0x8B, 0x01 };         /* mov eax, [r9] */
	static const uint8_t zero[] = { 0x31, 0xC9 };              /* xor ecx, ecx */
	static const uint8_t miss[] = { 0x48, 0x8B, 0x0A };        /* mov rcx, [rdx] */
	static const uint8_t next[] = { 0x48, 0x31, 0xCA, 0x41, 0xFF, 0xE3 }; /* xor rdx, rcx; jmp r11 */
	uint32_t n = 0;

#define PUT(bytes) (memcpy(code + n, bytes, sizeof(bytes)), n += sizeof(bytes))
	for (unsigned i = 0; i < SKID_BLOCK; i++)
		PUT(hit);
	PUT(zero);
	*load = n;
	PUT(miss);
	for (unsigned i = 0; i < SKID_BLOCK; i++)
		PUT(hit);
	PUT(next);
#undef PUT
	return n;
}

/* Numbers the offsets at which instructions begin. */
static void number(struct skid *k)
{
	uint32_t at = 0;

	for (unsigned i = 0; i < SKID_CODE_BYTES; i++)
		k->number[i] = -1;
	for (unsigned i = 0; i < INSTRUCTIONS; i++) {
		k->number[at] = (int16_t)i;
		at += i == SKID_BLOCK ? 2 : 3;
	}
}

static enum status run(struct skid *k, uint64_t iterations)
{
	struct working_set *w = &k->loop.sets[0];
	const uint64_t arguments[6] = { w->code_map.va, iterations, w->at, 0, 0, w->map.va + (uint64_t)k->lines * SKID_STRIDE + HIT_AT };
	struct window ignored;

	return window_run(k->b, w->kernel, arguments, NULL, 0, &ignored, &k->loop.job);
}

/* Line i holds its address XOR that of the next: no address, and never 0. */
static enum status lay_out(struct skid *k)
{
	struct working_set *w = &k->loop.sets[0];
	enum status st;

	w->kernel = kernel_find("k_run_code");
	w->shape = (struct shape){ .order = ORDER_STREAMS, .page_bytes = k->row->page_bytes, .line_bytes = LINE };
	w->shape.bytes = w->shape.span_bytes = (uint64_t)(k->lines + 1) * SKID_STRIDE;
	if (!w->kernel)
		return ST_BROKEN;
	st = window_set_up(k->b, w, 0, k->out);
	if (st != ST_OK)
		return st;
	k->out->footprint_bytes = (uint64_t)k->lines * LINE;
	k->out->page_bytes = w->map.page_bytes;
	for (unsigned i = 0; i < k->lines; i++) {
		uint64_t here = w->map.va + (uint64_t)i * SKID_STRIDE, next = w->map.va + (uint64_t)((i + 1) % k->lines) * SKID_STRIDE;

		*(uint64_t *)((uint8_t *)w->map.host + (uint64_t)i * SKID_STRIDE) = here ^ next;
	}
	w->at = w->map.va;
	w->code_map = (struct mapping){ .va = SPACE_SCRATCH, .bytes = SKID_CODE_BYTES, .page_bytes = PAGE_4K, .executable = true };
	st = k->b->a->ops->map(k->b->a->self, &w->code_map);
	w->code_mapped = st == ST_OK;
	if (st == ST_OK) {
		(void)skid_code(w->code_map.host, &k->load);
		number(k);
		st = run(k, 4 * k->lines);
	}
	return st;
}

static void judge_record(struct skid *k, const struct netburst_record *r)
{
	const struct working_set *w = &k->loop.sets[0];
	uint64_t offset = r->ip - w->code_map.va, from = r->gpr[RDX] - w->map.va;

	k->records++;
	if (offset >= SKID_CODE_BYTES || k->number[offset] < 0) {
		k->outside++;
		return;
	}
	k->at[k->number[offset]]++;
	if (from % SKID_STRIDE || from / SKID_STRIDE >= k->lines) {
		k->astray++;
		return;
	}
	k->line[from / SKID_STRIDE]++;
	k->before += r->gpr[RCX] == 0;
	k->after += r->gpr[RCX] == *(const uint64_t *)((const uint8_t *)w->map.host + from);
}

/* A burst of each period. */
static enum status sample(struct skid *k, const struct event *event, const char **why)
{
	struct netburst_record r;
	const size_t bytes = RECORDS * sizeof(*k->sample.taken.records);
	bool precise = k->row->order != ORDER_SKID_INTERRUPT;
	enum status st = ST_OK, stopped;

	k->sample = (struct netburst_sample){ .a = k->b->a, .cpu = k->b->cpu, .core = k->b->core, .precise = precise };
	if (!precise) {
		k->sample.taken.records = k->b->host->get(k->b->host->self, bytes);
		k->sample.taken.capacity = RECORDS;
		st = k->sample.taken.records ? ST_OK : ST_FULL;
	}
	for (unsigned p = 0; p < COUNT_OF(periods) && st == ST_OK; p++) {
		uint64_t iterations = RECORDS * periods[p];

		st = netburst_sample_start(&k->sample, event, periods[p], why);
		if (st != ST_OK)
			break;
		k->b->gate = &k->sample.gate;
		st = run(k, iterations);
		k->b->gate = NULL;
		stopped = netburst_sample_stop(&k->sample);
		st = st == ST_OK ? stopped : st;
		k->due += iterations / (periods[p] + 1);
		for (unsigned i = 0; st == ST_OK && i < k->sample.records; i++) {
			st = netburst_sample_read(&k->sample, i, &r);
			if (st == ST_OK)
				judge_record(k, &r);
		}
	}
	if (k->sample.taken.records)
		k->b->host->put(k->b->host->self, k->sample.taken.records, bytes);
	return st;
}

/* --- results ----------------------------------------------------------------------------------- */

static void not_ok(struct row_result *out, const char *why)
{
	out->status = ROW_UNPROVEN;
	str_copy(out->reason, sizeof(out->reason), why);
}

static void print_distances(struct skid *k)
{
	static const char *const columns[] = { "instructions", "records" };
	struct row_result *out = k->out;
	struct text proof;
	unsigned most = 0, instructions = 0;
	const int load = k->number[k->load];
	int64_t deviations = 0;

	out->series.columns = columns;
	out->series.column_count = COUNT_OF(columns);
	for (unsigned i = 0; i < INSTRUCTIONS; i++) {
		const int64_t point[SERIES_COLUMNS] = { ((int)i - load) * 1000, k->at[i] * 1000 };

		most = k->at[i] > k->at[most] ? i : most;
		instructions += k->at[i] != 0;
		if (k->at[i])
			series_add(&out->series, point);
	}
	for (unsigned i = 0; i < INSTRUCTIONS; i++)
		deviations += (int64_t)k->at[i] * (i > most ? i - most : most - i);
	out->value_milli = ((int)most - load) * 1000;
	out->spread_milli = mul_div(deviations, 1000, (int64_t)k->records);
	text_init(&proof, out->proof, sizeof(out->proof));
	text_fmt(&proof, "%u of %llu due; %u%% at %s%d, %u at the load", k->records, (unsigned long long)k->due,
	         k->at[most] * 100 / k->records, (int)most < load ? "" : "+", (int)most - load, k->at[load]);
	if (k->row->order == ORDER_SKID_INTERRUPT)
		return;
	text_fmt(&proof, "; registers %s the load", k->before == k->records ? "before" : k->after == k->records ? "behind" : "now before, now behind");
	if (instructions != 1 || k->outside)
		not_ok(out, "the records do not point to one instruction");
	else if (k->before != k->records && k->after != k->records)
		not_ok(out, "the registers are not always those before the load, nor always those after it");
}

static void print_lines(struct skid *k)
{
	static const char *const columns[] = { "offset_bytes", "records" };
	struct row_result *out = k->out;
	struct text proof;
	unsigned found = 0;

	out->series.columns = columns;
	out->series.column_count = COUNT_OF(columns);
	for (unsigned i = 0; i < k->lines; i++) {
		const int64_t point[SERIES_COLUMNS] = { (int64_t)i * SKID_STRIDE * 1000, k->line[i] * 1000 };

		found += k->line[i] != 0;
		if (k->line[i])
			series_add(&out->series, point);
	}
	out->value_milli = found * 1000;
	text_init(&proof, out->proof, sizeof(out->proof));
	text_fmt(&proof, "%u of %u lines %u KiB apart, %u records elsewhere", found, k->lines, SKID_STRIDE >> 10, k->astray + k->outside);
	if (found != k->lines || k->astray + k->outside)
		not_ok(out, "the profile is not that of the lines that miss");
}

static void print_verdict(struct skid *k)
{
	struct row_result *out = k->out;
	uint64_t off = k->records > k->due ? k->records - k->due : k->due - k->records;

	out->samples = k->records;
	if (k->records < LEAST_RECORDS) {
		not_ok(out, "too few records");
		return;
	}
	out->status = ROW_OK;
	if (k->row->order == ORDER_SKID_ADDRESSES)
		print_lines(k);
	else
		print_distances(k);
	if (out->status == ROW_OK && off > COUNT_OF(periods) + k->due / 50)
		not_ok(out, "records are missing");
}

/* NULL if the experiment can be set up here; else the reason. */
static const char *absent(struct skid *k)
{
	const struct cpu_cache *l1 = cpu_cache(k->b->cpu, 1);

	if (!k->b->cpu->processor->detector_count)
		return "no detectors of NetBurst's";
	if (!l1 || !l1->ways || SKID_STRIDE % (l1->bytes / l1->ways) || l1->bytes / l1->ways <= HIT_AT)
		return "lines 8 KiB apart are not of one set of the L1";
	k->lines = 2 * l1->ways;
	return k->lines > LINES_MOST ? "more ways than the experiment has lines for" : NULL;
}

void skid_row(struct bench *b, const struct row *r, struct row_result *out)
{
	struct skid *k = b->host->get(b->host->self, sizeof(*k));
	const struct event *event = concept_event(b->cpu->processor, "load.miss.l1");
	uint64_t found = 0;
	bool wanted = prefetchers_known(b), switched = false;
	const char *why;
	enum status st;

	if (!k) {
		row_failed(out, ST_FULL, NULL, "memory for the records");
		return;
	}
	memset(k, 0, sizeof(*k));
	k->b = k->loop.b = b;
	k->row = k->loop.row = r;
	k->loop.set_count = 1;
	k->out = out;
	why = absent(k);
	st = why || !event ? ST_UNSUPPORTED : ST_OK;
	if (st == ST_OK && wanted)
		switched = prefetchers_off(b, &found);
	if (st == ST_OK)
		st = lay_out(k);
	if (st == ST_OK)
		st = sample(k, event, &why);
	if (st == ST_OK)
		print_verdict(k);
	if (switched && !prefetchers_back(b, found))
		switched = false;
	if (st == ST_UNSUPPORTED) {
		out->status = ROW_UNSUPPORTED;
		out->absent = true;
		str_copy(out->reason, sizeof(out->reason), why ? why : "no such event");
	} else if (st != ST_OK) {
		out->series.points = 0;
		row_failed(out, st, &k->loop.job, why ? why : "sampling a load that misses");
	} else if (wanted && !switched && out->status == ROW_OK) {
		not_ok(out, "the prefetchers could not be switched off");
	}
	loop_end(&k->loop, out);
	b->host->put(b->host->self, k, sizeof(*k));
}
