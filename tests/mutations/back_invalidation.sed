# pmu/sim/socket.c: a line that leaves an inclusive L3 stays in the private caches
s|if (socket_lower(s, socket, holders(s, k, i), old, LINE_I, t) == LINE_M)|if (socket_lower(s, socket, 0, old, LINE_I, t) == LINE_M)|
