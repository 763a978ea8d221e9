/* pmu/sim/memory_state.h: the inside of struct memory, for memory*.c, coherence.c, tlb.c,
 * dram.c and prefetch.c alone. */
#ifndef SIM_MEMORY_STATE_H
#define SIM_MEMORY_STATE_H

#include "pmu/sim/cache.h"
#include "pmu/sim/calendar.h"
#include "pmu/sim/memory.h"

/* A line number is node << NODE_SHIFT | offset in the node / 64: 8 nodes of which 32 GiB each
 * are told apart; what lies above aliases. The page tables lie in node 0 from TABLES on. */
#define NODE_SHIFT 29
#define NODE_LINES (1u << NODE_SHIFT)
#define SOCKETS_MAX 8
#define CHANNELS_MAX 16

/* A translation array: the tags are page numbers, the pages' physical addresses lie beside. */
struct tlb { struct cache c; uint64_t *pa; };

/* last: bytes - 1 */
struct recent_page { uint64_t va, pa, last, ready; };

struct stride { uint64_t ip, va; int64_t step; uint8_t sure; };
struct stream { uint32_t page; int32_t last, ahead; int8_t direction; uint8_t seen; };
#define STREAMS 32
#define STRIDES 256
#define WC_MAX 32
struct wc { uint32_t line; uint64_t bytes, from; };

/* An L2 and the cores that share it. */
struct cluster {
	struct cache l2;
	struct lane port;
	struct pool sq;
	unsigned socket;
	uint64_t bit;           /* in the socket's masks */
	unsigned first_core, cores;
	struct stream streams[STREAMS];
	unsigned stream_next;
};

struct private_core {
	struct cache l1d, l1i;
	struct pool lfb, walkers;
	struct cluster *cluster;
	struct tlb dtlb, dtlb_large, dtlb_huge, itlb, itlb_large, stlb, stlb_huge;
	struct tlb pml4, pdpte, pde;
	struct recent_page recent[2]; /* last found in the data and in the code arrays */
	unsigned off;           /* prefetchers that are switched off */
	uint32_t last_miss;     /* L1 next line */
	struct stride strides[STRIDES];
	struct wc wc[WC_MAX];   /* open write-combining buffers, oldest first */
	unsigned wc_open;
	uint64_t wc_done;       /* when the last of the closed ones is at its memory */
};

/* Which clusters of a socket hold a line, where no inclusive L3 says it: open addressing. */
struct directory {
	uint32_t mask;          /* entries - 1; 0: there is none */
	uint32_t *line;
	uint8_t *state;
};

struct channel { struct lane lane; uint32_t *row; };

struct socket {
	struct cache l3;        /* states are those of the socket among sockets */
	uint8_t *holders;       /* [L3 entries, or directory entries] * holder_bytes: clusters that may hold it */
	struct directory directory;
	struct lane slices[64];
	struct pool read_tracker, write_tracker, peer_tracker;
	struct channel channels[CHANNELS_MAX];
};

/* Core cycles of unloaded loads, load to use. */
struct latencies { uint64_t l3, clean, modified, local, remote, remote_clean, remote_modified, invalidate; };

struct memory {
	const struct machine *m;
	struct signals **signals;
	bool (*pages)(void *self, uint64_t va, struct page_info *out);
	void *self;
	unsigned cores, clusters, sockets, clusters_per_socket, holder_bytes;
	bool inclusive;
	struct latencies lat;
	uint64_t page_hit_cycles, page_miss_cycles, nt_cycles;
	unsigned wc_most;       /* open write-combining buffers of a core */
	struct private_core *core;
	struct cluster *cluster;
	struct socket *socket;
	struct lane *links;     /* [from * sockets + to] */
};

static inline uint32_t line_of(const struct memory *s, uint64_t pa)
{
	uint32_t node = 0;
	while (pa >= s->m->dram_node_bytes && node + 1 < s->sockets) {
		pa -= s->m->dram_node_bytes;
		node++;
	}
	return node << NODE_SHIFT | ((uint32_t)(pa >> 6) & (NODE_LINES - 1));
}

static inline unsigned home_of(uint32_t line) { return line >> NODE_SHIFT; }

/* What comes back from beyond the L1. */
struct fill { uint64_t ready; enum mem_source source; enum line_state state; };

/* coherence.c: a read (own = false) or a read for ownership of a line that cluster k misses or
 * has not enough right to, at cycle t. */
void uncore_read(struct memory *s, struct cluster *k, uint32_t line, bool own, uint64_t t, struct fill *f);
/* The L2 of a cluster (or a core, where there is no L2) gives up a line; gone: no other cache of
 * the cluster holds it. */
void uncore_evict(struct memory *s, struct cluster *k, uint32_t line, bool dirty, bool gone, uint64_t t);
void uncore_init(struct memory *s, struct socket *k, struct arena *a);
/* Takes the line out of every cache of the machine; true if some copy was modified. */
bool uncore_purge(struct memory *s, uint32_t line);

/* Writes a line from a socket to its home; returns by how many cycles it waits for link and
 * channel. transfers: of a channel's bandwidth; full: all 64 bytes. */
uint64_t memory_write_home(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full);

/* memory_write.c: a line's open write-combining buffer goes out, if there is one. */
void wc_give_up(struct memory *s, struct private_core *c, uint32_t line, uint64_t t);
void nt_store(struct memory *s, const struct mem_request *q, struct mem_reply *r);
void nt_drain(struct memory *s, const struct mem_request *q, struct mem_reply *r);
void flush_line(struct memory *s, const struct mem_request *q, struct mem_reply *r);

/* memory.c: brings a line into the L1D of a core, waiting for a fill buffer; returns when it
 * was had. */
uint64_t l1_fill(struct memory *s, struct private_core *c, uint32_t line, bool own, uint64_t t, unsigned thread,
                 bool demand, struct fill *f);
/* The line from the L2 or beyond; brings it into the L2. */
void l2_read(struct memory *s, struct private_core *c, uint32_t line, bool own, uint64_t t, unsigned thread,
             bool demand, struct fill *f);
/* memory.c: the caches of a cluster as its socket sees them. */
enum line_state cluster_state(const struct memory *s, const struct cluster *k, uint32_t line);
/* Lowers all copies to S; returns the highest state that one had. */
enum line_state cluster_share(struct memory *s, struct cluster *k, uint32_t line);
/* Removes all copies; returns the highest state that one had. */
enum line_state cluster_invalidate(struct memory *s, struct cluster *k, uint32_t line);

/* dram.c: reads or writes a line at its home from cycle t on; returns by how many cycles it
 * comes later (or, with page hits, earlier) than the unloaded page-empty latency. */
int64_t dram_read(struct memory *s, uint32_t line, uint64_t t);
uint64_t dram_write(struct memory *s, uint32_t line, uint64_t t, unsigned transfers);
/* Set-up; k is NULL while the arena only counts. */
void dram_init(struct memory *s, struct socket *k, struct arena *a);

/* tlb.c */
void tlb_init(struct memory *s, struct private_core *c, struct arena *a);

/* Core cycles that n ps or uncore cycles take, rounded up. */
uint64_t cycles_of_ps(const struct machine *m, uint64_t ps);
uint64_t cycles_of_uncore(const struct machine *m, uint64_t uncore_cycles);

#endif
