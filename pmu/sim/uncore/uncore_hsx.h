/* pmu/sim/uncore/uncore_hsx.h: the inside of the simulated Haswell-EP uncore, for uncore_hsx*.c and tests.
 *
 * Kinds of boxes, what their event codes count in signals of the memory model, and their registers. */
#ifndef SIM_UNCORE_HSX_H
#define SIM_UNCORE_HSX_H

#include "pmu/sim/uncore/box.h"

enum hsx_kind { HSX_UBOX, HSX_CBO, HSX_SBO, HSX_PCU, HSX_HA, HSX_IMC, HSX_IRP, HSX_QPI, HSX_R2, HSX_R3, HSX_KINDS };

#define HSX_COUNTERS 4
#define HSX_FIXED    HSX_COUNTERS /* the fixed counter behind the general ones */
#define HSX_FILTERS  5            /* CBo: 0, 1; HA: address, address, opcode; QPI: match, match, mask, mask; PCU, UBox: 0 */
#define HSX_GROUPS   2
#define HSX_SIGNAL_WORDS 2

_Static_assert(UNC_COUNT <= 64 * HSX_SIGNAL_WORDS, "a group's signals fit");

/* Signals that are added: of the own socket's units, or with `received` what other sockets send to it. */
struct hsx_group {
	uint64_t signals[HSX_SIGNAL_WORDS];
	uint32_t units;
	uint8_t times;
	bool received;
};

enum hsx_how { HSX_ADD, HSX_CLOCK, HSX_NEVER, HSX_OF_COUNTER_0, HSX_UNMODELLED };
/* What a select counts. HSX_CLOCK: `rate` per cycle of the box's clock. */
struct hsx_meaning {
	enum hsx_how how;
	uint32_t rate;
	struct hsx_group group[HSX_GROUPS];
	uint8_t groups;
	const char *why; /* HSX_UNMODELLED */
};

/* The registers that an event's meaning depends on. */
struct hsx_filters { uint32_t value[HSX_FILTERS]; };

/* What the low 16 bits of a select and bit 21 mean for box number `instance` of a kind. */
void hsx_meaning(const struct machine *m, enum hsx_kind kind, unsigned instance, unsigned socket, uint32_t select,
                 const struct hsx_filters *filters, struct hsx_meaning *out);
/* Counters that can count a code; 0: no such code. */
uint8_t hsx_code_counters(enum hsx_kind kind, uint8_t code, bool extended, const char **name);
/* The box's clock. */
uint64_t hsx_clock_hz(const struct machine *m, enum hsx_kind kind, bool fixed);
/* Number of boxes of a kind per socket. */
unsigned hsx_boxes(const struct machine *m, enum hsx_kind kind);

#endif
