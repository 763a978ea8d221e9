/* MESIF: the source of an access and the states after it, against a table, against a dictionary of states on random
 * sequences, and by invariants on caches so small that every access evicts. */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "pmu/sim/memory/socket.h"
#include "tests/unit/rigs/memory_rig.h"

#define FAR 100000u
#define SOCKETS 2
#define CORES 4 /* a socket */
#define LINES 64

/* ---- the dictionary: for caches that never have to evict ------------------------------------ */

struct entry { char core[SOCKETS * CORES]; char socket[SOCKETS]; bool l3[SOCKETS]; };
enum kind { INCLUSIVE, VICTIM, NO_L3 };
struct dictionary { enum kind kind; bool as_dram; struct entry line[LINES]; };

static bool owned(char state) { return state == 'E' || state == 'M'; }

static void drop_socket(struct entry *e, unsigned socket)
{
	e->socket[socket] = 'I';
	e->l3[socket] = false;
	for (unsigned c = 0; c < CORES; c++)
		e->core[socket * CORES + c] = 'I';
}

static bool core_has_modified(const struct entry *e, unsigned socket)
{
	for (unsigned c = 0; c < CORES; c++)
		if (e->core[socket * CORES + c] == 'M')
			return true;
	return false;
}

static enum mem_source from_dram(unsigned socket, unsigned home)
{
	return home == socket ? SRC_LOCAL_DRAM : SRC_REMOTE_DRAM;
}

static enum mem_source says_load(struct dictionary *d, unsigned line, unsigned core, unsigned home)
{
	struct entry *e = &d->line[line];
	const unsigned k = core / CORES, o = 1 - k;
	if (e->core[core] != 'I')
		return SRC_L1;
	if (e->socket[k] != 'I') {
		unsigned n = 0, last = 0;
		for (unsigned c = k * CORES; c < (k + 1) * CORES; c++)
			if (e->core[c] != 'I') {
				n++;
				last = c;
			}
		enum mem_source from = n && !e->l3[k] ? SRC_L3_OTHER_CLEAN : SRC_L3_UNSHARED;
		if (n == 1 && owned(e->socket[k])) {
			from = e->core[last] == 'M' ? SRC_L3_OTHER_MODIFIED : SRC_L3_OTHER_CLEAN;
			if (e->core[last] == 'M') {
				e->socket[k] = d->kind == NO_L3 ? 'E' : 'M';
				e->l3[k] = d->kind != NO_L3;
			}
			e->core[last] = 'S';
		}
		e->core[core] = n ? 'S' : owned(e->socket[k]) ? 'E' : 'S';
		return from;
	}
	e->l3[k] = d->kind == INCLUSIVE;
	if (e->socket[o] == 'I') {
		e->socket[k] = e->core[core] = 'E';
		return from_dram(k, home);
	}
	enum mem_source from = from_dram(k, home);
	if (e->socket[o] == 'M' || core_has_modified(e, o)) {
		if (!d->as_dram)
			from = SRC_REMOTE_MODIFIED;
	} else if (e->socket[o] != 'S') {
		from = SRC_REMOTE_CLEAN;
	}
	for (unsigned c = o * CORES; c < (o + 1) * CORES; c++)
		if (e->core[c] != 'I')
			e->core[c] = 'S';
	e->socket[o] = 'S';
	e->socket[k] = 'F';
	e->core[core] = 'S';
	return from;
}

static enum mem_source says_store(struct dictionary *d, unsigned line, unsigned core, unsigned home)
{
	struct entry *e = &d->line[line];
	const unsigned k = core / CORES, o = 1 - k;
	if (owned(e->core[core])) {
		e->core[core] = 'M';
		return SRC_L1;
	}
	enum mem_source from;
	char left = 'E';
	if (e->socket[k] != 'I') {
		bool modified = core_has_modified(e, k), others = false;
		for (unsigned c = k * CORES; c < (k + 1) * CORES; c++)
			others |= c != core && e->core[c] != 'I';
		from = modified ? SRC_L3_OTHER_MODIFIED : others ? SRC_L3_OTHER_CLEAN : SRC_L3_UNSHARED;
		if (!owned(e->socket[k]) && e->socket[o] != 'I' && !others)
			from = SRC_REMOTE_CLEAN;
		if (d->kind == INCLUSIVE && (modified || e->socket[k] == 'M'))
			left = 'M';
	} else if (e->socket[o] == 'M' || core_has_modified(e, o)) {
		from = SRC_REMOTE_MODIFIED;
	} else if (e->socket[o] == 'E' || e->socket[o] == 'F') {
		from = SRC_REMOTE_CLEAN;
	} else {
		from = from_dram(k, home);
	}
	drop_socket(e, o);
	drop_socket(e, k);
	e->socket[k] = left;
	e->l3[k] = d->kind == INCLUSIVE;
	e->core[core] = 'M';
	return from;
}

