/* pmu/sim/core/pipe_special.c: rare instructions: partial registers and flags, upper halves of vector registers, fences,
 * locks, divides, assists. The rules stand in core.c. */
#include "pmu/sim/core/pipe.h"

void pipe_partial_stalls(struct core_thread *c, const struct core_plan *p)
{
	const struct machine *m = c->m;
	if (p->wide_reads & c->narrow) {
		c->narrow &= ~p->wide_reads;
		if (m->core_partial_register_cycles)
			pipe_hold(c, c->alloc + 1 + m->core_partial_register_cycles, WAIT_ALLOCATE, SIG_RAT_STALL_REGISTERS);
	}
	const bool old_carry = pipe_reads_old_carry(c, p), old_rest = pipe_reads_old_rest(c, p);
	if (old_carry || old_rest) {
		c->flags_number[old_carry ? 0 : RN_ZAPSO - RN_CF] = c->flags_number[old_carry ? RN_ZAPSO - RN_CF : 0];
		if (m->core_partial_flags_cycles)
			pipe_hold(c, c->alloc + 1 + m->core_partial_flags_cycles, WAIT_ALLOCATE, SIG_RAT_STALL_FLAGS);
	}
}

void pipe_rotate_x87(struct core_thread *c, int pop)
{
	uint64_t ready[8], written[8];
	uint8_t domain[8];
	memcpy(ready, c->ready + RN_X87, sizeof(ready));
	memcpy(written, c->written + RN_X87, sizeof(written));
	memcpy(domain, c->domain + RN_X87, sizeof(domain));
	for (unsigned i = 0; i < 8; i++) {
		const unsigned from = (i + (unsigned)pop) & 7;
		c->ready[RN_X87 + i] = ready[from];
		c->written[RN_X87 + i] = written[from];
		c->domain[RN_X87 + i] = domain[from];
	}
}

/* Upper halves of vector registers: clean, written by VEX code, or saved because SSE code followed. */
enum upper_state { UPPER_CLEAN, UPPER_DIRTY, UPPER_SAVED };

void pipe_vector_transition(struct core_thread *c, const struct core_plan *p)
{
	bool saves = p->vector == VECTOR_SSE && c->upper == UPPER_DIRTY, restores = p->vector != VECTOR_SSE && c->upper == UPPER_SAVED;
	if (saves || restores) {
		pipe_hold(c, c->alloc + 1 + c->m->core_avx_transition_cycles, WAIT_ALLOCATE, SIG_RESOURCE_STALL_OTHER);
		signal_pulse(c->signals, saves ? SIG_AVX_TO_SSE : SIG_SSE_TO_AVX, c->alloc, 1);
		c->upper = saves ? UPPER_SAVED : UPPER_DIRTY;
	}
	if (p->vector == VECTOR_WIDE)
		c->upper = UPPER_DIRTY;
	if (p->vector == VECTOR_CLEAN)
		c->upper = UPPER_CLEAN;
}

uint64_t pipe_special_ready(struct core_thread *c, const struct core_plan *p, const struct insn *in, uint64_t ip, uint64_t ready)
{
	switch (p->class) {
	case UC_LFENCE:
		return max_cycle(ready, c->last_complete);
	case UC_LOCK: case UC_MFENCE: case UC_CPUID:
		ready = max_cycle(max_cycle(ready, c->last_complete), c->last_commit);
		return max_cycle(ready, p->class == UC_CPUID || in->lock ? ready : core_drain(c, ip, ready));
	default:
		return ready;
	}
}

void pipe_special_done(struct core_thread *c, const struct core_plan *p, uint64_t done, uint64_t retired, uint64_t ip)
{
	switch (p->class) {
	case UC_LFENCE: case UC_CPUID:
		pipe_hold(c, retired + 1, WAIT_ALLOCATE, SIG_RAT_STALL_SCOREBOARD);
		break;
	case UC_LOCK: case UC_MFENCE:
		c->load_barrier = max_cycle(c->load_barrier, done);
		break;
	case UC_SFENCE:
		c->last_commit = max_cycle(c->last_commit, core_drain(c, ip, max_cycle(retired + 1, c->last_commit)));
		break;
	case UC_LDMXCSR:
		if (c->m->core_mxcsr_cycles)
			pipe_hold(c, done + c->m->core_mxcsr_cycles, WAIT_ALLOCATE, SIG_RESOURCE_STALL_MXCSR);
		break;
	case UC_FLDCW:
		if (c->m->core_fpcw_cycles)
			pipe_hold(c, done + c->m->core_fpcw_cycles, WAIT_ALLOCATE, SIG_RESOURCE_STALL_FPCW);
		break;
	case UC_PAUSE:
		pipe_hold(c, done, WAIT_ALLOCATE, SIG_RESOURCE_STALL_OTHER);
		break;
	default:
		break;
	}
}

