/* tests/judge/planted.c: errors planted in rows of the catalogue, one at a time, on simulated machines. Each must cost the row its `ok`, by what the counters
 * prove or by a row that contradicts it. On real hardware nothing else would reveal it: no formula gives the right value.
 *
 * The table of rows is constant data of this process: its pages are made writable here. Prints TAP. PLANTED=WORD runs the cases whose text or row contains
 * the word. Without the error a row must be `ok`, or its case would show nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "bench/catalogue/row.h"
#include "tests/unit/support/closed_loop.h"

#define JOBS_MOST 64

/* Errors of the backend from ASTRAY on. ASTRAY: jobs of core 0 run on core `value`. IDLE: the job of core `value` never runs, but counts as ended.
 * UNASKED: code that was written at run time has NOPs in place of prefetches. */
enum field { EVENTS, TARGET, ORDER, PREPARE, BASELINE, BASE, PREFETCH, PAGE, NODE, KERNEL, FILL, CODE, FILLER, BOTH, ASTRAY, IDLE, UNASKED };

/* `beside`: rows of the same run that may contradict it. hidden: nothing reveals the error (docs/limits.md). */
static const struct planted { const char *what, *machine, *row, *beside; enum field field; uint64_t value; const char *name; bool hidden; } cases[] = {
	/* a wrong count per loop */
	{ .what = "twice as many additions an iteration", .machine = "nehalem-ep", .row = "exec.addsd.latency", .beside = "", .field = EVENTS, .value = 16 },
	{ .what = "half as many products an iteration", .machine = "nehalem-ep", .row = "exec.mulsd.latency", .beside = "", .field = EVENTS, .value = 4 },
	{ .what = "twice as many divisions an iteration", .machine = "haswell-ep", .row = "exec.divsd_hard.latency", .beside = "exec.divsd*", .field = EVENTS, .value = 16 },
	{ .what = "half as many split loads an iteration", .machine = "nehalem-ep", .row = "split.load_line.penalty", .beside = "", .field = EVENTS, .value = 8 },
	{ .what = "twice as many forwarded loads an iteration", .machine = "nehalem-ep", .row = "store.forward.latency", .beside = "", .field = EVENTS, .value = 16 },
	{ .what = "twice as many locked additions an iteration", .machine = "nehalem-ep", .row = "sync.lock.penalty", .beside = "", .field = EVENTS, .value = 16 },
	{ .what = "twice as many fences an iteration", .machine = "skylake-sp", .row = "sync.mfence.penalty", .beside = "", .field = EVENTS, .value = 16 },
	{ .what = "half as many comparisons an iteration", .machine = "nehalem-ep", .row = "frontend.lcp.penalty", .beside = "", .field = EVENTS, .value = 2048 },
	/* a wrong footprint */
	{ .what = "a ring of the L1 for the L2", .machine = "nehalem-ep", .row = "load.l2.latency", .beside = "load.l?.latency", .field = TARGET, .value = TARGET_L1 },
	{ .what = "a ring of the L2 for the L1", .machine = "nehalem-ep", .row = "load.l1.latency", .beside = "load.l?.latency", .field = TARGET, .value = TARGET_L2 },
	{ .what = "a ring of the L2 for the L3", .machine = "haswell-ep", .row = "load.l3.latency", .beside = "load.l?.latency", .field = TARGET, .value = TARGET_L2 },
	{ .what = "a ring of the L3 for memory", .machine = "nehalem-ep", .row = "load.dram_local_big.latency", .beside = "load.*_local.latency", .field = TARGET, .value = TARGET_L3 },
	{ .what = "arrays of the L1 for the L2", .machine = "nehalem-ep", .row = "read.l2.bandwidth", .beside = "read.l?.bandwidth", .field = TARGET, .value = TARGET_L1 },
	{ .what = "arrays of the L2 for the L3", .machine = "haswell-ep", .row = "triad.l3.bandwidth", .beside = "triad.l?.bandwidth", .field = TARGET, .value = TARGET_L2 },
	{ .what = "arrays of the L2 for all cores in the L3", .machine = "nehalem-ep", .row = "read.l3_all.bandwidth", .beside = "read.l?_all.bandwidth", .field = TARGET, .value = TARGET_L2 },
	/* prefetchers left on */
	{ .what = "prefetchers on in the L3", .machine = "nehalem-ep", .row = "load.l3.latency", .beside = "load.l?.latency", .field = PREFETCH, .value = PREFETCH_AS_FOUND },
	{ .what = "prefetchers on beside stores", .machine = "nehalem-ep", .row = "store.rfo.penalty", .beside = "store.rfo.*", .field = PREFETCH, .value = PREFETCH_AS_FOUND },
	{ .what = "prefetchers on in another L3", .machine = "haswell-ep", .row = "load.l3.latency", .beside = "load.l?.latency", .field = PREFETCH, .value = PREFETCH_AS_FOUND },
	/* a wrong size of pages */
	{ .what = "pages of 4 KiB in the L3", .machine = "nehalem-ep", .row = "load.l3.latency", .beside = "load.l?.latency", .field = PAGE, .value = 4096 },
	{ .what = "pages of 4 KiB in memory", .machine = "nehalem-ep", .row = "load.dram_local.latency", .beside = "load.l?.latency", .field = PAGE, .value = 4096 },
	{ .what = "pages of 2 MiB for the DTLB", .machine = "haswell-ep", .row = "tlb.dtlb_4k.penalty", .beside = "", .field = PAGE, .value = 2097152 },
	/* a wrong core, node or state */
	{ .what = "memory of this node for another's", .machine = "nehalem-ep", .row = "load.dram_remote.latency", .beside = "load.dram_local.latency", .field = NODE, .value = 0 },
	{ .what = "memory of another node for this one's", .machine = "nehalem-ep", .row = "load.dram_local.latency", .beside = "load.dram_remote.latency", .field = NODE, .value = 1 },
	{ .what = "another socket's core for one of this socket", .machine = "nehalem-ep", .row = "load.l3_clean_other_core.latency", .beside = "load.remote_*.latency", .field = TARGET, .value = TARGET_OTHER_SOCKET },
	{ .what = "a core of this socket for another socket's", .machine = "haswell-ep", .row = "load.remote_l3_clean.latency", .beside = "load.l3_*.latency", .field = TARGET, .value = TARGET_OTHER_CORE },
	{ .what = "lines clean that are to be modified", .machine = "nehalem-ep", .row = "load.l3_modified_other_core.latency", .beside = "load.l3_*.latency", .field = PREPARE, .value = PREPARE_EXCLUSIVE },
	{ .what = "lines modified that are to be clean", .machine = "haswell-ep", .row = "load.l3_clean_other_core.latency", .beside = "load.l3_*.latency", .field = PREPARE, .value = PREPARE_MODIFIED },
	{ .what = "lines of one core that two are to share", .machine = "nehalem-ep", .row = "load.l3_shared.latency", .beside = "load.l3_*.latency", .field = PREPARE, .value = PREPARE_EXCLUSIVE },
	/* not flushed; no baseline; the wrong kernel, contents or code */
	{ .what = "lines in caches that are to be flushed", .machine = "nehalem-ep", .row = "load.dram_local.latency", .beside = "load.l?.latency", .field = PREPARE, .value = PREPARE_WARM },
	{ .what = "nothing taken off", .machine = "nehalem-ep", .row = "load.l2.penalty", .beside = "load.l?.latency", .field = BASELINE, .value = BASELINE_NONE },
	{ .what = "products for additions", .machine = "nehalem-ep", .row = "exec.addsd.latency", .beside = "", .field = KERNEL, .name = "k_mulsd_chain", .hidden = true },
	{ .what = "one core's stores for its loads", .machine = "nehalem-ep", .row = "read.l1.bandwidth", .beside = "", .field = KERNEL, .name = "k_write_sse2" },
	{ .what = "foreseen branches for random ones", .machine = "nehalem-ep", .row = "branch.conditional.penalty", .beside = "", .field = FILL, .value = FILL_ZERO },
	{ .what = "lines of code in the L2 for the L3", .machine = "nehalem-ep", .row = "frontend.l1i_l3.penalty", .beside = "frontend.*", .field = CODE, .value = CODE_LINES_L2 },
	{ .what = "as many jumps as the buffer holds", .machine = "haswell-ep", .row = "frontend.baclear.penalty", .beside = "", .field = CODE, .value = CODE_TARGETS_BASE },
	/* the prefetch of a gather */
	{ .what = "NOPs for prefetches", .machine = "core2", .row = "exec.gather_prefetch.interval", .beside = "", .field = UNASKED },
	{ .what = "NOPs for prefetches", .machine = "nehalem-ep", .row = "exec.gather_prefetch.interval", .beside = "", .field = UNASKED },
	{ .what = "NOPs for prefetches", .machine = "haswell-ep", .row = "exec.gather_prefetch.interval", .beside = "", .field = UNASKED },
	{ .what = "NOPs for prefetches", .machine = "skylake-sp", .row = "exec.gather_prefetch.interval", .beside = "", .field = UNASKED },
	{ .what = "NOPs for prefetches", .machine = "pentium4", .row = "exec.gather_prefetch.interval", .beside = "", .field = UNASKED },
	{ .what = "NOPs for prefetches", .machine = "zen4", .row = "exec.gather_prefetch.interval", .beside = "", .field = UNASKED },
	/* another pattern, alignment, chain, width, filler or baseline */
	{ .what = "lines of few pages for a line a page", .machine = "nehalem-ep", .row = "tlb.dtlb_4k.penalty", .beside = "", .field = ORDER, .value = ORDER_LINES },
	{ .what = "lines of few pages for pages beyond the TLBs", .machine = "haswell-ep", .row = "tlb.stlb_walk_4k.penalty", .beside = "", .field = ORDER, .value = ORDER_LINES },
	{ .what = "aligned loads for loads of two lines", .machine = "nehalem-ep", .row = "split.load_line.penalty", .beside = "", .field = KERNEL, .name = "k_split_load_base" },
	{ .what = "loads of two lines for loads of two pages", .machine = "nehalem-ep", .row = "split.load_page.penalty", .beside = "split.*", .field = KERNEL, .name = "k_split_load", .hidden = true },
	{ .what = "the test for its baseline", .machine = "nehalem-ep", .row = "split.load_line.penalty", .beside = "", .field = BASE, .name = "k_split_load" },
	{ .what = "independent divisions for a chain", .machine = "haswell-ep", .row = "exec.divsd_hard.latency", .beside = "exec.divsd*", .field = KERNEL, .name = "k_divsd_indep_hard" },
	{ .what = "vectors of 16 bytes for 32", .machine = "haswell-ep", .row = "read.l1.bandwidth", .beside = "read.l?.bandwidth", .field = KERNEL, .name = "k_read_sse2", .hidden = true },
	{ .what = "vectors of 16 bytes for 32 in a copy", .machine = "haswell-ep", .row = "copy.l1.bandwidth", .beside = "copy.l?.bandwidth", .field = KERNEL, .name = "k_copy_sse2", .hidden = true },
	{ .what = "loads for instructions that fill the reorder buffer", .machine = "nehalem-ep", .row = "size.rob.entries", .beside = "size.*", .field = FILLER, .value = FILLER_LOAD },
	{ .what = "instructions without a load for loads", .machine = "nehalem-ep", .row = "size.load_buffer.entries", .beside = "size.*", .field = FILLER, .value = FILLER_NOP },
	{ .what = "one entry of two taken", .machine = "nehalem-ep", .row = "size.fill_buffers.entries", .beside = "size.*", .field = BOTH, .value = 0 },
	{ .what = "another node's memory in a stream", .machine = "nehalem-ep", .row = "read.dram.bandwidth", .beside = "read.*.bandwidth", .field = NODE, .value = 1 },
	{ .what = "another node's memory in a triad", .machine = "haswell-ep", .row = "triad.dram.bandwidth", .beside = "triad.*.bandwidth", .field = NODE, .value = 1 },
	{ .what = "another node's memory past the caches", .machine = "nehalem-ep", .row = "write.dram_nt.bandwidth", .beside = "write.*.bandwidth", .field = NODE, .value = 1 },
	{ .what = "prefetchers off in a stream", .machine = "nehalem-ep", .row = "read.dram.bandwidth", .beside = "read.l?.bandwidth", .field = PREFETCH, .value = PREFETCH_OFF, .hidden = true },
	{ .what = "nothing written back in a stream of stores", .machine = "nehalem-ep", .row = "write.dram.bandwidth", .beside = "write.*.bandwidth", .field = PREPARE, .value = PREPARE_WARM, .hidden = true },
	{ .what = "pages of 4 KiB in a stream", .machine = "nehalem-ep", .row = "read.dram.bandwidth", .beside = "read.*.bandwidth", .field = PAGE, .value = 4096, .hidden = true },
	{ .what = "the L2 for the L3 in overlapping loads", .machine = "nehalem-ep", .row = "load.l3_overlap.interval", .beside = "load.l?.latency", .field = TARGET, .value = TARGET_L2 },
	{ .what = "lines flushed that are to be in the L3", .machine = "nehalem-ep", .row = "load.l3.latency", .beside = "load.*.latency", .field = PREPARE, .value = PREPARE_FLUSH },
	/* a job on another logical processor than its counters, or on none */
	{ .what = "windows on another logical processor", .machine = "nehalem-ep", .row = "load.l2.latency", .beside = "", .field = ASTRAY, .value = 1 },
	{ .what = "a stream on another logical processor", .machine = "haswell-ep", .row = "read.dram.bandwidth", .beside = "", .field = ASTRAY, .value = 2 },
	{ .what = "fewer cores than the row says", .machine = "nehalem-ep", .row = "read.dram_all.bandwidth", .beside = "", .field = IDLE, .value = 1 },
	{ .what = "a line shared with nobody", .machine = "nehalem-ep", .row = "load.l3_clean_other_core.latency", .beside = "", .field = IDLE, .value = 1 },
};

