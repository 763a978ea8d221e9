/* pmu/sim/memory/memory_state.h: the inside of struct memory, for memory*.c, l2.c, coherence.c, socket.c, memory_uncore.c, tlb.c, dram.c
 * and prefetch.c only. */
#ifndef SIM_MEMORY_STATE_H
#define SIM_MEMORY_STATE_H

#include "pmu/sim/memory/cache.h"
#include "pmu/sim/memory/reservation.h"
#include "pmu/sim/memory/memory.h"

/* Upper bound of a core's requests for lines or translations that lie ahead in time: loads between allocation and
 * retirement, and stores until they are written. What one thread has asked may lie ahead of all that the core's other thread asks next. */
static inline uint32_t core_asks_ahead(const struct machine *m)
{
	return (uint32_t)((m->core_load_buffers + m->core_store_buffers) * m->topology_threads);
}

/* A line number is node << NODE_SHIFT | offset in the node / 64: 8 nodes of 32 GiB each; higher addresses alias. The page tables are in node 0
 * from 30 GiB on. */
#define NODE_SHIFT 29
#define NODE_LINES (1u << NODE_SHIFT)
#define NODES_MOST (1u << (32 - NODE_SHIFT))
#define PARTS_MOST 4 /* memory nodes a socket */
#define SLICES_MAX 64
#define CHANNELS_MAX 16

/* A translation array: the tags are page numbers, the entries' extra bytes the pages' physical addresses. */
struct tlb { struct cache c; };

/* A page as found in a first level. last: bytes - 1; tag_at: where its tag is, inverted as `tag` is, as long as it is held, in way `way` of
 * `block`; line: of its first byte. One line of the host. */
struct recent_page {
	_Alignas(64) uint64_t va;
	uint64_t ready, pa;
	const uint32_t *tag_at;
	struct cache *array;
	uint8_t *block;
	uint32_t last, line, tag, way;
};
#define RECENT_PAGES 32u

struct stride { uint64_t ip, va; int64_t step; bool sure; };
struct stream { int8_t last, ahead, direction; };
#define STREAMS 32
#define STRIDES 256
#define WC_MAX 32
struct wc { uint32_t line; uint64_t bytes, from; };

/* An L2 and the cores that share it. */
struct cluster {
	const struct machine *m; /* what its cores are */
	struct cache l2;
	struct lane port;
	struct pool sq;
	unsigned socket, node; /* node: whose memory is this cluster's own */
	unsigned part;         /* which of the socket's memory nodes it is of */
	struct socket *here, *peer; /* this cluster's socket; the other one of two, else NULL */
	uint64_t bit;           /* in the socket's masks */
	unsigned first_core, cores;
	struct private_core *first;
	uint32_t stream_page[STREAMS];              /* page of each */
	uint64_t stream_hashes[STREAMS / 8];        /* cache_hash of each */
	struct stream streams[STREAMS];
	uint8_t stream_count[256];                  /* number of streams whose page has that hash */
	uint32_t stream_last;   /* the one matched last */
	unsigned stream_next;   /* the next to be replaced */
};

struct private_core {
	const struct machine *m;                 /* what it is */
	struct cache l1d, l1i;
	struct pool lfb, walkers;
	struct cluster *cluster;
	struct tlb dtlb, dtlb_large, dtlb_huge, itlb, itlb_large, stlb, stlb_huge;
	struct tlb pml4, pdpte, pde;
	const struct recent_page *latest;        /* found last in the data arrays, hence the most recently used of its set */
	unsigned page_shift;                     /* log2 of its bytes */
	struct recent_page pages[RECENT_PAGES];  /* indexed by the page number's lowest bits */
	struct recent_page code;                 /* found last in the code arrays */
	uint32_t no_tag;                         /* 0: no page has it */
	uint32_t code_first, code_last; /* the L1I never held a line outside of these */
	bool beyond;            /* the last load missed L1D and L2 */
	uint8_t prefetchers;    /* present and enabled, bits as in MSR 0x1A4 */
	uint32_t last_miss;     /* L1 next line */
	struct stride strides[STRIDES];
	struct wc wc[WC_MAX];   /* open write-combining buffers, oldest first */
	unsigned wc_open;
	uint64_t wc_done;       /* when the last of the closed ones has reached memory */
};

