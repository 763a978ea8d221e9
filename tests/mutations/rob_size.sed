# pmu/sim/core/core_clock.c: the reorder buffer has an entry less
s|c->rob_size = (uint32_t)(c->m->core_rob / ways);|c->rob_size = (uint32_t)(c->m->core_rob / ways) - 1;|