/* The backend's own operations, and the planted error of the backend: its core, and the code that was written at run time. */
static struct { const struct access_ops *ops; enum field field; unsigned core; struct mapping code; } behind;

static enum status map_and_note(void *self, struct mapping *m)
{
	const enum status st = behind.ops->map(self, m);

	if (st == ST_OK && m->executable)
		behind.code = *m;
	return st;
}

static enum status unmap_and_forget(void *self, struct mapping *m)
{
	if (m->va == behind.code.va)
		behind.code.bytes = 0;
	return behind.ops->unmap(self, m);
}

static void ask_for_nothing(void)
{
	static const uint8_t prefetch[] = { 0x41, 0x0F, 0x18, 0x0C, 0x01 }, nop[] = { 0x0F, 0x1F, 0x44, 0x00, 0x00 }; /* of equal length */
	uint8_t *at = behind.code.host;

	for (uint64_t i = 0; i + sizeof(nop) <= behind.code.bytes; i++)
		if (!memcmp(at + i, prefetch, sizeof(prefetch)))
			memcpy(at + i, nop, sizeof(nop));
}

static enum status run_wrongly(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	unsigned kept = 0;
	struct job run[JOBS_MOST];

	if (behind.field == UNASKED)
		ask_for_nothing();
	for (unsigned i = 0; i < n && kept < JOBS_MOST; i++) {
		if (behind.field == IDLE && jobs[i].core == behind.core)
			continue;
		run[kept] = jobs[i];
		if (behind.field == ASTRAY && !jobs[i].core)
			run[kept].core = behind.core;
		kept++;
	}
	return kept ? behind.ops->run(self, run, kept, limit_tsc) : ST_OK;
}

