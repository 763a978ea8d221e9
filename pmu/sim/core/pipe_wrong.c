/* pmu/sim/core/pipe_wrong.c: the wrong path: code behind a mispredicted branch until it resolves. The rules stand in
 * core.c.
 *
 * Not modelled: cache and TLB accesses and faults of a wrong path; branches on it that resolve before the first one does. */
#include "pmu/sim/core/pipe.h"

/* Uops delivered from the wrong path that find no room before the branch resolves. */
static PIPE_INLINE void wrong_late(struct core_thread *c, uint64_t delivered, uint64_t resolved, const bool quick)
{
	if (!quick && delivered < resolved && c->alloc < resolved)
		pipe_emit_slots(c, delivered, resolved);
}

/* One group of the wrong path; false: it would come after the branch resolves, and so would all that follow. */
static PIPE_INLINE bool wrong_group(struct core_thread *c, const struct core_plan *p, const unsigned parts, const bool ported, uint64_t delivered,
                                    enum wait_reason why, uint64_t resolved, const bool quick)
{
	/* check first: a group that would come too late changes nothing */
	uint64_t t = max_cycle(max_cycle(c->alloc + (c->slots >= c->width), delivered), c->barrier);
	c->wrong_path_late = delivered >= resolved;
	if (t >= resolved || c->rob[c->rob_at] >= resolved) {
		wrong_late(c, delivered, resolved, quick);
		return false;
	}
	const unsigned entries = !ported ? 0 : c->m->core_rs_unfused ? part_count(parts) : 1;
	if (entries) {
		pipe_rs_catch_up(c, t);
		if (c->rs_in_use + entries > c->rs_size && pipe_rs_next(c) + 1 >= resolved) {
			wrong_late(c, delivered, resolved, quick);
			return false;
		}
	}
	t = pipe_allocate(c, p, parts & ~(unsigned)(PART_LOAD | PART_STA), entries, delivered, why, quick);
	if (++c->rob_at >= c->rob_size)
		c->rob_at = 0;
	if (t >= resolved) {
		if (entries)
			pipe_rs_leave(c, t, entries);
		return false;
	}
	pipe_emit_issued(c, parts, t, true, quick);
	uint64_t from = t + c->dispatch_cycles, d = from, done = from;
	if (parts & PART_LOAD) {
		d = pipe_dispatch(c, c->m->exec[UC_LOAD].port_mask, pipe_address_ready(c, p, from), resolved, quick);
		done = d == UINT64_MAX ? d : d + c->m->l1d_cycles;
	}
	if (parts & PART_MAIN && p->ports) {
		d = done == UINT64_MAX ? done : pipe_dispatch(c, p->ports, max_cycle(pipe_sources_ready(c, p, from), done), resolved, quick);
		done = d == UINT64_MAX ? d : d + p->latency;
	}
	if (parts & PART_EXTRA)
		d = pipe_dispatch(c, c->m->exec[UC_MICROCODE].port_mask, from, resolved, quick);
	if (parts & PART_STA)
		d = pipe_dispatch(c, c->m->exec[UC_STA].port_mask, pipe_address_ready(c, p, from), resolved, quick);
	if (parts & PART_STD)
		d = max_cycle(d, pipe_dispatch(c, c->m->exec[UC_STD].port_mask, pipe_sources_ready(c, p, from), resolved, quick));
	if (entries)
		pipe_rs_leave(c, d < resolved ? d : resolved - 1, entries);
	if (parts & (PART_MAIN | PART_LOAD))
		for (unsigned i = 0; i < p->write_count; i++)
			c->ready[p->writes[i]] = done;
	return true;
}

/* All groups of an instruction of the wrong path; *left: ROB entries that it may still take. */
static __attribute__((noinline)) bool wrong_groups(struct core_thread *c, const struct core_plan *p, uint64_t delivered, enum wait_reason why,
                                                   uint64_t resolved, uint32_t *left, bool quick)
{
	bool came;
	if (quick && (p->shape == SHAPE_OPERATION || p->shape == SHAPE_NOP || p->shape == SHAPE_LOAD)) {
		if (p->shape == SHAPE_OPERATION)
			came = wrong_group(c, p, PART_MAIN, true, delivered, why, resolved, true);
		else if (p->shape == SHAPE_NOP)
			came = wrong_group(c, p, PART_MAIN, false, delivered, why, resolved, true);
		else
			came = wrong_group(c, p, PART_LOAD, true, delivered, why, resolved, true);
		*left -= came;
		return came;
	}
	for (unsigned g = 0; g < (unsigned)p->groups + p->extra && *left; g++, --*left) {
		const unsigned parts = g < p->groups ? p->group[g] : PART_EXTRA;
		if (!wrong_group(c, p, parts, parts != PART_MAIN || p->ports, delivered, why, resolved, false))
			return false;
	}
	return true;
}