/* ---- the model's states --------------------------------------------------------------------- */

static char letter(enum line_state state) { return "ISFEM"[state]; }

static char model_core(const struct memory *s, unsigned core, uint32_t line)
{
	return letter(cluster_state(s, &s->cluster[core], line));
}

static char model_socket(const struct memory *s, unsigned socket, uint32_t line)
{
	const struct socket *k = &s->socket[socket];
	return letter(socket_state(s, k, socket_find(k, line)));
}

static void compare(const struct rig *r, const struct dictionary *d, unsigned line, uint64_t pa, unsigned step)
{
	const struct entry *e = &d->line[line];
	const uint32_t n = line_of(r->s, pa);
	for (unsigned c = 0; c < SOCKETS * CORES; c++)
		if (model_core(r->s, c, n) != e->core[c])
			fail_msg("step %u line %u: core %u has %c, expected %c", step, line, c, model_core(r->s, c, n), e->core[c]);
	for (unsigned k = 0; k < SOCKETS; k++)
		if (model_socket(r->s, k, n) != e->socket[k])
			fail_msg("step %u line %u: socket %u has %c, expected %c", step, line, k, model_socket(r->s, k, n), e->socket[k]);
}

static uint64_t load_cycles(const struct machine *m, enum mem_source source)
{
	const bool l3 = m->l3_bytes;
	const uint64_t l = l3 ? rig_l3(m, 0) : m->l2_cycles;
	const uint64_t up[2] = { m->l3_clean_uncore_cycles, m->l3_modified_uncore_cycles };
	const unsigned modified = source == SRC_L3_OTHER_MODIFIED;
	switch (source) {
	case SRC_L1: return m->l1d_cycles;
	case SRC_L3_UNSHARED: return l;
	case SRC_L3_OTHER_CLEAN:
	case SRC_L3_OTHER_MODIFIED:
		return l3 ? rig_l3(m, up[modified]) :
			l + (up[modified] * m->tick_per_uncore_cycle + m->tick_per_core_cycle - 1) / m->tick_per_core_cycle;
	case SRC_REMOTE_CLEAN: return l + rig_ps(m, m->link_clean_ps);
	case SRC_REMOTE_MODIFIED: return l + rig_ps(m, m->link_modified_ps);
	case SRC_LOCAL_DRAM: return l + rig_ps(m, m->dram_local_ps);
	case SRC_REMOTE_DRAM: return l + rig_ps(m, m->dram_remote_ps);
	default: fail_msg("source %d", source); return 0;
	}
}

static uint64_t random_state;
static unsigned dice(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)((random_state >> 33) % n);
}

/* Lines of all sets; half of them have their home in each node. */
static uint64_t address(const struct rig *r, unsigned line)
{
	return (line & 1 ? r->m.dram_node_bytes : 0) + 0x40000 + (uint64_t)line * 64;
}

