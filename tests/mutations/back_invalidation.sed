# pmu/sim/memory/coherence.h: a line that leaves an inclusive L3 stays in the private caches
s/const uint64_t had = socket_holders_get(s, socket_holders_in(k, block, way, w3), w3);/const uint64_t had = 0;/
