# pmu/sim/signal.c: inv is ignored
s|inv = tap->cmask \&\& tap->inv|inv = false|
