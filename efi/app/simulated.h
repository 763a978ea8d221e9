/* efi/app/simulated.h: a simulated machine as the backend of the UEFI application. */
#ifndef EFI_SIMULATED_H
#define EFI_SIMULATED_H

#include "efi/app/config.h"
#include "pmu/access.h"
#include "pmu/sim/backend/sim.h"

struct simulated {
	const struct access *access; /* points to `own` below: the simulator's, with uninterrupted runs */
	struct access own;
	struct access_ops ops;
	struct sim *sim;
	uint64_t identity; /* hash of the machine file's text */
};

/* Builds the machine of a file that was read. *s must not move. ST_FULL: out of memory. */
MUST_CHECK enum status simulated_build(struct simulated *s, const struct machine *m);
/* Builds the machine that the settings name: built in, or a file on the boot volume. On failure c->problem has a line (the
 * text is wrong: ST_SYNTAX, ST_MISSING), or memory ran out (ST_FULL). */
MUST_CHECK enum status simulated_open(struct simulated *s, struct config *c, struct files *files);
void simulated_close(struct simulated *s);

#endif
