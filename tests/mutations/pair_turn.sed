# pmu/sim/core/pipe_pair.c: two threads take turns by the wrong parity
s|((t \& 1) == c->own|((t \& 1) != c->own|
