/* efi/app/selftest.h: tests of efi/ that only run on a booted machine. */
#ifndef EFI_SELFTEST_H
#define EFI_SELFTEST_H

#include "efi/processor/hw.h"

/* Runs the test that fw_cfg's opt/stallmeter/test names and prints TAP. Returns the number of failed checks; an unknown
 * name is one failure. Names: faults (exceptions on every processor), limits (endless jobs), together (all processors at
 * once), memory (page sizes and nodes), types (memory types of every processor), guard (writable registers), all (those named so far);
 * lost (a processor that never answers; the end is then a reboot), check (machine checks from outside), triple (a triple fault). */
unsigned selftest_run(const char *name, struct hw *h);

#endif
