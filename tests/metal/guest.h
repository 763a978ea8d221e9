/* tests/metal/guest.h: the guest's memory, which QEMU shares, and its page tables (SDM vol. 3, 4.5). */
#ifndef TESTS_METAL_GUEST_H
#define TESTS_METAL_GUEST_H

#include "pmu/sim/backend/sim.h"

#define GUEST_NODES_MAX 8

struct guest {
	uint8_t *memory[GUEST_NODES_MAX]; /* of each node, one after the other from address 0 on */
	uint64_t bytes;                   /* of each node */
	unsigned nodes;
	uint64_t node_bytes;              /* of a node of the simulated machine */
	uint64_t cr3;                     /* of the processors whose jobs run */
	bool nx;                          /* the no-execute bit is in use */
};

/* Maps the files PREFIX.0, PREFIX.1, ... of that many MiB in all. */
void guest_open(struct guest *g, const char *prefix, unsigned nodes, uint64_t mib, uint64_t node_bytes);
/* Where this program has a physical address; NULL: no memory, or beyond its node's end within `bytes`. */
void *guest_physical(const struct guest *g, uint64_t pa, uint64_t bytes);
/* struct sim_space's page, through the tables of g->cr3. */
bool guest_page(void *guest, uint64_t va, struct sim_page *out);

#endif
