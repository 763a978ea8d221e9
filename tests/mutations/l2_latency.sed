# pmu/sim/memory/l2.h: the L2 answers a cycle late
s|f->ready = t + k->m->l2_cycles;|f->ready = t + k->m->l2_cycles + 1;|