/* The fast path for groups that take at most one entry of the reservation station. All entries of a wrong path leave before
 * the branch resolves, and nothing of the right path is allocated earlier. So while the station cannot be full, departures
 * are only remembered here, and forgotten at the end. */
#define LEFT_MOST 128
struct wrong {
	uint64_t resolved;
	uint64_t looked;           /* allocation cycle for which `most` was computed */
	uint64_t last_group, more;       /* cycle of the last group, and its groups that no signal has reported yet */
	uint32_t most;             /* entries in use at most */
	uint32_t count;            /* of left[] */
	uint64_t left[LEFT_MOST];
	bool exact;                /* the station can be full, or similar: the slow path from here on */
};

static void wrong_look(struct core_thread *c, struct wrong *w, uint64_t t)
{
	uint32_t n = 0;
	pipe_rs_catch_up(c, t);
	for (uint32_t i = 0; i < w->count; i++)
		if (w->left[i] >= t)
			w->left[n++] = w->left[i];
	w->count = n;
	w->most = c->rs_in_use + n;
	w->looked = t;
}

static __attribute__((noinline)) void wrong_exact(struct core_thread *c, struct wrong *w)
{
	for (uint32_t i = 0; i < w->count; i++)
		pipe_rs_leave(c, w->left[i], 1);
	c->rs_in_use += w->count;
	w->exact = true;
}

static PIPE_INLINE void wrong_emit(struct core_thread *c, struct wrong *w)
{
	if (w->more)
		signal_pulse_often(c->signals, SIG_UOPS_ISSUED_FUSED, w->last_group, (unsigned)w->more);
}

enum wrong_path_end { WRONG_DONE, WRONG_LATE, WRONG_OTHER };

/* One group of one of these shapes. WRONG_LATE: it comes too late; WRONG_OTHER: it needs the slow path. */
static PIPE_INLINE enum wrong_path_end wrong_short(struct core_thread *c, struct wrong *w, const struct core_plan *p, const enum plan_shape shape,
                                               uint64_t delivered)
{
	const uint64_t t = max_cycle(max_cycle(c->alloc + (c->slots >= c->width), delivered), c->barrier), rob = c->rob[c->rob_at];
	const uint64_t resolved = w->resolved;
	if (t >= resolved || rob >= resolved)
		return WRONG_LATE;
	if (rob >= t)
		return WRONG_OTHER;
	if (shape != SHAPE_NOP && (w->most >= c->rs_size || w->count >= LEFT_MOST)) {
		if (t < w->looked + 2)
			return WRONG_OTHER;
		wrong_look(c, w, t);
		if (w->most >= c->rs_size || w->count >= LEFT_MOST)
			return WRONG_OTHER;
	}
	if (shape != SHAPE_LOAD && c->register_reads && !pipe_reads_fit(c, p, PART_MAIN, t))
		return WRONG_OTHER;
	if (t != w->last_group) {
		wrong_emit(c, w);
		w->last_group = t;
		w->more = 0;
	}
	w->more++;
	c->slots = (t != c->alloc ? 0 : c->slots) + 1;
	c->alloc = t;
	c->front_ring[c->uop_number++ & (FRONT_RING - 1)] = t;
	if (++c->rob_at >= c->rob_size)
		c->rob_at = 0;
	if (shape == SHAPE_NOP)
		return WRONG_DONE;
	const bool load = shape == SHAPE_LOAD;
	const uint64_t from = t + c->dispatch_cycles, at = load ? pipe_address_ready(c, p, from) : pipe_sources_ready(c, p, from);
	uint64_t done = UINT64_MAX, left = resolved - 1;
	if (at < resolved) {
		const uint64_t d = pipe_dispatch(c, load ? c->m->exec[UC_LOAD].port_mask : p->ports, at, resolved, true);
		if (d < resolved) {
			left = d;
			done = d + (load ? c->m->l1d_cycles : p->latency);
		}
	}
	w->left[w->count++] = left;
	w->most++;
	c->ready[p->writes[0]] = c->ready[p->writes[1]] = c->ready[p->writes[2]] = done;
	if (p->write_count > 3)
		c->ready[p->writes[3]] = done;
	return WRONG_DONE;
}

