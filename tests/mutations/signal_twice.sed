# pmu/sim/signal.c: each pulse is counted twice by plain taps
s|a->taps\[__builtin_ctz(bits)\].value += n;|a->taps[__builtin_ctz(bits)].value += 2 * n;|
