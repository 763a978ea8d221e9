/* tests/unit/support/kernel_start.c: see kernel_start.h. */
#include <string.h>

#include "bench/measure/layout.h"
#include "pmu/access.h"
#include "tests/unit/support/kernel_start.h"

static const struct { const char *name; enum kernel_start start; } starts[] = {
	{ "k_empty", START_NONE }, { "k_add_chain", START_NONE }, { "k_imul_chain", START_NONE },
	{ "k_chase", START_CHASE }, { "k_flush_chain", START_CHASE },
	{ "k_touch_chain", START_CHASE }, { "k_dirty_chain", START_CHASE },
	{ "k_touch", START_STEP }, { "k_flush", START_STEP },
	{ "k_triad_grouped_sse2", START_STREAMS }, { "k_triad_short_avx_fma", START_STREAMS }, { "k_read_short_avx", START_STREAMS }, { "k_read_long_avx512", START_STREAMS }, { "k_copy_short_avx", START_STREAMS },
	{ "k_copy_short_sse2", START_STREAMS }, { "k_write_short_sse2", START_STREAMS }, { "k_triad_sse2", START_STREAMS }, { "k_triad_nt_sse2", START_STREAMS },
	{ "k_triad_avx", START_STREAMS }, { "k_triad_nt_avx", START_STREAMS },
	{ "k_triad_avx_fma", START_STREAMS }, { "k_triad_avx512_fma", START_STREAMS },
	{ "k_triad_avx512", START_STREAMS }, { "k_triad_nt_avx512", START_STREAMS },
	{ "k_branch_return", START_COUNT }, { "k_branch_return_base", START_COUNT },
	{ "k_divsd_chain_easy", START_COUNT }, { "k_divsd_chain_hard", START_COUNT },
	{ "k_addsd_chain", START_COUNT }, { "k_mulsd_chain", START_COUNT }, { "k_sqrtsd_chain_easy", START_COUNT },
	{ "k_sqrtsd_chain_hard", START_COUNT }, { "k_divsd_indep_easy", START_COUNT },
	{ "k_divsd_indep_hard", START_COUNT }, { "k_sqrtsd_indep_hard", START_COUNT },
	{ "k_fp_assist", START_COUNT }, { "k_fp_assist_base", START_COUNT }, { "k_div64_chain_easy", START_COUNT },
	{ "k_div64_chain_hard", START_COUNT }, { "k_fdiv_chain", START_COUNT }, { "k_partial_flags", START_COUNT },
	{ "k_partial_flags_base", START_COUNT }, { "k_partial_register", START_COUNT },
	{ "k_partial_register_base", START_COUNT }, { "k_bypass_delay", START_COUNT },
	{ "k_bypass_delay_base", START_COUNT }, { "k_mfence", START_COUNT }, { "k_lfence", START_COUNT },
	{ "k_sfence", START_COUNT }, { "k_pause", START_COUNT }, { "k_nop", START_COUNT },
	{ "k_store_forward", START_BUFFER }, { "k_forward_fail", START_BUFFER },
	{ "k_forward_fail_base", START_BUFFER }, { "k_alias_4k", START_BUFFER }, { "k_alias_4k_base", START_BUFFER },
	{ "k_unknown_address", START_BUFFER }, { "k_unknown_address_base", START_BUFFER },
	{ "k_disambiguation_clear", START_BUFFER }, { "k_disambiguation_clear_base", START_BUFFER },
	{ "k_split_load", START_BUFFER }, { "k_split_load_base", START_BUFFER }, { "k_split_page", START_BUFFER },
	{ "k_split_page_base", START_BUFFER }, { "k_split_store", START_BUFFER },
	{ "k_split_load_l2", START_ZERO }, { "k_split_load_l2_base", START_ZERO },
	{ "k_split_store_base", START_BUFFER }, { "k_mxcsr_change", START_BUFFER }, { "k_mxcsr_same", START_BUFFER },
	{ "k_fpcw_change", START_BUFFER }, { "k_fpcw_same", START_BUFFER }, { "k_lock_add", START_BUFFER },
	{ "k_lock_add_base", START_BUFFER }, { "k_split_lock", START_BUFFER }, { "k_split_lock_base", START_BUFFER },
	{ "k_control_base", START_BUFFER },
	{ "k_forward_1_8_0", START_BUFFER }, { "k_forward_1_8_0_base", START_BUFFER },
	{ "k_forward_2_8_0", START_BUFFER }, { "k_forward_2_8_0_base", START_BUFFER },
	{ "k_forward_4_8_0", START_BUFFER }, { "k_forward_4_8_0_base", START_BUFFER },
	{ "k_forward_4_8_m4", START_BUFFER }, { "k_forward_4_8_m4_base", START_BUFFER },
	{ "k_forward_8_8_4", START_BUFFER }, { "k_forward_8_8_4_base", START_BUFFER },
	{ "k_forward_8_4_2", START_BUFFER }, { "k_forward_8_4_2_base", START_BUFFER },
	{ "k_forward_8_16_0", START_BUFFER }, { "k_forward_8_16_0_base", START_BUFFER },
	{ "k_forward_16_16_8", START_BUFFER }, { "k_forward_16_16_8_base", START_BUFFER },
	 { "k_run_code", START_CODE },
	{ "k_read_ports", START_COUNT }, { "k_read_ports_base", START_COUNT },
	{ "k_branch_conditional", START_CHOICES }, { "k_branch_indirect", START_CHOICES },
	{ "k_known_program", START_CHOICES }, { "k_work_branchy", START_CHOICES }, { "k_work_mixed", START_MIXED },
	{ "k_read_sse2", START_STREAMS }, { "k_write_sse2", START_STREAMS }, { "k_write_nt_sse2", START_STREAMS }, { "k_copy_sse2", START_STREAMS }, { "k_copy_nt_sse2", START_STREAMS },
	{ "k_read_avx", START_STREAMS }, { "k_write_avx", START_STREAMS }, { "k_write_nt_avx", START_STREAMS }, { "k_copy_avx", START_STREAMS }, { "k_copy_nt_avx", START_STREAMS },
	{ "k_read_avx512", START_STREAMS }, { "k_write_avx512", START_STREAMS }, { "k_write_nt_avx512", START_STREAMS }, { "k_copy_avx512", START_STREAMS }, { "k_copy_nt_avx512", START_STREAMS },
	{ "k_chase_stop", START_CHASE_STOP }, { "k_share_add", START_SHARE },
	{ "k_share_until", START_SHARE }, { "k_inject", START_INJECT },
	{ "k_store_wait", START_STREAMS }, { "k_store_rfo", START_STREAMS }, { "k_store_line", START_STREAMS }, { "k_store_nt", START_STREAMS }, { "k_store_nt_partial", START_STREAMS },
	{ "k_sqrtsd_indep_easy", START_COUNT }, { "k_div32_chain_easy", START_COUNT },
	{ "k_div32_chain_hard", START_COUNT }, { "k_div32_indep_easy", START_COUNT },
	{ "k_div32_indep_hard", START_COUNT }, { "k_div64_indep_easy", START_COUNT },
	{ "k_div64_indep_hard", START_COUNT }, { "k_fdiv_chain_easy", START_COUNT },
	{ "k_fdiv_indep_easy", START_BUFFER }, { "k_fdiv_indep_hard", START_BUFFER },
	{ "k_fsqrt_chain_easy", START_COUNT }, { "k_fsqrt_chain_hard", START_COUNT },
	{ "k_fsqrt_indep_easy", START_BUFFER }, { "k_fsqrt_indep_hard", START_BUFFER },
	{ "k_microcode_switch", START_COUNT }, { "k_microcode_switch_base", START_COUNT },
	{ "k_avx_transition", START_COUNT }, { "k_avx_transition_base", START_COUNT }, { "k_fp_assist_flushed", START_BUFFER },
	{ "k_warm_read", START_STREAMS }, { "k_warm_write", START_STREAMS }, { "k_warm_copy", START_STREAMS }, { "k_warm_triad", START_STREAMS },
	{ "k_chase_cold", START_CHASE }, { "k_warm_flush", START_STREAMS }, { "k_run_code_cold", START_CODE }, { "k_chase_open", START_CHASE },
	{ "k_chase_stop_cold", START_CHASE_STOP },
};

