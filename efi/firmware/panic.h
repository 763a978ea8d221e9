/* efi/firmware/panic.h: ends the application without the firmware's services. */
#ifndef EFI_PANIC_H
#define EFI_PANIC_H

#include "efi/firmware/exit.h"

/* Makes QEMU exit with that status; returns outside QEMU, or if it has no isa-debug-exit device. */
void panic_leave_qemu(enum exit_status status);
/* Resets the machine by chipset registers. */
__attribute__((noreturn)) void panic_reset(void);
/* From a fault handler, without the firmware: leaves QEMU if possible, else resets the machine. */
__attribute__((noreturn)) void panic_end(void);

#endif
