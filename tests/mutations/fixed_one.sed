# pmu/sim/counters/counter.c: fixed counter 1 counts instructions, not cycles
s|listen(&t, i == 0 ? SIG_INSTRUCTIONS_RETIRED : SIG_CYCLES);|listen(\&t, i <= 1 ? SIG_INSTRUCTIONS_RETIRED : SIG_CYCLES);|
