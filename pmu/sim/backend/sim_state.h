/* pmu/sim/backend/sim_state.h: the simulated machine's inside, for sim*.c alone. */
#ifndef SIM_SIM_STATE_H
#define SIM_SIM_STATE_H

#include "pmu/sim/uncore/box.h"
#include "pmu/sim/core/core_memo.h"
#include "pmu/sim/backend/sim.h"

#define MAPPINGS_MAX 640 /* a part of the data space for each of 512 logical processors, and what else is mapped */
#define PROBLEM_TEXT 160

/* A hardware thread. */
struct hart {
	struct sim *sim;
	unsigned thread, physical;     /* logical processor; its core */
	const struct machine *m;       /* what its core is */
	struct code_entry *code;       /* decoded for cores of this kind */
	struct core_thread *core;      /* NULL until it runs for the first time */
	void *core_memory;
	struct counters *counters;
	uint64_t now;                  /* cycle at which its clock can be read */
	uint64_t asks;                 /* cycle that the other cores must reach before the next instruction executes; 0: none */
	uint64_t next_smi;             /* cycle; fault.smi_period_us alone */
	uint64_t instructions;
	const struct code_entry *running; /* the instruction in progress: its entry stays */
	struct job *job;               /* NULL: parked */
	uint64_t end_ip;               /* where its routine returns to */
	bool undoing;                  /* the job did not end normally; its `undo` routine runs */
	struct interrupts *interrupts; /* taken there; NULL: masked */
	const bool *beyond;            /* its core's last load went beyond the L2 */
	uint64_t code_stored;          /* where the instruction in progress stored to code; 0 nowhere */
	struct exec_env env;
	struct hart_regs regs;
};

struct map_entry { struct mapping m; bool own; };

struct sim {
	struct machine m;
	struct sim_memory from;
	struct access access;
	struct access_ops ops;
	char name[MACHINE_TEXT + 8];
	uint8_t core_node[MACHINE_THREADS_MAX];
	uint8_t distance[64];
	unsigned threads;
	struct memory *memory;
	struct boxes *boxes;
	struct signals *signals[MACHINE_THREADS_MAX];
	struct signals *discarded;     /* where signals of the firmware's own work go: nothing subscribes */
	struct signals *both[MACHINE_THREADS_MAX / 2]; /* of each core with two threads */
	struct hart *harts;
	struct core_hooks *hooks;      /* one a hart */
	struct code_entry *code;
	void *small;                   /* of small cores: struct machine, its event map, decoded code; NULL: there are none */
	size_t small_bytes;
	uint64_t now;                  /* all harts have reached this cycle */
	uint64_t limit_cycle;          /* of the run in progress */
	uint64_t firmware_random, firmware_ticks, firmware_smis; /* where its next line lies; how many it has had */
	struct map_entry maps[MAPPINGS_MAX];
	unsigned map_count;
	struct exec_range ranges[EXEC_RANGES];
	uint64_t range_pa[EXEC_RANGES]; /* physical address of each */
	struct sim_space space;        /* page: NULL where jobs run in the machine's own space */
	struct mapping outside;        /* of that space, by sim_find */
	struct sim_registers *given;   /* of the jobs of the run in progress; NULL: they begin with fresh ones */
	uint64_t finding_total, found[FIND_COUNT]; /* of each kind */
	const char *unmodelled_why;                /* of the latest of FIND_UNMODELLED */
	struct sim_finding last_finding;
	struct sim_finding latest;     /* of the latest access, and further ones of it */
	struct sim_findings more;
	char problem[PROBLEM_TEXT];
	struct memo *memo;             /* what a core that runs alone did before; NULL: no run was long enough */
	uint32_t recall_wait;          /* branches until it is tried again */
	bool recall_off, no_look_ahead; /* recall_off: every piece is computed, for tests that compare; see sim_look_ahead */
	size_t memory_bytes;           /* of `memory`, for giving it back */
};

/* --- sim.c --- */
/* Notes a finding, if it is one. */
void sim_record(struct sim *s, unsigned thread, struct sim_finding *f);

/* --- sim_map.c: the address space --- */
MUST_CHECK enum status sim_map(struct sim *s, struct mapping *m, bool own);
MUST_CHECK enum status sim_unmap(struct sim *s, struct mapping *m);
void sim_unmap_all(struct sim *s);
/* The mapping with va .. va + bytes - 1 in it, else NULL; for a foreign space valid until the next call. */
const struct mapping *sim_find(struct sim *s, uint64_t va, uint64_t bytes);
bool sim_page(void *sim, uint64_t va, struct page_info *out);

/* --- sim_space.c: a foreign address space --- */
const struct mapping *sim_space_find(struct sim *s, uint64_t va, uint64_t bytes);
bool sim_space_page(struct sim *s, uint64_t va, struct page_info *out);
/* Forgets all translations, at the start of a job. */
void sim_space_forget(struct sim *s);
/* The job begins with the registers that were given for it. */
MUST_CHECK enum status sim_space_start(struct sim *s, struct hart *h, const struct sim_registers *r);

/* --- sim_run.c: jobs --- */
MUST_CHECK enum status sim_run(struct sim *s, struct job *jobs, unsigned n, uint64_t limit_tsc);
/* The core cycle below which nothing can happen any more: the clock of the slowest running core. */
uint64_t sim_slowest(void *sim);
/* Accounts the sleep of harts without a job, unless the machine file says that they do not sleep. */
void sim_slept(struct sim *s, struct hart *h, uint64_t until);

/* --- sim_firmware.c --- */
/* Runs the firmware's activity between two jobs, which advances time. */
void sim_firmware(struct sim *s);

/* --- sim_env.c --- */
/* Decodes what is at ip into its entry of a hart's kind; NULL with *vector when there is none. */
const struct code_entry *sim_decode(struct sim *s, struct hart *h, uint64_t ip, uint8_t *vector);
/* Decoded entries of each kind of core; NULL: there is no such kind. */
struct code_entry *sim_code_of(const struct sim *s, unsigned kind);
/* The host's bytes at a virtual address, for a hart; NULL: there are none. */
void *sim_bytes(void *hart, uint64_t va, unsigned bytes, bool write);
/* Connects a hart's callbacks; called once. */
void sim_env_connect(struct sim *s, struct hart *h);

#endif
