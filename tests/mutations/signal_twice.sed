# pmu/sim/signals/signal.c: each pulse is counted twice by plain taps
s|a->taps\[__builtin_ctz(bits)\].value += sum;|a->taps[__builtin_ctz(bits)].value += 2 * sum;|
