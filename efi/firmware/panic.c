/* efi/firmware/panic.c: see panic.h. */
#include "efi/firmware/panic.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"

void panic_leave_qemu(enum exit_status status)
{
	/* On a real machine the port may belong to another device (the old coprocessor): it is not written there. */
	if (console.hypervisor)
		out8(EXIT_PORT, (uint8_t)(EXIT_PORT_BASE + status));
}

/* The reset control register of PC chipsets (port 0xCF9): 0x06 is a hard reset; on machines without it, the keyboard controller pulses the
 * processor's reset line (port 0x64, 0xFE). */
void panic_reset(void)
{
	out8(0xCF9, 0x02);
	out8(0xCF9, 0x06);
	for (unsigned i = 0; i < 1000000; i++)
		relax();
	out8(0x64, 0xFE);
	for (;;)
		__asm__ volatile("cli; hlt");
}

void panic_end(void)
{
	print_raw("stallmeter: end status 5\n");
	panic_leave_qemu(EXIT_PANIC);
	panic_reset();
}
