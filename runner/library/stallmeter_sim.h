/* stallmeter_sim.h: a library that simulates a processor's performance monitoring: the registers of all logical processors, the uncore's
 * configuration space, and kernels to count. Link with `pkg-config --libs stallmeter_sim`; stallmeter_sim(3) names an example. */
#ifndef STALLMETER_SIM_H
#define STALLMETER_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct stallmeter_sim;

enum stallmeter_sim_status {
	STALLMETER_SIM_OK,
	STALLMETER_SIM_FAULT,       /* the processor raises an exception */
	STALLMETER_SIM_MISSING,     /* no such machine, logical processor or kernel */
	STALLMETER_SIM_UNSUPPORTED, /* the simulated machine does not have it */
	STALLMETER_SIM_FAILED       /* no memory, or the kernel did not finish */
};

/* Opens a built-in machine by its name, or a machine file by its path. threads: logical processors per core, 0: as in the file.
 * NULL: `problem` holds the reason in one line. */
struct stallmeter_sim *stallmeter_sim_open(const char *machine, unsigned threads, char *problem, size_t problem_bytes);
void stallmeter_sim_close(struct stallmeter_sim *s);
/* Number of logical processors. */
unsigned stallmeter_sim_cpus(const struct stallmeter_sim *s);

/* The instructions and accesses of these names. A read that faults leaves *value unchanged. */
enum stallmeter_sim_status stallmeter_sim_cpuid(struct stallmeter_sim *s, unsigned cpu, uint32_t leaf, uint32_t subleaf, uint32_t eax_ebx_ecx_edx[4]);
enum stallmeter_sim_status stallmeter_sim_rdmsr(struct stallmeter_sim *s, unsigned cpu, uint32_t msr, uint64_t *value);
enum stallmeter_sim_status stallmeter_sim_wrmsr(struct stallmeter_sim *s, unsigned cpu, uint32_t msr, uint64_t value);
enum stallmeter_sim_status stallmeter_sim_rdpmc(struct stallmeter_sim *s, unsigned cpu, uint32_t index, uint64_t *value);
enum stallmeter_sim_status stallmeter_sim_rdtsc(struct stallmeter_sim *s, unsigned cpu, uint64_t *value);
struct stallmeter_sim_pci { uint16_t segment; uint8_t bus, device, function; };
/* reg: byte offset, a multiple of 4. A function that does not exist reads as all ones. */
enum stallmeter_sim_status stallmeter_sim_pci_read32(struct stallmeter_sim *s, struct stallmeter_sim_pci at, unsigned reg, uint32_t *value);
enum stallmeter_sim_status stallmeter_sim_pci_write32(struct stallmeter_sim *s, struct stallmeter_sim_pci at, unsigned reg, uint32_t value);
/* width_bytes: 1, 2, 4 or 8. */
enum stallmeter_sim_status stallmeter_sim_mmio_read(struct stallmeter_sim *s, uint64_t address, unsigned width_bytes, uint64_t *value);
enum stallmeter_sim_status stallmeter_sim_mmio_write(struct stallmeter_sim *s, uint64_t address, unsigned width_bytes, uint64_t value);

/* Runs code at CPL 3, where counters with the user bit (USR) count, or at CPL 0, the initial state. NetBurst's machines run all code at CPL 0:
 * STALLMETER_SIM_UNSUPPORTED. */
enum stallmeter_sim_status stallmeter_sim_user(struct stallmeter_sim *s, int user);
/* Runs about `instructions` instructions of a kernel on a logical processor, such as "k_add_chain" (16 dependent additions per iteration) or
 * "k_chase" (16 dependent loads per iteration, through `buffer_bytes` of memory). done: true numbers of retired instructions and of cycles. */
struct stallmeter_sim_done { uint64_t instructions, cycles; };
enum stallmeter_sim_status stallmeter_sim_run(struct stallmeter_sim *s, unsigned cpu, const char *kernel, uint64_t instructions, uint64_t buffer_bytes,
                                              struct stallmeter_sim_done *done);
/* Name of kernel n that stallmeter_sim_run accepts; NULL: there are no more. */
const char *stallmeter_sim_kernel(unsigned n);

/* Finding n of the latest access; 0 when there are no more, else 1. docs/lint.md of the product explains the classes. Texts stay valid until the
 * next access. */
struct stallmeter_sim_finding {
	const char *kind;      /* "faults", "reserved, faults", "wrong counter", ... */
	const char *why;
	const char *where;     /* "counter 1", "CBo 3 counter 1", or "" */
	const char *event;     /* its name, or "" */
	const char *paragraph; /* of the manual, or "" */
	uint32_t clash;        /* the other register that it clashes with, 0: none */
};
int stallmeter_sim_finding(const struct stallmeter_sim *s, unsigned n, struct stallmeter_sim_finding *out);

#ifdef __cplusplus
}
#endif
#endif
