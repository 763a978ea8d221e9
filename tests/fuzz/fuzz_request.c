/* Fuzzes what stallmeter simulate reads from the programs that it runs: any bytes as requests, one after the other. Each is answered; what it
 * writes into a trace is a line that replay reads as the same access. Machines stay as earlier executions left them: opening one takes longer
 * than a thousand requests. max_len=257 seed_folder=tests/fuzz/seeds/request */
#include <stdlib.h>
#include <string.h>
#include "runner/data/trace_text.h"
#include "runner/shim/serve.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const machines[] = { "haswell-ep", "nehalem-ep", "pentium4", "skylake-sp" };
static struct stallmeter_sim *open_ones[sizeof(machines) / sizeof(machines[0])];

static struct stallmeter_sim *machine(unsigned n)
{
	char problem[512];
	if (!open_ones[n])
		open_ones[n] = stallmeter_sim_open(machines[n], n % 2 + 1, problem, sizeof(problem));
	if (!open_ones[n])
		abort();
	return open_ones[n];
}

static void read_back(const struct shim_request *q, const struct shim_answer *a)
{
	static char line[256];
	static FILE *trace;
	struct traced t;
	const char *problem;
	if (!trace)
		trace = fmemopen(line, sizeof(line), "w");
	rewind(trace);
	serve_note(trace, q, a);
	const long n = ftell(trace);
	fflush(trace);
	if (n <= 0)
		return;
	if (line[n - 1] != '\n' || trace_text_read(line, (size_t)n - 1, &t, &problem) != ST_OK || t.failed != (a->status != 0))
		abort();
	if ((q->op == SHIM_WRMSR || q->op == SHIM_RDMSR) && (t.core != q->cpu || t.address != q->address))
		abort();
	if ((q->op == SHIM_WRMSR || q->op == SHIM_PCI_WRITE32) && t.value != q->value)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct shim_request q;
	if (!size)
		return 0;
	struct stallmeter_sim *s = machine(data[0] % (sizeof(machines) / sizeof(machines[0])));
	data++;
	size--;
	do {
		uint8_t *copy = malloc(sizeof(q)); /* exactly a request: a read beyond it ends the program */
		const size_t n = size < sizeof(q) ? size : sizeof(q);
		memcpy(copy, data, n);
		memcpy(&q, copy, n);
		if (n == sizeof(q) && q.op == SHIM_RUN) /* a reader is fuzzed, not the machine: runs are short */
			q.value = q.value > SERVE_INSTRUCTIONS_MOST ? q.value : q.value % 64;
		if (n == sizeof(q) && q.op == SHIM_PCI_NEXT) /* ... and the search has little to search */
			q.address |= 0xFFull << 20;
		memcpy(copy, &q, n);
		const struct shim_answer a = serve_request(s, copy, n, &q);
		if (n < sizeof(q) && (q.op != SHIM_OPS || a.status != STALLMETER_SIM_UNSUPPORTED))
			abort();
		read_back(&q, &a);
		free(copy);
		data += n;
		size -= n;
	} while (size);
	return 0;
}