enum kernel_start kernel_start_find(const char *kernel)
{
	for (unsigned i = 0; i < COUNT_OF(starts); i++)
		if (!strcmp(starts[i].name, kernel))
			return starts[i].start;
	return START_UNKNOWN;
}

/* Four chains of 64 lines in the first array. */
void kernel_start_fill(uint8_t *memory)
{
	struct random random;
	uint32_t next[64];

	memset(memory, 0, START_BYTES);
	random_init(&random, 11);
	for (unsigned chain = 0; chain < 4; chain++) {
		random_cycle(&random, next, 64);
		for (unsigned i = 0; i < 64; i++)
			*(uint64_t *)(memory + 64 * (64 * chain + i)) = SPACE_DATA + 64 * (64 * chain + next[i]);
	}
	for (unsigned i = 0; i < 3 * START_ARRAY / 8; i++)
		*(double *)(memory + START_ARRAY + 8 * i) = (double)(i % 1000) * 0.37 - 100;
	for (unsigned i = 0; i < 4096; i++)
		memory[START_BYTES - 4096 + i] = (uint8_t)random_next(&random) & 3;
}

void kernel_start_arguments(const struct kernel *k, enum kernel_start start, uint64_t iterations, uint64_t a[6])
{
	memset(a, 0, 6 * sizeof(a[0]));
	switch (start) {
	case START_UNKNOWN:
	case START_NONE:
	case START_COUNT:
		break;
	case START_ZERO:
		a[0] = SPACE_DATA + 4 * START_ARRAY;
		break;
	case START_BUFFER:
		a[0] = SPACE_DATA + START_ARRAY;
		break;
	case START_CODE: /* the kernel's own last instruction, 3 bytes */
		a[0] = SPACE_CODE + k->offset + k->bytes - 3;
		a[3] = SPACE_DATA + START_ARRAY; /* k_run_code_cold's block */
		break;
	case START_CHOICES:
		a[0] = SPACE_DATA + START_BYTES - 4096;
		break;
	case START_CHASE:
		a[0] = SPACE_DATA;
		a[2] = SPACE_DATA + START_ARRAY;
		break;
	case START_MIXED:
		a[0] = SPACE_DATA;
		a[2] = SPACE_DATA + START_BYTES - 4096;
		break;
	case START_STEP:
		a[0] = SPACE_DATA;
		a[2] = 64;
		break;
	case START_CHASE_STOP:
		a[0] = SPACE_DATA;
		a[2] = SPACE_DATA + START_ARRAY;
		a[3] = 7; /* a value that memory does not hold there: the run does not end early */
		a[4] = SPACE_DATA + START_ARRAY; /* k_chase_stop_cold's block */
		break;
	case START_SHARE:
		a[0] = SPACE_DATA + START_ARRAY;
		a[2] = SPACE_DATA + START_ARRAY + 1024;
		a[3] = 7;
		break;
	case START_INJECT:
		a[0] = SPACE_DATA + START_ARRAY;
		a[1] = 7ull << 32 | 1;
		a[2] = SPACE_DATA + START_BYTES - 4096;
		a[4] = 4096 - 1;
		a[5] = 512;
		break;
	case START_STREAMS:
		a[0] = SPACE_DATA + START_ARRAY;
		a[1] = SPACE_DATA + 2 * START_ARRAY;
		a[2] = SPACE_DATA + 3 * START_ARRAY;
		a[4] = 4096 - 1; /* wraps after 16 iterations */
		a[5] = 512;
		break;
	}
	a[k->count_argument] = iterations;
}
