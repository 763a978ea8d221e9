/* bench/measure/codegen.c: see codegen.h. */
#include "bench/measure/codegen.h"

#include "bench/catalogue/kernel.h"

#define LINE 64u
#define NOP 0x90u
#define SET_SPACING 1024u /* least bytes from one set of CODE_LINES_L2 to the next */
#define FAR_SPACING 1088u /* the same for CODE_LINES_L3; differs in address bits from the stride between ways */
#define FAR_TIMES 6u      /* lines per way in an L2 set: random replacement keeps e^-6 of them until their next use */
#define FAR_LEAST 2u
#define OFFSETS 8u        /* within a line: no jump crosses an aligned group of 8 bytes */
#define TARGETS 2048u     /* entries of a target buffer */
#define PLAIN_BYTES 6u    /* of a comparison in CODE_COMPARES_PLAIN */
#define SPARE_BYTES 1024u /* of the L1I, for wrapper and kernel */
#define SMC_OFFSET 8u     /* of the byte that CODE_SMC stores to, in its own line: a NOP */
#define SMC_BASE_AT 2112u /* offset of CODE_SMC_BASE in its page: the low address bits alone distinguish it from CODE_SMC */
#define ENTRY_BYTES 8u    /* of a page table */
#define BASE_JUMPS 128u   /* of CODE_TARGETS_BASE, 4 bytes apart: they fit small target buffers; its loop makes up the same number of jumps */

static const struct cpu_cache *l1i(const struct cpu *cpu)
{
	for (unsigned i = 0; i < cpu->cache_count; i++)
		if (cpu->caches[i].level == 1 && cpu->caches[i].type == 'I')
			return &cpu->caches[i];
	return NULL;
}

/* CODE_LINES_*: some sets get more lines than ways, so a walk in fixed order finds every line evicted. Twice the ways suffice in an L1I. An L2
 * may replace at random: it gets FAR_TIMES the ways, where the L3 can hold that many. Lines that share a set of a larger level share one of
 * the smaller level too. */
static enum status lines_shape(enum code code, const struct cpu *cpu, uint64_t *stride, uint32_t *sets, char *reason, size_t capacity)
{
	const bool far = code != CODE_LINES_L2;
	const struct cpu_cache *c = far ? cpu_cache(cpu, 2) : l1i(cpu), *next = cpu_cache(cpu, far ? 3 : 2);
	const uint32_t lines = far ? CODE_LINES_FAR : CODE_LINES, ways = c ? c->ways : 0;
	uint32_t times = far ? FAR_TIMES : FAR_LEAST;

	*stride = cpu_cache_way_bytes(c);
	if (!cpu->cache_count) {
		str_copy(reason, capacity, "the caches are not known");
		return ST_MISSING;
	}
	if (!next) {
		str_copy(reason, capacity, far ? "no L3 cache" : "no L2 cache");
		return ST_UNSUPPORTED;
	}
	if (!*stride || ways > lines / FAR_LEAST) {
		str_copy(reason, capacity, "sets and ways of the cache are not known, or too many");
		return ST_MISSING;
	}
	do
		*sets = lines / (times * ways);
	while ((!*sets || lines / *sets * *stride > next->bytes / 4 * 3) && times-- > FAR_LEAST);
	if (*sets * (far ? FAR_SPACING : SET_SPACING) > *stride) {
		str_copy(reason, capacity, "the ways of the cache are too small");
		return ST_UNSUPPORTED;
	}
	if (!far && lines / *sets * *stride > next->bytes) {
		str_copy(reason, capacity, "the code would not stay in the L2 cache");
		return ST_UNSUPPORTED;
	}
	return ST_OK;
}

/* ST_UNSUPPORTED for code that would not fit the L1I. An L1I of unknown size passes. */
static enum status stays(const struct cpu *cpu, uint64_t bytes, char *reason, size_t capacity)
{
	const struct cpu_cache *c = l1i(cpu);

	if (!c || bytes + SPARE_BYTES <= c->bytes)
		return ST_OK;
	str_copy(reason, capacity, "the code would not stay in the L1 instruction cache");
	return ST_UNSUPPORTED;
}

static uint32_t lines_of(enum code code) { return code == CODE_LINES_L3 || code == CODE_LINES_FAR_BASE ? CODE_LINES_FAR : CODE_LINES; }

/* Whether the lines and page-table entries of CODE_WALK_PAGES leave room in the cache's sets for the wrapper. In a set that is full the lines
 * evict one another in turn. The wrapper occupies few sets: it collides with both only when code occupies every set. */
