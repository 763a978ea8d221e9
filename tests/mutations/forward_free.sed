# pmu/sim/core/core_memory.c: store forwarding costs nothing
s|r->translated) + c->m->store_forward_cycles;|r->translated);|
