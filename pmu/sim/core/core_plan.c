/* pmu/sim/core/core_plan.c: the cost of an instruction on a machine, computed once per decoded address.
 *
 * Parts: a load (PART_LOAD), the operation (PART_MAIN), a store's address (PART_STA) and data (PART_STD). Micro-fusion
 * joins load with operation, and address with data, into one allocation slot. Microcoded instructions have `extra` further
 * uops, one slot each.
 *
 * Not modelled: costs that depend on values (except divides' and assists'), operands that prevent micro-fusion (except
 * indexed addresses), zero idioms other than those that decode.c marks. */
#include "pmu/sim/core/core.h"

static bool is_vector_int(unsigned c)
{
	return c == UC_VEC_INT || c == UC_VEC_IMUL || c == UC_VEC_SHUFFLE;
}

static bool is_float(unsigned c)
{
	return c >= UC_FP_ADD && c <= UC_FP_SQRT64;
}

static bool is_divide(unsigned c)
{
	return c == UC_IDIV32 || c == UC_IDIV64 || (c >= UC_FP_DIV32 && c <= UC_FP_SQRT64) ||
	       c == UC_X87_DIV || c == UC_X87_SQRT;
}

/* All uops of a microcoded class, parts included; 0: none beyond the parts. */
static unsigned class_uops(const struct machine *m, const struct insn *in)
{
	if (in->lock)
		return (unsigned)m->uops_lock;
	switch (in->class) {
	case UC_IMUL128: return (unsigned)m->uops_imul128;
	case UC_IDIV32: return (unsigned)m->uops_idiv32;
	case UC_IDIV64: return (unsigned)m->uops_idiv64;
	case UC_LOCK: return (unsigned)m->uops_lock;
	case UC_MFENCE: return (unsigned)m->uops_mfence;
	case UC_CPUID: return (unsigned)m->uops_cpuid;
	case UC_RDTSC: return (unsigned)m->uops_rdtsc;
	case UC_RDPMC: return (unsigned)m->uops_rdpmc;
	case UC_CLFLUSH: return (unsigned)m->uops_clflush;
	case UC_LDMXCSR: return (unsigned)m->uops_ldmxcsr;
	case UC_FLDCW: return (unsigned)m->uops_fldcw;
	case UC_PAUSE: return (unsigned)m->uops_pause;
	case UC_MICROCODE: return (unsigned)m->uops_microcode;
	default: return 0;
	}
}

static bool is_special(const struct insn *in)
{
	switch (in->class) {
	case UC_LOCK: case UC_MFENCE: case UC_LFENCE: case UC_SFENCE: case UC_CPUID: case UC_CLFLUSH:
	case UC_LDMXCSR: case UC_FLDCW: case UC_PAUSE: case UC_PREFETCH: return true;
	default: return in->lock;
	}
}

static enum branch_kind kind_of_branch(const struct insn *in)
{
	if (!in->branch)
		return BRANCH_NONE;
	if (in->ret)
		return BRANCH_RETURN;
	if (in->call)
		return in->indirect ? BRANCH_CALL_INDIRECT : BRANCH_CALL;
	if (in->conditional)
		return BRANCH_COND;
	return in->indirect ? BRANCH_INDIRECT : BRANCH_DIRECT;
}

/* CMP and TEST write flags only; the others that can fuse write a register too. */
static bool fuses(const struct machine *m, const struct insn *in, const struct insn *next)
{
	if (!in->fusible_first || !next || !next->branch || !next->conditional || !m->core_macrofusion)
		return false;
	for (unsigned i = 0; i < in->write_count; i++)
		if (in->writes[i] < RN_CF)
			return m->core_macrofusion == 2;
	return true;
}

static void add_group(struct core_plan *p, unsigned parts)
{
	if (p->groups < PLAN_GROUPS)
		p->group[p->groups++] = (uint8_t)parts;
}

