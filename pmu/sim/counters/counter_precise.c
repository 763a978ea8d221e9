/* pmu/sim/counters/counter_precise.c: how often the event maps' precise conditions hold for a retired instruction. */
#include "pmu/sim/counters/counter_state.h"
#include "pmu/sim/isa/ops.h"

static bool is_source(const struct retired *r, uint64_t first, uint64_t last)
{
	return r->insn->load && r->source >= first && r->source <= last;
}

static bool crosses(uint64_t va, unsigned bytes)
{
	return (va & 63) + bytes > 64;
}

/* ADDPS to CMPSD have four forms each, in this order: packed single and double, scalar single and double. */
static bool is_arithmetic(const struct insn *in, unsigned form)
{
	return in->op >= OP_ADDPS && in->op <= OP_CMPSD && (unsigned)(in->op - OP_ADDPS) % 4 == form;
}

unsigned counter_pebs_occurrences(enum precise what, const struct retired *r)
{
	const struct insn *in = r->insn;
	switch (what) {
	case PRECISE_INSTRUCTIONS: return 1;
	case PRECISE_UOPS_UNFUSED: return r->uops_unfused;
	case PRECISE_UOPS_FUSED: return r->uops_fused;
	case PRECISE_BRANCHES: return in->branch;
	case PRECISE_BRANCH_COND: return in->branch && in->conditional;
	case PRECISE_CALL: return in->call;
	case PRECISE_RETURN: return in->ret;
	case PRECISE_TAKEN: return in->branch && r->effects->taken;
	case PRECISE_MISPREDICTED: return in->branch && r->mispredicted;
	case PRECISE_MISPREDICTED_COND: return in->branch && in->conditional && r->mispredicted;
	case PRECISE_MISPREDICTED_CALL: return in->call && r->mispredicted;
	case PRECISE_LOADS: case PRECISE_LATENCY: return in->load;
	case PRECISE_STORES: return in->store;
	case PRECISE_L1: return is_source(r, SRC_L1, SRC_L1);
	case PRECISE_LFB: return is_source(r, SRC_LFB, SRC_LFB);
	case PRECISE_L2: return is_source(r, SRC_L2, SRC_L2);
	case PRECISE_L3_UNSHARED: return is_source(r, SRC_L3_UNSHARED, SRC_L3_UNSHARED);
	case PRECISE_L3_CLEAN: return is_source(r, SRC_L3_OTHER_CLEAN, SRC_L3_OTHER_CLEAN);
	case PRECISE_L3_MODIFIED: return is_source(r, SRC_L3_OTHER_MODIFIED, SRC_L3_OTHER_MODIFIED);
	case PRECISE_L3_OTHER: return is_source(r, SRC_L3_OTHER_CLEAN, SRC_L3_OTHER_MODIFIED);
	case PRECISE_L3_ANY: return is_source(r, SRC_L3_UNSHARED, SRC_L3_OTHER_MODIFIED);
	case PRECISE_L3_MISS: return is_source(r, SRC_REMOTE_CLEAN, SRC_REMOTE_DRAM);
	case PRECISE_L2_MISS: return is_source(r, SRC_L3_UNSHARED, SRC_REMOTE_DRAM);
	case PRECISE_L1_MISS: return is_source(r, SRC_L2, SRC_REMOTE_DRAM);
	case PRECISE_L1_MISS_LFB: return is_source(r, SRC_LFB, SRC_REMOTE_DRAM);
	case PRECISE_REMOTE_CACHE: return is_source(r, SRC_REMOTE_CLEAN, SRC_REMOTE_MODIFIED);
	case PRECISE_REMOTE_CLEAN: return is_source(r, SRC_REMOTE_CLEAN, SRC_REMOTE_CLEAN);
	case PRECISE_REMOTE_MODIFIED: return is_source(r, SRC_REMOTE_MODIFIED, SRC_REMOTE_MODIFIED);
	case PRECISE_LOCAL_DRAM: return is_source(r, SRC_LOCAL_DRAM, SRC_LOCAL_DRAM);
	case PRECISE_REMOTE_DRAM: return is_source(r, SRC_REMOTE_DRAM, SRC_REMOTE_DRAM);
	case PRECISE_LOAD_WALK: return in->load && r->dtlb_level == 3;
	case PRECISE_STORE_WALK: return in->store && r->store_dtlb_walk;
	case PRECISE_LOCKED: return in->lock;
	case PRECISE_FP_ASSIST: return r->effects->fp_assist;
	case PRECISE_WALK: return (in->load && r->dtlb_level == 3) || (in->store && r->store_dtlb_walk);
	case PRECISE_NOT_TAKEN_PREDICTED: return in->branch && !r->effects->taken && !r->mispredicted;
	case PRECISE_NOT_TAKEN_MISPREDICTED: return in->branch && !r->effects->taken && r->mispredicted;
	case PRECISE_TAKEN_PREDICTED: return in->branch && r->effects->taken && !r->mispredicted;
	case PRECISE_TAKEN_MISPREDICTED: return in->branch && r->effects->taken && r->mispredicted;
	case PRECISE_SPLIT_LOADS: return in->load && crosses(r->effects->load_va, r->effects->load_bytes);
	case PRECISE_SPLIT_STORES: return in->store && crosses(r->effects->store_va, r->effects->store_bytes);
	case PRECISE_PACKED_SINGLE: return is_arithmetic(in, 0);
	case PRECISE_PACKED_DOUBLE: return is_arithmetic(in, 1);
	case PRECISE_SCALAR_SINGLE: return is_arithmetic(in, 2);
	case PRECISE_SCALAR_DOUBLE: return is_arithmetic(in, 3);
	case PRECISE_X87: return in->class == UC_X87_ADD || in->class == UC_X87_MUL || in->class == UC_X87_DIV || in->class == UC_X87_SQRT;
	case PRECISE_NO: case PRECISE_COUNT: break;
	}
	return 0;
}
