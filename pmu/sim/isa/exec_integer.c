/* pmu/sim/isa/exec_integer.c: the rarer integer and system ops, one handler each for all widths.
 *
 * Where the manual leaves a flag undefined, the value here is the simple one (documented at each
 * op) and need not match any processor. REP MOVS and STOS execute all iterations, without interrupts.
 * Not modelled: alignment checks, segments, privilege, I/O. */
#include "pmu/sim/isa/exec_arithmetic.h"

/* MOVS, STOS with or without REP. A fault stops before the element that faults; the registers hold the progress. */
static enum status string(struct hart_regs *regs, const struct insn *in, const struct exec_env *env, struct effects *out, uint8_t *vector)
{
	uint64_t step = regs->rflags & FLAG_DF ? 0ull - in->operand_bytes : in->operand_bytes;
	uint64_t limit = in->address32 ? 0xFFFFFFFFull : ~0ull;
	uint64_t left = in->rep ? regs->gpr[RN_RCX] & limit : 1;

	out->load_va = regs->gpr[RN_RSI] & limit;
	out->store_va = regs->gpr[RN_RDI] & limit;
	out->store_bytes = in->operand_bytes;
	out->load_bytes = in->op == OP_MOVS ? in->operand_bytes : 0;
	while (left) {
		const void *from = &regs->gpr[RN_RAX];
		void *to = exec_memory(env, regs->gpr[RN_RDI] & limit, in->operand_bytes, true);

		if (in->op == OP_MOVS)
			from = exec_memory(env, regs->gpr[RN_RSI] & limit, in->operand_bytes, false);
		if (!to || !from) {
			*vector = VECTOR_PF;
			return ST_FAULT;
		}
		put(to, in->operand_bytes, get(from, in->operand_bytes));
		regs->gpr[RN_RDI] = (regs->gpr[RN_RDI] + step) & limit;
		if (in->op == OP_MOVS)
			regs->gpr[RN_RSI] = (regs->gpr[RN_RSI] + step) & limit;
		left--;
		out->repeat++;
		if (in->rep)
			regs->gpr[RN_RCX] = left;
	}
	return ST_OK;
}

enum status exec_integer(struct hart_regs *regs, const struct insn *in, const struct exec_env *env,
                         struct effects *out, uint64_t *next, uint8_t *vector)
{
	unsigned bytes = in->operand_bytes, bits = 8 * bytes, op = in->op;
	uint64_t va = 0, a, b = 0, r, old, w[2];
	uint8_t *dst = (uint8_t *)regs + in->dst_at, *src = (uint8_t *)regs + in->src_at, *p = NULL;
	uint32_t quad[4];
	enum status s;

