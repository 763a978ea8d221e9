# pmu/sim/memory/coherence.c: a write leaves other cores their copies
s|const enum line_state had = socket_lower(s, c->socket, others, line, LINE_I, t, 0);|const enum line_state had = socket_lower(s, c->socket, others, line, LINE_S, t, 0);|
