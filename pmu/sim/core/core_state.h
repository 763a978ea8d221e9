/* pmu/sim/core/core_state.h: the pipeline's state, for core*.c and pipe*.c only. */
#ifndef SIM_CORE_STATE_H
#define SIM_CORE_STATE_H

#include "pmu/sim/core/core.h"

#define CORE_RING 65536u /* cycles of the reservation rings; a power of two */
#define CORE_RING_MASK (CORE_RING - 1)
#define CORE_STRETCH 32u /* cycles per mark in the ring of ports */
#define STORE_RING 512u /* stores remembered; a power of two, not below the largest store buffer */
#define LEAVE_STRETCH 8u /* cycles per mark in the reservation station's ring */
#define LEAVE_NEAR 8u    /* departures nearer than this have no mark */
#define GRANULES 512u    /* 8-byte pieces of a 4 KiB page */
#define FRONT_RING 256u  /* allocation cycles of the last uops; above the largest queue */
#define DISAMBIGUATION_ENTRIES 256u

/* What the threads of a core share. */
struct core_shared {
	uint64_t cleared;              /* the rings hold cycles from here to here + CORE_RING */
	_Alignas(8) uint16_t busy[CORE_RING]; /* one bit per port taken in a cycle */
	_Alignas(8) uint8_t used[CORE_RING / CORE_STRETCH]; /* 1: ports may be taken in this stretch */
	uint64_t divider[CORE_RING / 64];   /* cycles in which the divider is busy */
	uint64_t taken[CORE_RING / 64];     /* cycles in which some thread allocates */
	uint64_t bits_end;             /* both bitmaps are empty from here on */
	unsigned above;                /* mask of the ports above the one used last */
	uint64_t long_until;           /* until then, ports and divider are held for several cycles at a time */
	struct core_thread *threads[2];
};

/* One store, from the allocation of its buffer to some time after its commit. */
struct store {
	uint64_t va;
	uint64_t address_cycle; /* its address is known */
	uint64_t data_cycle;    /* its data is in the buffer */
	uint64_t commit : 56, bytes : 8; /* at most 64 bytes */
};

/* Why allocation waited: the reason to which stall cycles before allocation are attributed. */
enum wait_reason { WAIT_NONE, WAIT_FETCH, WAIT_DECODE, WAIT_MISPREDICT, WAIT_CLEAR, WAIT_ALLOCATE, WAIT_STORE_BUFFER };

/* The front end: where the next instruction comes from and when. */
struct front {
	uint64_t cycle;         /* in which the last instruction was decoded */
	uint64_t fetch_cycle;  /* in which its fetch group arrived */
	uint64_t fetch_block;   /* ip / decode_bytes of that group; ~0 after a re-steer */
	uint64_t line;          /* ip / 64 of the last line fetched */
	uint64_t stalled_until; /* end of a fetch stall in progress, to attribute it */
	uint32_t decoded;       /* instructions in `cycle` */
	bool sequencer;         /* the last instruction was microcoded */
	uint32_t cached_uops;   /* uops the uop cache delivered in `cycle` */
	bool redirected;        /* the next fetch group starts after a re-steer */
	uint64_t uop_window;  /* ip / uop_cache_window of the last instruction; ~0: none */
	uint32_t uop_window_uops;   /* uops of that window so far, if it comes from the decoders */
	bool from_cache;        /* that window is in the uop cache */
	/* the loop buffer */
	uint64_t loop_branch, loop_target;
	uint32_t loop_uops, loop_iterations;
	bool streaming;
};

/* A line of the uop cache. */
struct uop_line { uint64_t window; uint64_t used; };

struct load_result {
	uint64_t ready;          /* the value can be used */
	uint64_t translated;     /* cycle in which the physical address was known */
	uint64_t blocked_until;  /* blocked by an older store until then; 0: not blocked */
	enum mem_source source;
	uint8_t dtlb_level;
	bool violation;          /* passed an older store to the same bytes: machine clear */
};

/* Progress of an instruction. */
struct core_progress {
	uint64_t delivered, load_dispatch, main_dispatch, main_done, address_done, data_done;
	uint64_t result, complete, retired;
	uint64_t buffer;         /* cycle in which its store buffer entry was allocated */
	enum wait_reason why;
};

/* With two threads: an instruction whose slots are not all allocated. */
struct core_pending {
	struct core_progress progress;
	struct load_result load;
	struct insn insn;
	struct core_plan plan;
	struct effects effects;
	uint64_t ip;
	unsigned slot, slots;    /* next slot, number of slots; 0: none pending */
};

