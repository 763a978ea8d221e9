/* efi/app/crash.h: tests let the machine stop when a row has begun (FWCFG_CRASH). */
#ifndef EFI_CRASH_H
#define EFI_CRASH_H

/* Does nothing but where the switch names this row. */
void crash_here(const char *row);

#endif
