/* efi/app/environment.h: the environment block: facts about the place of the run, as text. */
#ifndef EFI_ENVIRONMENT_H
#define EFI_ENVIRONMENT_H

#include "bench/suite/suite.h"
#include "efi/processor/hw.h"
#include "efi/platform/smbios.h"

#define ENVIRONMENT_LINES 160
#define ENVIRONMENT_BYTES 0x8000

struct environment {
	struct environment_line lines[ENVIRONMENT_LINES];
	unsigned count;
	char bytes[ENVIRONMENT_BYTES]; /* of keys and values */
	size_t used;
};

/* Firmware, machine, memory modules, hashes of the ACPI tables, clock. `hw` NULL: simulated. */
void environment_fill(struct environment *e, const struct smbios *smbios, const struct acpi *acpi,
                      const struct clock *clock, const struct hw *hw);

#endif
