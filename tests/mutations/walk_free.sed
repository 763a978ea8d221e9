# pmu/sim/memory/tlb.c: a page walk costs its loads alone
s|t += c->m->walk_cycles;|t += 0;|
