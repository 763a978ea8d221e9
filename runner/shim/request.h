/* runner/shim/request.h: the shim's requests to `stallmeter simulate`: one per connection to a Unix socket in the abstract namespace. */
#ifndef RUNNER_SHIM_REQUEST_H
#define RUNNER_SHIM_REQUEST_H

#include <stdint.h>

#define SHIM_SOCKET "STALLMETER_SIM_SOCKET" /* environment variable: the socket's name, without the leading zero */

enum shim_op {
	SHIM_CPUID,      /* address: leaf, value: subleaf; answer: EAX | EBX << 32, ECX | EDX << 32 */
	SHIM_RDMSR, SHIM_WRMSR, SHIM_RDPMC,
	SHIM_PCI_READ32, SHIM_PCI_WRITE32, /* address: bus << 20 | device << 15 | function << 12 | register, segment above bit 28 */
	SHIM_PCI_NEXT,   /* answer: address and id of the first function at that address or above; status 1: none */
	SHIM_CPUS,       /* number of logical processors */
	SHIM_RUN,        /* name: a kernel, value: instructions; answer: instructions, cycles */
	SHIM_OPS
};

struct shim_request { uint32_t op, cpu; uint64_t address, value; char name[40]; };
struct shim_answer { uint32_t status; uint32_t zero; uint64_t value[2]; }; /* status: of enum stallmeter_sim_status */

#endif
