/* pmu/sim/memory/tlb.c: address translation: first and second level TLBs, paging-structure caches, page walks.
 *
 * A first-level hit adds no time, a second-level hit stlb.cycles. A walk takes stlb.cycles for the lookup (0 without a
 * second level), walk.cycles, then one load after the other for each level that no paging-structure cache covers: with the
 * PDE cached only the PTE, and so on up to four (4 KiB pages), three (2 MiB), two (1 GiB). Each is a load through the L1D,
 * at least l1d.cycles. At most walk.walkers walks run at a time. Requests to a page whose walk is in flight wait for that
 * walk.
 *
 * A page whose size has no array of its own is kept as a piece of the next smaller size. The second level holds 4 KiB
 * pages, with stlb.large also 2 MiB pages; 1 GiB pages only in stlb.huge_entries.
 *
 * The tables have a dense linear layout: entry n of a level is at the level's base + 8 * n, n counted from the start of the
 * 512 GiB that one top-level entry maps; all in node 0, above what the model can map there.
 *
 * Not modelled: accessed and dirty bits, nested paging, process tags, the next-page prefetcher, replacement other than LRU. */
#include "pmu/sim/memory/memory_state.h"

/* Physical addresses of the tables, in the line numbers of node 0: 30 GiB and up. */
#define TABLES   0x780000000ull
#define PTE_AT   (TABLES + 0x3000) /* pages of their own: the first entries of all levels are not in one set of an L2 */
#define PDE_AT   (TABLES + (1ull << 30) + 0xA000)
#define PDPTE_AT (TABLES + (1ull << 30) + (2ull << 20) + 0x11000)
#define PML4_AT  (TABLES + (1ull << 30) + (4ull << 20) + 0x16000)

static void tlb_array(struct tlb *t, struct arena *a, uint64_t entries, uint64_t ways)
{
	if (ways > entries)
		ways = entries;
	const uint32_t sets = ways ? (uint32_t)(entries / ways) : 0;
	cache_init(&t->c, a, sets, (uint32_t)ways, 1, false, REPLACE_LRU, sizeof(uint64_t));
}

void tlb_init(struct memory *s, struct private_core *c, unsigned core, struct arena *a)
{
	const struct machine *m = machine_of_core(s->m, core);
	tlb_array(&c->dtlb, a, m->dtlb_entries, m->dtlb_ways);
	tlb_array(&c->dtlb_large, a, m->dtlb_large_entries, m->dtlb_large_ways);
	tlb_array(&c->dtlb_huge, a, m->dtlb_huge_entries, m->dtlb_huge_entries);
	tlb_array(&c->itlb, a, m->itlb_entries, m->itlb_ways);
	tlb_array(&c->itlb_large, a, m->itlb_large_entries, m->itlb_large_entries);
	tlb_array(&c->stlb, a, m->stlb_entries, m->stlb_ways);
	tlb_array(&c->stlb_huge, a, m->stlb_huge_entries, m->stlb_huge_entries);
	tlb_array(&c->pde, a, m->walk_pde_entries, m->walk_pde_entries);
	tlb_array(&c->pdpte, a, m->walk_pdpte_entries, m->walk_pdpte_entries);
	tlb_array(&c->pml4, a, m->walk_pml4_entries, m->walk_pml4_entries);
	const uint32_t walkers = (uint32_t)m->walk_walkers, ahead = core_asks_ahead(m);
	struct pool_use *use = arena_get(a, pool_bytes(walkers, ahead));
	if (a->at)
		pool_init(&c->walkers, walkers, ahead, use);
}

/* A page number as a tag; 2 MiB pages of a mixed array are marked in the top bit. */
static uint32_t page_tag(uint64_t va, unsigned shift) { return (uint32_t)(va >> shift) & 0x7FFFFFFFu; }
#define TAG_LARGE 0x80000000u

/* Physical address of an entry's page. */
static uint64_t *page_address(const struct tlb *t, uint32_t i) { return cache_extra(&t->c, i); }

/* The new entry; CACHE_NONE: there is no such array. */
static uint32_t tlb_put(struct tlb *t, uint32_t tag, uint64_t pa, uint64_t ready)
{
	if (!t->c.sets)
		return CACHE_NONE;
	uint32_t i = cache_find(&t->c, tag);
	if (i == CACHE_NONE)
		i = cache_victim(&t->c, tag);
	cache_put(&t->c, i, tag, ready, LINE_E);
	*page_address(t, i) = pa;
	return i;
}

