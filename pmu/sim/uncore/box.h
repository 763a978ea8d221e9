/* pmu/sim/uncore/box.h: uncore boxes of the simulated machine: registers that belong to no core.
 *
 * sim.c tries them for every address that the core's register file lacks. A kind of box is one line of the table in box.c:
 * whether the machine has it, its state, and its answers to accesses of MSRs, of PCI configuration space and of memory. ST_MISSING: not
 * this box's address. */
#ifndef SIM_BOX_H
#define SIM_BOX_H

#include "pmu/access.h"
#include "pmu/sim/counters/counter.h"
#include "pmu/sim/uncore/uncore_tap.h"

struct box_kind {
	const char *name; /* the value of uncore in the machine file's [pmu] */
	size_t (*bytes)(const struct machine *m);
	void (*init)(void *box, const struct machine *m, struct uncore_taps *taps);
	enum status (*rdmsr)(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f);
	enum status (*wrmsr)(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f);
	enum status (*pci_read32)(void *box, struct pci_address at, uint32_t *value, struct sim_finding *f);  /* NULL: none */
	enum status (*pci_write32)(void *box, struct pci_address at, uint32_t value, struct sim_finding *f);
	enum status (*mmio_read)(void *box, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f); /* NULL: none */
	enum status (*mmio_write)(void *box, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f);
};

struct boxes; /* all of a machine */
/* Bytes for boxes_init; the boxes of machine m. */
size_t boxes_bytes(const struct machine *m);
struct boxes *boxes_init(void *at, const struct machine *m, struct memory *memory, const struct uncore_tap_env *env);
void boxes_close(struct boxes *b);
/* A core begins or ends a job. */
void boxes_core(struct boxes *b, unsigned core, bool runs);

MUST_CHECK enum status boxes_rdmsr(struct boxes *b, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *f);
MUST_CHECK enum status boxes_wrmsr(struct boxes *b, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *f);
MUST_CHECK enum status boxes_pci_read32(struct boxes *b, struct pci_address at, uint32_t *value, struct sim_finding *f);
MUST_CHECK enum status boxes_pci_write32(struct boxes *b, struct pci_address at, uint32_t value, struct sim_finding *f);
MUST_CHECK enum status boxes_mmio_read(struct boxes *b, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f);
MUST_CHECK enum status boxes_mmio_write(struct boxes *b, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f);

/* The kinds. */
extern const struct box_kind box_socket; /* uncore_nhm.c */
extern const struct box_kind box_boxes;  /* uncore_hsx.c */
extern const struct box_kind box_mesh;   /* uncore_mesh.c */
extern const struct box_kind box_fabric; /* uncore_amd.c */
extern const struct box_kind box_client; /* uncore_client.c */

#endif
