/* pmu/sim/core/pipe_retire.c: retirement, machine clears, stall attribution. The rules stand in core.c.
 *
 * Not modelled: interrupts; machine clears because another core took a line that a load had read early; several causes of a
 * stall at once (the oldest uop's is attributed). */
#include "pmu/sim/core/pipe.h"

static void put_down(struct core_thread *c, enum signal sig, uint64_t *from, uint64_t to, uint64_t end)
{
	if (to > end)
		to = end;
	if (*from < to) {
		signal_level(c->signals, sig, *from, to, 1);
		*from = to;
	}
}

static enum signal stall_of_source(enum mem_source s)
{
	switch (s) {
	case SRC_L1: return SIG_STALL_BY_L1;
	case SRC_LFB: case SRC_L2: return SIG_STALL_BY_L2;
	case SRC_L3_UNSHARED: case SRC_L3_OTHER_CLEAN: case SRC_L3_OTHER_MODIFIED: return SIG_STALL_BY_L3;
	case SRC_NEAR_CLEAN: case SRC_NEAR_MODIFIED: case SRC_REMOTE_CLEAN: case SRC_REMOTE_MODIFIED: return SIG_STALL_BY_REMOTE_CACHE;
	case SRC_REMOTE_DRAM: return SIG_STALL_BY_REMOTE_DRAM;
	default: return SIG_STALL_BY_LOCAL_DRAM;
	}
}

/* Attributes the cycles from .. end - 1, in which nothing retired, to what this group waited for. */
void pipe_attribute(struct core_thread *c, unsigned parts, uint64_t allocated, const struct flight *f, uint64_t from, uint64_t end)
{
	static const uint8_t front[] = {
		[WAIT_NONE] = SIG_STALL_BY_ALLOCATE, [WAIT_FETCH] = SIG_STALL_BY_FETCH, [WAIT_DECODE] = SIG_STALL_BY_DECODE,
		[WAIT_MISPREDICT] = SIG_STALL_BY_MISPREDICT, [WAIT_CLEAR] = SIG_STALL_BY_CLEAR,
		[WAIT_ALLOCATE] = SIG_STALL_BY_ALLOCATE, [WAIT_STORE_BUFFER] = SIG_STALL_BY_STORE_BUFFER };
	put_down(c, (enum signal)front[c->barrier_reason], &from, c->barrier, allocated < end ? allocated : end);
	put_down(c, (enum signal)front[f->wait_reason], &from, allocated, end);
	if (parts & PART_LOAD) {
		put_down(c, SIG_STALL_BY_DISPATCH, &from, f->load_dispatch, end);
		if (f->load.blocked_until)
			put_down(c, SIG_STALL_BY_FORWARD, &from, f->load.blocked_until, end);
		put_down(c, SIG_STALL_BY_DTLB, &from, f->load.translated, end);
		put_down(c, stall_of_source(f->load.source), &from, f->load.ready, end);
	}
	if (parts & PART_MAIN) {
		if (f->fence)
			put_down(c, SIG_STALL_BY_FENCE, &from, f->main_done, end);
		put_down(c, SIG_STALL_BY_DISPATCH, &from, f->main_dispatch, end);
		put_down(c, f->divide ? SIG_STALL_BY_DIVIDE : SIG_STALL_BY_EXECUTE, &from, f->main_done, end);
	}
	put_down(c, SIG_STALL_BY_EXECUTE, &from, end, end);
}

void pipe_emit_load(struct core_thread *c, const struct load_result *l, uint64_t r)
{
	static const uint8_t of_source[SRC_NONE] = {
		[SRC_L1] = SIG_LOAD_L1_HIT, [SRC_LFB] = SIG_LOAD_LFB_HIT, [SRC_L2] = SIG_LOAD_L2_HIT,
		[SRC_L3_UNSHARED] = SIG_LOAD_L3_UNSHARED, [SRC_L3_OTHER_CLEAN] = SIG_LOAD_L3_OTHER_CLEAN,
		[SRC_L3_OTHER_MODIFIED] = SIG_LOAD_L3_OTHER_MODIFIED, [SRC_REMOTE_CLEAN] = SIG_LOAD_REMOTE_CACHE_CLEAN,
		[SRC_NEAR_CLEAN] = SIG_LOAD_NEAR_CACHE_CLEAN, [SRC_NEAR_MODIFIED] = SIG_LOAD_NEAR_CACHE_MODIFIED,
		[SRC_REMOTE_MODIFIED] = SIG_LOAD_REMOTE_CACHE_MODIFIED, [SRC_LOCAL_DRAM] = SIG_LOAD_LOCAL_DRAM,
		[SRC_REMOTE_DRAM] = SIG_LOAD_REMOTE_DRAM };
	if (l->source < SRC_NONE && of_source[l->source])
		signal_pulse(c->signals, (enum signal)of_source[l->source], r, 1);
	if (l->dtlb_level == 3)
		signal_pulse(c->signals, SIG_LOAD_DTLB_MISS, r, 1);
}

void pipe_clear_machine(struct core_thread *c, enum signal sig, uint64_t retired, uint64_t cycles)
{
	signal_pulse(c->signals, sig, retired, 1);
	signal_level(c->signals, SIG_MACHINE_CLEAR_CYCLES, retired, retired + cycles, 1);
	c->recovers_from = retired;
	pipe_hold(c, retired + cycles, WAIT_CLEAR, 0);
	front_redirect(c, retired + cycles);
	c->front.streaming = false;
}

void core_code_changed(struct core_thread *c, uint64_t va)
{
	front_forget_line(c, va);
	pipe_clear_machine(c, SIG_MACHINE_CLEAR_SMC, c->retire, c->m->core_smc_cycles);
}