struct level { struct tlb *small, *large, *huge; };

static struct level first_level(struct private_core *c, enum translate_for what)
{
	if (what == FOR_CODE)
		return (struct level){ &c->itlb, &c->itlb_large, NULL };
	return (struct level){ &c->dtlb, &c->dtlb_large, &c->dtlb_huge };
}

static bool has(const struct tlb *t) { return t && t->c.sets; }

/* Position of a page in a first level. */
struct found { struct tlb *in; uint32_t i; unsigned shift; };

/* Puts the page that holds va into a first level; pa: of va. */
static struct found first_put(struct level l, uint64_t va, uint64_t pa, uint64_t page_bytes, uint64_t ready)
{
	struct found f = { l.small, 0, 12 };
	if (page_bytes == 1ull << 30 && has(l.huge))
		f = (struct found){ l.huge, 0, 30 };
	else if (page_bytes >= 1ull << 21 && has(l.large))
		f = (struct found){ l.large, 0, 21 };
	f.i = tlb_put(f.in, page_tag(va, f.shift), pa & ~((1ull << f.shift) - 1), ready);
	return f;
}

/* The entry; CACHE_NONE. */
static inline uint32_t look(struct tlb *t, uint64_t va, unsigned shift, uint32_t mark, uint64_t *ready)
{
	if (!has(t))
		return CACHE_NONE;
	const uint32_t i = cache_find(&t->c, page_tag(va, shift) | mark);
	if (i == CACHE_NONE)
		return CACHE_NONE;
	cache_touch(&t->c, i);
	*ready = cache_ready(&t->c, i);
	return i;
}

static bool look_first(struct tlb *t, uint64_t va, unsigned shift, struct found *f, uint64_t *ready)
{
	*f = (struct found){ t, look(t, va, shift, 0, ready), shift };
	return f->i != CACHE_NONE;
}

static void remember(struct memory *s, struct private_core *c, enum translate_for what, uint64_t va, uint64_t pa, struct found f, uint64_t ready)
{
	const uint32_t last = (1u << f.shift) - 1;
	struct recent_page *p = what == FOR_CODE ? &c->code : &c->pages[va >> f.shift & (RECENT_PAGES - 1)];
	*p = (struct recent_page){ .va = va & ~(uint64_t)last, .pa = pa & ~(uint64_t)last, .last = last, .ready = ready, .tag = ~page_tag(va, f.shift), .tag_at = &c->no_tag };
	p->line = line_of(s, p->pa);
	if (f.i != CACHE_NONE) { /* a machine may lack this array */
		p->array = &f.in->c;
		p->block = cache_block_at(p->array, f.i);
		p->way = cache_way_at(f.i);
		p->tag_at = cache_tag_at(p->array, f.i);
	}
	if ((p->line & (NODE_LINES - 1)) + (last >> 6) >= NODE_LINES) /* its line numbers wrap: they are not consecutive */
		p->va = UINT64_MAX;
	if (what == FOR_CODE)
		return;
	c->latest = p;
	c->page_shift = f.shift;
}

void pages_forget(struct private_core *c)
{
	memset(c->pages, 0, sizeof(c->pages));
	for (unsigned i = 0; i < RECENT_PAGES; i++)
		c->pages[i].va = UINT64_MAX; /* no va is less than 1 above it */
	c->code = c->pages[0];
	c->latest = &c->pages[0];
	c->page_shift = 12;
	c->no_tag = 0;
}

/* Runs the walk from cycle t on; returns when it completes. */
static uint64_t walk(struct memory *s, unsigned core, unsigned thread, uint64_t va, uint64_t page_bytes,
                     enum translate_for what, uint64_t t)
{
	struct private_core *c = &s->core[core];
	const uint64_t low = va & ((1ull << 39) - 1);
	const uint64_t at[4] = { PML4_AT + (va >> 39 & 511) * 8, PDPTE_AT + (low >> 30) * 8, PDE_AT + (low >> 21) * 8,
	                         PTE_AT + (low >> 12) * 8 };
	struct tlb *cached[3] = { &c->pml4, &c->pdpte, &c->pde };
	static const unsigned shift[3] = { 39, 30, 21 };
	const unsigned leaf = page_bytes == 1ull << 12 ? 3 : page_bytes == 1ull << 21 ? 2 : 1;
	unsigned first = 0;
	uint64_t ready;
	for (unsigned i = leaf; i-- > 0;)
		if (look(cached[i], va, shift[i], 0, &ready) != CACHE_NONE) {
			first = i + 1;
			t = ready > t ? ready : t;
			break;
		}
	if (what == FOR_LOAD && leaf == 3 && first < 3)
		signal_pulse(s->signals[thread], SIG_DTLB_PDE_MISS, t, 1);
	t += c->m->walk_cycles;
	for (unsigned i = first; i <= leaf; i++) {
		const struct mem_request q = { .kind = MEM_WALK, .core = core, .thread = thread, .va = va,
		                               .pa = at[i], .bytes = 8, .cycle = t };
		struct mem_reply r;
		memory_access(s, &q, &r);
		t = r.ready;
		if (i < leaf)
			(void)tlb_put(cached[i], page_tag(va, shift[i]), 0, t);
	}
	return t;
}