unsigned pipe_divide_cycles(const struct machine *m, const struct core_plan *p, const struct effects *e, unsigned whole)
{
	static const uint8_t bits_of[UC_COUNT] = { [UC_IDIV32] = 32, [UC_IDIV64] = 64, [UC_FP_DIV32] = 24, [UC_FP_SQRT32] = 24,
		[UC_FP_DIV64] = 53, [UC_FP_SQRT64] = 53, [UC_X87_DIV] = 64, [UC_X87_SQRT] = 64 };
	unsigned least = (unsigned)m->core_divide_least_cycles, all = bits_of[p->class], bits = e->divide_bits;
	if (!least || least >= whole)
		return whole;
	return least + ((whole - least) * (bits < all ? bits : all) + all - 1) / all;
}

/* A microcode assist for a denormal: its uops are the last thing before allocation resumes. */
void pipe_assist(struct core_thread *c, uint64_t retired)
{
	const struct machine *m = c->m;
	unsigned uops = (unsigned)m->core_fp_assist_uops, width = c->retire_width, cycles = uops / width;
	uint64_t until = retired + m->core_fp_assist_cycles;
	if (cycles >= m->core_fp_assist_cycles)
		cycles = (unsigned)m->core_fp_assist_cycles;
	static const uint8_t told[] = { SIG_UOPS_DECODED_MS, SIG_UOPS_RETIRED_MS, SIG_UOPS_ISSUED_FUSED, SIG_UOPS_ISSUED_UNFUSED, SIG_UOPS_RETIRED_FUSED,
		SIG_UOPS_RETIRED_UNFUSED };
	for (unsigned i = 0; i < COUNT_OF(told); i++) {
		signal_level(c->signals, (enum signal)told[i], until - cycles, until, width);
		if (cycles && uops > cycles * width)
			signal_pulse(c->signals, (enum signal)told[i], until - 1, uops - cycles * width);
	}
	signal_pulse(c->signals, SIG_FP_ASSIST, retired, 1);
	pipe_clear_machine(c, SIG_MACHINE_CLEAR_ASSIST, retired, m->core_fp_assist_cycles);
	signal_level(c->signals, SIG_STALL_BY_ASSIST, retired + 1, until - cycles, 1);
	if (cycles) {
		c->retire = until - 1;
		c->retire_slots = width;
	}
	c->uops += uops;
	const unsigned taken = (uops + c->width - 1) / c->width; /* cycles whose slots its uops take */
	if (until > c->alloc + taken) {
		pipe_emit_slots(c, until, until - taken);
		signal_pulse(c->signals, SIG_SLOTS_NOT_DELIVERED, until - 1, taken * c->width - uops);
		c->slots_emitted = until;
	}
}

void pipe_emit_locked(struct core_thread *c, const struct effects *e, enum mem_source source, uint64_t from, uint64_t retired)
{
	signal_pulse(c->signals, SIG_LOCKED_LOADS, retired, 1);
	if (e->load_va % 64 + e->load_bytes > 64) {
		signal_pulse(c->signals, SIG_SPLIT_LOCKS, retired, 1);
		signal_level(c->signals, SIG_SPLIT_LOCK_CYCLES, retired - c->m->core_split_lock_cycles, retired, 1);
	} else {
		signal_pulse(c->signals, SIG_LINE_LOCKS, retired, 1);
		signal_level(c->signals, SIG_LOCK_CYCLES, from, retired, 1);
	}
	if (source == SRC_L1)
		signal_pulse(c->signals, SIG_LOCKED_LOADS_L1, retired, 1);
}
