/* efi/platform/hmat.h: latency and bandwidth between nodes according to the firmware's heterogeneous memory attribute table. */
#ifndef EFI_HMAT_H
#define EFI_HMAT_H

#include "efi/platform/acpi.h"

/* Data types of a system locality latency and bandwidth structure, ACPI 6.5, table 5.148. */
enum hmat_type { HMAT_ACCESS_LATENCY = 0, HMAT_READ_LATENCY = 1, HMAT_ACCESS_BANDWIDTH = 3, HMAT_READ_BANDWIDTH = 4, HMAT_TYPES = 6 };

/* Latency in picoseconds or bandwidth in MB/s (10^6) from memory node `from` of acpi_open, as initiator, to node `to`.
 * False: the table has no value, or declares `to` unreachable. */
bool hmat_entry(const struct acpi *a, enum hmat_type type, unsigned from, unsigned to, uint64_t *value);

#endif
