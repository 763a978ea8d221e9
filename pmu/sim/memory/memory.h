/* pmu/sim/memory/memory.h: the simulated memory hierarchy: TLBs, caches, fill buffers, coherence, prefetchers,
 * interconnect, DRAM. Timestamps in, timestamps out.
 *
 * Time is in core cycles (all cores of a machine share one core clock); latencies beyond the core are kept in ticks of the
 * machine's common clock and rounded up to a core cycle when data returns. Requests come in program order of each core, so
 * their times need not be monotonic: every shared resource is a reservation table with back-fill, and every line carries
 * the time of its fill. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include "pmu/base.h"
#include "pmu/sim/machine/machine.h"
#include "pmu/sim/signals/signal.h"
#include "pmu/sim/signals/uncore_signal.h"

enum mem_kind {
	MEM_LOAD, MEM_RFO,        /* demand data: read; read for ownership (a store at the head of its queue) */
	MEM_IFETCH, MEM_WALK,     /* instruction line; page-walk entry (cached in L1D like a load) */
	MEM_PREFETCH_T0, MEM_PREFETCH_T1, MEM_PREFETCH_T2, MEM_PREFETCH_NTA, MEM_PREFETCH_W,
	MEM_NT_STORE, MEM_FLUSH,  /* one store into a write-combining buffer; CLFLUSH of a line */
	MEM_DRAIN_NT              /* SFENCE, MFENCE: empties all write-combining buffers */
};

/* Who answered. */
enum mem_source {
	SRC_L1, SRC_LFB, SRC_L2, SRC_L3_UNSHARED, SRC_L3_OTHER_CLEAN, SRC_L3_OTHER_MODIFIED,
	SRC_NEAR_CLEAN, SRC_NEAR_MODIFIED, /* another complex of the socket */
	SRC_REMOTE_CLEAN, SRC_REMOTE_MODIFIED, SRC_LOCAL_DRAM, SRC_REMOTE_DRAM, SRC_UNCACHED, SRC_NONE
};

struct mem_request {
	enum mem_kind kind;
	unsigned core;     /* physical core, for the private caches */
	unsigned thread;   /* logical processor, for signals */
	uint64_t va, pa;
	uint8_t bytes;     /* within one line; the core splits line-crossing accesses itself */
	uint64_t ip;       /* address of the instruction, for the stride prefetcher */
	uint64_t cycle;    /* when the request leaves the load or store pipe */
	bool wrong_path;
};

struct mem_reply {
	uint64_t ready;    /* first cycle in which a dependent uop can start; stores: when globally visible; prefetches: when
	                      the line arrives (the instruction waits for lfb_from only) */
	uint64_t lfb_from; /* when a fill buffer was allocated (>= request cycle): the request waited until then */
	enum mem_source source;
};

struct tlb_reply {
	uint64_t pa;
	uint64_t ready;      /* request cycle if the first level hit */
	uint64_t walk_from, walk_to; /* a page walk ran in these cycles; equal if none */
	uint8_t level;       /* 1: first-level hit, 2: second-level hit, 3: walked, or waited for a walk of the page in flight */
};

/* One page of the address space, as the walker finds it. */
struct page_info { uint64_t pa; uint64_t page_bytes; unsigned node; bool executable; };

struct memory;

/* `pages` answers a walk: false = not mapped. `signals[thread]` receives what happens. The caller provides memory_bytes
 * zeroed bytes at `at`, of which the machine writes as it comes to them, and keeps machine and pages alive. */
size_t memory_bytes(const struct machine *m);
struct memory *memory_init(void *at, const struct machine *m, struct signals **signals,
                           bool (*pages)(void *self, uint64_t va, struct page_info *out), void *self);

void memory_access(struct memory *s, const struct mem_request *q, struct mem_reply *r);
/* Translation and access of a load or store within a line, with a fast path if the page is the one found last and the L1D
 * has the line. ready and source are those of the access, level and translated (not before the request) those of the
 * translation. ST_FAULT: no such page. */
struct data_reply { uint64_t ready, translated; enum mem_source source; uint8_t level; };
MUST_CHECK enum status memory_load(struct memory *s, unsigned core, unsigned thread, uint64_t ip, uint64_t va, unsigned bytes,
                                   uint64_t cycle, struct data_reply *r);
MUST_CHECK enum status memory_store(struct memory *s, unsigned core, unsigned thread, uint64_t ip, uint64_t va, unsigned bytes,
                                    uint64_t cycle, struct data_reply *r);
/* Whether the core's L1I has the line of that address. */
bool memory_has_code(const struct memory *s, unsigned core, uint64_t pa);
/* Points to the flag: the core's last load went beyond its L2. */
const bool *memory_went_beyond(const struct memory *s, unsigned core);
/* The first cycle from t on with a free fill buffer. */
uint64_t memory_room(const struct memory *s, unsigned core, uint64_t t);
/* Prefetches on the host what the model reads for a line; changes nothing of the model. pa may be any. */
void memory_look_ahead(const struct memory *s, unsigned core, uint64_t pa);
/* ST_FAULT: no such page. Emits the DTLB_ and ITLB_ signals. */
enum translate_for { FOR_LOAD = 0, FOR_CODE = 1, FOR_STORE = 2 };
MUST_CHECK enum status memory_translate(struct memory *s, unsigned core, unsigned thread, uint64_t va,
                                        enum translate_for what, uint64_t cycle, struct tlb_reply *r);
/* With fault.uncore_float_ratio: the uncore clock stays at the machine's ratio from `core_cycle` on, or wanders again. */
void memory_uncore_steady(struct memory *s, bool steady, uint64_t core_cycle);
/* Switches like MSR 0x1A4, one bit per prefetcher, 1 = off: 0 L2 streamer, 1 L2 adjacent, 2 L1 next line, 3 L1 stride. */
void memory_prefetchers(struct memory *s, unsigned core, unsigned off_mask);
/* The driver has cleared pages before it maps them: its stores leave no copy of earlier code in an L1I. */
void memory_cleared(struct memory *s, uint64_t pa, uint64_t bytes);
/* Forgets translations of a range (unmapped) or of everything (bytes = 0). */
void memory_tlb_flush(struct memory *s, uint64_t va, uint64_t bytes);
/* A core loads CR3: its translations and paging-structure caches are gone; no page of the job address space is global. */
void memory_cr3_load(struct memory *s, unsigned core);

/* memory_uncore.c: sets the sink for uncore signals, which is copied; NULL: none. */
void memory_uncore(struct memory *s, const struct uncore_sink *sink);
/* A locked operation on two lines locks the whole machine at a core cycle. */
void memory_bus_lock(struct memory *s, uint64_t core_cycle);
/* The uncore cycle in which a core cycle begins. */
uint64_t memory_uncore_cycle(const struct memory *s, uint64_t core_cycle);

#endif
