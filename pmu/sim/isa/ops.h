/* pmu/sim/isa/ops.h: every operation that the interpreter knows, from ops.def. */
#ifndef SIM_OPS_H
#define SIM_OPS_H

#include "pmu/base.h"

enum op {
#define OP(name, class, attributes) OP_##name,
#include "pmu/sim/isa/ops.def"
#undef OP
	OP_COUNT
};

/* Ops up to this one have a handler for each operand kind and width; see insn.run. */
#define OP_LAST_ALU OP_DEC

/* insn.run of an ALU op: op * RUN_STRIDE + kind * 4 + log2 of operand_bytes. Of any other: RUN_OTHER + op. */
#define RUN_STRIDE 20
#define RUN_OTHER ((OP_LAST_ALU + 1) * RUN_STRIDE)
#define RUN_ALU(op, kind, log2_bytes) ((op) * RUN_STRIDE + (kind) * 4 + (log2_bytes))
/* Others that have handlers of their own: legacy SSE of 16 bytes, MOVZX of a byte of memory to 32 or 64 bits. */
enum run_own { RUN_SSE_LOAD = RUN_OTHER + OP_COUNT, RUN_SSE_STORE, RUN_SSE_MOVE, RUN_ADDPD, RUN_SUBPD, RUN_MULPD, RUN_MOVZX_BYTE };

#endif
