/* efi/app/end.c: return, reboot, shut down, leave QEMU, or ask. */
#include "efi/app/end.h"
#include "efi/firmware/console.h"
#include "efi/firmware/panic.h"
#include "efi/firmware/uefi.h"

/* Some firmware returns from ResetSystem. For a reboot there is another way, for switching off none. */
static void reset(EFI_RESET_TYPE type)
{
	uefi.system->RuntimeServices->ResetSystem(type, EFI_SUCCESS, 0, NULL);
	if (type == EfiResetCold)
		panic_reset();
	print("the firmware does not switch the machine off\n");
	for (;;)
		relax();
}

void end_run(enum end_action action, enum exit_status status, bool may_return)
{
	print("stallmeter: end status %d\n", (int)status);
	switch (action) {
	case END_MENU:
	case END_RETURN:
		if (may_return)
			return;
		print("a processor was lost, or taken over from the firmware: rebooting instead of returning to it\n");
		reset(EfiResetCold);
		break;
	case END_REBOOT:
		reset(EfiResetCold);
		break;
	case END_EXIT:
		panic_leave_qemu(status);
		print("not in QEMU, or no isa-debug-exit device: shutting down\n");
		reset(EfiResetShutdown);
		break;
	case END_SHUTDOWN:
		reset(EfiResetShutdown);
		break;
	}
}
