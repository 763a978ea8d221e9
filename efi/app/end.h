/* efi/app/end.h: how the application ends. */
#ifndef EFI_END_H
#define EFI_END_H

#include "efi/app/config.h"
#include "efi/firmware/exit.h"

/* Prints "stallmeter: end status N" and carries out `action`. Returns (to the firmware) only for END_RETURN, and for
 * END_MENU if no menu was available, and only if `may_return`: an application processor that never came back forbids it,
 * and the end becomes a reboot. */
void end_run(enum end_action action, enum exit_status status, bool may_return);

#endif
