/* efi/app/end.h: how the application leaves the machine. */
#ifndef EFI_END_H
#define EFI_END_H

#include "efi/app/config.h"
#include "efi/app/exit.h"

/* Writes "stallmeter: end status N" and does what `action` says. Returns (to the firmware) only
 * for END_RETURN, and END_MENU that no menu answered, and when `may_return`: an application processor that never
 * came back forbids it, and the end becomes a reboot. */
void end_run(enum end_action action, enum exit_status status, bool may_return);
/* From a fault handler: no firmware any more. Leaves QEMU if it can, else resets the machine. */
__attribute__((noreturn)) void end_panic(void);

#endif