static struct row *table(void)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)rows / page * page;

	if (mprotect((void *)begin, (uintptr_t)(rows + rows_count) - begin, PROT_READ | PROT_WRITE)) {
		perror("mprotect");
		exit(2);
	}
	return (struct row *)(uintptr_t)rows;
}

static void plant(struct row *r, const struct planted *p, struct row_pair *pair, struct row_curve *curve, const char **kernels)
{
	*curve = r->curve ? *r->curve : (struct row_curve){ 0 };
	r->curve = r->curve ? curve : NULL;
	*pair = r->pair ? *r->pair : (struct row_pair){ 0 };
	r->pair = r->pair ? pair : NULL;
	kernels[0] = p->name;
	kernels[1] = NULL;
	switch (p->field) {
	case EVENTS: pair->events = (uint16_t)p->value; break;
	case TARGET: r->target = (enum target)p->value; break;
	case ORDER: r->order = (enum order)p->value; break;
	case PREPARE: r->prepare = (enum prepare)p->value; break;
	case BASELINE: r->baseline = (enum baseline)p->value; break;
	case BASE: pair->base = p->name; break;
	case PREFETCH: r->prefetch = (enum prefetch)p->value; break;
	case PAGE: r->page_bytes = p->value; break;
	case NODE: r->node = (uint8_t)p->value; break;
	case KERNEL: r->kernels = kernels; break;
	case FILL: pair->fill = pair->base_fill = (enum fill)p->value; break;
	case CODE: pair->code = (enum code)p->value; break;
	case FILLER: curve->filler = (enum filler)p->value; break;
	case BOTH: curve->both = (uint8_t)p->value; break;
	case ASTRAY: case IDLE: case UNASKED: break;
	}
}