/* The clusters of a socket that hold a line, where no inclusive L3 records them: a hash table with open addressing. */
struct directory {
	uint32_t entries, used; /* entries 0: there is none */
	uint32_t *line;         /* inverted; 0: empty */
	uint8_t *state;
};

struct channel {
	struct lane lane;
	uint32_t *row;
	uint64_t refreshed, reads; /* refreshes of each rank so far; lines read while the uncore PMU counted */
};

struct socket {
	struct cache l3;        /* states are the socket's among sockets */
	uint8_t *holders;       /* [directory entries] * holder_bytes: clusters that may hold the line. An inclusive L3 has
	                           them in its entries */
	struct directory directory;
	struct lane slices[SLICES_MAX];
	struct pool read_tracker, write_tracker, peer_tracker;
	struct channel channels[CHANNELS_MAX];
	struct lane bus_requests, bus_data; /* of a front-side bus: a request takes two of its clocks, data one at a time */
	struct lane bus_entries;            /* of the queue in front of it */
	struct lane into;                   /* of one of several complexes: data from beyond its L3 */
};

/* A line requested beyond the L1, and by whom. */
enum line_request_kind { REQUEST_LOAD, REQUEST_RFO, REQUEST_IFETCH, REQUEST_WALK, REQUEST_PREFETCH, REQUEST_PREFETCH_RFO };
struct line_request { uint32_t line; unsigned thread; enum line_request_kind kind; bool software; /* of a prefetch instruction */ };

/* Core cycles of unloaded loads, load to use. */
struct latencies { uint64_t far[PARTS_MOST][PARTS_MOST] /* more from one memory node's cores to another one's slice */, l3, clean, modified, dram[2] /* memory of the own node, of another node */, remote_clean, remote_modified, invalidate, near_clean, near_modified, near_invalidate; };

struct memory {
	const struct machine *m;
	struct signals **signals;
	bool (*pages)(void *self, uint64_t va, struct page_info *out);
	void *self;
	unsigned cores, clusters, sockets, clusters_per_socket, holder_bytes; /* sockets: with several complexes each is one */
	unsigned complexes;     /* of a socket's memory */
	unsigned parts, channels;        /* memory nodes a socket, channels of each */
	uint8_t package[NODES_MOST], part[NODES_MOST]; /* of a memory node: whose it is, and which of it */
	bool inclusive, bus;    /* bus: no L3, the sockets' caches are on front-side buses */
	bool plain;             /* an inclusive L3, a constant uncore clock, and no sink: memory_plain */
	bool usual;             /* the L1D is usual (cache_is_usual) with 8 ways */
	uint8_t quick;          /* 1: plain and usual, with a usual L2 for each core; 2: the L3 is usual with 16 ways too; else 0 */
	struct latencies lat;
	struct latencies lat_of[2]; /* fault.uncore_float_ratio: at the machine's ratio, and at the other one */
	uint64_t float_cycles;      /* core cycles until the uncore clock changes; 0: never */
	uint64_t uncore_ahead;      /* uncore cycles by which its clock is ahead of its ratio, modulo 2^64 */
	uint64_t channel_inverse; /* 2^33 / channels, rounded up */
	uint64_t page_hit_cycles, page_miss_cycles, nt_cycles;
	uint64_t refresh_cycles;  /* core cycles between two refreshes of a rank; 0: none */
	unsigned wc_most;       /* most open write-combining buffers of a core */
	struct private_core *core;
	struct cluster *cluster;
	struct socket *socket;
	struct lane *links;     /* [from * sockets + to] */
	struct line_request asking;      /* the request that is being answered, while uncore traffic is counted */
	bool row_opened;        /* ... whether the last access to a bank opened its row, where rows stay open */
	uint64_t link_waits;    /* ... core cycles that its data waited for the link */
	struct link_pool { uint64_t back[32], own[16]; } link_pool[8][4][2]; /* of the uncore PMU: [socket][link][AD, BL]: core cycles at which shared credits, and those of a class, are back */
	uint64_t sbo_credit[8][40][2][2][8]; /* of the uncore PMU: [socket][stop][SBo of its ring][AD, BL]: uncore cycles at which credits are back */
	uint64_t sbo_last[8][4]; /* of the uncore PMU: [socket][SBo], the uncore cycle after that of the last message */
	struct uncore_sink sink;
};

