/* efi/app/crash.c: see crash.h. */
#include "efi/app/crash.h"
#include "efi/firmware/console.h"
#include "efi/processor/percpu.h"
#include "efi/firmware/fwcfg.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

static void crash_now(const char *kind, const char *row)
{
	const struct descriptor_table none = { 0, 0 };
	print("\n# %s in %s comes now\n", kind, row);
	if (str_equal(kind, "reset"))
		uefi.system->RuntimeServices->ResetSystem(EfiResetCold, EFI_SUCCESS, 0, NULL);
	if (str_equal(kind, "triple"))
		__asm__ volatile("lidt %0; ud2" : : "m"(none));
	if (str_equal(kind, "hang"))
		__asm__ volatile("cli" : : : "memory");
	if (str_equal(kind, "hang") || str_equal(kind, "idle"))
		for (;;)
			relax();
}

void crash_here(const char *row)
{
	char text[200];
	if (fwcfg_read(FWCFG_CRASH, text, sizeof(text)) != ST_OK)
		return;
	for (char *kind = text, *next; *kind != 0; kind = next) {
		char *name = NULL;
		for (next = kind; *next != 0 && *next != ','; next++)
			if (*next == ':' && name == NULL) {
				*next = 0;
				name = next + 1;
			}
		if (*next == ',')
			*next++ = 0;
		if (name != NULL && str_equal(name, row))
			crash_now(kind, row);
	}
}
