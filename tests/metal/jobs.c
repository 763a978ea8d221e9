/* tests/metal/jobs.c: jobs of one processor, or of several together, are carried out on the simulated machine. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "asm/kernel.h"
#include "tests/metal/metal.h"
#include "tests/unit/support/sim_look.h"

#define LIMIT_TSC   (1ull << 38) /* a job that hangs here would hang there */

/* SDM vol. 3, 2.5 and 13.1: an instruction on XMM registers without OSFXSR, and on YMM registers without OSXSAVE, is #UD. Kernels of before AVX
 * use XMM registers, and the others say so; where in its code a kernel comes to the first is not looked at. */
static bool may_run(const uint64_t r[STUB_REGISTERS])
{
	struct sim_page p;
	if (!(r[STUB_CR4] >> 9 & 1) || !guest_page(&metal.guest, r[STUB_RDI], &p))
		return false;
	const struct measure_block *b = (const void *)((const uint8_t *)p.host + (r[STUB_RDI] - p.va));
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (b->kernel == SPACE_CODE + k->offset && (k->isa & (ISA_AVX | ISA_AVX2 | ISA_FMA | ISA_AVX512)) != 0)
			return (r[STUB_CR4] >> 18 & 1) != 0;
	return true;
}

static const uint8_t order[16] = { 0, 2, 3, 1, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 }; /* of the stub's registers */

/* Carries out what the processors of `held` stand before, together. */
static void run_jobs(uint64_t held, uint64_t r[CPUS_MAX][STUB_REGISTERS])
{
	struct job jobs[CPUS_MAX];
	struct sim_registers registers[CPUS_MAX];
	unsigned n = 0, of[CPUS_MAX];
	uint64_t before[STUB_REGISTERS];
	metal.guest.cr3 = 0;
	for (unsigned i = 0; i < metal.cpus; i++) {
		if (!(held >> i & 1) || !sites_is_entry(r[i][STUB_RIP]))
			continue;
		if (metal.guest.cr3 && metal.guest.cr3 != r[i][STUB_CR3])
			die("processor %u runs in other page tables than the others", i);
		metal.guest.cr3 = r[i][STUB_CR3];
		metal.jobs++;
		if (!may_run(r[i])) {
			printf("metal: processor %u: CR4 0x%" PRIx64 " does not let the job's vector instructions run\n", i, r[i][STUB_CR4]);
			memcpy(before, r[i], sizeof(before));
			answer_fault(r[i], VECTOR_UD, 0, 0);
			stub_set(i, before, r[i]);
			continue;
		}
		of[n] = i;
		jobs[n] = (struct job){ .core = metal.hart[i], .entry = r[i][STUB_RIP], .argument = r[i][STUB_RDI] };
		for (unsigned k = 0; k < 16; k++)
			registers[n].gpr[k] = r[i][order[k]];
		registers[n++].rip = r[i][STUB_RIP];
	}
	const enum status s = n == 0 ? ST_OK : sim_run_from(metal.backend.sim, jobs, registers, n, LIMIT_TSC);
	if (s != ST_OK && s != ST_FAULT)
		die("the simulated machine: %s: %s", status_name(s), sim_problem(metal.backend.sim));
	for (unsigned j = 0; j < n; j++) {
		const unsigned i = of[j];
		memcpy(before, r[i], sizeof(before));
		for (unsigned k = 0; k < 16; k++)
			r[i][order[k]] = registers[j].gpr[k];
		r[i][STUB_RIP] = registers[j].rip;
		if (jobs[j].status != ST_OK) {
			printf("metal: a job on processor %u ends with exception %u at 0x%" PRIx64 ": %s\n", i, jobs[j].vector, jobs[j].ip, sim_problem(metal.backend.sim));
			answer_fault(r[i], jobs[j].vector, 0, 0);
		}
		stub_set(i, before, r[i]);
	}
}

/* Which other processors have been given a job of the same run (loop of efi/processor/smp.c). */
static uint64_t expected(uint64_t held, uint64_t r[CPUS_MAX][STUB_REGISTERS])
{
	uint64_t mask = 0;
	for (unsigned i = 1; i < metal.cpus; i++) {
		if (held >> i & 1)
			continue;
		stub_registers(i, r[i]);
		const struct core *c = answer_core_of(r[i]);
		if (c && c->ready == c->posted && c->done != c->posted && sites_is_entry(c->entry))
			mask |= 1ull << i;
	}
	return mask;
}

void jobs_gather(unsigned first, const uint64_t registers[STUB_REGISTERS])
{
	static uint64_t r[CPUS_MAX][STUB_REGISTERS];
	uint64_t held = 1ull << first, wanted;
	memcpy(r[first], registers, sizeof(r[first]));
	wanted = held | (metal.cpus > 1 ? expected(held, r) | 1 : 0);
	const bool waits = wanted != held;
	if (waits)
		sites_await(true);
	while (held != wanted) {
		int cpu = stub_go_on(held, metal.cpus);
		if (cpu < 0)
			die("the guest ended before a job");
		stub_registers((unsigned)cpu, r[cpu]);
		const struct site *s = sites_at(r[cpu][STUB_RIP]);
		if (!(wanted >> cpu & 1) || (!sites_is_entry(r[cpu][STUB_RIP]) && !(cpu == 0 && s && s->kind == AWAIT)))
			die("processor %d is at 0x%" PRIx64 " while others begin their jobs", cpu, r[cpu][STUB_RIP]);
		held |= 1ull << cpu;
	}
	if (waits)
		sites_await(false);
	run_jobs(held, r);
}
