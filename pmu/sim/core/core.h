/* pmu/sim/core/core.h: the out-of-order core, a timestamp model in program order.
 *
 * After exec.h has executed an instruction functionally, the core computes in which cycles its uops are allocated,
 * dispatched, completed and retired, given issue width, ROB, RS, load and store buffers, ports, latencies and memory, and
 * emits the signals of these cycles. The rules stand at the head of core.c. */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include "pmu/base.h"
#include "pmu/sim/isa/decode.h"
#include "pmu/sim/isa/exec.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/memory/memory.h"
#include "pmu/sim/signals/signal.h"

/* What a retired instruction was, for precise events, LBR and the load-latency facility. */
struct retired {
	uint64_t ip, next_ip;
	uint64_t cycle;           /* of retirement */
	const struct insn *insn;
	const struct effects *effects;
	enum mem_source source;   /* of its load */
	uint8_t dtlb_level;       /* 1, 2, 3 as in tlb_reply; 0: no load */
	uint32_t load_latency;    /* cycles from first dispatch of the load to its data */
	uint32_t translate_cycles; /* of these until its address was translated */
	bool mispredicted;
	bool store_dtlb_walk;
	uint8_t uops_fused, uops_unfused;
};

/* A fetch of a line of code, or of a window of the uop cache, that was looked up as the program runs; for samples of fetches. */
struct fetched {
	uint64_t va, pa;           /* pa 0: unknown, since the uop cache delivered it */
	uint32_t latency_cycles;   /* from its begin to its bytes, the translation in it */
	uint32_t translate_cycles; /* of these until its address was translated */
	uint8_t itlb_level;        /* 1, 2, 3 as in tlb_reply */
	enum mem_source source;    /* SRC_L1: the L1I, or the uop cache */
	bool uop_cache;
};

/* The parts of an instruction, in the order in which they are allocated. */
enum plan_part { PART_LOAD = 1, PART_MAIN = 2, PART_STA = 4, PART_STD = 8, PART_EXTRA = 16 };

/* Number of parts in a mask. */
static inline __attribute__((always_inline)) unsigned part_count(unsigned parts)
{
	return (parts & 1) + (parts >> 1 & 1) + (parts >> 2 & 1) + (parts >> 3 & 1) + (parts >> 4 & 1);
}

/* Shape of an instruction that is one group without rules of its own; core.c has a fast path for each. SHAPE_LOAD and
 * SHAPE_LOAD_OPERATION write no memory, a store reads none. */
enum plan_shape {
	SHAPE_ANY, SHAPE_OPERATION, SHAPE_LOAD, SHAPE_LOAD_OPERATION, SHAPE_STORE,
	SHAPE_NOP,              /* only an allocation slot */
	SHAPE_FUSED             /* never a plan's own: the branch of a macro-fused pair, whose uop is the pair's */
};

/* Result domains, for the bypass delay. */
enum domain { DOMAIN_ANY, DOMAIN_INT, DOMAIN_VECTOR, DOMAIN_FLOAT };

enum branch_kind { BRANCH_NONE, BRANCH_COND, BRANCH_DIRECT, BRANCH_INDIRECT, BRANCH_RETURN, BRANCH_CALL, BRANCH_CALL_INDIRECT };

/* What an instruction does to the upper halves of vector registers: nothing; SSE code; VEX code of 16 bytes; wider VEX
 * code; VZEROUPPER, which makes them clean. */
enum vector_code { VECTOR_NONE, VECTOR_SSE, VECTOR_VEX, VECTOR_WIDE, VECTOR_CLEAN };

#define PLAN_GROUPS 5

/* Placeholders for absent registers, so that the first few entries need no count: a source that is always ready and never
 * read from outside the ROB, and a destination that nothing reads. */
#define PLAN_NOTHING RN_COUNT
#define PLAN_SINK (RN_COUNT + 1)
#define PLAN_NAMES (RN_COUNT + 2)

/* Cost of an instruction on a machine, computed once per address (core_plan_make). */
struct core_plan {
	uint8_t length;               /* bytes of the instruction */
	uint8_t groups;               /* allocation slots without extra uops */
	uint8_t group[PLAN_GROUPS];   /* parts of each */
	uint8_t unfused;              /* uops, extra ones included */
	uint8_t fused;                /* allocation slots with extra uops */
	uint8_t extra;                /* uops beyond the parts, one slot each, chained after the main uop */
	uint8_t class;                /* of the main uop */
	uint8_t domain;               /* of the main uop */
	uint8_t branch;               /* enum branch_kind */
	uint8_t read_count, write_count, address_count;
	uint8_t register_writes;      /* writes[] that are not flags; these come first */
	uint8_t writes_cf, writes_zapso; /* RN_CF, RN_ZAPSO; PLAN_SINK if not written */
	bool writes_flags;            /* either */
	uint32_t narrow_kept, narrow_more; /* one bit per general register that it does not write, or writes narrower than 32 bits */
	/* beyond their number, reads[] and address[] are PLAN_NOTHING, writes[] PLAN_SINK */
	uint8_t reads[6], writes[4], address[2];
	uint16_t latency, ports, busy; /* of the main uop */
	uint8_t shape;                /* enum plan_shape */
	bool x87;
	bool ends;                    /* needs work after its retirement: x87, branch or fuses_next */
	bool special;                 /* a class with rules of its own: fence, locked, serialising, ... */
	bool divider;                 /* the main uop occupies the divider for `busy` cycles */
	bool fuses_next;              /* macro-fused with the following conditional branch */
	bool microcoded;              /* comes from the microcode sequencer */
	bool straight;                /* neither microcoded nor with a length-changing prefix, on a machine without a uop
	                                 cache: only its position limits the decoders */
	bool lcp;                     /* has a length-changing prefix */
	bool complex;                 /* needs the first decoder */
	bool reads_carry, reads_rest; /* flag groups that it reads: CF; ZF, AF, PF, SF, OF */
	bool reads_flags;             /* either */
	uint8_t vector;               /* enum vector_code */
	bool move_free;               /* eliminated move or addition: the result is ready with its sources */
	bool multiply;
	uint32_t wide_reads;          /* one bit per general register that it reads at 16 bits or more */
};

