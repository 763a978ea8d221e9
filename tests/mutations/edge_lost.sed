# pmu/sim/counters/signal.c: edge is ignored
s|, edge = tap->edge;|, edge = false;|
