/* efi/platform/acpi.h: memory nodes, distances, PCI and timers from the firmware's tables. */
#ifndef EFI_ACPI_H
#define EFI_ACPI_H

#include "pmu/base.h"

#define ACPI_TABLES_MAX 96
#define NODES_MAX       64
#define RANGES_MAX      256
#define LOCAL_CPUS_MAX  2048
#define ECAM_MAX        16

struct acpi_table { char signature[5]; const uint8_t *at; uint32_t bytes; uint64_t hash; };
struct ecam { uint64_t base; uint16_t segment; uint8_t bus_first, bus_last; };
struct node_range { uint64_t from, to; unsigned node; };

struct acpi {
	struct acpi_table tables[ACPI_TABLES_MAX];
	unsigned table_count;
	/* without an SRAT one node holds all memory and processors */
	bool srat, slit;
	unsigned nodes;                   /* memory nodes: proximity domains that have memory */
	uint32_t node_domain[NODES_MAX];
	struct node_range ranges[RANGES_MAX];
	unsigned range_count;
	struct { uint32_t apic_id, domain; } cpus[LOCAL_CPUS_MAX];
	unsigned cpu_count;
	uint8_t distance[NODES_MAX * NODES_MAX]; /* [from * nodes + to], 10 = local */
	unsigned beyond;          /* entries beyond the list's capacity */
	struct ecam ecam[ECAM_MAX];
	unsigned ecam_count;
	/* MADT: APIC ids of enabled processors */
	uint32_t madt_ids[LOCAL_CPUS_MAX];
	unsigned madt_count;
	/* Recorded in the results, whether or not a row uses it. */
	unsigned madt_processors, madt_enabled;  /* entries of the MADT; those that are enabled */
	uint32_t madt_highest;                   /* APIC id */
	unsigned nodes_without_processors, domains_without_memory;
	unsigned holes;                          /* nodes with gaps between their ranges */
	unsigned hotplug_ranges, nonvolatile_ranges, generic_initiators;
	unsigned hmat[3];                        /* structures by type: attributes, latencies and bandwidths, caches of memory */
	bool hmat_there, cxl;                    /* CXL: a CEDT */
	/* FADT: the power-management timer's port, 0 if there is none, and its width */
	uint16_t pm_timer_port;
	uint8_t pm_timer_bits;
	uint16_t serial_port;             /* SPCR: of the firmware's serial console, 0 unknown */
};

/* Corrupts tables before they are read if a test asks for it (FWCFG_ACPI). */
void fault_inject_acpi(struct acpi *a);
/* Reads all tables; a missing or damaged one is ignored and reported once. */
void acpi_open(struct acpi *a);
/* The memory node of a processor: its own domain, else the nearest with memory; 0 if unknown. */
unsigned acpi_core_node(const struct acpi *a, uint32_t apic_id);
#endif
