# pmu/sim/counters/counter_pebs.c: load-latency records call local memory remote
s|\[SRC_LOCAL_DRAM\] = 0xA, \[SRC_REMOTE_DRAM\] = 0xB|[SRC_LOCAL_DRAM] = 0xB, [SRC_REMOTE_DRAM] = 0xA|;s|\[SRC_LOCAL_DRAM\] = 0xC, \[SRC_REMOTE_DRAM\] = 0xD|[SRC_LOCAL_DRAM] = 0xD, [SRC_REMOTE_DRAM] = 0xC|
