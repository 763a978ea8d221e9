# pmu/sim/memory/memory.c: a load finds a line on its way as if it were there: the wait for the fill buffer is lost
s|r->ready = ready > least ? ready : least;|r->ready = least;|
