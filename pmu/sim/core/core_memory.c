/* pmu/sim/core/core_memory.c: loads and stores between the pipeline and the memory hierarchy.
 *
 * Loads. A load dispatched in cycle d
 * - waits for the addresses of all older stores, unless the disambiguation predictor lets it pass (256 counters by address;
 *   a load is allowed after store.disambiguation_limit harmless loads in a row that had an older unknown address before
 *   them, and a harmful one resets the counter);
 * - is compared with the youngest older store in flight (commit > d) that overlaps its bytes. If that store holds all of
 *   them, the value is ready store.forward_cycles after the later of d and the store's data; if it holds some, or (with
 *   store.forward_middle 0) all of them at an offset that is no multiple of the load's size, store.forward_fail_cycles after
 *   its commit;
 * - if it passed a store to its own bytes, gets the value as if it had waited, and the machine is cleared when it retires;
 * - else, if an older store in flight with a known address overlaps it in address bits 11:0 only, is delayed by
 *   store.alias_cycles;
 * - is translated and accesses the L1D at d, or when its translation is there. A load that crosses a line accesses both
 *   parts in the same cycle and adds load.split_cycles, across a page load.page_split_cycles too. With
 *   load.split_miss_cycles, one of whose lines the L1D lacks waits until both are there and all older instructions have retired, and
 *   adds these instead.
 *
 * Stores commit in program order, one a cycle, no earlier than the cycle after they retire and than their line is owned.
 * They are translated and request ownership in the cycle after they retire, and the answer takes one cycle if the L1D owns
 * the line.
 *
 * Not modelled: bank conflicts, memory renaming, other restrictions of forwarding by alignment, a load that takes some bytes from a
 * store and others from the cache without waiting. */
#include "pmu/sim/core/core_state.h"
#include "pmu/sim/isa/ops.h"

#define LINE 64u
#define PAGE_MASK 0xFFFull

static bool overlaps(uint64_t a, unsigned an, uint64_t b, unsigned bn)
{
	return a < b + bn && b < a + an;
}

static bool aliases(uint64_t a, unsigned an, uint64_t b, unsigned bn)
{
	uint64_t distance = (b - a) & PAGE_MASK;
	return distance < an || ((a - b) & PAGE_MASK) < bn;
}

struct conflict { const struct store *overlap; const struct store *alias; };

/* The youngest older store in flight at `cycle` that overlaps, and the youngest that only aliases. */
static inline void find_conflict(const struct core_thread *c, uint64_t va, unsigned bytes, uint64_t cycle, struct conflict *x)
{
	bool some = false;
	const struct store *s;
	*x = (struct conflict){ NULL, NULL };
	if (va % 8 + bytes <= 8) { /* within one piece: no store younger than the last one to it can overlap or alias */
		if (!store_in_flight(c, va >> 3, cycle, &s))
			return;
		if (overlaps(s->va, s->bytes, va, bytes)) {
			x->overlap = s;
			return;
		}
	}
	for (uint64_t g = va >> 3, last = (va + bytes - 1) >> 3; g <= last && !some; g++)
		some = store_in_flight(c, g, cycle, &s);
	if (!some)
		return;
	uint64_t n = c->store_number;
	for (unsigned i = 0; i < c->sb_size && i < n; i++) {
		s = &c->stores[(n - 1 - i) % STORE_RING];
		if (s->commit <= cycle)
			break;
		if (overlaps(s->va, s->bytes, va, bytes)) {
			x->overlap = s;
			break;
		}
		if (!x->alias && s->address_cycle <= cycle && aliases(s->va, s->bytes, va, bytes))
			x->alias = s;
	}
}

uint64_t core_asks(const struct core_thread *c, const struct insn *in, const struct core_plan *p)
{
	uint64_t t = max_cycle(max_cycle(c->alloc, c->barrier), c->rob[c->rob_at] + 1);
	if (in->load) {
		t = max_cycle(max_cycle(t, c->lb[c->lb_at] + 1) + c->dispatch_cycles, c->load_barrier);
		t = max_cycle(t, max_cycle(c->ready[p->address[0]], c->ready[p->address[1]]));
	}
	if (in->store && !in->load)
		t = max_cycle(t, (in->nontemporal ? max_cycle(c->retire, c->last_commit) : c->retire) + 1);
	if (p->class == UC_LOCK)
		t = max_cycle(t, max_cycle(c->last_complete, c->last_commit));
	return memory_room(c->memory, c->core, t);
}

