/* bench/sampling/pebs_address.h: the address of a load, from the registers behind it.
 *
 * Levinthal's guide, "Precise Memory Access Events": a record of a plain memory event holds the registers after
 * the instruction and the address of the next; with the code, the address of the load follows unless the load
 * overwrote what it was made of. */
#ifndef BENCH_OPERAND_H
#define BENCH_OPERAND_H

#include "pmu/base.h"

struct operand {
	uint64_t address;
	uint8_t bytes;       /* that are loaded */
	uint8_t destination; /* register loaded, 16: none (a return) */
};

/* The load that ended right before offset `next` of a piece of code. ST_OK with the operand; ST_REFUSED: the load
 * overwrote its own address; ST_SYNTAX: no load, or none of the forms known here: MOV, MOVZX, MOVSXD and ADD of
 * a general register with memory, and a near return to behind a call. */
MUST_CHECK enum status pebs_address_before(const uint8_t *code, uint32_t bytes, uint32_t next, const uint64_t gpr[16],
                                      struct operand *out);

#endif