static inline uint32_t line_of(const struct memory *s, uint64_t pa)
{
	uint32_t node = 0;
	while (pa >= s->m->dram_node_bytes && node + 1 < s->m->topology_sockets * s->m->topology_nodes) {
		pa -= s->m->dram_node_bytes;
		node++;
	}
	return node << NODE_SHIFT | ((uint32_t)(pa >> 6) & (NODE_LINES - 1));
}

/* The line at an address within a page. */
static inline uint32_t page_line(const struct recent_page *p, uint64_t va) { return p->line + (uint32_t)((va - p->va) >> 6); }

/* The page of a load or store, as the first level would find it in `cycle`; NULL: call memory_translate. */
static inline const struct recent_page *page_known(struct private_core *c, uint64_t va, uint64_t cycle)
{
	const struct recent_page *p = c->latest;
	if (va - p->va <= p->last && p->ready <= cycle)
		return p;
	p = &c->pages[va >> c->page_shift & (RECENT_PAGES - 1)];
	if (va - p->va > p->last || p->ready > cycle || *p->tag_at != p->tag)
		return NULL;
	cache_touch_way(p->array, p->block, p->way, 0);
	c->latest = p;
	return p;
}

/* tlb.c: knows no page. */
void pages_forget(struct private_core *c);

/* A request and its answer over a link: the time by which remote memory takes longer than local. */
static inline uint64_t link_both_ways(const struct memory *s) { return s->lat.dram[1] > s->lat.dram[0] ? s->lat.dram[1] - s->lat.dram[0] : 0; }
/* A line's home: one of the processors' packages, which may have several memory nodes. */
static inline unsigned home_of(const struct memory *s, uint32_t line) { return s->package[line >> NODE_SHIFT]; }
/* The package of a socket; the socket that has the memory of a line's home. */
static inline unsigned node_of(const struct memory *s, unsigned socket) { return s->complexes == 1 ? socket : socket / s->complexes; }
static inline unsigned home_socket(const struct memory *s, uint32_t line) { return home_of(s, line) * s->complexes; }
/* Which of a package's memory nodes a line is of; how much longer a request to its slice takes than to one of the core's own node. */
static inline unsigned part_of(const struct memory *s, uint32_t line) { return s->part[line >> NODE_SHIFT]; }
static inline uint64_t far_cycles(const struct memory *s, const struct cluster *k, uint32_t line) { return s->parts > 1 ? s->lat.far[k->part][part_of(s, line)] : 0; }
/* Data between nodes takes the link of their first complexes. */
static inline struct lane *lane_between(const struct memory *s, unsigned from, unsigned to)
{
	const unsigned a = node_of(s, from), b = node_of(s, to), n = s->complexes;
	return a == b ? &s->links[from * s->sockets + to] : &s->links[a * n * s->sockets + b * n];
}

static inline bool kind_owns(enum line_request_kind kind) { return kind == REQUEST_RFO || kind == REQUEST_PREFETCH_RFO; }
static inline bool kind_demands(enum line_request_kind kind) { return kind < REQUEST_PREFETCH; }
static inline bool request_owns(const struct line_request *q) { return kind_owns(q->kind); }
static inline bool request_demands(const struct line_request *q) { return kind_demands(q->kind); }

