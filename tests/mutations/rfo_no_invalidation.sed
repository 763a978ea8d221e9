# pmu/sim/coherence.c: a write leaves other cores their copies
s|const enum line_state had = socket_lower(s, c->socket, others, line, LINE_I, t);|const enum line_state had = socket_lower(s, c->socket, others, line, LINE_S, t);|
