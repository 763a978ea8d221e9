/* tests/metal/metal.h: what the parts of the program metal share. */
#ifndef TESTS_METAL_METAL_H
#define TESTS_METAL_METAL_H

#include <time.h>

#include "efi/processor/percpu.h"
#include "runner/host/backend.h"
#include "tests/metal/guest.h"
#include "tests/metal/stub.h"

#define CPUS_MAX    64
#define SITES_MAX   64
#define ENTRIES_MAX 32
#define REGISTERS_MAX 16384
#define VECTOR_UD   6
#define VECTOR_GP   13

enum kind { WAIT, RDMSR, WRMSR, CPUID, RDPMC, RDTSC, CLOCK, TIMER, VECTORS, SCAN, READ, WRITE, AWAIT, KINDS };

struct site { enum kind kind; uint64_t address; };
struct written { unsigned cpu; uint32_t msr; uint64_t first; };

struct metal {
	struct machine machine;
	struct backend backend;
	const struct access *a;
	struct guest guest;
	unsigned cpus;
	unsigned hart[CPUS_MAX];       /* of each of the guest's processors: the simulated machine's */
	uint64_t base, vectors;        /* of the image; of its first vector's entry */
	struct site sites[SITES_MAX];
	unsigned site_count;
	uint64_t entries[ENTRIES_MAX]; /* of measuring wrappers */
	unsigned entry_count;
	uint64_t ecam;                 /* address of bus 0 in configuration space, 0 until the guest has looked at a bus */
	struct written written[REGISTERS_MAX];
	unsigned written_count;
	enum kind last;                /* of the latest stop */
	struct timespec resumed;
	unsigned long stops[KINDS], jobs, faults;
};
extern struct metal metal;

/* sites.c: the places in the guest's code where it is stopped. SITES is read; the image is found, from which the guest then goes on;
 * breakpoints are set, and those of the boot processor that waits for the others set or taken away. */
void sites_read(const char *path);
void sites_find_image(void);
void sites_break(void);
void sites_await(bool set);
/* The site at an address, NULL: none; whether a measuring wrapper begins there. */
const struct site *sites_at(uint64_t address);
bool sites_is_entry(uint64_t address);

/* answer.c: what the simulated machine answers to what the guest stands before, in its registers; dies at a site that asks nothing. */
void answer_site(const struct site *s, unsigned cpu, uint64_t r[STUB_REGISTERS]);
/* The guest's struct of the processor whose registers these are; NULL: none is loaded. */
struct core *answer_core_of(const uint64_t r[STUB_REGISTERS]);
/* As the processor delivers an exception through a gate with the first of the interrupt stacks (SDM vol. 3, 6.14). */
void answer_fault(uint64_t r[STUB_REGISTERS], unsigned vector, uint64_t error, uint64_t address);
/* A word of the simulated machine's configuration space; all ones: no such function. */
uint32_t answer_pci32(unsigned bus, unsigned function, unsigned reg);

/* jobs.c. One processor stands before its job. The others that have one come there too; the boot processor, which has let them go, then has its own or
 * reads the time while it waits for them. */
void jobs_gather(unsigned first, const uint64_t registers[STUB_REGISTERS]);

#endif