static void plan_registers(const struct machine *m, const struct insn *in, struct core_plan *p)
{
	bool stack = in->stack && m->core_stack_engine;
	bool cf = false, zapso = false;
	bool idiom = in->zero_idiom && m->core_zero_idioms;
	memset(p->reads, PLAN_NOTHING, sizeof(p->reads));
	memset(p->address, PLAN_NOTHING, sizeof(p->address));
	memset(p->writes, PLAN_SINK, sizeof(p->writes));
	p->writes_cf = p->writes_zapso = PLAN_SINK;
	for (unsigned i = 0; i < in->read_count && !idiom; i++) {
		uint8_t r = in->reads[i];
		if (r >= RN_COUNT || (stack && r == RN_RSP))
			continue;
		p->reads[p->read_count++] = r;
		cf |= r == RN_CF;
		zapso |= r == RN_ZAPSO;
		if (r < 16 && in->operand_bytes >= 2)
			p->wide_reads |= 1u << r;
	}
	for (unsigned flags = 0; flags < 2; flags++) {
		for (unsigned i = 0; i < in->write_count; i++) {
			uint8_t w = in->writes[i];
			bool flag = w == RN_CF || w == RN_ZAPSO;
			if (w >= RN_COUNT || (stack && w == RN_RSP) || flag != flags)
				continue;
			p->writes[p->write_count++] = w;
			if (w < 16 && in->operand_bytes < 4 && w == in->dst && in->class != UC_NOP)
				p->narrow_more = 1u << w;
		}
		if (!flags && !p->write_count)
			p->write_count = 1; /* PLAN_SINK: writes[0] is a register's index */
		if (!flags)
			p->register_writes = p->write_count;
	}
	for (unsigned i = p->register_writes; i < p->write_count; i++)
		*(p->writes[i] == RN_CF ? &p->writes_cf : &p->writes_zapso) = p->writes[i];
	p->writes_flags = p->write_count > p->register_writes;
	if (in->load || in->store || in->class == UC_PREFETCH || in->class == UC_CLFLUSH) {
		if (in->has_base && !(stack && in->base == RN_RSP) && in->base < 16)
			p->address[p->address_count++] = in->base;
		if (in->has_index && in->index < 16)
			p->address[p->address_count++] = in->index;
		for (unsigned i = 0; i < p->address_count; i++)
			p->wide_reads |= 1u << p->address[i];
	}
	p->reads_carry = cf;
	p->reads_rest = zapso;
	p->reads_flags = cf || zapso;
	p->narrow_kept = ~0u;
	for (unsigned i = 0; i < p->register_writes; i++)
		if (p->writes[i] < 16)
			p->narrow_kept &= ~(1u << p->writes[i]);
}

/* What they read or write needs the core's own clock: all cursors are joined first (core_serialise), which neither recalled
 * states nor fast paths allow for. RDTSC of a single uop (uops.rdtsc = 1) is therefore as special as one of many. */
static bool serialises(const struct insn *in)
{
	return in->class == UC_RDTSC || in->class == UC_RDPMC || in->class == UC_CPUID || in->class == UC_MICROCODE;
}

static enum plan_shape shape_of(const struct insn *in, const struct core_plan *p)
{
	if (p->groups != 1 || p->special || p->extra || p->vector || in->rep || serialises(in))
		return SHAPE_ANY;
	for (unsigned i = 0; i < p->register_writes; i++)
		if (p->writes[i] >= RN_CF && p->writes[i] != PLAN_SINK)
			return SHAPE_ANY;
	if (p->group[0] == PART_LOAD)
		return SHAPE_LOAD;
	if (p->group[0] == (PART_STA | PART_STD))
		return SHAPE_STORE;
	if (p->group[0] == PART_MAIN && p->class == UC_NOP && !p->ports && !p->move_free && !p->read_count && p->writes[0] == PLAN_SINK && !p->writes_flags)
		return SHAPE_NOP;
	if (p->divider || p->busy != 1 || !p->ports)
		return SHAPE_ANY;
	return p->group[0] == PART_MAIN ? SHAPE_OPERATION : p->group[0] == (PART_LOAD | PART_MAIN) ? SHAPE_LOAD_OPERATION : SHAPE_ANY;
}

