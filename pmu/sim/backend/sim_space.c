/* pmu/sim/backend/sim_space.c: jobs in the address space of somebody else, with registers that are given: a virtual machine's whose
 * processor this is.
 *
 * Not modelled: the page tables' own addresses (tlb.c makes them up), permissions, accessed and dirty bits. */
#include "pmu/sim/backend/sim_state.h"
#include "pmu/sim/isa/ops.h"
#include "asm/kernel.h"

#define CODE_LOOK 64u /* bytes from an instruction on that are decoded with it */

void sim_space(struct sim *s, const struct sim_space *space) { s->space = *space; }

void sim_wait(struct sim *s, uint64_t cycles) { s->now += cycles; }

bool sim_space_page(struct sim *s, uint64_t va, struct page_info *out)
{
	struct sim_page p;
	if (!s->space.page(s->space.self, va, &p))
		return false;
	*out = (struct page_info){ .pa = p.pa, .page_bytes = p.page_bytes, .node = (unsigned)(p.pa / s->m.dram_node_bytes), .executable = p.executable };
	return true;
}

const struct mapping *sim_space_find(struct sim *s, uint64_t va, uint64_t bytes)
{
	struct sim_page p, next;
	struct mapping *m = &s->outside;
	if (!s->space.page(s->space.self, va, &p))
		return NULL;
	*m = (struct mapping){ .va = p.va, .bytes = p.page_bytes, .page_bytes = p.page_bytes, .executable = p.executable, .host = p.host, .pa = p.pa };
	const uint64_t want = va - m->va + (p.executable && bytes < CODE_LOOK ? CODE_LOOK : bytes);
	while (m->bytes < want && s->space.page(s->space.self, m->va + m->bytes, &next) && next.pa == m->pa + m->bytes &&
	       next.executable == m->executable)
		m->bytes += next.page_bytes;
	return bytes <= m->bytes - (va - m->va) ? m : NULL;
}

void sim_space_forget(struct sim *s)
{
	const uint64_t kernels = (uint64_t)(kernel_code_end - kernel_code);
	bool any = false;
	memset(s->ranges, 0, sizeof(s->ranges));
	struct code_entry *code;
	for (unsigned kind = 0; (code = sim_code_of(s, kind)) != NULL; kind++)
		for (unsigned i = 0; i < CODE_ENTRIES; i++)
			if (code[i].ip && code[i].ip - SPACE_CODE >= kernels) {
				code[i].ip = 0;
				any = true;
			}
	if (any && s->memo)
		memo_forget(s->memo);
}

enum status sim_space_start(struct sim *s, struct hart *h, const struct sim_registers *r)
{
	const uint64_t *top = sim_bytes(h, r->gpr[RN_RSP], 8, false);
	(void)s;
	if (!top)
		return ST_FAULT;
	memcpy(h->regs.gpr, r->gpr, sizeof(h->regs.gpr));
	h->regs.rip = r->rip;
	h->end_ip = *top;
	return ST_OK;
}

enum status sim_run_from(struct sim *s, struct job *jobs, struct sim_registers *registers, unsigned n, uint64_t limit_tsc)
{
	s->given = registers;
	enum status st = sim_run(s, jobs, n, limit_tsc);
	s->given = NULL;
	for (unsigned i = 0; i < n; i++) {
		if (jobs[i].core >= s->threads)
			continue;
		const struct hart_regs *r = &s->harts[jobs[i].core].regs;
		memcpy(registers[i].gpr, r->gpr, sizeof(registers[i].gpr));
		registers[i].rip = r->rip;
	}
	return st;
}