/* The row's status and reason in results.json, and its value. */
static void verdict(const struct planted *p, bool wrongly, const char *machine, const char *row, const char *beside, char *status, char *why, size_t capacity, long long *milli)
{
	static struct loop_run r;
	char which[256];
	json_error_t error;
	size_t i;
	json_t *one;

	snprintf(which, sizeof(which), "%s%s%s", row, *beside ? "," : "", beside);
	loop_open(&r, loop_built_in(machine));
	struct access_ops ops = *r.guard.access.ops;
	if (wrongly && p->field >= ASTRAY) {
		behind.ops = r.guard.access.ops;
		behind.field = p->field;
		behind.core = (unsigned)p->value;
		behind.code.bytes = 0;
		ops.run = run_wrongly;
		ops.map = map_and_note;
		ops.unmap = unmap_and_forget;
		r.guard.access.ops = &ops;
	}
	loop_suite(&r, which);
	const struct row_result *result = memory_host_result(&r.host, row);
	*milli = result ? result->value_milli : 0;
	json_t *document = json_loads(memory_host_file(&r.host, "results.json"), 0, &error);
	snprintf(status, capacity, "missing");
	*why = 0;
	json_array_foreach(json_object_get(document, "rows"), i, one) {
		const char *name = json_string_value(json_object_get(one, "name"));

		if (name && !strcmp(name, row)) {
			snprintf(status, capacity, "%s", json_string_value(json_object_get(one, "status")));
			snprintf(why, capacity, "%s", json_string_value(json_object_get(one, "reason")) ? json_string_value(json_object_get(one, "reason")) : "");
		}
	}
	json_decref(document);
	loop_close(&r);
}

