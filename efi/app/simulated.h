/* efi/app/simulated.h: a simulated machine as the backend, in the guest. */
#ifndef EFI_SIMULATED_H
#define EFI_SIMULATED_H

#include "efi/app/config.h"
#include "pmu/access.h"
#include "pmu/sim/machine/sim.h"

struct simulated {
	const struct access *access; /* to `own` below: the sim's, with runs that nothing interrupts */
	struct access own;
	struct access_ops ops;
	struct sim *sim;
	uint64_t identity; /* of the machine file's text */
};

/* The machine of a file that was read. *s must stay where it is. ST_FULL: memory ran out. */
MUST_CHECK enum status simulated_build(struct simulated *s, const struct machine *m);
/* The machine that the settings name: built in, or a file on the boot volume. On failure a line is
 * in c->problem (the text is wrong: ST_SYNTAX, ST_MISSING), or memory ran out (ST_FULL). */
MUST_CHECK enum status simulated_open(struct simulated *s, struct config *c, struct files *files);
void simulated_close(struct simulated *s);

#endif
