# pmu/sim/memory/tlb.c: a page walk costs its loads alone
s|t += s->m->walk_cycles;|t += 0;|