static unsigned missed, judged;

static void judge(bool ok, const struct planted *p, const char *rest, const char *why, long long milli)
{
	printf("%s %u - %s: %s (%s)%s%s\n", ok ? "ok" : "not ok", ++judged, p->row, p->what, p->machine, rest, why);
	if (!ok)
		fprintf(stderr, "%s: %lld\n", p->row, milli);
	fflush(stdout);
	missed += !ok;
}

int main(void)
{
	struct row *const all = table();
	const char *word = getenv("PLANTED");

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		const struct planted *p = &cases[i];
		struct row *r = all + (row_find(p->row) - rows);
		const struct row kept = *r;
		const char *kernels[2];
		struct row changed;
		struct row_pair pair, was = { 0 };
		struct row_curve curve, before = { 0 };
		char status[512], why[512];
		long long milli;

		if (word && !strstr(p->what, word) && !strstr(p->row, word))
			continue;
		verdict(p, false, p->machine, p->row, p->beside, status, why, sizeof(status), &milli);
		if (strcmp(status, "ok")) {
			fprintf(stderr, "%s without the error: %s\n", p->row, why);
			judge(false, p, ": without the error the row is ", status, milli);
			continue;
		}
		was = r->pair ? *r->pair : was;
		before = r->curve ? *r->curve : before;
		plant(r, p, &pair, &curve, kernels);
		changed = *r;
		changed.pair = kept.pair;
		changed.curve = kept.curve;
		verdict(p, true, p->machine, p->row, p->beside, status, why, sizeof(status), &milli);
		*r = kept;
		if (p->field < ASTRAY && !memcmp(&changed, &kept, sizeof(kept)) && !memcmp(&pair, &was, sizeof(was)) && !memcmp(&curve, &before, sizeof(before)))
			judge(false, p, ": ", "nothing was planted", milli);
		else
			judge(p->hidden ? !strcmp(status, "ok") : !strcmp(status, "unproven") || !strcmp(status, "noisy"), p, ": ", *why ? why : p->hidden ? "not found, as is known" : status, milli);
	}
	printf("1..%u\n", judged);
	return missed || !judged;
}
