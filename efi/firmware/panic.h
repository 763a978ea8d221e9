/* efi/firmware/panic.h: the end without the firmware's services. */
#ifndef EFI_PANIC_H
#define EFI_PANIC_H

#include "efi/firmware/exit.h"

/* Ends QEMU with that status, if it is there and has an isa-debug-exit device; else returns. */
void panic_leave_qemu(enum exit_status status);
/* Resets the machine by its own registers. */
__attribute__((noreturn)) void panic_reset(void);
/* From a fault handler, without the firmware: leaves QEMU if possible, else resets the machine. */
__attribute__((noreturn)) void panic_end(void);

#endif
