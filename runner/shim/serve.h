/* runner/shim/serve.h: the answers of `stallmeter simulate` to the programs that it runs. Their requests come from runner/shim/shim.c; any other
 * process may connect to the socket, too. */
#ifndef RUNNER_SHIM_SERVE_H
#define RUNNER_SHIM_SERVE_H

#include <stddef.h>
#include <stdio.h>

#include "runner/library/stallmeter_sim.h"
#include "runner/shim/request.h"

#define SERVE_INSTRUCTIONS_MOST 100000000000ull /* of one run of a kernel */

/* Reads a request of n bytes into *q and carries it out. One that is none, or names what no request may, has q->op SHIM_OPS and changes nothing. */
struct shim_answer serve_request(struct stallmeter_sim *s, const void *bytes, size_t n, struct shim_request *q);
/* Writes an access as a line of a trace that `stallmeter replay` reads; nothing for a request that is none. */
void serve_note(FILE *trace, const struct shim_request *q, const struct shim_answer *a);

#endif
