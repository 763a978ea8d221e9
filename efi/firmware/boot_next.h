/* efi/firmware/boot_next.h: the option that the firmware boots next (UEFI 2.10, 3.3: BootCurrent, BootNext).
 *
 * A machine that was told to boot the stick once (F12, a management controller) boots its own disk after a reset. BootNext is
 * therefore set to the option that started this program before anything can stop the machine, and cleared when the run is
 * over. */
#ifndef EFI_BOOT_NEXT_H
#define EFI_BOOT_NEXT_H

#include "pmu/base.h"

/* Sets BootNext to this boot's option. ST_MISSING: the firmware does not report which one that is; otherwise the status of SetVariable. */
MUST_CHECK enum status boot_next_set(void);
/* Clears BootNext if it is still this boot's option. */
void boot_next_clear(void);

#endif