static bool touches_vectors(const struct insn *in)
{
	const uint8_t r[] = { in->dst, in->src1, in->src2, in->src3 };
	for (unsigned i = 0; i < sizeof(r); i++)
		if (r[i] >= RN_VEC0 && r[i] < RN_X87)
			return true;
	return false;
}

static enum vector_code vector_of(const struct machine *m, const struct insn *in)
{
	if (!m->core_avx_transition_cycles)
		return VECTOR_NONE;
	if (in->class == UC_VZEROUPPER)
		return VECTOR_CLEAN;
	if (in->vex || in->evex)
		return in->operand_bytes > 16 ? VECTOR_WIDE : VECTOR_VEX;
	return touches_vectors(in) ? VECTOR_SSE : VECTOR_NONE;
}

/* Whether rename does this addition. */
static bool adds_free(const struct machine *m, const struct insn *in)
{
	return (m->core_add_elimination && in->add_constant) || (m->core_add_elimination == 2 && in->add_registers);
}

void core_plan_make(const struct machine *m, const struct insn *in, const struct insn *next, struct core_plan *p)
{
	*p = (struct core_plan){ .class = in->class, .branch = (uint8_t)kind_of_branch(in), .length = in->length };
	plan_registers(m, in, p);
	p->special = is_special(in);
	p->divider = is_divide(in->class);
	p->multiply = in->class == UC_IMUL || in->class == UC_IMUL128 || in->class == UC_FP_MUL || in->class == UC_X87_MUL;
	p->domain = is_float(in->class) ? DOMAIN_FLOAT : is_vector_int(in->class) ? DOMAIN_VECTOR : DOMAIN_ANY;
	p->fuses_next = fuses(m, in, next);

	unsigned class = in->lock ? UC_LOCK : p->fuses_next ? UC_BRANCH : in->class;
	bool main = class != UC_NOP && class != UC_LOAD && class != UC_STA && class != UC_STD;
	/* The store does the work of these; the class gives the cost of the whole. */
	if (class == UC_CLFLUSH || class == UC_PREFETCH)
		main = true;
	p->class = (uint8_t)class;
	p->latency = m->exec[class].latency;
	p->ports = m->exec[class].port_mask;
	p->busy = m->exec[class].busy ? m->exec[class].busy : 1;
	if ((in->zero_idiom && m->core_zero_idioms == 2) || (in->move && m->core_move_elimination && !in->load && !in->store) ||
	    (!p->fuses_next && adds_free(m, in))) {
		p->ports = 0;
		p->latency = 0;
		p->move_free = true;
	}

	bool indexed = in->has_index && m->core_unlaminate_indexed;
	bool fuse = m->core_microfusion && !indexed;
	if (in->load && main && fuse)
		add_group(p, PART_LOAD | PART_MAIN);
	else {
		if (in->load)
			add_group(p, PART_LOAD);
		if (main || (!in->load && !in->store))
			add_group(p, PART_MAIN);
	}
	if (in->store && fuse)
		add_group(p, PART_STA | PART_STD);
	else if (in->store) {
		add_group(p, PART_STA);
		add_group(p, PART_STD);
	}
	for (unsigned i = 0; i < p->groups; i++)
		p->unfused += (uint8_t)part_count(p->group[i]);
	p->fused = p->groups;
	unsigned total = class_uops(m, in), extra = total > p->unfused ? total - p->unfused : 0;
	if (in->stack && !m->core_stack_engine)
		extra++;
	if (extra > 200)
		extra = 200;
	p->extra = (uint8_t)extra;
	p->fused = (uint8_t)(p->fused + extra);
	p->unfused = (uint8_t)(p->unfused + extra);
	p->microcoded = p->fused > m->front_complex_uops;
	p->straight = !p->microcoded && !in->lcp && !m->front_uop_cache;
	p->lcp = in->lcp;
	p->complex = p->fused > 1;
	p->x87 = in->class == UC_FLDCW || in->class == UC_FNSTCW || (in->class >= UC_X87_ADD && in->class <= UC_X87_MOVE);
	p->ends = p->x87 || in->x87_pop || p->branch || p->fuses_next;
	p->vector = (uint8_t)vector_of(m, in);
	p->shape = (uint8_t)shape_of(in, p);
}
