# pmu/sim/core/core_clock.c: one more uop retires a cycle
s|c->retire_width = (uint32_t)m->core_retire_width;|c->retire_width = (uint32_t)m->core_retire_width + 1;|
