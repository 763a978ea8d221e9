/* bench/suite/l2_port.h: whether a load from the L2 takes as long as the L2's port is busy with a line, and not as long as a hit. */
#ifndef BENCH_L2_PORT_H
#define BENCH_L2_PORT_H

#include "bench/measure/loop.h"

/* Whether a load that hits the L2 waits for its port: measured once a run, in jobs of its own. L2_PORT_FREE also where the L2 is too small for the test;
 * L2_PORT_FAILED where a job failed or the prefetchers could not be restored. */
enum l2_port l2_port_measured(struct bench *b);

#endif