	/* Operands: `a` the destination's old value, `b` the source. */
	if (in->memory_bytes && !in->stack && op != OP_MOVS && op != OP_STOS && (in->load || in->store)) {
		va = exec_address(regs, in);
		if (op >= OP_BT && op <= OP_BTC && in->kind == KIND_MR) /* a bit string: the register also selects the operand-sized unit */
			va += (uint64_t)(((int64_t)sign_extend(get(src, bytes), bits) >> (bits == 64 ? 6 : bits == 32 ? 5 : 4)) * (int64_t)bytes);
		p = exec_memory(env, va, in->memory_bytes, in->store);
		if (!p)
			goto page_fault;
		if (in->load) {
			out->load_va = va;
			out->load_bytes = in->memory_bytes;
		}
		if (in->store) {
			out->store_va = va;
			out->store_bytes = in->memory_bytes;
		}
		if (in->kind == KIND_RM)
			src = p;
		else
			dst = p;
	}
#define RESULT(v) do { uint64_t v_ = (v); if (p && dst == p) put(dst, bytes, v_); else put_register(dst, bytes, v_); } while (0)
	switch (op) {
	case OP_NEG:
		a = get(dst, bytes);
		subtract_flags(regs, 0, a, bits);
		RESULT(0 - a);
		break;
	case OP_NOT:
		RESULT(~get(dst, bytes));
		break;
	case OP_ROL: case OP_ROR: case OP_RCL: case OP_RCR: case OP_SHL: case OP_SHR: case OP_SAR:
		b = in->kind == KIND_RI || in->kind == KIND_MI ? (uint64_t)in->immediate : regs->gpr[RN_RCX];
		RESULT(exec_shift(regs, op, get(dst, bytes), (unsigned)b & 0xFF, bits));
		break;
	case OP_SHLD: case OP_SHRD:
		b = in->extra ? regs->gpr[RN_RCX] : (uint64_t)in->immediate;
		RESULT(exec_double_shift(regs, op == OP_SHLD, get(dst, bytes), get(src, bytes), (unsigned)b & 0xFF, bits));
		break;
	case OP_MOVZX:
		put_register(dst, bytes, get(src, in->extra));
		break;
	case OP_MOVSX:
		put_register(dst, bytes, sign_extend(get(src, in->extra), 8u * in->extra));
		break;
	case OP_XCHG:
		a = get(dst, bytes);
		b = get(src, bytes);
		RESULT(b);
		put_register(src, bytes, a);
		break;
	case OP_XADD:
		a = get(dst, bytes);
		b = get(src, bytes);
		r = (a + b) & mask_of(bits);
		set_flags(regs, FLAG_ALL, (r < a) | ((a ^ b ^ r) & FLAG_AF) | (((a ^ r) & (b ^ r)) >> (bits - 1) & 1) << 11 | exec_flags_zsp(r, bits));
		put_register(src, bytes, a);
		RESULT(r);
		break;
	case OP_CMPXCHG:
		a = get(dst, bytes);
		old = get(&regs->gpr[RN_RAX], bytes);
		subtract_flags(regs, old, a, bits);
		if (old == a) {
			RESULT(get(src, bytes));
		} else {
			if (p)
				put(dst, bytes, a); /* memory is written either way */
			put_register(&regs->gpr[RN_RAX], bytes, a);
		}
		break;
	case OP_IMUL2:
		RESULT(exec_multiply_low(regs, get(dst, bytes), get(src, bytes), bits));
		break;
	case OP_IMUL3:
		RESULT(exec_multiply_low(regs, get(src, bytes), (uint64_t)in->immediate & mask_of(bits), bits));
		break;
	case OP_MUL: case OP_IMUL1:
		exec_multiply(regs, op == OP_IMUL1, get(src, bytes), bits);
		break;
	case OP_DIV: case OP_IDIV:
		if (!exec_divide(regs, op == OP_IDIV, get(src, bytes), bits, out)) {
			*vector = VECTOR_DE;
			return ST_FAULT;
		}
		break;
	case OP_CBW: /* CBW, CWDE, CDQE */
		put_register(&regs->gpr[RN_RAX], bytes, sign_extend(regs->gpr[RN_RAX] & mask_of(bits / 2), bits / 2));
		break;
	case OP_CWD: /* CWD, CDQ, CQO */
		put_register(&regs->gpr[RN_RDX], bytes, regs->gpr[RN_RAX] >> (bits - 1) & 1 ? ~0ull : 0);
		break;
	case OP_CMOV: /* a 32-bit one clears the upper half even when it does not move */
		put_register(dst, bytes, exec_condition(regs->rflags, in->extra) ? get(src, bytes) : get(dst, bytes));
		break;
	case OP_SETCC:
		*dst = exec_condition(regs->rflags, in->extra);
		break;
	case OP_BT: case OP_BTS: case OP_BTR: case OP_BTC:
		b = (in->kind == KIND_RI || in->kind == KIND_MI ? (uint64_t)in->immediate : get(src, bytes)) & (bits - 1);
		a = get(dst, bytes);
		set_flags(regs, FLAG_CF, a >> b & 1);
		if (op != OP_BT)
			RESULT(op == OP_BTS ? a | 1ull << b : op == OP_BTR ? a & ~(1ull << b) : a ^ 1ull << b);
		break;
	case OP_BSF: case OP_BSR: /* a zero source leaves the destination (AMD's manual; Intel's processors too) */
		b = get(src, bytes);
		set_flags(regs, FLAG_ZF, b ? 0 : FLAG_ZF);
		if (b)
			put_register(dst, bytes, op == OP_BSF ? (uint64_t)__builtin_ctzll(b) : 63u - (uint64_t)__builtin_clzll(b));
		break;
	case OP_POPCNT: /* counted by halves: no library call, no POPCNT of the host */
		b = get(src, bytes);
		a = b - (b >> 1 & 0x5555555555555555ull);
		a = (a & 0x3333333333333333ull) + (a >> 2 & 0x3333333333333333ull);
		a = (a + (a >> 4)) & 0x0F0F0F0F0F0F0F0Full;
		put_register(dst, bytes, a * 0x0101010101010101ull >> 56);
		set_flags(regs, FLAG_ALL, b ? 0 : FLAG_ZF);
		break;
	case OP_BSWAP: /* 16 bits: undefined; gives 0 */
		a = get(dst, bytes);
		put_register(dst, bytes, bytes == 8 ? __builtin_bswap64(a) : bytes == 4 ? __builtin_bswap32((uint32_t)a) : 0);
		break;
	case OP_PUSH: case OP_PUSHF: case OP_CALL:
		r = *next;
		if (op == OP_PUSHF) {
			b = regs->rflags & ~0x30000ull; /* RF and VM are pushed as 0 */
		} else if (in->kind == KIND_RI) {
			b = (uint64_t)in->immediate;
		} else if (in->kind == KIND_RM) {
			va = exec_address(regs, in);
			p = exec_memory(env, va, 8, false);
			if (!p)
				goto page_fault;
			b = get(p, 8);
			out->load_va = va;
			out->load_bytes = 8;
		} else {
			b = get(src, 8);
		}
		if (op == OP_CALL) {
			r = in->kind == KIND_RI ? r + b : b;
			b = *next;
		}
		va = regs->gpr[RN_RSP] - 8;
		p = exec_memory(env, va, 8, true);
		if (!p)
			goto page_fault;
		put(p, 8, b);
		regs->gpr[RN_RSP] = va;
		out->store_va = va;
		out->store_bytes = 8;
		out->taken = op == OP_CALL;
		*next = r;
		break;
	case OP_POP: case OP_POPF: case OP_RET:
		out->load_va = regs->gpr[RN_RSP];
		out->load_bytes = 8;
		p = exec_memory(env, out->load_va, 8, false);
		if (!p)
			goto page_fault;
		b = get(p, 8);
		if (op == OP_POP && in->kind == KIND_MR) {
			regs->gpr[RN_RSP] += 8; /* an address based on RSP uses the new value */
			va = exec_address(regs, in);
			p = exec_memory(env, va, 8, true);
			if (!p) {
				regs->gpr[RN_RSP] -= 8;
				goto page_fault;
			}
			put(p, 8, b);
			out->store_va = va;
			out->store_bytes = 8;
			break;
		}
		regs->gpr[RN_RSP] += 8 + (op == OP_RET ? (uint64_t)in->immediate : 0);
		if (op == OP_POPF) { /* as in user mode: IF, IOPL and the rest are unchanged */
			set_flags(regs, FLAG_ALL | FLAG_DF, b);
		} else if (op == OP_RET) {
			out->taken = true;
			*next = b;
		} else {
			put(dst, 8, b);
		}
		break;
	case OP_JMP:
		out->taken = true;
		*next = in->kind == KIND_RI ? *next + (uint64_t)in->immediate : get(src, 8);
		break;
	case OP_CLC: regs->rflags &= ~FLAG_CF; break;
	case OP_STC: regs->rflags |= FLAG_CF; break;
	case OP_CMC: regs->rflags ^= FLAG_CF; break;
	case OP_CLD: regs->rflags &= ~FLAG_DF; break;
	case OP_STD: regs->rflags |= FLAG_DF; break;
	case OP_SAHF:
		set_flags(regs, FLAG_CF | FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF, regs->gpr[RN_RAX] >> 8);
		break;
	case OP_LAHF:
		((uint8_t *)&regs->gpr[RN_RAX])[1] = (uint8_t)((regs->rflags & 0xD5) | 2);
		break;
	case OP_MOVS: case OP_STOS:
		return string(regs, in, env, out, vector);
	case OP_CLFLUSH: case OP_CLFLUSHOPT:
		out->load_va = exec_address(regs, in);
		if (!exec_memory(env, out->load_va, 1, false))
			goto page_fault;
		break;
	case OP_PREFETCHT0: case OP_PREFETCHT1: case OP_PREFETCHT2: case OP_PREFETCHNTA: case OP_PREFETCHW:
		out->load_va = exec_address(regs, in); /* never faults */
		break;
	case OP_CPUID:
		s = env->cpuid(env->self, (uint32_t)regs->gpr[RN_RAX], (uint32_t)regs->gpr[RN_RCX], quad);
		if (s != ST_OK)
			goto protection;
		regs->gpr[RN_RAX] = quad[0];
		regs->gpr[RN_RBX] = quad[1];
		regs->gpr[RN_RCX] = quad[2];
		regs->gpr[RN_RDX] = quad[3];
		break;
	case OP_RDTSC: case OP_RDTSCP: case OP_RDPMC:
		s = op == OP_RDPMC ? env->rdpmc(env->self, (uint32_t)regs->gpr[RN_RCX], &w[0]) : env->rdtsc(env->self, &w[0]);
		if (s != ST_OK)
			goto protection;
		regs->gpr[RN_RAX] = (uint32_t)w[0];
		regs->gpr[RN_RDX] = w[0] >> 32;
		if (op == OP_RDTSCP)
			regs->gpr[RN_RCX] = 0; /* IA32_TSC_AUX, which is never written */
		break;
	case OP_WRMSR:
		if (!env->wrmsr || env->wrmsr(env->self, (uint32_t)regs->gpr[RN_RCX],
		                              (uint32_t)regs->gpr[RN_RAX] | regs->gpr[RN_RDX] << 32) != ST_OK)
			goto protection;
		break;
	default: /* UD2 */
		*vector = VECTOR_UD;
		return ST_FAULT;
	}
	return ST_OK;
page_fault:
	*vector = VECTOR_PF;
	return ST_FAULT;
protection:
	*vector = VECTOR_GP;
	return ST_FAULT;
}
