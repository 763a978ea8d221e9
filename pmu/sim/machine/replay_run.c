/* pmu/sim/machine/replay_run.c: carries recorded accesses out on a simulated machine.
 * Not modelled: what the recorded program did between two accesses: no kernel runs. */
#include "pmu/sim/machine/replay.h"

enum status replay_run(struct sim *s, const struct replay_access *a, struct replay_result *out)
{
	static const enum replay_verdict of_finding[FIND_COUNT] = {
		[FIND_FAULT] = REPLAY_FAULTS, [FIND_RESERVED] = REPLAY_RESERVED, [FIND_WRONG_COUNTER] = REPLAY_WRONG_COUNTER,
		[FIND_IGNORED] = REPLAY_IGNORED, [FIND_UNMODELLED] = REPLAY_UNMODELLED, [FIND_NO_LATCH] = REPLAY_NO_LATCH,
		[FIND_UNMAPPED] = REPLAY_FAULTS,
	};
	const struct access *m = sim_access(s);
	const struct sim_finding *last;
	uint64_t before = sim_last_finding(s, &last), answer;
	if (a->core >= m->cores)
		return ST_RANGE;
	switch (a->op) {
	case REPLAY_RDMSR: out->status = m->ops->rdmsr(m->self, a->core, (uint32_t)a->address, &answer); break;
	case REPLAY_WRMSR: out->status = m->ops->wrmsr(m->self, a->core, (uint32_t)a->address, a->value); break;
	case REPLAY_RDPMC: out->status = m->ops->rdpmc(m->self, a->core, (uint32_t)a->address, &answer); break;
	case REPLAY_PCI_READ32: {
		uint32_t word;
		out->status = m->ops->pci_read32(m->self, a->pci, &word);
		break;
	}
	case REPLAY_PCI_WRITE32: out->status = m->ops->pci_write32(m->self, a->pci, (uint32_t)a->value); break;
	case REPLAY_MMIO_READ: out->status = m->ops->mmio_read(m->self, a->address, a->width_bytes, &answer); break;
	case REPLAY_MMIO_WRITE: out->status = m->ops->mmio_write(m->self, a->address, a->width_bytes, a->value); break;
	}
	out->verdict = out->status ? REPLAY_FAULTS : REPLAY_ACCEPTED;
	out->why = "";
	if (sim_last_finding(s, &last) != before) {
		out->verdict = of_finding[last->kind];
		out->why = last->why;
	} else if (out->status) {
		out->why = "this machine has nothing there";
	}
	return ST_OK;
}
