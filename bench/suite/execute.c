/* bench/suite/execute.c: see execute.h. The measuring loop knows no other method: this file passes it the methods that run beside it. */
#include "bench/suite/execute.h"

#include "bench/curves/curve.h"
#include "bench/curves/skid.h"
#include "bench/curves/sweep2d.h"
#include "bench/curves/tlb_entries.h"
#include "bench/multicore/matrix.h"
#include "bench/multicore/multicore.h"
#include "bench/sampling/priority.h"
#include "bench/sampling/sample.h"
#include "bench/suite/l2_port.h"
#include "bench/uncore/page_state.h"
#include "bench/uncore/uncore_latency.h"

static void end(struct loop *l, struct row_result *out)
{
	uncore_latency_end(l, out);
	uncore_latency_bus(l, out);
	latency_breakdown_row(l, out);
	page_state_row(l, out);
}

static const struct loop_hooks hooks = {
	.begin = uncore_latency_begin, .before = uncore_latency_before, .after = uncore_latency_after, .value = sample_row, .end = end
};

/* Remarks on the origin of the TLB sizes that the row's pages depend on, unless they come from CPUID or the tables. */
static void remark_tlb(const struct bench *b, struct row_result *out)
{
	struct text t;

	if (!b->tlb_timed || out->remark[0] || !(out->row->target == TARGET_DTLB || out->row->target == TARGET_STLB))
		return;
	text_init(&t, out->remark, sizeof(out->remark));
	text_fmt(&t, "the DTLB holds %u pages of 4 KiB, its second level at most %u: found by time", b->own.tlb.dtlb_4k, b->own.tlb.stlb_4k);
}

/* Whether every point of the row is a number of cycles: none is left if cycles are not known. */
static bool in_cycles_alone(const struct row *r)
{
	return r->order == ORDER_MATRIX || r->order == ORDER_LOADED || r->order == ORDER_LINE || r->order == ORDER_CURVE || r->order == ORDER_STAIRS ||
	       r->order == ORDER_GATHER;
}

/* Checks whether cycles are known. False: the row has no value without them, and *out says why not. */
static bool cycles_known(struct bench *b, const struct row *r, struct row_result *out)
{
	struct text why;

	text_init(&why, out->reason, sizeof(out->reason));
	if (window_clock_agrees(b, &why))
		return true;
	out->cycles_open = r->unit == UNIT_CYCLES;
	if (!in_cycles_alone(r))
		return true;
	out->status = ROW_UNSUPPORTED;
	return false;
}

/* Whether the proof has a count of that concept; one that no event counts has no text. */
static bool proved_by(const struct bench *b, const struct row_result *out, const char *concept)
{
	const struct expression *x = concept_find(b->cpu->processor, concept);
	char counted[128];
	struct text t;

	if (!x || !x->text[0])
		return false;
	text_init(&t, counted, sizeof(counted));
	text_fmt(&t, "*%s *", x->text);
	return str_glob(counted, out->proof);
}

/* Whether the row must be free of TLB misses and its own counters did not show that it is: its proof names no such event. */
static bool tlb_left_open(const struct bench *b, const struct row *r, const struct row_result *out)
{
	bool asked = false;

	for (const struct row_proof_set *set = r->proofs; set && set->proofs[0].concept; set++)
		for (unsigned i = 0; i < ROW_PROOFS_MAX && set->proofs[i].concept; i++)
			asked |= str_equal(set->proofs[i].concept, "dtlb.load.miss");
	return asked && r->target == TARGET_DRAM && r->page_bytes == PAGE_2M && (out->status == ROW_OK || out->status == ROW_NOISY) &&
	       !proved_by(b, out, "dtlb.load.miss") && !proved_by(b, out, "dtlb.load.wait");
}

/* The value of such a row may include a walk, or a hit of the second level, where large pages are kept in pieces. */
static void judge_tlb(struct bench *b, const struct row *r, struct row_result *out)
{
	if (!tlb_left_open(b, r, out) || !tlb_splits_large_pages(b))
		return;
	out->status = ROW_UNPROVEN;
	str_copy(out->reason, sizeof(out->reason), "the data TLB keeps pages of 2 MiB as pieces of 4 KiB, and no counter is left for its misses");
}

/* Whether the value is the time of single lines from the L2: of loads, of code or of page tables. */
static bool of_l2_hits(const struct row *r)
{
	const bool one = r->kind == KIND_LATENCY || r->kind == KIND_PENALTY;

	return one && row_is_of_loop(r) && (r->pair ? r->pair->code == CODE_LINES_L2 || r->pair->code == CODE_PAGES_WALK : r->source == SOURCE_L2);
}

static void judge_l2_port(struct bench *b, const struct row *r, struct row_result *out)
{
	const enum l2_port port = of_l2_hits(r) && out->status == ROW_OK ? l2_port_measured(b) : L2_PORT_FREE;

	if (port == L2_PORT_FREE)
		return;
	out->status = ROW_UNPROVEN;
	str_copy(out->reason, sizeof(out->reason), port == L2_PORT_DELAYS ? "the L2's port is busy longer with a line than a hit takes: independent loads take as long as a chase" :
		"whether loads wait for the L2's port could not be measured");
}

static void run(struct bench *b, const struct row *r, struct row_result *out)
{
	struct uncore_latency_loop beside;

	switch (r->order) {
	case ORDER_MATRIX:
		matrix_row(b, r, out);
		return;
	case ORDER_MULTICORE: case ORDER_NODES:
		multicore_row(b, r, out);
		return;
	case ORDER_LOADED: case ORDER_LINE:
		loaded_latency_row(b, r, out);
		return;
	case ORDER_CURVE:
		curve_row(b, r, &hooks, out);
		return;
	case ORDER_STAIRS:
		sweep2d_stairs_row(b, r, out);
		return;
	case ORDER_GATHER:
		sweep2d_gather_row(b, r, out);
		return;
	case ORDER_SKID_PRECISE: case ORDER_SKID_INTERRUPT: case ORDER_SKID_ADDRESSES:
		skid_row(b, r, out);
		return;
	case ORDER_PRIORITY_RECORDS: case ORDER_PRIORITY_OVERFLOWS:
		priority_row(b, r, out);
		return;
	case ORDER_TLB_SIZE:
		tlb_entries_row(b, r, out);
		return;
	default:
		measure_row(b, r, &hooks, &beside, out);
		remark_tlb(b, out);
	}
}

void execute_row(struct bench *b, const struct row *r, struct row_result *out)
{
	if (!row_begin(b, r, out))
		return;
	if (!cycles_known(b, r, out))
		return;
	out->reason[0] = 0;
	tlb_size_look(b, r);
	run(b, r, out);
	judge_tlb(b, r, out);
	judge_l2_port(b, r, out);
}
