# pmu/sim/counters/signal.c: inv is ignored
s|inv = tap->cmask \&\& tap->inv|inv = false|
