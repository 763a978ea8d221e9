/* tests/reference/stream.h: random machines and random straight pieces of code. */
#ifndef TESTS_STREAM_H
#define TESTS_STREAM_H

#include "pmu/sim/machine/machine.h"

#define STREAM_INSNS 512u
#define STREAM_BYTES (STREAM_INSNS * 12)

/* What a stream may hold beyond integer and vector operations. Bits of enum stream_kind. */
enum stream_kind {
	STREAM_LOADS = 1, STREAM_STORES = 2, STREAM_BRANCHES = 4, STREAM_DIVIDES = 8, STREAM_FENCES = 16, STREAM_LOOPS = 32,
	STREAM_ALL = 63,
	STREAM_DIVIDES_IN_ORDER = 64 /* one chain of them, or all ready at once */
};

struct stream_insn { uint8_t bytes[12], length; bool begins_loop, ends_loop; char text[50]; };
struct stream { unsigned count; struct stream_insn insn[STREAM_INSNS]; };

/* All registers are zero before, but for RSI, which points at two pages of zeros, and XMM15 = 1.0. The code keeps every value
 * zero and every conditional branch not taken. */
void stream_draw(struct stream *s, unsigned count, unsigned kinds);
/* The code bytes, STREAM_BYTES at most; returns how many. */
unsigned stream_code(const struct stream *s, uint8_t *out);

/* Draws the fields of core, front, store, load, uops and exec; the others stay. Ports come in disjoint sets,
 * of which each class has one, and no operation keeps its port, unless `kinds` has these bits. */
enum machine_kind { MACHINE_PORTS_OVERLAP = 1, MACHINE_PORTS_BUSY = 2, MACHINE_DIVIDER = 4 };
void stream_machine(struct machine *m, unsigned kinds);
/* One line: the fields that were drawn. */
void stream_print_machine(const struct machine *m);

#endif