/* One instruction; false: it would come after the branch resolves, and so would all that follow. */
static PIPE_INLINE bool wrong_instruction(struct core_thread *c, struct wrong *w, const struct core_plan *p, uint64_t delivered, enum wait_reason why,
                                          uint32_t *left, const bool quick)
{
	if (quick && !w->exact) {
		enum wrong_path_end came = WRONG_OTHER;
		if (p->shape == SHAPE_OPERATION)
			came = wrong_short(c, w, p, SHAPE_OPERATION, delivered);
		else if (p->shape == SHAPE_NOP)
			came = wrong_short(c, w, p, SHAPE_NOP, delivered);
		else if (p->shape == SHAPE_LOAD)
			came = wrong_short(c, w, p, SHAPE_LOAD, delivered);
		*left -= came == WRONG_DONE;
		if (came != WRONG_OTHER)
			return came == WRONG_DONE;
		wrong_exact(c, w);
	}
	return wrong_groups(c, p, delivered, why, w->resolved, left, quick);
}

/* The plan of the code at ip, which has not been executed yet; NULL: none. */
static __attribute__((noinline)) const struct core_plan *plan_at(const struct core_thread *c, uint64_t ip)
{
	const struct insn *in;
	const struct core_plan *p;
	return c->hooks->code && c->hooks->code(c->hooks->self, ip, &in, &p) ? p : NULL;
}

/* Allocates and dispatches the code after a mispredicted branch until the branch resolves. */
static PIPE_INLINE enum status wrong_path_of(struct core_thread *c, uint64_t ip, uint64_t resolved, const bool quick)
{
	uint64_t ready[PLAN_NAMES];
	struct wrong w;
	uint32_t left = c->rob_size;
	const uint32_t rob_at = c->rob_at;
	const bool streaming = c->front.streaming, from_cache = c->front.from_cache;
	const uint64_t window = c->front.uop_window;
	const uint32_t uop_window_uops = c->front.uop_window_uops;
	const struct code_entry *const known = c->hooks->known;
	memcpy(ready, c->ready, sizeof(ready));
	c->front.streaming = false;
	front_redirect(c, c->front.fetch_cycle + 1);
	w.resolved = resolved;
	w.last_group = w.more = w.count = 0;
	w.exact = !quick || resolved - c->rs_at >= CORE_RING / 2; /* further ahead the station's ring ends */
	if (!w.exact)
		wrong_look(c, &w, max_cycle(c->alloc + (c->slots >= c->width), c->barrier));
	while (ip && left) {
		const struct core_plan *p;
		uint64_t delivered;
		enum wait_reason why;
		const bool fused = c->fused_before;
		if (known && known[ip % CODE_ENTRIES].ip == ip)
			p = &known[ip % CODE_ENTRIES].plan;
		else if (!(p = plan_at(c, ip)))
			break;
		enum status s = pipe_deliver(c, p, ip, true, fused, quick, &delivered, &why);
		if (s != ST_OK)
			return s;
		if (fused)
			c->fused_before = false;
		else if (!wrong_instruction(c, &w, p, delivered, why, &left, quick))
			break;
		const uint64_t next = __builtin_expect(c->tape != NULL, 0) ? memo_guess(c, p, ip) : front_guess(c, p, ip);
		if (next != ip + p->length)
			front_redirect(c, c->front.fetch_cycle + 1);
		if (p->fuses_next)
			c->fused_before = true;
		ip = next;
	}
	if (quick)
		wrong_emit(c, &w);
	else if (!left)
		wrong_late(c, 0, resolved, false);
	memcpy(c->ready, ready, sizeof(ready));
	c->rob_at = rob_at;
	c->front.streaming = streaming;
	/* only a part of the window that the wrong path was in was decoded */
	c->front.uop_window = window;
	c->front.uop_window_uops = uop_window_uops;
	c->front.from_cache = from_cache;
	c->fused_before = false;
	return ST_OK;
}

enum status pipe_wrong_path(struct core_thread *c, uint64_t ip, uint64_t resolved)
{
	return pipe_is_quick(c) ? wrong_path_of(c, ip, resolved, true) : wrong_path_of(c, ip, resolved, false);
}
