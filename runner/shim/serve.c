/* runner/shim/serve.c: see serve.h. */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "runner/shim/serve.h"

static struct stallmeter_sim_pci function_at(uint64_t address)
{
	return (struct stallmeter_sim_pci){ (uint16_t)(address >> 28), (uint8_t)(address >> 20), address >> 15 & 31, address >> 12 & 7 };
}

/* The first function from an address on. */
static bool next_function(struct stallmeter_sim *s, uint64_t from, uint64_t value[2])
{
	for (uint64_t at = from & ~0xFFFull; at < 1ull << 28; at += 0x1000) {
		uint32_t id;
		if (stallmeter_sim_pci_read32(s, function_at(at), 0, &id) != STALLMETER_SIM_OK || id == 0xFFFFFFFF)
			continue;
		value[0] = at;
		value[1] = id;
		return true;
	}
	return false;
}

void serve_note(FILE *trace, const struct shim_request *q, const struct shim_answer *a)
{
	const char *end = a->status ? " fault" : "";
	switch (q->op) {
	case SHIM_RDMSR: fprintf(trace, "rdmsr %u 0x%" PRIx64 " 0x%" PRIx64 "%s\n", q->cpu, q->address, a->value[0], end); break;
	case SHIM_WRMSR: fprintf(trace, "wrmsr %u 0x%" PRIx64 " 0x%" PRIx64 "%s\n", q->cpu, q->address, q->value, end); break;
	case SHIM_RDPMC: fprintf(trace, "rdpmc %u 0x%" PRIx64 " 0x%" PRIx64 "%s\n", q->cpu, q->address, a->value[0], end); break;
	case SHIM_PCI_READ32: case SHIM_PCI_WRITE32:
		fprintf(trace, "pci_%s %04x:%02x:%02x.%u+%x 0x%" PRIx64 "%s\n", q->op == SHIM_PCI_READ32 ? "read32" : "write32", (unsigned)(q->address >> 28),
		        (unsigned)(q->address >> 20 & 0xFF), (unsigned)(q->address >> 15 & 31), (unsigned)(q->address >> 12 & 7),
		        (unsigned)(q->address & 0xFFC), q->op == SHIM_PCI_READ32 ? a->value[0] : q->value, end);
		break;
	case SHIM_RUN:
		if (!a->status)
			fprintf(trace, "run %u 0x0 0x0\n", q->cpu);
		break;
	default: break;
	}
}

static struct shim_answer answer(struct stallmeter_sim *s, const struct shim_request *q)
{
	struct shim_answer a = { 0 };
	uint32_t r[4] = { 0 };
	struct stallmeter_sim_done done = { 0, 0 };
	switch (q->op) {
	case SHIM_CPUID:
		a.status = stallmeter_sim_cpuid(s, q->cpu, (uint32_t)q->address, (uint32_t)q->value, r);
		a.value[0] = r[0] | (uint64_t)r[1] << 32;
		a.value[1] = r[2] | (uint64_t)r[3] << 32;
		break;
	case SHIM_RDMSR: a.status = stallmeter_sim_rdmsr(s, q->cpu, (uint32_t)q->address, &a.value[0]); break;
	case SHIM_WRMSR: a.status = stallmeter_sim_wrmsr(s, q->cpu, (uint32_t)q->address, q->value); break;
	case SHIM_RDPMC: a.status = stallmeter_sim_rdpmc(s, q->cpu, (uint32_t)q->address, &a.value[0]); break;
	case SHIM_PCI_READ32:
		a.status = stallmeter_sim_pci_read32(s, function_at(q->address), q->address & 0xFFC, r);
		a.value[0] = r[0];
		break;
	case SHIM_PCI_WRITE32: a.status = stallmeter_sim_pci_write32(s, function_at(q->address), q->address & 0xFFC, (uint32_t)q->value); break;
	case SHIM_PCI_NEXT: a.status = !next_function(s, q->address, a.value); break;
	case SHIM_CPUS: a.value[0] = stallmeter_sim_cpus(s); break;
	case SHIM_RUN:
		a.status = stallmeter_sim_run(s, q->cpu, q->name, q->value, 1 << 20, &done);
		a.value[0] = done.instructions;
		a.value[1] = done.cycles;
		break;
	default: a.status = STALLMETER_SIM_UNSUPPORTED;
	}
	return a;
}

struct shim_answer serve_request(struct stallmeter_sim *s, const void *bytes, size_t n, struct shim_request *q)
{
	*q = (struct shim_request){ .op = SHIM_OPS };
	if (n == sizeof(*q))
		memcpy(q, bytes, n);
	const bool by_cpu = q->op == SHIM_CPUID || q->op == SHIM_RDMSR || q->op == SHIM_WRMSR || q->op == SHIM_RDPMC;
	const bool good = q->op < SHIM_OPS && (!by_cpu || q->cpu < stallmeter_sim_cpus(s)) && (q->op != SHIM_PCI_WRITE32 || !(q->value >> 32)) && memchr(q->name, 0, sizeof(q->name)) && (q->op != SHIM_RUN || q->value <= SERVE_INSTRUCTIONS_MOST) &&
		q->address >> (q->op == SHIM_PCI_READ32 || q->op == SHIM_PCI_WRITE32 ? 44 : q->op == SHIM_PCI_NEXT ? 63 : 32) == 0;
	if (!good)
		q->op = SHIM_OPS;
	return answer(s, q);
}
