/* efi/firmware/panic.c: see panic.h. */
#include "efi/firmware/panic.h"
#include "efi/firmware/console.h"
#include "efi/firmware/uefi.h"

void panic_leave_qemu(enum exit_status status)
{
	/* On a real machine the port may be anything (the old coprocessor's): it is not touched there. */
	if (console.hypervisor)
		out8(EXIT_PORT, (uint8_t)(EXIT_PORT_BASE + status));
}

void panic_end(void)
{
	print_raw("stallmeter: end status 5\n");
	panic_leave_qemu(EXIT_PANIC);
	/* Reset control register of PC chipsets (port 0xCF9): 0x06 is a hard reset. */
	out8(0xCF9, 0x02);
	out8(0xCF9, 0x06);
	for (;;)
		__asm__ volatile("cli; hlt");
}