static bool room_beside_pages(const struct cpu_cache *c)
{
	const uint64_t way = cpu_cache_way_bytes(c), sets = way / LINE, entries = CODE_WALK_PAGES * ENTRY_BYTES / LINE;

	return !sets || (CODE_WALK_PAGES + sets - 1) / sets + (entries + sets - 1) / sets + (sets <= CODE_WALK_PAGES) <= c->ways;
}

/* Whether the pages of CODE_PAGES_ITLB miss the ITLB and hit the second level, and their lines stay in the L1I: fetches that miss it wait for
 * translations, and those of the baseline overlap. */
static enum status second_level_holds(const struct cpu *cpu, char *reason, size_t capacity)
{
	if (!cpu->tlb.itlb_4k) {
		str_copy(reason, capacity, "size of the ITLB is not known");
		return ST_MISSING;
	}
	if (cpu->tlb.stlb_4k / 2 < CODE_ITLB_PAGES || cpu->tlb.itlb_4k * 2u > CODE_ITLB_PAGES) {
		str_copy(reason, capacity, "no second-level TLB four times the ITLB");
		return ST_UNSUPPORTED;
	}
	if (l1i(cpu) && l1i(cpu)->bytes < CODE_ITLB_PAGES * LINE) {
		str_copy(reason, capacity, "the code would not stay in the L1 instruction cache");
		return ST_UNSUPPORTED;
	}
	return ST_OK;
}

enum status codegen_span(enum code code, const struct cpu *cpu, uint64_t *bytes, char *reason, size_t capacity)
{
	const struct cpu_cache *l2 = cpu_cache(cpu, 2);
	uint64_t stride;
	uint32_t sets;
	enum status st;

	switch (code) {
	case CODE_NONE:
		*bytes = 0;
		return ST_OK;
	case CODE_LCP: case CODE_COMPARES_PLAIN:
		*bytes = 8 * CODE_COMPARES;
		return stays(cpu, PLAIN_BYTES * CODE_COMPARES, reason, capacity);
	case CODE_NOPS_LONG:
		*bytes = 8 * CODE_COMPARES;
		return stays(cpu, 8 * CODE_NOPS, reason, capacity);
	case CODE_TARGETS:
		*bytes = 2 * CODE_JUMPS + PAGE_4K;
		return stays(cpu, 2 * CODE_JUMPS, reason, capacity);
	case CODE_TARGETS_BASE:
		*bytes = 4 * BASE_JUMPS + PAGE_4K;
		return ST_OK;
	case CODE_LINES_L2: case CODE_LINES_L3:
		st = lines_shape(code, cpu, &stride, &sets, reason, capacity);
		*bytes = st == ST_OK ? stride * ((lines_of(code) + sets - 1) / sets) : 0;
		return st;
	case CODE_LINES_FAR_BASE:
		st = lines_shape(code, cpu, &stride, &sets, reason, capacity);
		*bytes = st == ST_OK ? stride * ((CODE_LINES_FAR + sets - 1) / sets) + CODE_LINES_FAR * LINE : 0;
		return st == ST_OK ? stays(cpu, CODE_LINES_FAR * LINE, reason, capacity) : st;
	case CODE_LINES_BASE:
		*bytes = CODE_LINES * LINE + PAGE_4K;
		return stays(cpu, CODE_LINES * LINE, reason, capacity);
	case CODE_PAGES_ITLB:
		*bytes = CODE_ITLB_PAGES * PAGE_4K;
		return second_level_holds(cpu, reason, capacity);
	case CODE_PAGES_WALK:
		*bytes = CODE_WALK_PAGES * PAGE_4K;
		if (!cpu->tlb.itlb_4k) {
			str_copy(reason, capacity, "size of the ITLB is not known");
			return ST_MISSING;
		}
		if (cpu->tlb.stlb_4k * 4u > CODE_WALK_PAGES * 3 || cpu->tlb.itlb_4k * 2u > CODE_WALK_PAGES) {
			str_copy(reason, capacity, "the TLBs hold almost as many pages as the code has");
			return ST_UNSUPPORTED;
		}
		/* Second-level hits of the baseline would be subtracted from the penalty. */
		if (cpu->tlb.itlb_4k < CODE_WALK_PAGES * LINE / PAGE_4K) {
			str_copy(reason, capacity, "the ITLB does not hold the baseline's pages");
			return ST_UNSUPPORTED;
		}
		/* The walks' entries need room too. Under random replacement, passes over a larger set never bring all of it in. */
		if (l2 && l2->bytes && (l2->bytes / 4 * 3 < CODE_WALK_PAGES * (LINE + ENTRY_BYTES) || !room_beside_pages(l2))) {
			str_copy(reason, capacity, "a line of each page of code would not stay in the L2");
			return ST_UNSUPPORTED;
		}
		return ST_OK;
	case CODE_PAGES_ITLB_BASE:
		*bytes = CODE_ITLB_PAGES * LINE + PAGE_4K;
		return ST_OK;
	case CODE_PAGES_WALK_BASE:
		*bytes = CODE_WALK_PAGES * LINE + PAGE_4K;
		return ST_OK;
	case CODE_SMC: case CODE_SMC_BASE:
		*bytes = PAGE_4K;
		return ST_OK;
	case CODE_COUNT:
		break;
	}
	return ST_BROKEN;
}

