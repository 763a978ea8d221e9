/* bench/suite/row_tasks.c: see row_tasks.h. */
#include "bench/suite/row_tasks.h"

#include "bench/measure/loop.h"
#include "bench/multicore/matrix.h"
#include "bench/suite/execute.h"

/* What a task fills in; the matrix of a row of core pairs follows. Pointers within the result are to constants, the same in every process. */
struct outcome {
	struct row_result result;
	struct disturbances disturbances;
	uint64_t instructions;
};

bool row_tasks_may(const struct row *r)
{
	return r->order == ORDER_MULTICORE || r->order == ORDER_NODES || r->order == ORDER_MATRIX || r->order == ORDER_LOADED;
}

static uint64_t instructions(const struct bench *b)
{
	return b->a->instructions ? b->a->instructions(b->a->counts_self) : 0;
}

static void run_task(void *context, unsigned i, void *to)
{
	struct row_tasks *t = context;
	struct outcome *out = to;
	const uint64_t before = instructions(t->b);

	t->b->host = &t->quiet;
	execute_row(t->b, t->rows[i], &out->result);
	out->disturbances = t->b->disturbance.counts;
	out->instructions = instructions(t->b) - before;
	if (out->result.matrix)
		memcpy(out + 1, out->result.matrix, matrix_bytes(t->b));
}

void row_tasks_start(struct row_tasks *t, struct bench *b)
{
	t->b = b;
	t->quiet = *b->host;
	t->quiet.working = NULL;
	t->before = b->disturbance.counts;
	t->bytes = (sizeof(struct outcome) + matrix_bytes(b) + 63) & ~(size_t)63;
	for (unsigned i = 1; i < t->count; i++)
		for (unsigned j = i; j > 0 && t->rows[j]->budget > t->rows[j - 1]->budget; j--) {
			const struct row *r = t->rows[j];

			t->rows[j] = t->rows[j - 1];
			t->rows[j - 1] = r;
		}
	if (!t->count || !b->host->tasks_start || b->host->tasks_start(b->host->tasks, t->count, t->bytes, run_task, t) != ST_OK)
		t->count = 0;
}

/* Adds what a task's windows met since all tasks started. */
static void add(struct disturbances *to, const struct disturbances *of, const struct disturbances *before)
{
	to->windows += of->windows - before->windows;
	to->clock += of->clock - before->clock;
	to->thermal += of->thermal - before->thermal;
	to->modulated += of->modulated - before->modulated;
	for (unsigned i = 0; i < SMI_BINS; i++)
		to->smi[i] += of->smi[i] - before->smi[i];
}

bool row_tasks_take(struct row_tasks *t, const struct row *r, struct row_result *out, uint64_t *simulated)
{
	const struct suite_host *h = t->b->host;
	unsigned i = 0;

	while (i < t->count && t->rows[i] != r)
		i++;
	if (i == t->count)
		return false;
	const struct outcome *of = h->tasks_wait(h->tasks, i);
	if (!of) {
		if (row_begin(t->b, r, out)) {
			out->status = ROW_FAILED;
			str_copy(out->reason, sizeof(out->reason), "its process ended before the row did");
		}
		return true;
	}
	*out = of->result;
	add(&t->b->disturbance.counts, &of->disturbances, &t->before);
	*simulated += of->instructions;
	if (!out->matrix)
		return true;
	out->matrix = h->get(h->self, matrix_bytes(t->b));
	if (out->matrix)
		memcpy(out->matrix, of + 1, matrix_bytes(t->b));
	else
		row_failed(out, ST_FULL, NULL, "its pairs");
	return true;
}

void row_tasks_end(struct row_tasks *t)
{
	if (t->count)
		t->b->host->tasks_end(t->b->host->tasks);
	t->count = 0;
}
