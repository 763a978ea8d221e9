/* bench/curves/curve_codegen.c: the code of a curve's points. RDX is the node, R9 a line that stays in the L1, R11 the return address. */
#include "bench/curves/curve.h"

#define LINE 64u

uint32_t curve_line(uint32_t j, uint32_t lines)
{
	/* A step of 7 lines trains no prefetcher. As the number of lines is a power of two, the steps visit all lines and reach the first one last.
	 * They also rotate over any number of slices, where steps of 5 of 16 lines would visit 5 slices one by one. */
	return (j + 1) * 7 % lines * LINE;
}

struct writer { uint8_t *code; uint32_t at; bool full; };

static void put(struct writer *w, const uint8_t *bytes, uint32_t n)
{
	w->full = w->full || w->at + n > CURVE_CODE_BYTES;
	if (w->full)
		return;
	memcpy(w->code + w->at, bytes, n);
	w->at += n;
}
#define PUT(w, ...) put(w, (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put_offset(struct writer *w, uint32_t offset)
{
	PUT(w, (uint8_t)offset, (uint8_t)(offset >> 8), (uint8_t)(offset >> 16), (uint8_t)(offset >> 24));
}

/* mov r10, [rcx + offset] */
static void put_load(struct writer *w, uint32_t offset)
{
	PUT(w, 0x4C, 0x8B, 0x91);
	put_offset(w, offset);
}

/* Where an iteration's second miss, B, lies. */
static uint32_t second_at(const struct row_curve *c, uint32_t lines)
{
	return c->filler == FILLER_MISS ? (c->most + 1u) * lines * LINE : lines / 2 * LINE;
}

static void put_filler(struct writer *w, enum filler filler, uint32_t j, uint32_t lines)
{
	switch (filler) {
	case FILLER_NOP:
		PUT(w, 0x90);
		break;
	case FILLER_WAITING:
		PUT(w, 0x4C, 0x8D, 0x52, 0x01); /* lea r10, [rdx + 1] */
		break;
	case FILLER_LOAD:
		PUT(w, 0x4D, 0x8B, 0x11); /* mov r10, [r9] */
		break;
	case FILLER_STORE:
		PUT(w, 0x4D, 0x89, 0x11); /* mov [r9], r10 */
		break;
	case FILLER_MISS:
		put_load(w, (j + 1) * lines * LINE);
		break;
	case FILLER_COUNT:
		break;
	}
}

static void put32(struct writer *w, uint8_t rex, uint8_t op, uint8_t modrm, uint32_t offset)
{
	PUT(w, rex, op, modrm);
	put_offset(w, offset);
}

/* Loads that take x entries of the super queue: the first lines of x / 2 pairs, for odd x one more line. Then loads of the pairs' other lines,
 * whose addresses depend on the values of all first lines; those are 0 except for the next node's address. */
static void put_pairs(struct writer *w, uint32_t x, bool others)
{
	PUT(w, 0x48, 0x89, 0xD1); /* mov rcx, rdx */
	if (x % 2)
		put32(w, 0x4C, 0x8B, 0x81, CURVE_SINGLE); /* mov r8, [rcx + CURVE_SINGLE] */
	else
		PUT(w, 0x45, 0x31, 0xC0); /* xor r8d, r8d */
	PUT(w, 0x48, 0x8B, 0x12); /* mov rdx, [rdx] */
	for (uint32_t j = 1; j < x / 2; j++)
		put32(w, 0x4C, 0x03, 0x81, 2 * LINE * j); /* add r8, [rcx + 128 j] */
	if (others) {
		PUT(w, 0x49, 0x89, 0xD2);             /* mov r10, rdx */
		PUT(w, 0x49, 0x83, 0xE2, 0x00);       /* and r10, 0 */
		PUT(w, 0x4D, 0x01, 0xC2);             /* add r10, r8 */
		PUT(w, 0x49, 0x01, 0xCA);             /* add r10, rcx */
		for (uint32_t j = 0; j < x / 2; j++)
			put32(w, 0x49, 0x03, 0x92, 2 * LINE * j + LINE); /* add rdx, [r10 + 128 j + 64] */
	}
	PUT(w, 0x4C, 0x01, 0xC2); /* add rdx, r8 */
}

/* Loads of x lines that miss; a number from a line of its own (FILLER_MISS: the next line in each iteration), its roots, and a 0 made from the
 * last root. */
