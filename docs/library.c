/* Drives the counters of a simulated Skylake server: counts instructions and L1 hits of a pointer chase, then makes a mistake.
 * cc library.c $(pkg-config --cflags --libs stallmeter_sim) */
#include <inttypes.h>
#include <stdio.h>
#include <stallmeter_sim.h>

static struct stallmeter_sim *sim;

static void put(uint32_t msr, uint64_t value)
{
	struct stallmeter_sim_finding f;
	if (stallmeter_sim_wrmsr(sim, 0, msr, value) != STALLMETER_SIM_OK)
		printf("wrmsr 0x%" PRIx32 ": #GP\n", msr);
	for (unsigned n = 0; stallmeter_sim_finding(sim, n, &f); n++)
		printf("wrmsr 0x%" PRIx32 ": %s: %s, %s\n", msr, f.kind, f.where, f.why);
}

int main(void)
{
	char problem[512];
	struct stallmeter_sim_done done;
	uint64_t instructions, hits;
	sim = stallmeter_sim_open("skylake-sp", 0, problem, sizeof(problem));
	if (!sim)
		return fprintf(stderr, "%s\n", problem), 1;
	put(0x38F, 0);                          /* IA32_PERF_GLOBAL_CTRL: all off */
	put(0x186, 0x4201D1);                   /* IA32_PERFEVTSEL0: MEM_LOAD_RETIRED.L1_HIT, OS, EN */
	put(0x38D, 1);                          /* IA32_FIXED_CTR_CTRL: instructions, OS */
	put(0x38F, 1ull << 32 | 1);
	if (stallmeter_sim_run(sim, 0, "k_chase", 1000000, 16384, &done) != STALLMETER_SIM_OK)
		return 1;
	put(0x38F, 0);
	if (!stallmeter_sim_rdmsr(sim, 0, 0x309, &instructions) && !stallmeter_sim_rdpmc(sim, 0, 0, &hits))
		printf("instructions %" PRIu64 " of %" PRIu64 ", L1 hits %" PRIu64 "\n", instructions, done.instructions, hits);
	put(0x3F1, 1);                          /* PEBS, but no debug store area: told when the counter goes live */
	put(0x38F, 1);
	stallmeter_sim_close(sim);
	return 0;
}
