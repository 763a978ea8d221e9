/* tests/metal/answer.c: what the simulated machine answers: registers, time, PCI configuration space, and faults, which the guest's own handler
 * gets. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/metal/metal.h"

#define TWO_BYTES   2            /* of RDMSR, WRMSR, CPUID, RDPMC and RDTSC */
#define PM_HZ       3579545ull   /* ACPI 6.4, 4.8.2.1 */
#define PM_READ_US  100u         /* that a read of the ACPI timer takes: on a machine it is about one */

/* --- faults ------------------------------------------------------------------------------------- */

struct core *answer_core_of(const uint64_t r[STUB_REGISTERS])
{
	struct core *c = guest_physical(&metal.guest, r[STUB_GS_BASE], sizeof(*c));
	return c && c->self == r[STUB_GS_BASE] ? c : NULL;
}

void answer_fault(uint64_t r[STUB_REGISTERS], unsigned vector, uint64_t error, uint64_t address)
{
	const struct core *c = answer_core_of(r);
	const bool has_error = vector == VECTOR_GP || vector == VECTOR_PF;
	uint64_t frame[6] = { error, r[STUB_RIP], r[STUB_CS], r[STUB_RFLAGS], r[STUB_RSP], r[STUB_SS] };
	if (!c)
		die("exception %u at 0x%" PRIx64 ", where no table of the application is loaded", vector, r[STUB_RIP]);
	const uint64_t bytes = has_error ? sizeof(frame) : sizeof(frame) - 8;
	const uint64_t rsp = (((uint64_t)(uintptr_t)c->fault_stacks + FAULT_STACK_BYTES) & ~15ull) - bytes;
	uint8_t *to = guest_physical(&metal.guest, rsp, bytes);
	if (!to)
		die("no stack for exceptions");
	memcpy(to, has_error ? frame : frame + 1, bytes);
	r[STUB_RSP] = rsp;
	r[STUB_RIP] = metal.vectors + 16 * vector;
	r[STUB_RFLAGS] &= ~0x14700ull; /* TF IF DF? NT RF */
	if (vector == VECTOR_PF)
		r[STUB_CR2] = address;
	metal.faults++;
}

/* --- registers ---------------------------------------------------------------------------------- */

static void answer64(uint64_t r[STUB_REGISTERS], enum status s, const uint64_t *value)
{
	if (s != ST_OK) {
		answer_fault(r, VECTOR_GP, 0, 0);
		return;
	}
	r[STUB_RAX] = (uint32_t)*value;
	r[STUB_RDX] = *value >> 32;
	r[STUB_RIP] += TWO_BYTES;
}

/* What it was before the first write on any processor, since some are one register for several: it must be that again in the end. */
static void remember(uint32_t msr)
{
	uint64_t value;
	for (unsigned i = 0; i < metal.written_count; i++)
		if (metal.written[i].msr == msr)
			return;
	for (unsigned cpu = 0; cpu < metal.cpus; cpu++) {
		if (metal.written_count == REGISTERS_MAX)
			die("more registers than there is room for");
		if (metal.a->ops->rdmsr(metal.a->self, metal.hart[cpu], msr, &value) == ST_OK)
			metal.written[metal.written_count++] = (struct written){ cpu, msr, value };
	}
}

static void answer_wrmsr(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	const uint64_t value = (uint32_t)r[STUB_RAX] | r[STUB_RDX] << 32;
	remember((uint32_t)r[STUB_RCX]);
	if (metal.a->ops->wrmsr(metal.a->self, metal.hart[cpu], (uint32_t)r[STUB_RCX], value) == ST_OK)
		r[STUB_RIP] += TWO_BYTES;
	else
		answer_fault(r, VECTOR_GP, 0, 0);
}

static void answer_cpuid(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	struct cpuid_regs c;
	if (metal.a->ops->cpuid(metal.a->self, metal.hart[cpu], (uint32_t)r[STUB_RAX], (uint32_t)r[STUB_RCX], &c) != ST_OK)
		die("CPUID of processor %u: the machine has %u", cpu, metal.a->cores);
	r[STUB_RAX] = c.eax;
	r[STUB_RBX] = c.ebx;
	r[STUB_RCX] = c.ecx;
	r[STUB_RDX] = c.edx;
	r[STUB_RIP] += TWO_BYTES;
}

/* --- time --------------------------------------------------------------------------------------- */

static void pass_us(uint64_t us) { sim_wait(metal.backend.sim, us * (metal.machine.core_hz / 1000000)); }

/* The ACPI timer of the simulated machine, whose reads are what takes time on it. */
static void answer_timer(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	uint64_t tsc;
	pass_us(PM_READ_US);
	if (metal.a->ops->rdtsc(metal.a->self, metal.hart[cpu], &tsc) != ST_OK)
		die("no time-stamp");
	r[STUB_RAX] = (uint32_t)((unsigned __int128)tsc * PM_HZ / metal.machine.tsc_hz);
	r[STUB_RIP] += 1;
}

/* Between two time-stamps that calibrate by the firmware's Stall, what the guest's own clock has gone on by passes here too. */
static void answer_clock(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	struct timespec now;
	uint64_t tsc;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if (metal.last == CLOCK)
		pass_us((uint64_t)((now.tv_sec - metal.resumed.tv_sec) * 1000000 + (now.tv_nsec - metal.resumed.tv_nsec) / 1000));
	answer64(r, metal.a->ops->rdtsc(metal.a->self, metal.hart[cpu], &tsc), &tsc);
}

/* --- PCI configuration space --------------------------------------------------------------------- */