static inline enum status read_part(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                                    struct load_result *r)
{
	struct data_reply reply;
	enum status s = memory_load(c->memory, c->core, c->thread, ip, va, bytes, cycle, &reply);
	if (s != ST_OK)
		return s;
	r->translated = max_cycle(r->translated, reply.translated);
	uint64_t ready = reply.ready + c->m->exec[UC_LOAD].latency;
	if (ready >= r->ready) {
		r->ready = ready;
		r->source = reply.source;
	}
	if (reply.level > r->dtlb_level)
		r->dtlb_level = reply.level;
	return ST_OK;
}

static enum status read_cache(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle,
                              struct load_result *r)
{
	unsigned within = (unsigned)(LINE - va % LINE);
	if (bytes <= within)
		return read_part(c, ip, va, bytes, cycle, r);
	enum status s = read_part(c, ip, va, within, cycle, r);
	if (s == ST_OK)
		s = read_part(c, ip, va + within, bytes - within, cycle, r);
	if (c->m->load_split_miss_cycles && r->source != SRC_L1) {
		signal_pulse(c->signals, SIG_LOAD_BLOCK_UNTIL_RETIRE, cycle, 1);
		r->ready = max_cycle(r->ready, c->retire + 1) + c->m->load_split_miss_cycles;
	} else {
		r->ready += c->m->load_split_cycles;
	}
	if ((va & PAGE_MASK) + bytes > PAGE_MASK + 1)
		r->ready += c->m->load_page_split_cycles;
	signal_pulse(c->signals, SIG_SPLIT_LOADS, cycle, 1);
	return s;
}

/* An older store's address is unknown in `cycle`: the load waits or passes. Returns when it goes on. */
static uint64_t pass_unknown(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle, bool *violation)
{
	uint8_t *counter = &c->disambiguation[(ip ^ ip >> 8) % DISAMBIGUATION_ENTRIES];
	bool ahead = c->m->store_disambiguation && *counter >= c->m->store_disambiguation_limit;
	struct conflict x;
	find_conflict(c, va, bytes, cycle, &x);
	bool harmful = x.overlap && x.overlap->address_cycle > cycle;
	if (harmful) {
		if (ahead)
			signal_pulse(c->signals, SIG_DISAMBIGUATION_RESET, c->address_known, 1);
		*counter = 0;
	} else if (*counter < 255) {
		(*counter)++;
	}
	if (ahead && !harmful)
		return cycle;
	*violation = ahead;
	if (!ahead)
		signal_pulse(c->signals, SIG_LOAD_BLOCK_STA, cycle, 1);
	return c->address_known;
}

enum status core_load(struct core_thread *c, uint64_t ip, uint64_t va, unsigned bytes, uint64_t cycle, struct load_result *r)
{
	uint64_t d = cycle;
	*r = (struct load_result){ .translated = cycle, .source = SRC_L1 };
	if (c->last_commit > d) {
		if (c->address_known > d)
			d = pass_unknown(c, ip, va, bytes, d, &r->violation);
		struct conflict x;
		find_conflict(c, va, bytes, d, &x);
		if (x.overlap) {
			const struct store *s = x.overlap;
			const bool whole = va >= s->va && va + bytes <= s->va + s->bytes && (c->m->store_forward_middle || (va - s->va) % bytes == 0);
			struct tlb_reply t;
			enum status st = memory_translate(c->memory, c->core, c->thread, va, FOR_LOAD, d, &t);
			if (st != ST_OK)
				return st;
			r->translated = max_cycle(t.ready, d);
			r->dtlb_level = t.level;
			if (whole) {
				signal_pulse(c->signals, SIG_STORE_FORWARDS, d, 1);
				if (s->data_cycle > d)
					signal_pulse(c->signals, SIG_LOAD_BLOCK_STD, d, 1);
				r->ready = max_cycle(max_cycle(s->data_cycle, s->address_cycle), r->translated) + c->m->store_forward_cycles;
			} else {
				signal_pulse(c->signals, SIG_LOAD_BLOCK_OVERLAP, d, 1);
				r->ready = max_cycle(s->commit, r->translated) + c->m->store_forward_fail_cycles;
			}
			r->blocked_until = r->ready;
			return ST_OK;
		}
		if (x.alias) {
			signal_pulse(c->signals, SIG_ADDRESS_ALIAS, d, 1);
			d += c->m->store_alias_cycles;
		}
		if (d != cycle) {
			signal_pulse(c->signals, SIG_LOAD_DISPATCHED_MOB, d, 1);
			r->blocked_until = d;
		}
	}
	return read_cache(c, ip, va, bytes, d, r);
}

