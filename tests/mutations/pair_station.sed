# pmu/sim/core/pipe_pair.c: the other thread's entries of the reservation station are free
s|rs_held(c, t) + rs_held(o, t) + entries > c->rs_size|rs_held(c, t) + entries > c->rs_size|
