# pmu/sim/dram.c: memory channels carry any number of lines at once
s|const uint64_t start = lane_take(&c->lane, sent), moving|const uint64_t start = sent, moving|
