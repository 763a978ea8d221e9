/* pmu/sim/isa/decode_row.h: types that the decoder's files share: rows of the opcode map, operand
 * forms, the state of one decoding. Private to decode*.c. */
#ifndef SIM_DECODE_ROW_H
#define SIM_DECODE_ROW_H

#include "pmu/sim/isa/decode.h"
#include "pmu/sim/isa/ops.h"

/* Forms: E = ModRM.rm register or memory, G = ModRM.reg, Z = low bits of the opcode, A = RAX,
 * C = CL, I = immediate, J = relative target; vectors: V = ModRM.reg, H = VEX.vvvv (legacy: the
 * destination), W = ModRM.rm, U = ModRM.rm register only. Destination first. */
enum form {
	F_NONE, F_NOP, F_EG, F_GE, F_EI, F_E, F_E1, F_EC, F_AI, F_ZI, F_Z, F_ZA, F_I, F_J, F_GEI, F_EGI, F_EGC,
	V_NONE, V_VW, V_WV, V_VHW, V_WHV, V_GW, V_VE, V_VHE, V_EV, V_MG, V_HU, V_M
};

/* Sizes: a number of bytes, or one of these. */
enum { B = 1, V = 100, S64, VL, Y48, HALF, QUARTER, EIGHTH };
enum imm { IMM_NONE, IB, IW, IZ, IV, ORDER132, ORDER213, ORDER231 };
enum pp { INT = 10, INT_F3, INT_NP, STR };
enum { ANY = 0x40, DMEM = 0x100, DREG = 0x200, MEM = ANY | DMEM, REG = ANY | DREG, RM1 = 0x400 };
enum { L = 1, X0 = 2, X1 = 4, X = X0 | X1, E0 = 8, E1 = 16, N = 32, Y = 64, Z = 128, LIG = 256 };

struct row {
	uint8_t map, pp, opcode, span;
	uint16_t digit;
	uint16_t op;
	uint8_t form, size, memory, imm;
	uint16_t encodings; /* 0: integer row */
};

enum encoding { LEGACY, VEX, EVEX };

struct decoding {
	const uint8_t *bytes;
	unsigned available, at;  /* at most 15 */
	bool cut;                /* ran out of bytes */
	bool prefix66, prefix67, lock, has_rex;
	uint8_t rep;             /* 0, F2, F3 */
	uint8_t encoding, map, opcode, pp;
	bool w;
	uint8_t r, x, b, v;      /* register extension bits, shifted into place: 0, 8 (EVEX: 16, 24) */
	uint8_t vlength;         /* 0: 128, 1: 256, 2: 512 bits */
	bool have_modrm;
	uint8_t mod, reg, rm;    /* reg and rm without extension */
	bool disp8;              /* one-byte displacement: EVEX scales it */
};

uint8_t decode_byte(struct decoding *d);
/* Decodes ModRM, SIB and displacement into out's memory fields. */
void decode_modrm(struct decoding *d, struct insn *out);
/* D8h-DFh. False: not in the subset. */
bool decode_x87(struct decoding *d, struct insn *out);
void decode_reads(struct insn *out, unsigned name);
void decode_writes(struct insn *out, unsigned name);
/* Operands and dependencies of a vector row. False: these bits raise #UD or are outside the subset. */
bool decode_vector(struct decoding *d, const struct row *r, struct insn *out);
bool decode_integer(struct decoding *d, const struct row *r, struct insn *out);
/* Sets the width and kinds of the memory reference. */
void decode_memory(struct insn *out, unsigned bytes, bool load, bool store);
int64_t decode_immediate(struct decoding *d, unsigned bytes);
uint16_t decode_attributes(unsigned op);
unsigned decode_class(unsigned op);

/* Attributes of ops.def. */
enum { DR = 1, DW = 2, RC = 4, RZ = 8, WC = 16, WZ = 32, WF = 48, CC = 64, FE = 128 };

#endif