static void put_beside(struct writer *w, const struct row_curve *c, uint32_t x, uint32_t lines)
{
	for (uint32_t j = 0; j < x; j++)
		put_filler(w, FILLER_MISS, j, lines);
	PUT(w, 0x49, 0x89, 0xC8);                   /* mov r8, rcx: not before the node is known */
	PUT(w, 0x49, 0x83, 0xE0, 0x00);             /* and r8, 0 */
	PUT(w, 0xF2, 0x43, 0x0F, 0x10, 0x04, 0x01); /* movsd xmm0, [r9 + r8] */
	for (uint32_t i = 0; i < c->roots; i++)
		PUT(w, 0xF2, 0x0F, 0x51, 0xC0); /* sqrtsd xmm0, xmm0 */
	PUT(w, 0x66, 0x49, 0x0F, 0x7E, 0xC0); /* movq r8, xmm0 */
	PUT(w, 0x49, 0x83, 0xE0, 0x00);       /* and r8, 0 */
	PUT(w, 0x4C, 0x01, 0xC2);             /* add rdx, r8 */
	if (c->filler == FILLER_MISS)
		PUT(w, 0x49, 0x83, 0xC1, LINE); /* add r9, 64 */
}

uint32_t curve_code(const struct row_curve *c, uint32_t x, uint32_t lines, uint8_t *code)
{
	struct writer w = { code, 0, false };

	if (c->what == CURVE_CHAINS) {
		PUT(&w, 0x0F, 0x57, 0xC9, 0x0F, 0x28, 0xC1); /* xorps xmm1, xmm1; movaps xmm0, xmm1: XORPS of XMM0 might wait for the previous chain */
		for (uint32_t i = 0; i < x; i++)
			PUT(&w, 0xF2, 0x0F, 0x58, 0xC1); /* addsd xmm0, xmm1 */
		PUT(&w, 0x41, 0xFF, 0xE3); /* jmp r11 */
		return w.full ? 0 : w.at;
	}
	if (c->what == CURVE_PAIRS) {
		put_pairs(&w, x, c->filler == FILLER_MISS);
		PUT(&w, 0x48, 0x89, 0xD0); /* mov rax, rdx */
		PUT(&w, 0x41, 0xFF, 0xE3);
		return w.full ? 0 : w.at;
	}
	if (c->what == CURVE_TWICE)
		PUT(&w, 0x4C, 0x8B, 0x52, CURVE_SENDS); /* mov r10, [rdx + CURVE_SENDS] */
	else
		PUT(&w, 0x48, 0x89, 0xD1); /* mov rcx, rdx */
	PUT(&w, 0x48, 0x8B, 0x12); /* mov rdx, [rdx] */
	for (uint32_t j = 0; c->what == CURVE_OVERLAP && j + 1 < x; j++)
		put_load(&w, curve_line(j, lines));
	for (uint32_t j = 1; c->what == CURVE_SPREAD && j < x; j++)
		put_load(&w, j * lines * LINE);
	for (uint32_t j = 1; c->what == CURVE_WALKS && j < x; j++)
		put_load(&w, j * CURVE_PAGE);
	if (c->what == CURVE_BESIDE)
		put_beside(&w, c, x, lines);
	if (c->what == CURVE_WINDOW || c->what == CURVE_SERIAL) {
		for (uint32_t j = 0; j < x; j++)
			put_filler(&w, c->filler, j, lines);
		if (c->what == CURVE_SERIAL) {
			if (c->filler == FILLER_MISS)
				PUT(&w, 0x4D, 0x89, 0xD0);         /* mov r8, r10 */
			else
				PUT(&w, 0x49, 0x89, 0xD0);         /* mov r8, rdx */
			PUT(&w, 0x49, 0x83, 0xE0, 0x00);           /* and r8, 0 */
			PUT(&w, 0x49, 0x01, 0xC8);                         /* add r8, rcx */
			put32(&w, 0x4D, 0x8B, 0x80, second_at(c, lines));  /* mov r8, [r8 + B], 0 */
		} else {
			put32(&w, 0x4C, 0x8B, 0x81, second_at(c, lines));  /* mov r8, [rcx + B], 0 */
		}
		PUT(&w, 0x4C, 0x01, 0xC2); /* add rdx, r8 */
	}
	PUT(&w, 0x48, 0x89, 0xD0); /* mov rax, rdx */
	PUT(&w, 0x41, 0xFF, 0xE3);
	return w.full ? 0 : w.at;
}
