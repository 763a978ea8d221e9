/* pmu/sim/core/core.h: the out-of-order core as a timestamp model in program order.
 *
 * For each instruction, as it is executed functionally (exec.h), the core computes when its
 * uops are allocated, dispatched, completed and retired, given issue width, ROB, RS, load and
 * store buffers, ports, latencies and memory; and tells signals what happened in which cycle.
 * What happens in a cycle is laid down in core.c's head. */
#ifndef SIM_CORE_H
#define SIM_CORE_H

#include "pmu/base.h"
#include "pmu/sim/isa/decode.h"
#include "pmu/sim/isa/exec.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/memory/memory.h"
#include "pmu/sim/counters/signal.h"

/* What a retired instruction was, for precise events, LBR and the load-latency facility. */
struct retired {
	uint64_t ip, next_ip;
	uint64_t cycle;           /* of retirement */
	const struct insn *insn;
	const struct effects *effects;
	enum mem_source source;   /* of its load */
	uint8_t dtlb_level;       /* 1, 2, 3 as in tlb_reply; 0 no load */
	uint32_t load_latency;    /* cycles from first dispatch of the load to its data */
	bool mispredicted;
	bool store_dtlb_walk;
	uint8_t uops_fused, uops_unfused;
};

/* The parts that an instruction is made of, in the order in which they are put together. */
enum plan_part { PART_LOAD = 1, PART_MAIN = 2, PART_STA = 4, PART_STD = 8, PART_EXTRA = 16 };

/* How many parts a mask holds. */
static inline __attribute__((always_inline)) unsigned part_count(unsigned parts)
{
	return (parts & 1) + (parts >> 1 & 1) + (parts >> 2 & 1) + (parts >> 3 & 1) + (parts >> 4 & 1);
}

/* What the whole of an instruction is, where it is one group without rules of its own: these have a way of
 * their own through core.c. Load, and load with operation, write no memory; a store reads none. */
enum plan_shape {
	SHAPE_ANY, SHAPE_OPERATION, SHAPE_LOAD, SHAPE_LOAD_OPERATION, SHAPE_STORE,
	SHAPE_NOP,              /* an allocation slot and no more */
	SHAPE_FUSED             /* not a plan's own: a branch behind what it fused with, which has its uop */
};

/* Result domains, for the bypass delay. */
enum domain { DOMAIN_ANY, DOMAIN_INT, DOMAIN_VECTOR, DOMAIN_FLOAT };

enum branch_kind { BRANCH_NONE, BRANCH_COND, BRANCH_DIRECT, BRANCH_INDIRECT, BRANCH_RETURN, BRANCH_CALL, BRANCH_CALL_INDIRECT };

/* What an instruction does to the upper halves of vector registers: nothing, SSE code, VEX code of 16 bytes, of more,
 * and what makes them clean. */
enum vector_code { VECTOR_NONE, VECTOR_SSE, VECTOR_VEX, VECTOR_WIDE, VECTOR_CLEAN };

#define PLAN_GROUPS 5

/* Stand in a plan where there is no register, so that the first few need not be counted: what is always ready and
 * never read from outside the ROB, and where writing does nothing. */
#define PLAN_NOTHING RN_COUNT
#define PLAN_SINK (RN_COUNT + 1)
#define PLAN_NAMES (RN_COUNT + 2)

/* What an instruction costs on a machine, worked out once (core_plan_make). */
struct core_plan {
	uint8_t length;               /* bytes of the instruction */
	uint8_t groups;               /* allocation slots, extra uops apart */
	uint8_t group[PLAN_GROUPS];   /* parts of each */
	uint8_t unfused;              /* uops, extra ones included */
	uint8_t fused;                /* allocation slots, extra ones included */
	uint8_t extra;                /* uops beyond the parts, one slot each; chained behind the main uop */
	uint8_t class;                /* of the main uop */
	uint8_t domain;               /* of the main uop */
	uint8_t branch;               /* enum branch_kind */
	uint8_t read_count, write_count, address_count;
	uint8_t register_writes;      /* writes[] that are not flags; they come first */
	uint8_t writes_cf, writes_zapso; /* RN_CF, RN_ZAPSO; PLAN_SINK where it does not */
	bool writes_flags;            /* either */
	uint32_t narrow_kept, narrow_more; /* general registers that it does not write, that it writes narrower than 32 bits: one bit each */
	/* what is beyond their number is PLAN_NOTHING, of writes[] PLAN_SINK */
	uint8_t reads[6], writes[4], address[2];
	uint16_t latency, ports, busy; /* of the main uop */
	uint8_t shape;                /* enum plan_shape */
	bool x87;
	bool ends;                    /* there is more to do behind its retirement: x87, branch or fuses_next */
	bool special;                 /* a class with rules of its own: fences, locked, serialising ... */
	bool divider;                 /* the main uop occupies the divider for `busy` cycles */
	bool fuses_next;              /* macro-fused with the conditional branch behind it */
	bool microcoded;              /* comes from the microcode sequencer */
	bool straight;                /* neither that nor a length-changing prefix, and the machine has no uop cache: nothing but its
	                                 place holds the decoders up */
	bool lcp;                     /* has a length-changing prefix */
	bool complex;                 /* needs the first decoder */
	bool reads_carry, reads_rest; /* flag groups that are sources: CF; ZF, AF, PF, SF, OF */
	bool reads_flags;             /* either */
	uint8_t vector;               /* enum vector_code */
	bool move_free;               /* eliminated: its result is ready with its source */
	bool multiply;
	uint32_t wide_reads;          /* general registers read at 16 bits or more, one bit each */
};

