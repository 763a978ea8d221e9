/* efi/processor/hw.h: the machine that runs us as a backend (struct access), in ring 0. */
#ifndef EFI_HW_H
#define EFI_HW_H

#include "efi/platform/acpi.h"
#include "efi/platform/clock.h"
#include "efi/processor/watchdog.h"
#include "efi/processor/percpu.h"
#include "efi/processor/memory.h"
#include "efi/processor/start.h"
#include "pmu/access.h"

#define HW_CORES_MAX 1024

enum park { PARK_MWAIT, PARK_HLT, PARK_SPIN };
enum started_by { STARTED_BY_NOBODY, STARTED_BY_MP_SERVICES, STARTED_BY_SIPI };

struct wake;

struct hw {
	struct access access;
	const struct acpi *acpi;
	uint64_t wb_above; /* AMD: memory from 4 GiB to this address is forced to be write-back; 0: none is */
	const struct clock *clock;
	struct watchdog *watchdog;        /* fed between jobs; NULL: none */
	struct space space;
	struct core *cores[HW_CORES_MAX]; /* processors that answered; 0: the boot processor */
	struct core *all[HW_CORES_MAX];   /* processors that were to be started; 0 as above */
	unsigned started;                 /* length of all[] */
	uint8_t core_node[HW_CORES_MAX];
	volatile uint64_t go;             /* barrier: the generation that may start */
	uint64_t generation;
	enum park park;
	bool emulated;                    /* by QEMU's TCG */
	enum started_by started_by;
	struct wake *wake;                /* of efi/processor/ap_start.c, until ap_start_stop */
	unsigned lost;                    /* processors that did not answer in time */
	uint64_t tsc_per_ms;
	uint32_t limit_ms;                /* of a job if the caller gives none */
	uint64_t timer_per_interval;        /* quiet_timer_rate; 0: no limit for the boot processor's own jobs */
	struct ecam ecam[ECAM_MAX];       /* usable ranges of MCFG */
	unsigned ecam_count;
	struct pci_function *pci;
	unsigned pci_beyond;              /* functions beyond the list's capacity */
	void *ap_event;                   /* the firmware signals it when the processors have returned */
	volatile uint32_t began;          /* 1: MP services returned to the boot processor; 2: they did not, and the processors leave at once */
	volatile bool go_home;            /* the parked processors may return to the firmware */
	bool taken_away;                  /* the processors were taken from MP services by INIT */
};

/* Starts the processors and maps code, control and DS areas. ST_FULL: no memory; *may_return then tells, as hw_close does, whether the
 * processors are back in the firmware. */
MUST_CHECK enum status hw_open(struct hw **out, const struct acpi *acpi, const struct clock *clock, enum start how, bool *may_return);
/* Returns the processors to the firmware. False: one did not return; the application must not return to the firmware. */
bool hw_close(struct hw *h);

/* efi/processor/smp.c */
void cores_start(struct hw *h, enum start how);
bool cores_stop(struct hw *h);
MUST_CHECK enum status core_make(struct hw *h, uint32_t apic_id, struct core **out);
/* Runs entry(argument) guarded and isolated on one core, on the core's own C stack. */
MUST_CHECK enum status core_call(struct hw *h, unsigned core, void (*entry)(struct register_op *), struct register_op *op);
enum status cores_run(struct hw *h, struct job *jobs, unsigned n, uint64_t limit_tsc);

#endif
