/* pmu/sim/backend/sim_firmware.c: what runs on the first core between two jobs: the driver's own code, the firmware's timer tick, SMIs.
 *
 * It reads and writes lines at random within memory of its own, at the top of node 0. A tick that comes in a job waits for its end, as
 * jobs mask interrupts. The first core's counters do not count it; those of what cores share do.
 *
 * Not modelled: its instructions, its translations, which the load of CR3 takes away, SMIs within jobs (fault.smi_period_us). */
#include "pmu/sim/backend/sim_state.h"

#define WRITTEN_PART 4 /* of the lines that a tick or an SMI touches */

static uint64_t us(const struct sim *s, uint64_t n) { return n * (s->m.core_hz / 1000000); }

/* One after the other, as loads that depend on each other. */
static void touch(struct sim *s, enum mem_kind kind, uint64_t lines)
{
	for (uint64_t i = 0; i < lines; i++) {
		s->firmware_random = s->firmware_random * 6364136223846793005ull + 1442695040888963407ull; /* Knuth's */
		const uint64_t at = (s->firmware_random >> 33) % (s->m.firmware_bytes / 64) * 64, pa = s->m.dram_node_bytes - s->m.firmware_bytes + at;
		const struct mem_request q = { .kind = kind, .core = 0, .thread = 0, .va = pa, .pa = pa, .bytes = 8, .cycle = s->now };
		struct mem_reply r;
		memory_access(s->memory, &q, &r);
		if (r.ready > s->now)
			s->now = r.ready;
	}
}

/* Whether one is due that comes every `period` cycles; several that were missed are one. */
static bool due(const struct sim *s, uint64_t period, uint64_t *came)
{
	const uint64_t now = period ? s->now / period : 0;
	const bool is = now > *came;
	*came = now;
	return is;
}

void sim_firmware(struct sim *s)
{
	const struct machine *m = &s->m;
	struct signals *const first = s->signals[0];
	if (!m->firmware_runs)
		return;
	s->signals[0] = s->discarded;
	touch(s, MEM_LOAD, m->firmware_reads);
	touch(s, MEM_RFO, m->firmware_writes);
	if (due(s, us(s, m->firmware_tick_us), &s->firmware_ticks)) {
		touch(s, MEM_LOAD, m->firmware_tick_lines);
		touch(s, MEM_RFO, m->firmware_tick_lines / WRITTEN_PART);
	}
	if (due(s, us(s, m->firmware_smi_period_us), &s->firmware_smis)) {
		for (unsigned i = 0; i < s->threads; i++)
			counters_smi(s->harts[i].counters);
		touch(s, MEM_LOAD, m->firmware_smi_lines);
		touch(s, MEM_RFO, m->firmware_smi_lines / WRITTEN_PART);
		s->now += us(s, m->firmware_smi_us);
	}
	s->signals[0] = first;
}
