# pmu/sim/memory/tlb.c: a hit in the second-level TLB costs nothing
s|t += c->m->stlb_cycles;|t += 0;|