/* Not the page that was found last. */
static __attribute__((noinline)) enum status translate_slow(struct memory *s, unsigned core, unsigned thread, uint64_t va,
                                                            enum translate_for what, uint64_t cycle, struct tlb_reply *r)
{
	static const enum signal miss[] = { [FOR_LOAD] = SIG_DTLB_MISS, [FOR_CODE] = SIG_ITLB_MISS, [FOR_STORE] = SIG_DTLB_STORE_MISS };
	static const enum signal second[] = { [FOR_LOAD] = SIG_DTLB_STLB_HIT, [FOR_CODE] = SIG_ITLB_STLB_HIT,
	                                      [FOR_STORE] = SIG_DTLB_STORE_STLB_HIT };
	static const enum signal done[] = { [FOR_LOAD] = SIG_DTLB_WALK_COMPLETED, [FOR_CODE] = SIG_ITLB_WALK_COMPLETED,
	                                    [FOR_STORE] = SIG_DTLB_STORE_WALK_COMPLETED };
	static const enum signal busy[] = { [FOR_LOAD] = SIG_DTLB_WALK_CYCLES, [FOR_CODE] = SIG_ITLB_WALK_CYCLES,
	                                    [FOR_STORE] = SIG_DTLB_STORE_WALK_CYCLES };
	struct private_core *c = &s->core[core];
	const struct level l = first_level(c, what);
	struct found f;
	uint64_t ready;
	/* a page is in one of them: try the one that hit last first */
	const bool large = what == FOR_CODE ? c->code.last == (1ull << 21) - 1 : c->page_shift == 21;
	if ((large && look_first(l.large, va, 21, &f, &ready)) || look_first(l.small, va, 12, &f, &ready) ||
	    (!large && look_first(l.large, va, 21, &f, &ready)) || look_first(l.huge, va, 30, &f, &ready)) {
		const uint64_t pa = *page_address(f.in, f.i) + (va & ((1ull << f.shift) - 1));
		r->pa = pa;
		remember(s, c, what, va, pa, f, ready);
		if (ready > cycle) { /* its walk is in flight */
			r->ready = ready;
			r->level = 3;
			signal_pulse(s->signals[thread], miss[what], cycle, 1);
		} else if (what == FOR_CODE && f.shift == 21) {
			signal_pulse(s->signals[thread], SIG_ITLB_LARGE_HIT, cycle, 1);
		}
		return ST_OK;
	}
	struct page_info page;
	if (!s->pages(s->self, va, &page))
		return ST_FAULT;
	signal_pulse(s->signals[thread], miss[what], cycle, 1);
	uint64_t t = cycle;
	bool hit = false;
	if (has(&c->stlb)) {
		t += c->m->stlb_cycles;
		hit = look(&c->stlb, va, 12, 0, &ready) != CACHE_NONE ||
			(c->m->stlb_large && look(&c->stlb, va, 21, TAG_LARGE, &ready) != CACHE_NONE) ||
			look(&c->stlb_huge, va, 30, 0, &ready) != CACHE_NONE;
	}
	const uint64_t pa = page.pa + (va & (page.page_bytes - 1));
	r->pa = pa;
	if (hit) {
		r->level = 2;
		r->ready = ready > t ? ready : t;
		signal_pulse(s->signals[thread], second[what], cycle, 1);
	} else {
		const uint64_t from = pool_start(&c->walkers, t, 1, 0);
		r->level = 3;
		r->walk_from = from;
		r->walk_to = r->ready = walk(s, core, thread, va, page.page_bytes, what, from);
		pool_add(&c->walkers, from, r->ready, 0, 0);
		signal_pulse(s->signals[thread], done[what], r->ready, 1);
		signal_level(s->signals[thread], busy[what], from, r->ready, 1);
		if (page.page_bytes == 1ull << 12)
			(void)tlb_put(&c->stlb, page_tag(va, 12), pa & ~0xFFFull, r->ready);
		else if (page.page_bytes == 1ull << 21 && c->m->stlb_large)
			(void)tlb_put(&c->stlb, page_tag(va, 21) | TAG_LARGE, pa & ~((1ull << 21) - 1), r->ready);
		else if (page.page_bytes == 1ull << 30)
			(void)tlb_put(&c->stlb_huge, page_tag(va, 30), pa & ~((1ull << 30) - 1), r->ready);
	}
	remember(s, c, what, va, pa, first_put(l, va, pa, page.page_bytes, r->ready), r->ready);
	return ST_OK;
}

