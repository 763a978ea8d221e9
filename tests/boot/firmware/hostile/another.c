/* tests/boot/firmware/hostile/another.c: switch "other": the machine's own operating system on a disk before the stick. The first start
 * chooses the stick once, as F12 or a management controller does; another start of it is what must not happen. */
#include "tests/boot/firmware/hostile/hostile.h"

static EFI_GUID global = EFI_GLOBAL_VARIABLE; /* keeps names of the specification only */
static EFI_GUID own = { 0x57A11000, 0x0001, 0x4D45, {0x80, 0, 0, 0, 0, 0, 0, 4} };
#define KEPT (EFI_VARIABLE_NON_VOLATILE | EFI_VARIABLE_BOOTSERVICE_ACCESS | EFI_VARIABLE_RUNTIME_ACCESS)

static EFI_STATUS variable(const char *name, EFI_GUID *guid, void *to, UINTN *bytes)
{
	CHAR16 wide[32];
	uefi_ucs2(name, wide, COUNT_OF(wide));
	return host.system->RuntimeServices->GetVariable(wide, guid, NULL, bytes, to);
}

void other_system(void)
{
	uint16_t order[64], next = 0, current = 0xFFFF, seen = 1;
	UINTN bytes = sizeof(order), two = 2;
	CHAR16 name[16];
	if (!wanted("other", NULL))
		return;
	if (variable("OtherSeen", &own, &seen, &two) == EFI_SUCCESS) {
		tell("another operating system is started\n", 0);
		out8(0xF4, 0x1F);
	}
	two = 2;
	(void)variable("BootCurrent", &global, &current, &two);
	if (variable("BootOrder", &global, order, &bytes) != EFI_SUCCESS || bytes < 4)
		tell("no order of boots\n", 0);
	next = order[0] == current ? order[1] : order[0];
	uefi_ucs2("OtherSeen", name, COUNT_OF(name));
	(void)host.system->RuntimeServices->SetVariable(name, &own, KEPT, 2, &seen);
	uefi_ucs2("BootNext", name, COUNT_OF(name));
	EFI_STATUS s = host.system->RuntimeServices->SetVariable(name, &global, KEPT, 2, &next);
	tell("option % is chosen once\n", next);
	if (s == EFI_SUCCESS)
		host.system->RuntimeServices->ResetSystem(EfiResetCold, EFI_SUCCESS, 0, NULL);
}