static enum status own_part(struct core_thread *c, enum mem_kind kind, uint64_t ip, uint64_t va, unsigned bytes,
                            uint64_t cycle, uint64_t *ready, bool *walked)
{
	if (kind == MEM_RFO) {
		struct data_reply reply;
		enum status s = memory_store(c->memory, c->core, c->thread, ip, va, bytes, cycle, &reply);
		if (s != ST_OK)
			return s;
		*ready = max_cycle(*ready, max_cycle(reply.ready, reply.translated));
		*walked |= reply.level == 3;
		return ST_OK;
	}
	struct tlb_reply t;
	enum status s = memory_translate(c->memory, c->core, c->thread, va, FOR_STORE, cycle, &t);
	if (s != ST_OK)
		return s;
	struct mem_request q = { .kind = kind, .core = c->core, .thread = c->thread, .va = va, .pa = t.pa,
	                         .bytes = (uint8_t)bytes, .ip = ip, .cycle = max_cycle(t.ready, cycle) };
	struct mem_reply reply;
	memory_access(c->memory, &q, &reply);
	*ready = max_cycle(*ready, max_cycle(reply.ready, q.cycle));
	*walked |= t.level == 3;
	return ST_OK;
}

enum status core_store(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, unsigned bytes,
                       uint64_t address_cycle, uint64_t data_cycle, uint64_t retire, uint64_t *commit, bool *walked)
{
	uint64_t ready = max_cycle(retire + 1, c->last_commit + 1), asked = retire + 1;
	unsigned within = (unsigned)(LINE - va % LINE);
	enum mem_kind kind = in->nontemporal ? MEM_NT_STORE : MEM_RFO;
	/* A write-combining buffer is filled in order: the store is sent when it may commit. */
	if (in->nontemporal)
		asked = ready;
	enum status s;
	*walked = false;
	if (bytes <= within) {
		s = own_part(c, kind, ip, va, bytes, asked, &ready, walked);
	} else {
		s = own_part(c, kind, ip, va, within, asked, &ready, walked);
		if (s == ST_OK)
			s = own_part(c, kind, ip, va + within, bytes - within, asked, &ready, walked);
		ready += c->m->store_split_cycles;
		signal_pulse(c->signals, SIG_SPLIT_STORES, retire, 1);
		if (in->lock)
			memory_bus_lock(c->memory, ready);
	}
	if (s != ST_OK)
		return s;
	store_remember(c, va, bytes, address_cycle, data_cycle, ready);
	*commit = ready;
	return ST_OK;
}

enum status core_flush(struct core_thread *c, uint64_t ip, uint64_t va, uint64_t retire, uint64_t *commit)
{
	uint64_t ready = max_cycle(retire + 1, c->last_commit + 1);
	bool walked = false;
	enum status s = own_part(c, MEM_FLUSH, ip, va & ~(uint64_t)(LINE - 1), LINE, ready, &ready, &walked);
	c->last_commit = ready;
	*commit = ready;
	return s;
}

/* *accepted: it got a fill buffer, and the instruction waits no longer. */
enum status core_prefetch(struct core_thread *c, const struct insn *in, uint64_t ip, uint64_t va, uint64_t cycle, uint64_t *accepted)
{
	enum mem_kind kind = in->op == OP_PREFETCHT0 ? MEM_PREFETCH_T0 : in->op == OP_PREFETCHT1 ? MEM_PREFETCH_T1 :
		in->op == OP_PREFETCHT2 ? MEM_PREFETCH_T2 : in->op == OP_PREFETCHW ? MEM_PREFETCH_W : MEM_PREFETCH_NTA;
	struct tlb_reply t;
	enum status s = memory_translate(c->memory, c->core, c->thread, va, FOR_LOAD, cycle, &t);
	if (s != ST_OK)
		return s;
	struct mem_request q = { .kind = kind, .core = c->core, .thread = c->thread,
	                         .va = va, .pa = t.pa, .bytes = 1, .ip = ip, .cycle = max_cycle(t.ready, cycle) };
	struct mem_reply r;
	memory_access(c->memory, &q, &r);
	*accepted = max_cycle(r.lfb_from, q.cycle);
	return ST_OK;
}

uint64_t core_drain(struct core_thread *c, uint64_t ip, uint64_t cycle)
{
	struct mem_request q = { .kind = MEM_DRAIN_NT, .core = c->core, .thread = c->thread, .ip = ip, .cycle = cycle };
	struct mem_reply r;
	memory_access(c->memory, &q, &r);
	return max_cycle(r.ready, cycle);
}
