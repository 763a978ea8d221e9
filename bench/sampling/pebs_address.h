/* bench/sampling/pebs_address.h: the address of a load, from the registers after it.
 *
 * Levinthal's guide, "Precise Memory Access Events": a record of a plain memory event holds the registers after the instruction and the address of
 * the next one. With the code, they give the load's address unless the load overwrote one of its own address registers. */
#ifndef BENCH_OPERAND_H
#define BENCH_OPERAND_H

#include "pmu/base.h"

struct operand {
	uint64_t address;
	uint8_t bytes;       /* loaded */
	uint8_t destination; /* register loaded, 16: none (a return, a load to a vector register) */
};

/* Decodes the load that ends at offset `next` of a piece of code. ST_OK: *out is the operand. ST_REFUSED: the load overwrote an address register, out->destination.
 * ST_SYNTAX: not a load, or not one of the known forms: MOV, MOVZX, MOVSXD and ADD of a general register with memory, SSE's
 * moves, additions and products with memory, and a near return to the
 * address after a call. */
MUST_CHECK enum status pebs_address_before(const uint8_t *code, uint32_t bytes, uint32_t next, const uint64_t gpr[16],
                                      struct operand *out);

#endif
