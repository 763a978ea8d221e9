/* pmu/sim/uncore/uncore_hsx.h: internals of the simulated PMON boxes, for uncore_hsx*.c, uncore_mesh.c and tests.
 *
 * Kinds of boxes, what their event codes count in signals of the memory model, and their registers. */
#ifndef SIM_UNCORE_HSX_H
#define SIM_UNCORE_HSX_H

#include "pmu/sim/uncore/box.h"
#include "pmu/sim/machine/uncore_map.h"
#include "pmu/sim/memory/uncore_ring.h"

/* Those from CHA on belong to the mesh of Skylake-SP, which has UBox, PCU and iMC too; TRAFFIC: the IRP of a stack, in MSRs. */
enum hsx_kind { HSX_UBOX, HSX_CBO, HSX_SBO, HSX_PCU, HSX_HA, HSX_IMC, HSX_IRP, HSX_QPI, HSX_R2, HSX_R3, HSX_CHA, HSX_M2M, HSX_UPI, HSX_M3UPI, HSX_IIO, HSX_TRAFFIC, HSX_M2PCIE, HSX_KINDS };
_Static_assert((unsigned)HSX_UBOX == UNCORE_BOX_UBOX && (unsigned)HSX_M2PCIE == UNCORE_BOX_M2PCIE, "boxes in the order of a map's");

#define HSX_COUNTERS 4
#define HSX_FIXED    HSX_COUNTERS /* the fixed counter, after the general ones */
#define HSX_FILTERS  5            /* CBo: 0, 1; HA: address, address, opcode; QPI: match, match, mask, mask; PCU, UBox: 0 */

/* What a select counts. */
struct hsx_meaning {
	enum uncore_count_mode how;
	struct uncore_watch watch;
	const char *why; /* UNCORE_UNMODELLED */
};

/* The registers that an event's meaning depends on. */
struct hsx_filters { uint32_t value[HSX_FILTERS]; };

/* The meaning of a select (bits 15:0, bit 21 and, on meshes since Ice Lake-SP, those above 31) for box number `instance` of a kind. */
void hsx_meaning(const struct machine *m, enum hsx_kind kind, unsigned instance, uint64_t select, const struct hsx_filters *filters,
                 struct hsx_meaning *out);
/* The row of a select with exactly its umask, else any of its code; NULL: no such code. */
const struct uncore_row *hsx_row(const struct uncore_map *map, enum hsx_kind kind, uint64_t select);
/* The box's clock. */
uint64_t hsx_clock_hz(const struct machine *m, enum hsx_kind kind);
/* Whether the machine's uncore is a mesh; which one. */
bool hsx_mesh(const struct machine *m);
enum hsx_layout { HSX_SKYLAKE, HSX_ICE_LAKE, HSX_SAPPHIRE_RAPIDS, HSX_SIERRA_FOREST };
enum hsx_layout hsx_layout(const struct machine *m);
/* Number of boxes of a kind per socket; 0: the machine's layout has none. */
unsigned hsx_boxes(const struct machine *m, enum hsx_kind kind);

#endif
