/* runner/shim/serve.h: answers the requests that programs under `stallmeter simulate` send through runner/shim/shim.c. Any other process may connect
 * to the socket as well, so requests are checked. */
#ifndef RUNNER_SHIM_SERVE_H
#define RUNNER_SHIM_SERVE_H

#include <stddef.h>
#include <stdio.h>

#include "runner/library/stallmeter_sim.h"
#include "runner/shim/request.h"

#define SERVE_INSTRUCTIONS_MOST 100000000000ull /* of one run of a kernel */

/* Reads a request of n bytes into *q and executes it. An invalid one gets q->op SHIM_OPS and has no effect. */
struct shim_answer serve_request(struct stallmeter_sim *s, const void *bytes, size_t n, struct shim_request *q);
/* Writes an access or a kernel's run as a line of a trace that `stallmeter replay` reads; no line for other requests. */
void serve_note(FILE *trace, const struct shim_request *q, const struct shim_answer *a);

#endif
