# pmu/sim/memory/coherence.h: a modified line that leaves the L3 is not written to memory
s|(void)dram_write(s, socket, old, t, 1, true);|(void)t;|