static uint8_t *put(uint8_t *at, const uint8_t *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static uint8_t *put32(uint8_t *at, uint32_t value)
{
	for (unsigned i = 0; i < 4; i++)
		*at++ = (uint8_t)(value >> 8 * i);
	return at;
}

static void put_end(uint8_t *at)
{
	static const uint8_t jmp_r11[] = { 0x41, 0xFF, 0xE3 };

	put(at, jmp_r11, sizeof(jmp_r11));
}

/* jmp rel32 from one offset to another */
static void put_jump(uint8_t *code, uint64_t from, uint64_t to)
{
	code[from] = 0xE9;
	put32(code + from + 1, (uint32_t)(to - (from + 5)));
}

/* Comparisons of three registers in turn with a 16-bit (66 81 /7 iw) or 32-bit (81 /7 id) constant. A comparison writes no partial
 * register. */
static void write_compares(uint8_t *at, bool prefixed)
{
	for (unsigned i = 0; i < CODE_COMPARES; i++) {
		if (prefixed)
			*at++ = 0x66;
		*at++ = 0x81;
		*at++ = (uint8_t)(0xF8 + i % 3);
		*at++ = 0x34;
		*at++ = 0x12;
		if (!prefixed) {
			*at++ = 0x34;
			*at++ = 0x12;
		}
	}
	put_end(at);
}

/* mov r10d, iterations; L: a chain of jumps, each to the next; dec r10; jnz L */
static void write_targets(uint8_t *at, unsigned jumps, unsigned spacing)
{
	static const uint8_t mov_r10d[] = { 0x41, 0xBA }, dec_r10_jnz[] = { 0x49, 0xFF, 0xCA, 0x0F, 0x85 };
	uint8_t *loop;

	at = put(at, mov_r10d, sizeof(mov_r10d));
	at = put32(at, CODE_JUMPS / jumps);
	at += 10; /* to a multiple of 16 */
	at[-10] = 0xEB;
	at[-9] = 8;
	loop = at;
	for (unsigned i = 0; i < jumps; i++, at += spacing) {
		at[0] = 0xEB;
		at[1] = (uint8_t)(spacing - 2);
	}
	at = put(at, dec_r10_jnz, sizeof(dec_r10_jnz));
	at = put32(at, (uint32_t)(loop - (at + 4)));
	put_end(at);
}

/* Bytes from one set to the next. As wide as the ways allow, those of CODE_LINES_L2 differ in upper address bits too, which a hash of the target
 * buffer may combine with lower ones. */
static uint32_t spacing_of(enum code code, uint64_t stride, uint32_t sets)
{
	uint32_t spacing = SET_SPACING;

	if (code == CODE_LINES_L3)
		return FAR_SPACING;
	while (2ull * sets * spacing <= stride)
		spacing *= 2;
	return spacing;
}

/* Places jumps in lines whose distances are multiples of a power of two. Parities of the way and set numbers choose each jump's offset out of
 * `offsets`, so equal upper bits do not imply an equal offset. A jump that would share (address XOR address >> 11) mod `targets`, a possible hash of
 * the target buffer, with an earlier one takes the next free offset. CODE_LINES_FAR_BASE uses the pages of CODE_LINES_L3, so both have the same
 * ITLB misses, and spreads its lines over all sets of an L1I. False: two jumps collide in the target buffer. */
static bool choose_lines(enum code code, uint64_t stride, uint32_t sets, uint32_t offsets, uint32_t targets, uint64_t *lines)
{
	static const struct { uint8_t of_way, of_set; } bits[] = { { 43, 21 }, { 59, 27 }, { 11, 28 } };
	const uint32_t n = lines_of(code), spacing = spacing_of(code, stride, sets), choices = code == CODE_LINES_FAR_BASE ? n : 1;
	bool taken[TARGETS] = { false }, used[CODE_LINES_FAR] = { false }, all = true;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t way = i / sets * stride;
		uint32_t first = 0, line = i;
		bool found = false;

		for (unsigned k = 0; k < COUNT_OF(bits); k++)
			first |= ((bit_count(i / sets & bits[k].of_way) + bit_count(i % sets & bits[k].of_set)) & 1u) << k;
		lines[i] = UINT64_MAX;
		for (uint32_t choice = 0; choice < choices && !found; choice++)
			for (uint32_t k = 0; k < offsets && !found && !used[(i + choice) % n]; k++) {
				const uint64_t at = way + (choices > 1 ? (i + choice) % n * LINE : i % sets * spacing) + ((first ^ k) & (offsets - 1)) * 8;

				found = !taken[(at ^ at >> 11) % targets];
				if (found || lines[i] == UINT64_MAX) {
					lines[i] = at;
					line = (i + choice) % n;
				}
			}
		used[line] = true;
		taken[(lines[i] ^ lines[i] >> 11) % targets] = true;
		all = all && found;
	}
	return all;
}