static void against_dictionary(enum kind kind, bool as_dram, uint64_t seed)
{
	struct rig r;
	struct dictionary d = { .kind = kind, .as_dram = as_dram };
	rig_preset(&r);
	r.m.l3_inclusive = kind == INCLUSIVE;
	if (kind == NO_L3)
		r.m.l3_bytes = 0;
	r.m.link_modified_as_dram = as_dram;
	rig_open(&r);
	memset(d.line, 'I', sizeof(d.line));
	for (unsigned i = 0; i < LINES; i++)
		d.line[i].l3[0] = d.line[i].l3[1] = false;
	random_state = seed;
	uint64_t t = 0;
	for (unsigned step = 0; step < 40000; step++) {
		const unsigned line = dice(LINES), core = dice(SOCKETS * CORES), what = dice(20), home = line & 1;
		const uint64_t pa = address(&r, line);
		t += FAR;
		if (what == 0) {
			(void)rig_access(&r, core, MEM_FLUSH, pa, t);
			drop_socket(&d.line[line], 0);
			drop_socket(&d.line[line], 1);
		} else if (what < 8) {
			const enum mem_source from = says_store(&d, line, core, home);
			assert_int_equal(rig_access(&r, core, MEM_RFO, pa, t).source, from);
		} else {
			const bool modified = d.line[line].socket[1 - core / CORES] == 'M' || core_has_modified(&d.line[line], 1 - core / CORES);
			const bool fetched = as_dram && modified && d.line[line].socket[core / CORES] == 'I';
			const enum mem_source from = says_load(&d, line, core, home);
			const struct mem_reply a = rig_access(&r, core, MEM_LOAD, pa, t);
			assert_int_equal(a.source, from);
			assert_int_equal(a.ready - t, load_cycles(&r.m, fetched ? SRC_REMOTE_MODIFIED : from));
		}
		compare(&r, &d, line, pa, step);
	}
	rig_close(&r);
}

static void test_mesif_follows_the_dictionary(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 3; seed++) {
		against_dictionary(INCLUSIVE, false, seed);
		against_dictionary(INCLUSIVE, true, seed + 10);
		against_dictionary(VICTIM, false, seed + 20);
		against_dictionary(NO_L3, false, seed + 30);
	}
}

/* ---- a table of scenes ---------------------------------------------------------------------- */

enum doing { LOAD = MEM_LOAD, STORE = MEM_RFO, FLUSH = MEM_FLUSH };
struct act { int core; enum doing what; };
struct scene { const char *name; struct act before[4]; struct act then; enum mem_source source; char left[4]; };
/* Cores 0 to 3 on socket 0, 4 to 7 on socket 1; home is node 0; left: states of cores 0, 1, 4, 5. */
static const struct scene scenes[] = {
	{ "nobody", { { -1, LOAD } }, { 0, LOAD }, SRC_LOCAL_DRAM, "EIII" },
	{ "nobody, other socket asks", { { -1, LOAD } }, { 4, LOAD }, SRC_REMOTE_DRAM, "IIEI" },
	{ "E in another core", { { 1, LOAD }, { -1, LOAD } }, { 0, LOAD }, SRC_L3_OTHER_CLEAN, "SSII" },
	{ "M in another core", { { 1, STORE }, { -1, LOAD } }, { 0, LOAD }, SRC_L3_OTHER_MODIFIED, "SSII" },
	{ "S in two cores", { { 1, LOAD }, { 2, LOAD }, { -1, LOAD } }, { 0, LOAD }, SRC_L3_UNSHARED, "SSII" },
	{ "E in the other socket", { { 4, LOAD }, { -1, LOAD } }, { 0, LOAD }, SRC_REMOTE_CLEAN, "SISI" },
	{ "M in the other socket", { { 4, STORE }, { -1, LOAD } }, { 0, LOAD }, SRC_REMOTE_MODIFIED, "SISI" },
	{ "F here, second core of the other socket", { { 4, LOAD }, { 0, LOAD }, { -1, LOAD } }, { 5, LOAD }, SRC_L3_UNSHARED, "SISS" },
	{ "store to shared in two sockets", { { 4, LOAD }, { 0, LOAD }, { -1, LOAD } }, { 0, STORE }, SRC_REMOTE_CLEAN, "MIII" },
	{ "store to M elsewhere", { { 4, STORE }, { -1, LOAD } }, { 0, STORE }, SRC_REMOTE_MODIFIED, "MIII" },
	{ "store to E of its own", { { 0, LOAD }, { -1, LOAD } }, { 0, STORE }, SRC_L1, "MIII" },
	{ "flushed", { { 1, STORE }, { 0, FLUSH }, { -1, LOAD } }, { 0, LOAD }, SRC_LOCAL_DRAM, "EIII" },
};

