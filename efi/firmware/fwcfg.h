/* efi/firmware/fwcfg.h: switches that tests pass to an unmodified image through QEMU's fw_cfg. */
#ifndef EFI_FWCFG_H
#define EFI_FWCFG_H

#include "pmu/base.h"

/* opt/stallmeter/options: words "key=value" as in the UEFI load options, over which they take precedence.
 * opt/stallmeter/test: the name of a self test to run instead of a suite, e.g. "faults". */
#define FWCFG_OPTIONS "opt/stallmeter/options"
#define FWCFG_TEST    "opt/stallmeter/test"
/* opt/stallmeter/without: "mp-services" makes the application behave as if the firmware had none, with
 * "mp-services,memory-types" other processors also start without MTRRs; "mp-start" as if MP services refused to start a
 * processor, "mp-answer" as if they started none; "processors" as if no table listed another one; "watchdog" as if there were
 * neither a chipset's nor a management controller's. */
#define FWCFG_WITHOUT "opt/stallmeter/without"

/* opt/stallmeter/crash: "KIND:ROW,...": when the row begins, the machine hangs with interrupts off ("hang") or on
 * ("idle"), shuts down by a triple fault ("triple") or resets ("reset"). */
#define FWCFG_CRASH "opt/stallmeter/crash"

/* opt/stallmeter/acpi: damages a table: efi/platform/fault_inject.c. */
#define FWCFG_ACPI "opt/stallmeter/acpi"

/* The text of an item, zero-terminated. ST_MISSING: not in QEMU, or no such item;
 * ST_FULL: longer than capacity - 1. */
MUST_CHECK enum status fwcfg_read(const char *name, char *to, size_t capacity);

#endif
