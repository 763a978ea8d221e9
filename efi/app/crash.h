/* efi/app/crash.h: lets tests stop the machine during a row (FWCFG_CRASH). */
#ifndef EFI_CRASH_H
#define EFI_CRASH_H

/* No effect unless the switch names this row. */
void crash_here(const char *row);

#endif