static void test_mesif_accesses_end_in_the_protocols_states(void **state)
{
	(void)state;
	static const unsigned shown[4] = { 0, 1, 4, 5 };
	for (unsigned i = 0; i < COUNT_OF(scenes); i++) {
		const struct scene *c = &scenes[i];
		struct rig r;
		rig_preset(&r);
		r.m.link_modified_as_dram = 0;
		rig_open(&r);
		uint64_t t = FAR;
		for (unsigned j = 0; c->before[j].core >= 0; j++, t += FAR)
			(void)rig_access(&r, (unsigned)c->before[j].core, (enum mem_kind)c->before[j].what, 0x40000, t);
		const struct mem_reply a = rig_access(&r, (unsigned)c->then.core, (enum mem_kind)c->then.what, 0x40000, t);
		if (a.source != c->source)
			fail_msg("%s: source %d, expected %d", c->name, a.source, c->source);
		for (unsigned j = 0; j < 4; j++)
			if (model_core(r.s, shown[j], line_of(r.s, 0x40000)) != c->left[j])
				fail_msg("%s: core %u has %c, expected %c", c->name, shown[j],
				         model_core(r.s, shown[j], line_of(r.s, 0x40000)), c->left[j]);
		rig_close(&r);
	}
}

/* A clean line is evicted from the private caches silently: the L3 still snoops the core that had it. */
static void test_mesif_silent_eviction_costs_a_snoop(void **state)
{
	(void)state;
	struct rig r;
	rig_preset(&r);
	rig_open(&r);
	uint64_t t = FAR;
	(void)rig_access(&r, 1, MEM_LOAD, 0x40000, t);
	for (unsigned i = 1; i <= 9; i++) /* same set of L1D and L2 */
		(void)rig_access(&r, 1, MEM_LOAD, 0x40000 + i * 512 * 64, t += FAR);
	assert_int_equal(model_core(r.s, 1, line_of(r.s, 0x40000)), 'I');
	struct mem_reply a = rig_access(&r, 0, MEM_LOAD, 0x40000, t += FAR);
	assert_int_equal(a.source, SRC_L3_UNSHARED);
	assert_int_equal(a.ready - t, load_cycles(&r.m, SRC_L3_OTHER_CLEAN));
	(void)rig_access(&r, 0, MEM_LOAD, 0x40000, t += FAR);
	for (unsigned i = 1; i <= 9; i++)
		(void)rig_access(&r, 0, MEM_LOAD, 0x40000 + i * 512 * 64, t += FAR);
	a = rig_access(&r, 0, MEM_LOAD, 0x40000, t += FAR); /* its own: no snoop */
	assert_int_equal(a.ready - t, load_cycles(&r.m, SRC_L3_UNSHARED));
	rig_close(&r);
}

/* ---- invariants while everything evicts ----------------------------------------------------- */

static void count_writes(void *self, unsigned socket, unsigned unit, enum uncore_signal sig, uint64_t from, uint64_t to, unsigned n, const struct uncore_attributes *about)
{
	(void)socket; (void)unit; (void)sig; (void)from, (void)to, (void)about;
	*(unsigned *)self += n;
}

static bool dirty_somewhere(const struct memory *s, uint32_t n)
{
	for (unsigned k = 0; k < s->clusters; k++)
		if (cluster_state(s, &s->cluster[k], n) == LINE_M)
			return true;
	for (unsigned k = 0; k < s->sockets; k++)
		if (model_socket(s, k, n) == 'M')
			return true;
	return false;
}

static void check_line(const struct memory *s, uint32_t n, unsigned step)
{
	unsigned owners = 0, sharers = 0, sockets_owning = 0, sockets_having = 0, forwarding = 0;
	for (unsigned k = 0; k < s->sockets; k++) {
		const struct socket *x = &s->socket[k];
		const struct line_location p = socket_find(x, n);
		const char state = model_socket(s, k, n);
		uint64_t have = 0;
		for (unsigned c = 0; c < s->clusters_per_socket; c++) {
			const enum line_state l = cluster_state(s, &s->cluster[k * s->clusters_per_socket + c], n);
			have |= l == LINE_I ? 0 : 1ull << c;
			owners += l >= LINE_E;
			sharers += l != LINE_I;
		}
		const uint64_t mask = socket_holders(s, x, p);
		if (s->inclusive ? (have & ~mask) != 0 || (have && p.l3 == CACHE_NONE) : have != mask)
			fail_msg("step %u: line %x: held by %llx, mask says %llx", step, n, (unsigned long long)have, (unsigned long long)mask);
		sockets_owning += state == 'E' || state == 'M';
		sockets_having += state != 'I';
		forwarding += state == 'F';
	}
	if (owners > 1 || (owners && sharers > 1))
		fail_msg("step %u: line %x: %u owners, %u holders", step, n, owners, sharers);
	if (sockets_owning > 1 || (sockets_owning && sockets_having > 1) || forwarding > 1)
		fail_msg("step %u: line %x: %u sockets own, %u have, %u forward", step, n, sockets_owning, sockets_having, forwarding);
}