/* What comes back. */
struct fill { uint64_t ready; enum mem_source source; enum line_state state; };

/* memory.c: brings a line into the L1D of a core; a fill buffer is free at t. */
void memory_l1_prefetch(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);
/* When a request at t gets its entry of the super queue, its line fill buffer. */
uint64_t l2_sq_start_slow(const struct memory *s, struct cluster *k, uint32_t line, uint64_t t);
static inline uint64_t l2_sq_start(const struct memory *s, struct cluster *k, uint32_t line, uint64_t t)
{
	return pool_has_any(&k->sq, t) ? t : l2_sq_start_slow(s, k, line, t);
}
uint64_t memory_lfb_start_slow(const struct memory *s, struct private_core *c, uint32_t line, uint64_t t);
/* How long it is held at least. */
uint64_t memory_lfb_lasts(const struct memory *s, const struct private_core *c, uint32_t line);
/* coherence.c: unloaded time of a line from beyond the L2. */
uint64_t uncore_lasts(const struct memory *s, const struct cluster *k, uint32_t line);
/* Whether memory_lfb_start, l2_sq_start would return a later time. */
static inline bool l2_sq_is_full(const struct memory *s, struct cluster *k, uint32_t line, uint64_t t)
{
	return !pool_has_any(&k->sq, t) && (pool_is_full_at(&k->sq, t, k->sq.entries) || !pool_has_stretch(&k->sq, t, uncore_lasts(s, k, line), k->sq.entries));
}
static inline bool memory_lfb_is_full(const struct memory *s, struct private_core *c, uint32_t line, uint64_t t)
{
	const uint32_t n = c->wc_open + 1 < c->lfb.entries ? c->lfb.entries - c->wc_open : 1;
	return !pool_has_room(&c->lfb, t, c->wc_open) && (pool_is_full_at(&c->lfb, t, n) || !pool_has_stretch(&c->lfb, t, memory_lfb_lasts(s, c, line), n));
}
static inline uint64_t memory_lfb_start(const struct memory *s, struct private_core *c, uint32_t line, uint64_t t)
{
	return (c->wc_open ? pool_has_room(&c->lfb, t, c->wc_open) : pool_has_any(&c->lfb, t)) ? t : memory_lfb_start_slow(s, c, line, t);
}
/* The line from the L2 or beyond; brings it into the L2. */
void l2_read(struct memory *s, struct private_core *c, const struct line_request *q, uint64_t t, struct fill *f);
/* For a prefetcher of the L2; false: no entry of the super queue is free at t; true: the line is held, in flight, or brought. */
bool l2_prefetch(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);
/* cluster.c: highest state of a line in the caches of a cluster; lowers (to S) or removes (I) all copies. */
enum line_state cluster_state(const struct memory *s, const struct cluster *k, uint32_t line);
enum line_state cluster_lower(struct memory *s, struct cluster *k, uint32_t line, enum line_state to, uint64_t t);

/* memory_write.c: flushes a line's open write-combining buffer, if there is one. */
void wc_evict(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);
void memory_nt_store(struct memory *s, const struct mem_request *q, struct mem_reply *r);
void memory_nt_drain(struct memory *s, const struct mem_request *q, struct mem_reply *r);
void memory_flush_line(struct memory *s, const struct mem_request *q, struct mem_reply *r);

/* prefetch.c: informed of each load's address (stride), of each line that a load missed in the L1D or found prefetched
 * (next line), and of each line that the L1s requested from the L2. */