/* Offset of jump i. Offsets within lines and pages differ, so predictors and caches that index by a few address bits tell the jumps apart. */
static uint64_t line_offset(enum code code, const uint64_t *lines, uint32_t i)
{
	switch (code) {
	case CODE_LINES_L2: case CODE_LINES_L3: case CODE_LINES_FAR_BASE:
		return lines[i];
	case CODE_LINES_BASE: /* distinct modulo 256: a target buffer of as many entries has all of them */
		return i * LINE + (i >> 3 & 7) * 8 + (i >> 2 & 1) * 2;
	case CODE_PAGES_ITLB: /* spread evenly over the sets of an L1I */
		return i * PAGE_4K + ((i >> 1 ^ i >> 7) & 63) * LINE;
	case CODE_PAGES_WALK: /* spread evenly over the sets of an L2 of any size; (address XOR address >> 11) mod 2048, a possible hash of the
				 target buffer, differs from jump to jump */
		return i * PAGE_4K + (i >> 6 | (i >> 5 & 1) << 5) * LINE;
	default: /* fits small target buffers too */
		return i * LINE + (i >> 2 & 7) * 8;
	}
}

/* A chain of jumps through all lines in a fixed random order, beginning at the first. */
static void write_walk(enum code code, uint8_t *at, uint64_t stride, uint32_t sets, uint32_t n)
{
	const uint32_t times = n % 3 ? 5 : 13, more = n % 3 ? 3 : 5;
	uint64_t lines[CODE_LINES_FAR];
	uint32_t i = 0;

	/* Far jumps stay in one half of each line if possible: spread over both halves they would use twice as many sets of a uop cache, which
	 * might then hold them all. */
	if (stride && (n == CODE_LINES || !choose_lines(code, stride, sets, OFFSETS / 2, TARGETS, lines)))
		for (uint32_t targets = n == CODE_LINES ? TARGETS / 8 : TARGETS; targets <= TARGETS && !choose_lines(code, stride, sets, OFFSETS, targets, lines); targets *= 2)
			;
	/* i -> 5 i + 3 mod n has full period for n a power of two, 13 i + 5 for three times a power of two (Knuth 3.2.1.2, theorem A) */
	for (uint32_t k = 0; k + 1 < n; k++) {
		uint32_t next = (times * i + more) % n;

		put_jump(at, line_offset(code, lines, i), line_offset(code, lines, next));
		i = next;
	}
	put_end(at + line_offset(code, lines, i));
}

bool codegen_lines_of_set(enum code code, const struct cpu *cpu, uint32_t set, uint64_t *from, uint64_t *count, uint64_t *step)
{
	char ignored[64];
	uint32_t sets;

	if (code != CODE_LINES_L3 || lines_shape(code, cpu, step, &sets, ignored, sizeof(ignored)) != ST_OK || set >= sets)
		return false;
	*from = set * FAR_SPACING;
	*count = (CODE_LINES_FAR + sets - 1 - set) / sets;
	return true;
}