struct core_thread {
	/* allocation */
	uint64_t alloc;          /* cycle being filled */
	uint64_t next;           /* two threads: the next group is allocated no earlier, and the other thread may use the
	                            cycles before. UINT64_MAX: its run is over */
	uint32_t slots, width;   /* slots used in this cycle; width */
	uint32_t retire_slots, retire_width;
	uint64_t retire;         /* cycle of the last retirement */
	uint64_t barrier;        /* no allocation before this cycle ... */
	uint8_t barrier_reason;  /* ... for this enum wait_reason ... */
	uint8_t barrier_signal;  /* ... and this resource stall; 0: none */
	uint8_t wait_reason;     /* the resource that the last allocation waited for */
	bool wrong_path_late;    /* the last wrong path ended since the front end came too late, for pipe_slots.c as the next two */
	uint64_t recovers_from;  /* the cycle in which the last mispredicted branch resolved, or the instruction that cleared the machine retired */
	uint64_t memory_until;   /* in which the latest load that missed the L1 has its data */
	bool alone, want_retired, fused_before;
	uint64_t slots_emitted;     /* empty slots before this cycle have been emitted */
	uint32_t dispatch_cycles;
	uint32_t rob_at, rob_size, lb_at, lb_size, sb_at, sb_size;
	uint32_t rs_in_use, rs_size;
	uint64_t rs_at;          /* departures before this cycle have been subtracted */
	uint64_t last_commit;    /* of a store, in program order */
	uint64_t last_complete;  /* highest completion so far */
	uint64_t load_barrier;   /* loads dispatch no earlier: fence, locked operation */
	uint64_t address_known;  /* highest address_cycle of all stores so far */
	uint64_t closed;
	uint64_t fused_complete; /* completion of a CMP or TEST fused with the following branch */
	uint64_t uop_number;     /* uops allocated so far, for the front end's queue */
	uint64_t store_number;   /* stores so far */
	struct signals *signals;
	struct core_shared *shared;
	struct memory *memory;
	const struct machine *m;
	const struct core_hooks *hooks;
	unsigned core, thread, own; /* own: 0 or 1 within the core */
	unsigned fetch_shift;        /* log2 of front.decode_bytes */
	uint32_t decode_width, queue_uops; /* front.decode_width, front.queue */

	/* two threads */
	uint64_t whole_from;         /* the other thread's run ends in this cycle, and nothing is shared from then on; 0: it goes on */
	bool expected;               /* the next instruction has been delivered ... */
	uint8_t expected_why, expected_status;
	uint64_t delivered;          /* ... in this cycle */
	uint64_t found;              /* ... and cannot be allocated earlier than this; 0: not computed */
	struct core_pending rest;
	uint64_t full_from, full_to; /* because the reservation station is full in these cycles */

	uint64_t ready[PLAN_NAMES];   /* cycle in which a register's value can be used */
	uint64_t written[PLAN_NAMES]; /* cycle in which its last writer retired; what needs no read port: never */
	uint8_t domain[PLAN_NAMES];   /* enum domain of the value */
	uint8_t upper;               /* upper halves of vector registers: enum upper_state */
	uint32_t narrow;             /* general registers last written at 8 or 16 bits */
	uint64_t flags_number[PLAN_NAMES - RN_CF]; /* number of the uop that wrote CF, ZAPSO last */
	uint64_t read_cycle;         /* register reads counted for this cycle */
	uint64_t read_set;           /* registers read in it from outside the ROB ... */
	unsigned reads;              /* ... and how many */
	uint64_t read_full;          /* cycle in which one group alone read more registers than there are ports */
	unsigned register_reads;     /* core.register_reads */

	struct memo_tape *tape;      /* core_memo.h: answers from outside the pipeline are recorded there, or replayed; else NULL */
	struct front front;
	uint64_t history, history_mask;
	uint64_t returns[64];
	unsigned return_at, return_depth;
	uint8_t *counters;           /* predictor.entries */
	uint64_t *targets;           /* predictor.targets: ip of the branch, 0 = empty */
	uint64_t *target_of;         /* where it went */
	uint64_t *indirect;          /* predictor.indirect: target */
	struct uop_line *uop_lines;  /* uop_sets * uop_cache_ways; window 0 = empty */
	unsigned uop_sets;           /* a power of two; 0: no uop cache */
	uint64_t uop_clock;
	uint32_t counter_mask, target_mask, indirect_mask; /* of the predictor's tables */

	struct store stores[STORE_RING];
	uint32_t granule[GRANULES];  /* number (low bits) + 1 of the last store to it */
	uint8_t disambiguation[DISAMBIGUATION_ENTRIES];
	uint64_t front_ring[FRONT_RING];
	uint64_t rob[1024], lb[512], sb[512]; /* cycle in which the entry becomes free */
	_Alignas(8) uint8_t leave[CORE_RING]; /* reservation station entries that become free in each cycle */
	uint64_t leaving[CORE_RING / LEAVE_STRETCH / 64]; /* one bit per stretch: some entries may become free in it */
	uint64_t uops;               /* retired, unfused */
};

static inline uint64_t max_cycle(uint64_t a, uint64_t b) { return a > b ? a : b; }

#define FETCH_AHEAD 4
#define CLOSE_EVERY 4096 /* cycles that accumulate before they are closed */

