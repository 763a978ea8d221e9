/* efi/app/count.h: the settings `count`, `metrics`, `workload` and `interval_ms`: what `stallmeter stat` does. */
#ifndef EFI_COUNT_H
#define EFI_COUNT_H

#include "efi/app/config.h"
#include "efi/firmware/exit.h"
#include "efi/processor/watchdog.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/core/cpu.h"

/* Counts, prints what was counted and writes it to counts.txt in the directory `prefix`-NNNN. The guard is ready. */
enum exit_status run_count(struct msr_guard *g, const struct cpu *cpu, const struct config *k, struct files *files,
                           const struct watchdog *watchdog, const char *prefix);

#endif
