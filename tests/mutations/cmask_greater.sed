# pmu/sim/signals/lane.c: cmask counts cycles with more than so many, not as many
s|bool now = (level >= least \&\&|bool now = (level > least \&\&|;s|bool now = (count >= least \&\&|bool now = (count > least \&\&|
