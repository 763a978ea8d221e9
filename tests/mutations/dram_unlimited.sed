# pmu/sim/memory/dram.h: memory channels carry any number of read lines at once
s|const uint64_t start = lane_take(&c->lane, sent);|const uint64_t start = sent + (c == NULL);|