void codegen_write(enum code code, const struct cpu *cpu, const struct mapping *m)
{
	static const uint8_t smc[] = { 0xC6, 0x02, NOP }; /* mov byte [rdx], NOP */
	static const uint8_t nop8[] = { 0x0F, 0x1F, 0x84, 0, 0, 0, 0, 0 };
	uint8_t *at = m->host;
	uint64_t stride = 0;
	uint32_t sets = 1;
	char ignored[64];

	switch (code) {
	case CODE_NONE: case CODE_COUNT:
		break;
	case CODE_LCP: case CODE_COMPARES_PLAIN:
		write_compares(at, code == CODE_LCP);
		break;
	case CODE_NOPS_LONG:
		for (unsigned i = 0; i < CODE_NOPS; i++)
			at = put(at, nop8, sizeof(nop8));
		put_end(at);
		break;
	case CODE_TARGETS:
		write_targets(at, CODE_JUMPS, 2);
		break;
	case CODE_TARGETS_BASE:
		write_targets(at, BASE_JUMPS, 4);
		break;
	case CODE_LINES_L2: case CODE_LINES_L3: case CODE_LINES_FAR_BASE:
		if (lines_shape(code, cpu, &stride, &sets, ignored, sizeof(ignored)) != ST_OK)
			break;
		write_walk(code, at, stride, sets, lines_of(code));
		break;
	case CODE_LINES_BASE:
		write_walk(code, at, 0, 1, CODE_LINES);
		break;
	case CODE_PAGES_ITLB: case CODE_PAGES_ITLB_BASE:
		write_walk(code, at, 0, 1, CODE_ITLB_PAGES);
		break;
	case CODE_PAGES_WALK: case CODE_PAGES_WALK_BASE:
		write_walk(code, at, 0, 1, CODE_WALK_PAGES);
		break;
	case CODE_SMC: case CODE_SMC_BASE:
		at += codegen_start(code, m->va) - m->va;
		/* Few uops and bytes, so that a uop cache holds them: otherwise the baseline would switch between it and the decoders in each run.
		 * After the clear they are decoded again in negligible time. */
		memset(put(at, smc, sizeof(smc)), NOP, SMC_OFFSET + 1 - sizeof(smc));
		put_end(at + SMC_OFFSET + 1);
		break;
	}
}

struct codegen_work codegen_work(enum code code)
{
	const uint32_t loop = kernel_find("k_run_code") ? kernel_find("k_run_code")->instructions : 0; /* including the jump back that ends each code */

	switch (code) {
	case CODE_LCP: case CODE_COMPARES_PLAIN:
		return (struct codegen_work){ CODE_COMPARES, CODE_COMPARES + loop };
	case CODE_NOPS_LONG:
		return (struct codegen_work){ CODE_NOPS * 8 / LINE, CODE_NOPS + loop };
	case CODE_TARGETS: /* plus the move and jump ahead of the loop, and the end of each iteration */
		return (struct codegen_work){ CODE_JUMPS, CODE_JUMPS + 2 + 2 + loop };
	case CODE_TARGETS_BASE:
		return (struct codegen_work){ CODE_JUMPS, CODE_JUMPS + 2 + 2 * (CODE_JUMPS / BASE_JUMPS) + loop };
	case CODE_LINES_L2: case CODE_LINES_L3: case CODE_LINES_BASE: case CODE_LINES_FAR_BASE: /* one jump a line, the last one back */
		return (struct codegen_work){ lines_of(code), lines_of(code) - 1 + loop };
	case CODE_PAGES_ITLB: case CODE_PAGES_ITLB_BASE:
		return (struct codegen_work){ CODE_ITLB_PAGES, CODE_ITLB_PAGES - 1 + loop };
	case CODE_PAGES_WALK: case CODE_PAGES_WALK_BASE:
		return (struct codegen_work){ CODE_WALK_PAGES, CODE_WALK_PAGES - 1 + loop };
	case CODE_SMC: case CODE_SMC_BASE: /* a store of three bytes, then NOPs */
		return (struct codegen_work){ 1, 1 + SMC_OFFSET + 1 - 3 + loop };
	case CODE_NONE: case CODE_COUNT:
		break;
	}
	return (struct codegen_work){ 0, 0 };
}

uint64_t codegen_start(enum code code, uint64_t code_va)
{
	return code == CODE_SMC_BASE ? code_va + SMC_BASE_AT : code_va;
}

uint64_t codegen_pointer(enum code code, uint64_t code_va, uint64_t buffer_va)
{
	return code == CODE_SMC ? code_va + SMC_OFFSET : buffer_va;
}
