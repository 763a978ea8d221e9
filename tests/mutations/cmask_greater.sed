# pmu/sim/signal.c: cmask counts cycles with more than so many, not as many
s|>= least) != inv|> least) != inv|
