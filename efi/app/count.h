/* efi/app/count.h: the settings `count`, `metrics`, `workload` and `interval_ms`: the counterpart of `stallmeter stat`. */
#ifndef EFI_COUNT_H
#define EFI_COUNT_H

#include "efi/app/config.h"
#include "efi/firmware/exit.h"
#include "efi/processor/watchdog.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/core/cpu.h"

/* Saves the complete counts as a file. */
struct count_keeper { void *self; enum status (*keep)(void *self, const char *name, const void *bytes, size_t n); };
/* Counts, prints the counts and saves them as counts.txt. The guard must be ready. */
enum exit_status run_count(struct msr_guard *g, const struct cpu *cpu, const struct config *k, const struct watchdog *watchdog,
                           const struct count_keeper *keeper);

#endif
