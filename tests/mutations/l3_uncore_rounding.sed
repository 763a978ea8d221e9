# pmu/sim/memory/memory_write.c: uncore cycles are rounded down to core cycles
s|return (n \* m->clock_core_ratio + ratio - 1) / ratio;|return n * m->clock_core_ratio / ratio;|