void prefetch_stride_line(struct memory *s, struct private_core *c, unsigned thread, uint32_t next, uint64_t t);
void prefetch_next_line_sure(struct memory *s, struct private_core *c, unsigned thread, uint64_t t, uint32_t line);
static inline void prefetch_next_line(struct memory *s, struct private_core *c, unsigned thread, uint64_t t, uint32_t line)
{
	const bool ascending = line == c->last_miss + 1;
	c->last_miss = line;
	if (ascending)
		prefetch_next_line_sure(s, c, thread, t, line);
}
#define PAGE_LINES 64u
/* A request in a page with a stream; in a page whose hash a stream has. */
void stream_goes_on(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, struct stream *e, uint64_t t);
void stream_sought(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t);
/* The oldest stream is replaced by one for a page. */
static inline void stream_begins(struct cluster *k, uint32_t page, int8_t at, uint8_t hash)
{
	const uint32_t next = k->stream_next;
	k->stream_count[cache_hash(k->stream_page[next])]--;
	k->stream_count[hash]++;
	k->streams[next] = (struct stream){ .last = at };
	k->stream_page[next] = page;
	((uint8_t *)k->stream_hashes)[next] = hash;
	k->stream_next = (next + 1) % STREAMS;
}

/* The L2's two prefetchers: the streamer. Inline, because most requests of a chase begin a stream. */
static inline __attribute__((always_inline)) void prefetch_streamer(struct memory *s, struct private_core *c, unsigned thread, uint32_t line, uint64_t t)
{
	struct cluster *k = c->cluster;
	const uint32_t page = line / PAGE_LINES;
	const int8_t at = (int8_t)(line % PAGE_LINES);
	const uint8_t hash = cache_hash(page);
	struct stream *latest = &k->streams[k->stream_last];
	if (k->stream_page[k->stream_last] == page) {
		if (at != latest->last)
			stream_goes_on(s, c, thread, line, latest, t);
	} else if (__builtin_expect(k->stream_count[hash] != 0, 0)) {
		stream_sought(s, c, thread, line, t);
	} else {
		stream_begins(k, page, at, hash);
	}
}

/* coherence.h's uncore_read, compiled in full. */
void uncore_read_some(struct memory *s, struct cluster *k, const struct line_request *q, uint64_t t, struct fill *f);
/* The L2 of a cluster (or a core, if there is no L2) evicts a line; gone: no other cache of the cluster holds it. */
void uncore_evict(struct memory *s, struct cluster *k, uint32_t line, bool dirty, bool gone, uint64_t t);
/* Removes the line from every cache of the machine; true if a copy was modified. */
bool uncore_purge(struct memory *s, uint32_t line, uint64_t t);

/* socket.c, beside socket.h. */
unsigned socket_slice(const struct socket *k, uint32_t line);

/* Set-up; the part is NULL while the arena only counts. */
void socket_init(struct memory *s, struct socket *k, struct arena *a);
void dram_init(struct memory *s, struct socket *k, struct arena *a);
void tlb_init(struct memory *s, struct private_core *c, unsigned core, struct arena *a);

/* bus.c: a thread's transaction on its socket's front-side bus at cycle t; nothing if there is none. bus_emit: writes. */
enum bus_kind { BUS_READ, BUS_IFETCH, BUS_RFO, BUS_INVALIDATE, BUS_WRITE_BACK, BUS_WRITE_LINE, BUS_WRITE_PART };
/* queued: the signal of its entry in the bus sequence queue. */
void bus_emit_some(struct memory *s, unsigned thread, enum bus_kind kind, enum signal queued, uint64_t t, uint64_t data);
static inline void bus_emit(struct memory *s, unsigned thread, enum bus_kind kind, uint64_t t)
{
	if (s->bus)
		bus_emit_some(s, thread, kind, (enum signal)(SIG_BSQ_WRITE_BACK + (kind - BUS_WRITE_BACK)), t, t);
}
void bus_init(const struct memory *s, struct socket *k);
/* A requested line that arrived over the bus; upgrade: the L2 had it shared, and only the right to write was requested. */
void bus_emit_read(struct memory *s, const struct line_request *q, bool upgrade, enum mem_source source, uint64_t t, uint64_t ready);

