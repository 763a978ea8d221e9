/* efi/firmware/boot_next.h: which option the firmware boots next (UEFI 2.10, 3.3: BootCurrent, BootNext).
 *
 * A machine that was told to start the stick once (F12, a management controller) starts its own disk after a reset. So the
 * option that started this program is named again before anything can stop the machine, and the name goes when the run is
 * over. */
#ifndef EFI_BOOT_NEXT_H
#define EFI_BOOT_NEXT_H

#include "pmu/base.h"

/* Names this boot's option. ST_MISSING: the firmware does not say which one it was; otherwise what SetVariable gave. */
MUST_CHECK enum status boot_next_set(void);
/* Takes the name away, if it is still this boot's option. */
void boot_next_clear(void);

#endif
