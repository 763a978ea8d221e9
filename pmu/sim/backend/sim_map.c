/* pmu/sim/backend/sim_map.c: the simulated machine's address space: which virtual addresses are mapped, at
 * which physical addresses, and where their bytes are in this program.
 *
 * Not modelled: page tables in memory (tlb.c makes up their addresses), permissions, accessed and dirty bits. */
#include "pmu/sim/backend/sim_state.h"
#include "asm/kernel.h"

/* In the machine's own address space. */
static const struct mapping *own_find(const struct sim *s, uint64_t va, uint64_t bytes)
{
	for (unsigned i = 0; i < s->map_count; i++) {
		const struct mapping *m = &s->maps[i].m;
		if (va - m->va < m->bytes && bytes <= m->bytes - (va - m->va))
			return m;
	}
	return NULL;
}

const struct mapping *sim_find(struct sim *s, uint64_t va, uint64_t bytes)
{
	return s->space.page ? sim_space_find(s, va, bytes) : own_find(s, va, bytes);
}

bool sim_page(void *sim, uint64_t va, struct page_info *out)
{
	struct sim *s = sim;
	if (s->space.page)
		return sim_space_page(s, va, out);
	const struct mapping *m = own_find(sim, va, 1);
	if (!m)
		return false;
	*out = (struct page_info){ .pa = m->pa + ((va - m->va) & ~(m->page_bytes - 1)), .page_bytes = m->page_bytes,
	                           .node = m->node, .executable = m->executable };
	return true;
}

/* The lowest stretch of the node's memory that no mapping has; ST_FULL when there is none. */
static enum status physical_address(const struct sim *s, const struct mapping *m, uint64_t *pa)
{
	uint64_t base = m->node * s->m.dram_node_bytes, end = base + s->m.dram_node_bytes;
	uint64_t at = (base + m->page_bytes - 1) & ~(m->page_bytes - 1);
	for (bool moved = true; moved;) {
		moved = false;
		for (unsigned i = 0; i < s->map_count; i++) {
			const struct mapping *o = &s->maps[i].m;
			if (at < o->pa + o->bytes && o->pa < at + m->bytes) {
				at = (o->pa + o->bytes + m->page_bytes - 1) & ~(m->page_bytes - 1);
				moved = true;
			}
		}
	}
	if (at + m->bytes > end)
		return ST_FULL;
	*pa = at;
	return ST_OK;
}

enum status sim_map(struct sim *s, struct mapping *m, bool own)
{
	uint64_t page = m->page_bytes;
	if (page != PAGE_4K && page != PAGE_2M && page != PAGE_1G)
		return ST_RANGE;
	if (page == PAGE_1G && !(s->m.cpuid_isa & ISA_1G))
		return ST_UNSUPPORTED;
	if (!m->bytes || m->bytes % page || m->va % page || m->node >= s->access.nodes || m->va < SPACE_BASE ||
	    m->va >= SPACE_END || m->bytes > SPACE_END - m->va)
		return ST_RANGE;
	for (unsigned i = 0; i < s->map_count; i++) {
		const struct mapping *o = &s->maps[i].m;
		if (m->va < o->va + o->bytes && o->va < m->va + m->bytes)
			return ST_REFUSED;
	}
	if (s->map_count == MAPPINGS_MAX)
		return ST_FULL;
	uint64_t pa;
	enum status st = physical_address(s, m, &pa);
	if (st != ST_OK)
		return st;
	void *host = s->from.get(s->from.self, m->bytes);
	if (!host)
		return ST_FULL;
	m->repeats = false;
	m->host = host;
	m->pa = pa;
	m->owner = s;
	memory_cleared(s->memory, pa, m->bytes);
	s->maps[s->map_count++] = (struct map_entry){ *m, own };
	return ST_OK;
}

/* Drops all that refers to the range: decoded code, translations, exec's fast path. */
static void forget(struct sim *s, const struct mapping *m)
{
	memory_tlb_flush(s->memory, m->va, m->bytes);
	memset(s->ranges, 0, sizeof(s->ranges));
	if (m->executable && s->memo)
		memo_forget(s->memo);
	for (unsigned i = 0; m->executable && i < s->threads; i++)
		if (s->harts[i].core) /* it has run */
			core_forget_code(s->harts[i].core, m->va, m->bytes);
	struct code_entry *code;
	for (unsigned kind = 0; m->executable && (code = sim_code_of(s, kind)) != NULL; kind++)
		for (unsigned i = 0; i < CODE_ENTRIES; i++)
			if (code[i].ip - m->va < m->bytes)
				code[i].ip = 0;
}

enum status sim_unmap(struct sim *s, struct mapping *m)
{
	for (unsigned i = 0; i < s->map_count; i++) {
		struct map_entry *e = &s->maps[i];
		if (e->own || e->m.va != m->va || e->m.bytes != m->bytes)
			continue;
		forget(s, &e->m);
		s->from.put(s->from.self, e->m.host, e->m.bytes);
		*e = s->maps[--s->map_count];
		m->host = NULL;
		m->owner = NULL;
		m->pa = 0;
		return ST_OK;
	}
	return ST_MISSING;
}

void sim_unmap_all(struct sim *s)
{
	while (s->map_count) {
		struct mapping *m = &s->maps[--s->map_count].m;
		s->from.put(s->from.self, m->host, m->bytes);
	}
}