enum status memory_translate(struct memory *s, unsigned core, unsigned thread, uint64_t va, enum translate_for what,
                             uint64_t cycle, struct tlb_reply *r)
{
	struct private_core *c = &s->core[core];
	r->walk_from = r->walk_to = cycle;
	r->level = 1;
	r->ready = cycle;
	const struct recent_page *p = what != FOR_CODE ? page_known(c, va, cycle) :
		va - c->code.va <= c->code.last && c->code.ready <= cycle ? &c->code : NULL;
	if (!p)
		return translate_slow(s, core, thread, va, what, cycle, r);
	r->pa = p->pa + (va - p->va);
	if (what == FOR_CODE && p->last == (1ull << 21) - 1)
		signal_pulse(s->signals[thread], SIG_ITLB_LARGE_HIT, cycle, 1);
	return ST_OK;
}

static void tlb_flush(struct tlb *t, uint64_t va, uint64_t bytes, unsigned shift, uint32_t mark, uint32_t mask)
{
	for (uint32_t set = 0; set < t->c.sets; set++)
		for (uint32_t w = 0; w < t->c.ways; w++) {
			const uint32_t i = cache_first(&t->c, set) | w, tag = cache_tag(&t->c, i);
			if (tag == CACHE_NONE || (tag & mask) != mark)
				continue;
			const uint32_t first = page_tag(va, shift), last = page_tag(va + bytes - 1, shift), page = tag & ~mask;
			if (!bytes || (page >= first && page <= last))
				cache_drop(&t->c, i);
		}
}

void memory_tlb_flush(struct memory *s, uint64_t va, uint64_t bytes)
{
	for (unsigned i = 0; i < s->cores; i++) {
		struct private_core *c = &s->core[i];
		struct tlb *const small[] = { &c->dtlb, &c->itlb }, *const large[] = { &c->dtlb_large, &c->itlb_large, &c->pde },
		           *const huge[] = { &c->dtlb_huge, &c->stlb_huge, &c->pdpte };
		for (unsigned j = 0; j < COUNT_OF(small); j++)
			tlb_flush(small[j], va, bytes, 12, 0, 0);
		for (unsigned j = 0; j < COUNT_OF(large); j++)
			tlb_flush(large[j], va, bytes, 21, 0, 0);
		for (unsigned j = 0; j < COUNT_OF(huge); j++)
			tlb_flush(huge[j], va, bytes, 30, 0, 0);
		tlb_flush(&c->stlb, va, bytes, 12, 0, TAG_LARGE);
		tlb_flush(&c->stlb, va, bytes, 21, TAG_LARGE, TAG_LARGE);
		tlb_flush(&c->pml4, va, bytes, 39, 0, 0);
		pages_forget(c);
	}
}

static void tlb_empty(struct tlb *t)
{
	for (uint32_t set = 0; set < t->c.sets; set++)
		for (uint32_t w = 0; w < t->c.ways; w++) {
			const uint32_t i = cache_first(&t->c, set) | w;
			if (cache_tag(&t->c, i) != CACHE_NONE)
				cache_drop(&t->c, i);
		}
}

void memory_cr3_load(struct memory *s, unsigned core)
{
	struct private_core *c = &s->core[core];
	struct tlb *const all[] = { &c->dtlb, &c->dtlb_large, &c->dtlb_huge, &c->itlb, &c->itlb_large, &c->stlb, &c->stlb_huge, &c->pde,
	                            &c->pdpte, &c->pml4 };
	for (unsigned i = 0; i < COUNT_OF(all); i++)
		tlb_empty(all[i]);
	pages_forget(c);
}
