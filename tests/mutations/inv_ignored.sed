# pmu/sim/signals/lane.c: inv is ignored
s|inv = tap->cmask \&\& tap->inv|inv = false|