static void squeeze(enum kind kind, unsigned l2_cores, uint64_t policy, uint64_t seed)
{
	struct rig r;
	unsigned writes = 0;
	struct uncore_sink sink = { .self = &writes, .deliver = count_writes };
	sink.listen[UNC_MEMORY_WRITE_FULL / 64] |= 1ull << (UNC_MEMORY_WRITE_FULL % 64);
	rig_preset(&r);
	r.m.l1d_bytes = 512;
	r.m.l1d_ways = 2;
	r.m.l1i_bytes = 256;
	r.m.l1i_ways = 2;
	r.m.l2_bytes = 1024;
	r.m.l2_ways = 4;
	r.m.l2_cores = l2_cores;
	r.m.l3_bytes = kind == NO_L3 ? 0 : kind == VICTIM ? 2048 : 5 * 1024;
	r.m.l3_ways = kind == VICTIM ? 4 : 5;
	r.m.l3_slices = 2;
	r.m.l3_hash = 1;
	r.m.l3_inclusive = kind == INCLUSIVE;
	r.m.l1d_policy = r.m.l2_policy = r.m.l3_policy = policy;
	rig_open(&r);
	memory_uncore(r.s, &sink);
	random_state = seed;
	bool dirty[LINES * 2] = { false };
	uint64_t t = FAR;
	for (unsigned step = 0; step < 20000; step++) {
		const unsigned line = dice(LINES * 2), core = dice(SOCKETS * CORES), what = dice(16);
		const enum mem_kind kinds[] = { MEM_FLUSH, MEM_IFETCH, MEM_IFETCH, MEM_PREFETCH_T1, MEM_PREFETCH_W };
		const enum mem_kind k = what < COUNT_OF(kinds) ? kinds[what] : what < 10 ? MEM_RFO : MEM_LOAD;
		writes = 0;
		t += dice(2) ? FAR : dice(50);
		(void)rig_access(&r, core, k, address(&r, line), t);
		unsigned cleaned = 0;
		for (unsigned i = 0; i < LINES * 2; i++) {
			const uint32_t n = line_of(r.s, address(&r, i));
			const bool now = dirty_somewhere(r.s, n);
			cleaned += dirty[i] && !now;
			if (!dirty[i] && now && !(i == line && (k == MEM_RFO || k == MEM_PREFETCH_W)))
				fail_msg("step %u: line %u became modified by itself", step, i);
			dirty[i] = now;
			check_line(r.s, n, step);
		}
		if (cleaned != writes)
			fail_msg("step %u: %u modified lines became clean, %u were written to memory", step, cleaned, writes);
	}
	rig_close(&r);
}

static void test_mesif_invariants_hold_with_an_inclusive_l3(void **state)
{
	(void)state;
	squeeze(INCLUSIVE, 1, REPLACE_LRU, 1);
	squeeze(INCLUSIVE, 1, REPLACE_RANDOM, 2);
	squeeze(INCLUSIVE, 2, REPLACE_LRU, 3);
}

static void test_mesif_invariants_hold_with_a_victim_l3(void **state)
{
	(void)state;
	squeeze(VICTIM, 1, REPLACE_LRU, 4);
	squeeze(VICTIM, 1, REPLACE_TREE, 5);
	squeeze(VICTIM, 2, REPLACE_RANDOM, 6);
}

static void test_mesif_invariants_hold_without_l3(void **state)
{
	(void)state;
	squeeze(NO_L3, 1, REPLACE_LRU, 7);
	squeeze(NO_L3, 4, REPLACE_LRU, 8);
	squeeze(NO_L3, 2, REPLACE_TREE, 9);
}