/* Computes *out. `next` is the instruction that follows in memory, NULL if unknown. */
void core_plan_make(const struct machine *m, const struct insn *in, const struct insn *next, struct core_plan *out);

struct core_thread; /* one hardware thread's pipeline state; core_state.h */

#define CODE_ENTRIES 4096u /* decoded instructions, indexed by the low bits of their address */

/* One decoded instruction; ip 0: empty. Its size is a power of two, and what each execution reads lies in as few host lines
 * as possible. */
struct code_entry {
	_Alignas(64) struct insn insn;
	uint64_t ip;
	bool pointer; /* loads an 8-byte register: possibly an address */
	_Alignas(64) struct core_plan plan;
};
_Static_assert(sizeof(struct code_entry) % 64 == 0, "the table of them is not aligned otherwise");

struct core_hooks {
	void *self;
	const struct code_entry *known; /* [CODE_ENTRIES]: entries that can be used without calling `code`; NULL: always call it */
	/* Called in program order for each retired instruction while `want_retired` is set. */
	void (*retired)(void *self, unsigned thread, const struct retired *r);
	/* Likewise for each fetch. */
	void (*fetched)(void *self, const struct fetched *f);
	/* The instruction at a virtual address, for the wrong path; false if there is none. */
	bool (*code)(void *self, uint64_t ip, const struct insn **in, const struct core_plan **plan);
};

size_t core_bytes(const struct machine *m);
/* `thread` is the logical processor's number; `sibling` the other thread of the same core if it exists already, else NULL.
 * Siblings share ports, divider and reservation station. */
struct core_thread *core_init(void *at, const struct machine *m, unsigned core, unsigned thread,
                              struct memory *memory, struct signals *signals, const struct core_hooks *hooks,
                              struct core_thread *sibling);
void core_want_retired(struct core_thread *c, bool on);

/* Accounts one instruction that exec has just executed. ST_FAULT: its address is not mapped. */
MUST_CHECK enum status core_account(struct core_thread *c, const struct insn *in, const struct core_plan *plan,
                                    const struct effects *e, uint64_t ip);
/* A store of the instruction just accounted changed code at va: bytes that are decoded, or in the L1I. */
void core_code_changed(struct core_thread *c, uint64_t va);
/* Drains the pipeline: all cursors meet at the returned cycle, and all earlier cycles are closed. Called before RDPMC,
 * RDTSC and CPUID execute, and at the end of a run. */
uint64_t core_serialise(struct core_thread *c);
/* The cycle that the front end of this thread has reached. The scheduler steps the thread with the lowest core_clock or
 * core_grant. (First member of struct core_thread: core_clock.c.) */
static inline uint64_t core_clock(const struct core_thread *c) { return *(const uint64_t *)(const void *)c; }
/* A lower bound of the cycle in which the next load or store of that plan can request a line: a load needs its address, its
 * buffer entries and a fill buffer; a store has to retire and, if non-temporal, to follow the write of the store before it.
 * The core that can request first is stepped first: sim_run.c. */
uint64_t core_asks(const struct core_thread *c, const struct insn *in, const struct core_plan *p);
/* With two threads on its core: the instruction accounted last has slots still to be allocated. core_go_on allocates the
 * next of them, and no other instruction is executed before. */
bool core_unfinished(const struct core_thread *c);
MUST_CHECK enum status core_go_on(struct core_thread *c);
/* With two threads on its core: computes when the next slot can be allocated, of the instruction at ip, not yet executed,
 * or of an unfinished one. Not for instructions that serialise in exec. */
void core_expect(struct core_thread *c, const struct core_plan *plan, uint64_t ip);
/* With two threads on a core, the scheduler steps the one with the lower value: twice the cycle of its next allocation as
 * far as known, plus one if that cycle belongs to the other thread. */
uint64_t core_grant(const struct core_thread *c);
/* No other thread of its core runs. */
bool core_is_alone(const struct core_thread *c);
/* Advances the thread's clock to `cycle` (it was parked until then) without counting. `alone`: its sibling stays parked, so
 * this thread has the whole of the buffers that are otherwise split. */
void core_resume(struct core_thread *c, uint64_t cycle, bool alone);
/* What the thread's uop cache holds of code at va .. va + bytes - 1 is dropped. */
void core_forget_code(struct core_thread *c, uint64_t va, uint64_t bytes);
/* The run of this thread is over, and its sibling has the core to itself. The thread has been serialised. */
void core_park(struct core_thread *c);
/* Uops retired so far, unfused. */
uint64_t core_uops(const struct core_thread *c);

#endif
