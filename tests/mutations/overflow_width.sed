# pmu/sim/counters/counter.c: counters overflow one bit too early
s|uint64_t wraps = width < 64 ? total >> width : 0;|uint64_t wraps = width < 64 ? total >> (width - 1) : 0;|