/* ---- the compiled variants of a miss ---------------------------------------------------------- */

/* A miss is compiled several times (l2.h): a machine with a sink for the uncore (of no signal) and subscribers to lines in
 * flight takes the full variant, and must answer like a machine with neither. ways: of the L1D; quick: the memory's `quick`
 * without subscribers. */
static void both_ways(bool l2, bool inclusive, unsigned ways, unsigned slices, unsigned quick, uint64_t seed)
{
	struct rig r[2];
	unsigned writes = 0;
	const struct uncore_sink sink = { .self = &writes, .deliver = count_writes };
	for (unsigned i = 0; i < 2; i++) {
		rig_preset(&r[i]);
		r[i].m.l1d_bytes = 2048;
		r[i].m.l1d_ways = ways;
		r[i].m.l2_bytes = l2 ? 8192 : 0;
		r[i].m.l2_ways = 8;
		r[i].m.l3_bytes = inclusive ? 32768 : 0;
		r[i].m.l3_ways = 16;
		r[i].m.l3_slices = slices;
		r[i].m.prefetch_present = 15;
		rig_open(&r[i]);
	}
	memory_uncore(r[1].s, &sink);
	for (unsigned core = 0; core < SOCKETS * CORES; core++)
		rig_listen(&r[1], core * (unsigned)r[1].m.topology_threads, 0, SIG_L2_LINES_IN);
	assert_int_equal(r[0].s->quick, quick);
	assert_int_equal(r[1].s->quick, 0);
	random_state = seed;
	uint64_t t = FAR;
	for (unsigned step = 0; step < 40000; step++) {
		const unsigned core = step / 64 % 4 ? 0 : dice(SOCKETS * CORES), thread = core * (unsigned)r[0].m.topology_threads, what = dice(16);
		const uint64_t pa = step / 256 % 2 ? (uint64_t)dice(2048) * 64 : (uint64_t)(step % 2048) * 64;
		const uint64_t at = t + dice(40), ip = 0x400000 + dice(4);
		struct data_reply a[2];
		for (unsigned i = 0; i < 2; i++) {
			memset(&a[i], 0, sizeof(a[i]));
			if (what == 0)
				a[i].ready = rig_access(&r[i], core, MEM_FLUSH, pa, at).ready;
			else if (what < 5)
				assert_int_equal(memory_store(r[i].s, core, thread, ip, RIG_VA + pa, 8, at, &a[i]), ST_OK);
			else
				assert_int_equal(memory_load(r[i].s, core, thread, ip, RIG_VA + pa, 8, at, &a[i]), ST_OK);
		}
		if (a[0].ready != a[1].ready || a[0].source != a[1].source || a[0].translated != a[1].translated)
			fail_msg("step %u: line %llx ready in %llu and %llu, from %d and %d", step, (unsigned long long)pa / 64,
			         (unsigned long long)a[0].ready, (unsigned long long)a[1].ready, (int)a[0].source, (int)a[1].source);
		t += dice(64) ? dice(8) : FAR;
	}
	rig_close(&r[0]);
	rig_close(&r[1]);
}

static void test_mesif_misses_are_the_same_without_subscribers(void **state)
{
	(void)state;
	both_ways(true, true, 8, 1, 2, 9);
	both_ways(true, true, 8, 2, 1, 10);
	both_ways(true, true, 4, 2, 0, 14);
	both_ways(true, false, 8, 2, 0, 11);
	both_ways(false, true, 8, 2, 0, 12);
	both_ways(false, false, 4, 2, 0, 13);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mesif_accesses_end_in_the_protocols_states),
		cmocka_unit_test(test_mesif_follows_the_dictionary),
		cmocka_unit_test(test_mesif_silent_eviction_costs_a_snoop),
		cmocka_unit_test(test_mesif_invariants_hold_with_an_inclusive_l3),
		cmocka_unit_test(test_mesif_invariants_hold_with_a_victim_l3),
		cmocka_unit_test(test_mesif_invariants_hold_without_l3),
		cmocka_unit_test(test_mesif_misses_are_the_same_without_subscribers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
