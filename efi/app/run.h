/* efi/app/run.h: the suite in the UEFI application: results to the boot volume, table and progress to the console. */
#ifndef EFI_RUN_H
#define EFI_RUN_H

#include "efi/platform/clock.h"
#include "efi/app/config.h"
#include "efi/app/environment.h"
#include "efi/firmware/exit.h"
#include "efi/network/upload.h"
#include "efi/storage/saved_results.h"
#include "efi/app/resume.h"
#include "efi/processor/watchdog.h"
#include "pmu/access.h"

struct run {
	const struct config *config;
	const struct suite_settings *settings;
	struct files *files;
	const struct clock *clock;
	const struct environment *environment;
	struct resume_state *state;
	struct watchdog *watchdog;
	struct saved_results *saved;       /* receives a copy of what is written */
	struct network *network;
	struct upload upload;     /* open while upload_on */
	bool upload_on;
	char directory[64];       /* of the results, before its number */
	bool again;               /* out: another boot of a series follows */
};

/* Fills in the settings and checks them against the tables; a problem is a line in c->problem. The text of the `expect`
 * file stays where s->expect points. */
MUST_CHECK enum status run_settings(struct config *c, struct files *files, struct suite_settings *s);
/* Identifies the processor, runs the suite under the guard, prints the table, restores. */
enum exit_status run_suite(const struct access *a, struct run *r);

#endif