/* Works out *out. `next` is the instruction that follows in memory, NULL if unknown. */
void core_plan_make(const struct machine *m, const struct insn *in, const struct insn *next, struct core_plan *out);

struct core_thread; /* one hardware thread's pipeline state; core_state.h */

#define CODE_ENTRIES 4096u /* decoded instructions kept, by the low bits of their address */

/* One decoded instruction. ip 0: empty. A power of two of bytes, and what each execution looks at in as few lines as can be. */
struct code_entry {
	_Alignas(64) struct insn insn;
	uint64_t ip;
	bool pointer; /* loads a register of 8 bytes: perhaps an address */
	_Alignas(64) struct core_plan plan;
};
_Static_assert(sizeof(struct code_entry) % 64 == 0, "the table of them is not aligned otherwise");

struct core_hooks {
	void *self;
	const struct code_entry *known; /* [CODE_ENTRIES]: where `code` need not be asked; NULL: it must */
	/* In program order for each retired instruction while `want_retired` is on. */
	void (*retired)(void *self, unsigned thread, const struct retired *r);
	/* The instruction at a window address, for the wrong path; false when there is none. */
	bool (*code)(void *self, uint64_t ip, const struct insn **in, const struct core_plan **plan);
};

size_t core_bytes(const struct machine *m);
/* `thread` is the logical processor's number; `sibling` the other thread of the same core when that
 * exists already, else NULL: they share ports, divider and reservation station. */
struct core_thread *core_init(void *at, const struct machine *m, unsigned core, unsigned thread,
                              struct memory *memory, struct signals *signals, const struct core_hooks *hooks,
                              struct core_thread *sibling);
void core_want_retired(struct core_thread *c, bool on);

/* Accounts one instruction that exec has just carried out. ST_FAULT: its address has no page. */
MUST_CHECK enum status core_account(struct core_thread *c, const struct insn *in, const struct core_plan *plan,
                                    const struct effects *e, uint64_t ip);
/* A store of the instruction just accounted changed bytes at va that are code: decoded, or in the L1I. */
void core_code_changed(struct core_thread *c, uint64_t va);
/* Drains the pipeline: all cursors meet at the returned cycle, all earlier cycles are closed.
 * Called before RDPMC, RDTSC, CPUID are carried out, and at the end of a run. */
uint64_t core_serialise(struct core_thread *c);
/* The cycle that the front of this thread has reached: the scheduler steps the lowest, or that of the lowest core_turn. (It is
 * what struct core_thread begins with: core_clock.c.) */
static inline uint64_t core_clock(const struct core_thread *c) { return *(const uint64_t *)(const void *)c; }
/* No load, or store, of that plan that comes next asks for a line before this cycle, as far as is known: its address, its place in the
 * buffers, a fill buffer; of a store what retires and, past the caches, is written before it. Of several cores the one that asks first
 * goes first, see sim_run.c. */
uint64_t core_asks(const struct core_thread *c, const struct insn *in, const struct core_plan *p);
/* Two threads run on its core: the instruction accounted last has slots that are yet to be allocated; core_go_on does so with the
 * next of them. No other instruction is carried out before. */
bool core_unfinished(const struct core_thread *c);
MUST_CHECK enum status core_go_on(struct core_thread *c);
/* Two threads run on its core, and the instruction at ip is the next, yet to be carried out, or one is unfinished: when its next
 * slot can be allocated. Not for one that serialises in exec. */
void core_expect(struct core_thread *c, const struct core_plan *plan, uint64_t ip);
/* Where two threads run on a core, the scheduler steps the thread of which this is the lowest: twice the cycle of its next
 * allocation as far as it is known, one more when that cycle belongs to the other thread. */
uint64_t core_turn(const struct core_thread *c);
/* No other thread of its core runs. */
bool core_is_alone(const struct core_thread *c);
/* Lets the thread's clock jump to `cycle` (it was parked until then); nothing is counted. `alone`:
 * its sibling stays parked, so that it has the whole of the buffers that are split otherwise. */
void core_resume(struct core_thread *c, uint64_t cycle, bool alone);
/* The run is over: the sibling has the core for itself. The thread has been serialised. */
void core_park(struct core_thread *c);
/* Uops retired so far, unfused. */
uint64_t core_uops(const struct core_thread *c);

#endif
