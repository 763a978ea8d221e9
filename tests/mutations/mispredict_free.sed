# pmu/sim/core/pipe_branch.c: a mispredicted branch costs no refill
s|pipe_hold(c, right, WAIT_MISPREDICT, 0);|pipe_hold(c, resolved, WAIT_MISPREDICT, 0);|;s|c->front.fetch_cycle = resolved + c->m->core_mispredict_cycles - 1;|c->front.fetch_cycle = resolved;|