/* dram.c, beside dram.h: a socket writes a line at its home: cycles that it waits for link and channel; transfers: of the
 * channel's bandwidth; full: all 64 bytes. */
uint64_t dram_write(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full);
/* The channel of its home that a line is on. */
unsigned dram_channel(const struct memory *s, uint32_t line);
/* The same for a line that was never cached: the socket first requests ownership from the line's home. */
uint64_t dram_write_uncached(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full);

#define STRIDE_MOST 2048
static inline void prefetch_stride(struct memory *s, struct private_core *c, unsigned thread, uint64_t ip, uint64_t va, uint32_t line,
                                   uint64_t t)
{
	struct stride *e = &c->strides[ip % STRIDES];
	if (e->ip != ip) {
		*e = (struct stride){ .ip = ip, .va = va };
		return;
	}
	const int64_t step = (int64_t)(va - e->va);
	const uint64_t next = va + (uint64_t)step;
	e->va = va;
	if (step != e->step || step == 0 || step > STRIDE_MOST || step < -STRIDE_MOST)
		e->step = step;
	else if (next >> 12 == va >> 12 && next >> 6 != va >> 6)
		prefetch_stride_line(s, c, thread, line + (uint32_t)(next >> 6) - (uint32_t)(va >> 6), t);
}

/* memory_uncore.c: decides whether requests to the L3 may take the path without the conditions of `plain`, and L1D misses the one
 * without those of `quick`. */
void memory_plain(struct memory *s);

/* memory_uncore.c: an inline test, then the sink. t in core cycles. */
static inline bool uncore_subscribed(const struct memory *s, enum uncore_signal sig)
{
	return s->sink.deliver && (s->sink.listen[sig / 64] >> (sig % 64) & 1);
}
/* about: NULL: nothing besides. */
void uncore_pulse_deliver(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t, unsigned n,
                        const struct uncore_attributes *about);
void uncore_level_deliver(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t,
                        uint64_t skip_uncore, uint64_t uncore_cycles, uint64_t core_cycles, const struct uncore_attributes *about);
static inline void uncore_pulse(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t)
{
	if (__builtin_expect(uncore_subscribed(s, sig), 0))
		uncore_pulse_deliver(s, socket, unit, sig, t, 1, NULL);
}
/* A socket's line goes out over a link; a complex's line goes to a node, over a link where that is not its own. */
void uncore_link_out(struct memory *s, unsigned from, uint32_t line, uint64_t t);
void uncore_complex_out(struct memory *s, unsigned from, unsigned node, uint32_t line, uint64_t t);
/* Whether a wandering uncore clock has its other ratio at core cycle t. */
static inline bool uncore_is_other(const struct memory *s, uint64_t t) { return t / s->float_cycles & 1; }
/* A level from skip_uncore uncore cycles after t on, for uncore_cycles plus core_cycles. */
static inline void uncore_level(struct memory *s, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t t,
                                uint64_t skip_uncore, uint64_t uncore_cycles, uint64_t core_cycles)
{
	if (__builtin_expect(uncore_subscribed(s, sig), 0))
		uncore_level_deliver(s, socket, unit, sig, t, skip_uncore, uncore_cycles, core_cycles, NULL);
}

/* The link of a message about a line: two sockets share all their links line by line, more have one per pair. */
static inline unsigned link_unit(const struct memory *s, unsigned from, unsigned to, uint32_t line)
{
	const unsigned links = (unsigned)s->m->uncore_qpi_links;
	return to * 4 + (s->sockets == 2 ? line : (to + s->sockets - from) % s->sockets - 1) % links;
}

/* Core cycles of n ps, rounded up. */
uint64_t memory_cycles_of_ps(const struct machine *m, uint64_t ps);
/* Period of a lane that moves 64-byte lines at a rate. */
uint64_t lane_period(const struct machine *m, uint64_t bytes_per_second);

#endif
