/* pmu/sim/isa/decode.h: decodes machine code into instructions, once per address.
 *
 * The decoder knows what an instruction is (operands, memory reference, what it reads and
 * writes); exec.h knows what it does; core.h knows, from struct machine, what it costs.
 * None of them shares a table with the drivers above the backend. */
#ifndef SIM_DECODE_H
#define SIM_DECODE_H

#include "pmu/base.h"

/* Timing classes: the kind of work that an instruction's main uop does. Latency, ports and port
 * occupancy per class are the machine's (machine.def, section [exec]). */
enum uop_class {
	UC_NOP, UC_INT, UC_SHIFT, UC_LEA, UC_IMUL, UC_IMUL128, UC_IDIV32, UC_IDIV64,
	UC_BRANCH, UC_LOAD, UC_STA, UC_STD,
	UC_VEC_INT, UC_VEC_IMUL, UC_VEC_SHUFFLE, UC_VEC_LOGIC, UC_VEC_MOVE,
	UC_FP_ADD, UC_FP_MUL, UC_FP_FMA, UC_FP_CVT, UC_FP_DIV32, UC_FP_DIV64, UC_FP_SQRT32, UC_FP_SQRT64,
	UC_X87_ADD, UC_X87_MUL, UC_X87_DIV, UC_X87_SQRT, UC_X87_MOVE,
	UC_INT_TO_VEC, UC_VEC_TO_INT,
	UC_LOCK, UC_MFENCE, UC_LFENCE, UC_SFENCE, UC_CPUID, UC_RDTSC, UC_RDPMC, UC_CLFLUSH,
	UC_LDMXCSR, UC_STMXCSR, UC_FLDCW, UC_FNSTCW, UC_PAUSE, UC_PREFETCH, UC_VZEROUPPER, UC_MICROCODE,
	UC_COUNT
};

/* Register names for dependencies: general 0-15, vector 16-31 (XMM, YMM and ZMM n have one name; 32-47: the upper
 * ones, EVEX only), x87 stack slots; flags are split so that partial-flag effects are visible. */
enum reg_name {
	RN_RAX = 0, RN_RCX, RN_RDX, RN_RBX, RN_RSP, RN_RBP, RN_RSI, RN_RDI, /* .. R15 = 15 */
	RN_VEC0 = 16, RN_X87 = 48, /* .. 55: stack-relative, RN_X87 is st(0) before the instruction */
	RN_CF = 56, RN_ZAPSO = 57, /* carry; zero, adjust, parity, sign and overflow */
	RN_MXCSR = 58, RN_FPCW = 59, RN_MASK0 = 60, /* k0-k7 */
	RN_COUNT = 68, RN_NONE = 255
};

/* Kinds of an instruction's operands (register, immediate, memory), destination first. With op and width they select exec.c's handler. */
enum operand_kind { KIND_RR, KIND_RI, KIND_RM, KIND_MR, KIND_MI, KIND_COUNT };

struct insn {
	/* The first 64 bytes: what exec reads. */
	uint16_t run;           /* the handler that exec dispatches to: from op, kind and operand_bytes */
	uint16_t op;            /* enum op (ops.h): the operation, whatever its operands */
	uint8_t length;         /* bytes, 1 .. 15 */
	uint8_t operand_bytes;  /* 1, 2, 4, 8, 16, 32, 64: width of the operation; scalar: of the element */
	uint8_t memory_bytes;   /* width of the memory reference, 0 if none; prefetch and CLFLUSH: 1 */
	uint8_t kind;           /* enum operand_kind */
	uint16_t dst_at, src_at;     /* integer operands: byte offset in struct hart_regs */
	uint16_t base_at, index_at;  /* address registers likewise; the zero slot if none */
	uint8_t shift;          /* log2 of scale */
	uint8_t extra;          /* op-specific: condition code, predicate, shuffle control, x87 slot */
	uint8_t vdst, vsrc1, vsrc2;  /* vector register numbers 0 .. 31 */
	bool vector_memory;     /* the last vector source (or the destination of a store) is memory */
	bool wide_zero;         /* VEX or EVEX: bytes above operand_bytes (at least 16) become zero */
	bool address32;         /* prefix 67: the address is cut to 32 bits */
	int64_t offset;         /* displacement, counted from the start of a rip-relative instruction */
	int64_t immediate;

	/* What the timing model reads. */
	uint8_t class;          /* enum uop_class of the main (non-memory) uop; UC_NOP if none: a pure
	                           load or store has load or store set and class UC_NOP */
	bool load, store;       /* memory reference kinds; both for read-modify-write; PUSH, CALL: store;
	                           POP, RET: load; CALL [m], PUSH [m], POP [m], MOVS: both, two addresses.
	                           LEA, prefetch, CLFLUSH: neither (the latter two set effects.load_va) */
	bool lock, nontemporal;
	bool branch, conditional, indirect, call, ret;
	bool stack;             /* moves RSP as PUSH and POP do; a stack engine does that at no cost */
	bool fusible_first;     /* CMP, TEST, ADD, SUB, AND, INC, DEC that can macro-fuse with a following
	                           Jcc where the machine fuses that op (not with memory and immediate both) */
	bool lcp;               /* a length-changing prefix: 66 with imm16, 67 with a moffs */
	bool vex, evex;
	bool high_byte;         /* reads or writes AH, CH, DH or BH */
	bool zero_idiom;        /* xor r,r; pxor x,x; sub r,r: on a core that recognises them, `reads` are no dependencies */
	bool move;              /* register-to-register move, eliminable where the machine can */
	bool add_constant, add_registers; /* ADD r,imm and ADD r,r of 4 or 8 bytes, eliminable where the machine can */
	bool rep;               /* REP string instruction */
	int8_t x87_pop;         /* after the instruction, RN_X87 + i is what was RN_X87 + i + x87_pop (mod 8): 1 pop, -1 push */
	bool has_base, has_index, rip_relative;
	uint8_t base, index, scale; /* of the memory reference; scale 1, 2, 4, 8 */
	uint8_t dst, src1, src2, src3;  /* operand registers in enum reg_name, RN_NONE if none */
	int32_t displacement;   /* as encoded, EVEX's disp8 already scaled; rip-relative: from the next instruction */
	/* Dependencies of the main uop (of the load, if there is no other uop). They exclude the address
	 * registers of the memory reference, except LEA's, which are its sources. */
	uint8_t reads[6], writes[4];
	uint8_t read_count, write_count;
};

/* Decodes one instruction from bytes[0..available). ST_SYNTAX for an instruction outside the
 * subset or truncated; *bad_length is then the number of bytes to show. Long mode only. */
MUST_CHECK enum status decode(const uint8_t *bytes, size_t available, struct insn *out, unsigned *bad_length);


#endif