uint32_t answer_pci32(unsigned bus, unsigned function, unsigned reg)
{
	const struct pci_address at = { 0, (uint8_t)bus, (uint8_t)(function >> 3), (uint8_t)(function & 7), (uint16_t)reg };
	uint32_t value;
	return metal.a->ops->pci_read32(metal.a->self, at, &value) == ST_OK ? value : UINT32_MAX;
}

/* The guest looks at all functions of a bus (scan_bus, efi/processor/pci.c): one of a socket's own is the simulated machine's. False: it is
 * QEMU's. */
static bool answer_scan(uint64_t r[STUB_REGISTERS])
{
	struct { uint64_t base; unsigned bus; struct { uint32_t id, kind, header, buses; } at[256]; } *s;
	const struct register_op *op = guest_physical(&metal.guest, r[STUB_RDI], sizeof(*op));
	bool any = false;
	s = op ? guest_physical(&metal.guest, op->index, sizeof(*s)) : NULL;
	const uint64_t *back = guest_physical(&metal.guest, r[STUB_RSP], 8);
	if (!s || !back)
		die("no bus to look at");
	if (s->base)
		metal.ecam = s->base - ((uint64_t)s->bus << 20);
	for (unsigned f = 0; f < 256 && s->bus; f++) {
		s->at[f].id = answer_pci32(s->bus, f, 0);
		if (s->at[f].id == UINT32_MAX)
			continue;
		any = true;
		s->at[f].kind = answer_pci32(s->bus, f, 8);
		s->at[f].header = answer_pci32(s->bus, f, 0xC);
		s->at[f].buses = answer_pci32(s->bus, f, 0x18);
	}
	if (!any)
		return false;
	r[STUB_RIP] = *back;
	r[STUB_RSP] += 8;
	return true;
}

/* At an address where the simulated machine has registers in memory. False: it has none there. */
static bool answer_mapped(struct register_op *op, bool write)
{
	uint64_t value = op->value;
	const unsigned bytes = (unsigned)op->more;
	const enum status s = write ? metal.a->ops->mmio_write(metal.a->self, op->index, bytes, value) : metal.a->ops->mmio_read(metal.a->self, op->index, bytes, &value);
	if (s == ST_UNSUPPORTED)
		return false;
	if (s != ST_OK)
		die("no answer to an access to memory at 0x%" PRIx64, op->index);
	if (!write)
		op->value = value;
	return true;
}

/* op_read and op_write of efi/processor/vectors.asm, at an address of configuration space. False: elsewhere, or QEMU's own function. */
static bool answer_mmio(uint64_t r[STUB_REGISTERS], bool write)
{
	struct register_op *op = guest_physical(&metal.guest, r[STUB_RDI], sizeof(*op));
	const uint64_t *back = guest_physical(&metal.guest, r[STUB_RSP], 8);
	if (op && back && answer_mapped(op, write)) {
		r[STUB_RIP] = *back;
		r[STUB_RSP] += 8;
		return true;
	}
	if (!op || !back || !metal.ecam || op->index - metal.ecam >= 1ull << 28 || op->more != 4)
		return false;
	const uint64_t at = op->index - metal.ecam;
	const struct pci_address where = { 0, (uint8_t)(at >> 20), (uint8_t)(at >> 15 & 31), (uint8_t)(at >> 12 & 7), (uint16_t)(at & 0xFFF) };
	uint32_t value = (uint32_t)op->value;
	if (answer_pci32(where.bus, (unsigned)(at >> 12 & 0xFF), 0) == UINT32_MAX)
		return false;
	if ((write ? metal.a->ops->pci_write32(metal.a->self, where, value) : metal.a->ops->pci_read32(metal.a->self, where, &value)) != ST_OK)
		die("no answer to an access to bus %u", where.bus);
	if (!write)
		op->value = value;
	r[STUB_RIP] = *back;
	r[STUB_RSP] += 8;
	return true;
}

/* The guest goes on behind the site's instruction, `mov REG, [rdi]`, where it has its struct register_op. To step it would have QEMU translate
 * everything anew. */
static void pass_over(uint64_t r[STUB_REGISTERS])
{
	const uint8_t *code = guest_physical(&metal.guest, r[STUB_RIP], 3);
	const struct register_op *op = guest_physical(&metal.guest, r[STUB_RDI], sizeof(*op));
	if (!code || !op || code[0] != 0x48 || code[1] != 0x8B || (code[2] != 0x3F && code[2] != 0x37))
		die("another instruction at 0x%" PRIx64 " than is known there", r[STUB_RIP]);
	r[code[2] == 0x3F ? STUB_RDI : STUB_RSI] = op->index;
	r[STUB_RIP] += 3;
}

void answer_site(const struct site *s, unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	uint64_t value = 0;
	switch (s->kind) {
	case RDMSR: answer64(r, metal.a->ops->rdmsr(metal.a->self, metal.hart[cpu], (uint32_t)r[STUB_RCX], &value), &value); break;
	case WRMSR: answer_wrmsr(cpu, r); break;
	case CPUID: answer_cpuid(cpu, r); break;
	case RDPMC: answer64(r, metal.a->ops->rdpmc(metal.a->self, metal.hart[cpu], (uint32_t)r[STUB_RCX], &value), &value); break;
	case RDTSC: answer64(r, metal.a->ops->rdtsc(metal.a->self, metal.hart[cpu], &value), &value); break;
	case CLOCK: answer_clock(cpu, r); break;
	case TIMER: answer_timer(cpu, r); break;
	case SCAN: if (!answer_scan(r)) pass_over(r); break;
	case READ: if (!answer_mmio(r, false)) pass_over(r); break;
	case WRITE: if (!answer_mmio(r, true)) pass_over(r); break;
	default: die("stopped at a site that is none");
	}
}
