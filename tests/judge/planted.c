/* tests/judge/planted.c: errors planted in rows of the catalogue, one at a time, on simulated machines. Each must take `ok` from the row, by what counters proved
 * or by a row that contradicts it: what would tell it on real hardware, where no formula says what is right.
 *
 * The table of rows is constant data of this process: its pages are made writable here. Speaks TAP; PLANTED=WORD runs the cases whose name has the
 * word. Without the error a row must be `ok`, or its case would show nothing. */
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

/* Errors of the backend from ASTRAY on. A job of core 0 runs on core `value`; the job of core `value` is said to have ended and never began; code that
 * was written at run time has NOPs where its prefetches were. */
enum field { EVENTS, TARGET, ORDER, PREPARE, BASELINE, BASE, PREFETCH, PAGE, NODE, KERNEL, FILL, CODE, FILLER, BOTH, ASTRAY, IDLE, UNASKED };

/* `beside`: rows of the same run that may contradict it. hidden: nothing tells (docs/limits.md). */
static const struct planted { const char *what, *machine, *row, *beside; enum field field; uint64_t value; const char *name; bool hidden; } cases[] = {
	/* a wrong count per loop */
	{ "twice as many additions an iteration", "nehalem-ep", "exec.addsd.latency", "", EVENTS, 16, NULL, false },
	{ "half as many products an iteration", "nehalem-ep", "exec.mulsd.latency", "", EVENTS, 4, NULL, false },
	{ "twice as many divisions an iteration", "haswell-ep", "exec.divsd_hard.latency", "exec.divsd*", EVENTS, 16, NULL, false },
	{ "half as many split loads an iteration", "nehalem-ep", "split.load_line.penalty", "", EVENTS, 8, NULL, false },
	{ "twice as many forwarded loads an iteration", "nehalem-ep", "store.forward.latency", "", EVENTS, 16, NULL, false },
	{ "twice as many locked additions an iteration", "nehalem-ep", "sync.lock.penalty", "", EVENTS, 16, NULL, false },
	{ "twice as many fences an iteration", "skylake-sp", "sync.mfence.penalty", "", EVENTS, 16, NULL, false },
	{ "half as many comparisons an iteration", "nehalem-ep", "frontend.lcp.penalty", "", EVENTS, 2048, NULL, false },
	/* a wrong footprint */
	{ "a ring of the L1 for the L2", "nehalem-ep", "load.l2.latency", "load.l?.latency", TARGET, TARGET_L1, NULL, false },
	{ "a ring of the L2 for the L1", "nehalem-ep", "load.l1.latency", "load.l?.latency", TARGET, TARGET_L2, NULL, false },
	{ "a ring of the L2 for the L3", "haswell-ep", "load.l3.latency", "load.l?.latency", TARGET, TARGET_L2, NULL, false },
	{ "a ring of the L3 for memory", "nehalem-ep", "load.dram_local_big.latency", "load.*_local.latency", TARGET, TARGET_L3, NULL, false },
	{ "arrays of the L1 for the L2", "nehalem-ep", "read.l2.bandwidth", "read.l?.bandwidth", TARGET, TARGET_L1, NULL, false },
	{ "arrays of the L2 for the L3", "haswell-ep", "triad.l3.bandwidth", "triad.l?.bandwidth", TARGET, TARGET_L2, NULL, false },
	{ "arrays of the L2 for all cores in the L3", "nehalem-ep", "read.l3_all.bandwidth", "read.l?_all.bandwidth", TARGET, TARGET_L2, NULL, false },
	/* prefetchers left on */
	{ "prefetchers on in the L3", "nehalem-ep", "load.l3.latency", "load.l?.latency", PREFETCH, PREFETCH_AS_FOUND, NULL, false },
	{ "prefetchers on beside stores", "nehalem-ep", "store.rfo.penalty", "store.rfo.*", PREFETCH, PREFETCH_AS_FOUND, NULL, false },
	{ "prefetchers on in another L3", "haswell-ep", "load.l3.latency", "load.l?.latency", PREFETCH, PREFETCH_AS_FOUND, NULL, false },
	/* a wrong size of pages */
	{ "pages of 4 KiB in the L3", "nehalem-ep", "load.l3.latency", "load.l?.latency", PAGE, 4096, NULL, false },
	{ "pages of 4 KiB in memory", "nehalem-ep", "load.dram_local.latency", "load.l?.latency", PAGE, 4096, NULL, false },
	{ "pages of 2 MiB for the DTLB", "haswell-ep", "tlb.dtlb_4k.penalty", "", PAGE, 2097152, NULL, false },
	/* a wrong core, node or state */
	{ "memory of this node for another's", "nehalem-ep", "load.dram_remote.latency", "load.dram_local.latency", NODE, 0, NULL, false },
	{ "memory of another node for this one's", "nehalem-ep", "load.dram_local.latency", "load.dram_remote.latency", NODE, 1, NULL, false },
	{ "another socket's core for one of this socket", "nehalem-ep", "load.l3_clean_other_core.latency", "load.remote_*.latency", TARGET, TARGET_OTHER_SOCKET, NULL, false },
	{ "a core of this socket for another socket's", "haswell-ep", "load.remote_l3_clean.latency", "load.l3_*.latency", TARGET, TARGET_OTHER_CORE, NULL, false },
	{ "lines clean that are to be modified", "nehalem-ep", "load.l3_modified_other_core.latency", "load.l3_*.latency", PREPARE, PREPARE_EXCLUSIVE, NULL, false },
	{ "lines modified that are to be clean", "haswell-ep", "load.l3_clean_other_core.latency", "load.l3_*.latency", PREPARE, PREPARE_MODIFIED, NULL, false },
	{ "lines of one core that two are to share", "nehalem-ep", "load.l3_shared.latency", "load.l3_*.latency", PREPARE, PREPARE_EXCLUSIVE, NULL, false },
	/* not flushed; no baseline; the wrong kernel, contents or code */
	{ "lines in caches that are to be flushed", "nehalem-ep", "load.dram_local.latency", "load.l?.latency", PREPARE, PREPARE_WARM, NULL, false },
	{ "nothing taken off", "nehalem-ep", "load.l2.penalty", "load.l?.latency", BASELINE, BASELINE_NONE, NULL, false },
	{ "products for additions", "nehalem-ep", "exec.addsd.latency", "", KERNEL, 0, "k_mulsd_chain", true },
	{ "one core's stores for its loads", "nehalem-ep", "read.l1.bandwidth", "", KERNEL, 0, "k_write_sse2", false },
	{ "foreseen branches for random ones", "nehalem-ep", "branch.conditional.penalty", "", FILL, FILL_ZERO, NULL, false },
	{ "lines of code in the L2 for the L3", "nehalem-ep", "frontend.l1i_l3.penalty", "frontend.*", CODE, CODE_LINES_L2, NULL, false },
	{ "as many jumps as the buffer holds", "haswell-ep", "frontend.baclear.penalty", "", CODE, CODE_TARGETS_BASE, NULL, false },
	/* the prefetch of a gather */
	{ "NOPs for prefetches", "core2", "exec.gather_prefetch.interval", "", UNASKED, 0, NULL, false },
	{ "NOPs for prefetches", "nehalem-ep", "exec.gather_prefetch.interval", "", UNASKED, 0, NULL, false },
	{ "NOPs for prefetches", "haswell-ep", "exec.gather_prefetch.interval", "", UNASKED, 0, NULL, false },
	{ "NOPs for prefetches", "skylake-sp", "exec.gather_prefetch.interval", "", UNASKED, 0, NULL, false },
	{ "NOPs for prefetches", "pentium4", "exec.gather_prefetch.interval", "", UNASKED, 0, NULL, false },
	{ "NOPs for prefetches", "zen4", "exec.gather_prefetch.interval", "", UNASKED, 0, NULL, false },
	/* another pattern, alignment, chain, width, filler or baseline */
	{ "lines of few pages for a line a page", "nehalem-ep", "tlb.dtlb_4k.penalty", "", ORDER, ORDER_LINES, NULL, false },
	{ "lines of few pages for pages beyond the TLBs", "haswell-ep", "tlb.stlb_walk_4k.penalty", "", ORDER, ORDER_LINES, NULL, false },
	{ "aligned loads for loads of two lines", "nehalem-ep", "split.load_line.penalty", "", KERNEL, 0, "k_split_load_base", false },
	{ "loads of two lines for loads of two pages", "nehalem-ep", "split.load_page.penalty", "split.*", KERNEL, 0, "k_split_load", true },
	{ "the test for its baseline", "nehalem-ep", "split.load_line.penalty", "", BASE, 0, "k_split_load", false },
	{ "independent divisions for a chain", "haswell-ep", "exec.divsd_hard.latency", "exec.divsd*", KERNEL, 0, "k_divsd_indep_hard", false },
	{ "vectors of 16 bytes for 32", "haswell-ep", "read.l1.bandwidth", "read.l?.bandwidth", KERNEL, 0, "k_read_sse2", true },
	{ "vectors of 16 bytes for 32 in a copy", "haswell-ep", "copy.l1.bandwidth", "copy.l?.bandwidth", KERNEL, 0, "k_copy_sse2", true },
	{ "loads for instructions that fill the reorder buffer", "nehalem-ep", "size.rob.entries", "size.*", FILLER, FILLER_LOAD, NULL, true },
	{ "instructions without a load for loads", "nehalem-ep", "size.load_buffer.entries", "size.*", FILLER, FILLER_NOP, NULL, true },
	{ "one entry of two taken", "nehalem-ep", "size.fill_buffers.entries", "size.*", BOTH, 0, NULL, true },
	{ "another node's memory in a stream", "nehalem-ep", "read.dram.bandwidth", "read.*.bandwidth", NODE, 1, NULL, true },
	{ "another node's memory in a triad", "haswell-ep", "triad.dram.bandwidth", "triad.*.bandwidth", NODE, 1, NULL, true },
	{ "another node's memory past the caches", "nehalem-ep", "write.dram_nt.bandwidth", "write.*.bandwidth", NODE, 1, NULL, true },
	{ "prefetchers off in a stream", "nehalem-ep", "read.dram.bandwidth", "read.l?.bandwidth", PREFETCH, PREFETCH_OFF, NULL, true },
	{ "nothing written back in a stream of stores", "nehalem-ep", "write.dram.bandwidth", "write.*.bandwidth", PREPARE, PREPARE_WARM, NULL, true },
	{ "pages of 4 KiB in a stream", "nehalem-ep", "read.dram.bandwidth", "read.*.bandwidth", PAGE, 4096, NULL, true },
	{ "the L2 for the L3 in overlapping loads", "nehalem-ep", "load.l3_overlap.interval", "load.l?.latency", TARGET, TARGET_L2, NULL, false },
	{ "lines flushed that are to be in the L3", "nehalem-ep", "load.l3.latency", "load.*.latency", PREPARE, PREPARE_FLUSH, NULL, false },
	/* a job on another logical processor than its counters, or on none */
	{ "windows on another logical processor", "nehalem-ep", "load.l2.latency", "", ASTRAY, 1, NULL, false },
	{ "a stream on another logical processor", "haswell-ep", "read.dram.bandwidth", "", ASTRAY, 2, NULL, false },
	{ "fewer cores than the row says", "nehalem-ep", "read.dram_all.bandwidth", "", IDLE, 1, NULL, false },
	{ "a line shared with nobody", "nehalem-ep", "load.l3_clean_other_core.latency", "", IDLE, 1, NULL, false },
};

/* The backend's own operations, and the core astray or idle while an error of them is planted. */
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
	static const uint8_t prefetch[] = { 0x41, 0x0F, 0x18, 0x0C, 0x01 }, nop[] = { 0x0F, 0x1F, 0x44, 0x00, 0x00 }; /* as long */
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

/* The verdict that results.json has of the row in the end, and why. */
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

static unsigned missed, said;

static void say(bool ok, const struct planted *p, const char *rest, const char *why, long long milli)
{
	printf("%s %u - %s: %s (%s)%s%s\n", ok ? "ok" : "not ok", ++said, p->row, p->what, p->machine, rest, why);
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
			say(false, p, ": without the error the row is ", status, milli);
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
			say(false, p, ": ", "nothing was planted", milli);
		else
			say(p->hidden ? !strcmp(status, "ok") : !strcmp(status, "unproven") || !strcmp(status, "noisy"), p, ": ", *why ? why : p->hidden ? "not found, as is known" : status, milli);
	}
	printf("1..%u\n", said);
	return missed || !said;
}
