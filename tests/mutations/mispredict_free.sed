# pmu/sim/core_branch.c: a mispredicted branch costs no refill
s|pipe_hold(c, resolved + c->m->core_mispredict_cycles, WAIT_MISPREDICT, 0);|pipe_hold(c, resolved, WAIT_MISPREDICT, 0);|