/* --- core_front.c --- */
/* The line of code at va has changed: it is fetched and decoded again. */
void front_forget_line(struct core_thread *c, uint64_t va);
/* The cycle in which the instruction's uops reach the queue: a lower bound of allocation. *why: what delayed them. For when
 * the loop buffer does not stream. ST_FAULT: its code is not mapped. */
MUST_CHECK enum status front_deliver(struct core_thread *c, const struct core_plan *p, uint64_t ip, bool wrong_path,
                                     uint64_t *cycle, enum wait_reason *why);
/* Fetches the line of an address in *cycle or later; *cycle becomes its arrival. */
MUST_CHECK enum status front_fetch_line(struct core_thread *c, uint64_t at, uint64_t *cycle);
/* Re-steers fetch, after a branch that leaves the straight line, to begin in `cycle` at the earliest. */
static inline void front_redirect(struct core_thread *c, uint64_t cycle)
{
	struct front *f = &c->front;
	f->redirected = true;
	if (cycle && cycle - 1 > f->fetch_cycle)
		f->fetch_cycle = cycle - 1;
}

/* Indices of the predictor's tables. */
static inline unsigned front_counter_index(const struct core_thread *c, uint64_t ip)
{
	return (unsigned)((ip ^ ip >> 13 ^ c->history << 3) & c->counter_mask);
}

static inline unsigned front_target_index(const struct core_thread *c, uint64_t ip)
{
	return (unsigned)((ip ^ ip >> 11) & c->target_mask);
}

static inline unsigned front_indirect_index(const struct core_thread *c, uint64_t ip)
{
	return (unsigned)((ip ^ ip >> 9 ^ c->history << 2) & c->indirect_mask);
}
/* Predicts, trains, and informs the loop buffer. True: mispredicted; *predicted is where the front end went instead (0:
 * unknown). *known is false if a taken branch needs a re-steer. */
bool front_branch(struct core_thread *c, const struct core_plan *p, uint64_t ip, const struct effects *e, uint64_t *predicted, bool *known);
/* The predictor's part of that; it reads and changes only its tables. */
struct branch_prediction { uint64_t predicted; bool miss, known; };
void front_predict(struct core_thread *c, const struct core_plan *p, uint64_t ip, const struct effects *e, struct branch_prediction *f);
/* Where the front end would continue after a branch on the wrong path; 0: it stops. */
static inline uint64_t front_guess(const struct core_thread *c, const struct core_plan *p, uint64_t ip)
{
	if (p->branch == BRANCH_NONE || (p->branch == BRANCH_COND && c->counters[front_counter_index(c, ip)] < 2))
		return ip + p->length;
	if (p->branch == BRANCH_RETURN)
		return c->return_depth ? c->returns[c->return_at] : 0;
	if (p->branch == BRANCH_INDIRECT || p->branch == BRANCH_CALL_INDIRECT)
		return c->indirect[front_indirect_index(c, ip)];
	const unsigned t = front_target_index(c, ip);
	return c->targets[t] == ip ? c->target_of[t] : 0;
}

/* --- core_memory.c --- */
MUST_CHECK enum status core_load(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                                 struct load_result *r);
/* Commits a store whose uops retire in cycle `retire`; *commit is the cycle. */
MUST_CHECK enum status core_store(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, unsigned bytes,
                                  uint64_t address_cycle, uint64_t data_cycle, uint64_t retire, uint64_t *commit,
                                  bool *walked);
/* Records a store that commits in that cycle, later than all before it. */
static inline void store_remember(struct core_thread *c, uint64_t va, unsigned bytes, uint64_t address_cycle, uint64_t data_cycle, uint64_t commit)
{
	c->stores[c->store_number % STORE_RING] = (struct store){ va, address_cycle, data_cycle, commit, bytes };
	c->store_number++;
	for (uint64_t g = va >> 3, last = (va + bytes - 1) >> 3; g <= last; g++)
		c->granule[g % GRANULES] = (uint32_t)c->store_number;
	c->address_known = max_cycle(c->address_known, address_cycle);
	c->last_commit = commit;
}
/* Whether the last store to a piece of 8 bytes is in flight at `cycle`; then it is *store. */
static inline bool store_in_flight(const struct core_thread *c, uint64_t granule, uint64_t cycle, const struct store **store)
{
	const uint32_t number = c->granule[granule % GRANULES];
	if (!number || (uint32_t)c->store_number - number >= c->sb_size)
		return false;
	*store = &c->stores[(number - 1) % STORE_RING];
	return (*store)->commit > cycle;
}
MUST_CHECK enum status core_flush(struct core_thread *c, uint64_t ip, uint64_t va, uint64_t retire, uint64_t *commit);
MUST_CHECK enum status core_prefetch(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, uint64_t cycle, uint64_t *accepted);
/* All write-combining buffers out; the cycle in which they are. */
uint64_t core_drain(struct core_thread *c, uint64_t ip, uint64_t cycle);

#endif
