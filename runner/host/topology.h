/* runner/host/topology.h: the cores and memory nodes of this Linux machine that this process may use. */
#ifndef RUNNER_TOPOLOGY_H
#define RUNNER_TOPOLOGY_H

#include "pmu/base.h"

#define TOPOLOGY_CORES_MAX 512
#define TOPOLOGY_NODES_MAX 64

struct topology {
	unsigned cores;                          /* physical cores, of which one logical processor each is used */
	int cpu[TOPOLOGY_CORES_MAX];             /* that logical processor's number in Linux */
	uint8_t core_node[TOPOLOGY_CORES_MAX];   /* index into node_id[] */
	unsigned nodes;                          /* nodes with memory */
	int node_id[TOPOLOGY_NODES_MAX];         /* Linux's number */
	uint8_t distance[TOPOLOGY_NODES_MAX * TOPOLOGY_NODES_MAX]; /* [nodes * nodes], 10 = local */
};

/* From the process's affinity and /sys/devices/system (Documentation/ABI/stable/sysfs-devices-node and
 * sysfs-devices-system-cpu of Linux). If /sys has no such files, one node and one thread per core are assumed. ST_MISSING if
 * the affinity is unknown. */
MUST_CHECK enum status topology_read(struct topology *t);

#endif
