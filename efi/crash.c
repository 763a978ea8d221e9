/* efi/crash.c: see crash.h. */
#include "efi/crash.h"
#include "efi/console.h"
#include "efi/core.h"
#include "efi/fwcfg.h"
#include "efi/uefi.h"
#include "pmu/text.h"

void crash_here(const char *row)
{
	char text[96];
	const struct descriptor_table none = { 0, 0 };
	if (fwcfg_read(FWCFG_CRASH, text, sizeof(text)) != ST_OK)
		return;
	char *name = text;
	while (*name != 0 && *name != ':')
		name++;
	if (*name == 0 || !str_equal(name + 1, row))
		return;
	*name = 0;
	print("\n# %s in %s comes now\n", text, row);
	if (str_equal(text, "reset"))
		uefi.system->RuntimeServices->ResetSystem(EfiResetCold, EFI_SUCCESS, 0, NULL);
	if (str_equal(text, "triple"))
		__asm__ volatile("lidt %0; ud2" : : "m"(none));
	if (str_equal(text, "hang"))
		__asm__ volatile("cli" : : : "memory");
	if (str_equal(text, "hang") || str_equal(text, "idle"))
		for (;;)
			relax();
}
