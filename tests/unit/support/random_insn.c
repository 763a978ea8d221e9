#include "tests/unit/support/random_insn.h"

static uint64_t seed;

void draw_seed(uint64_t from)
{
	seed = from;
}

uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed * 0x2545F4914F6CDD1Dull;
}

unsigned below(unsigned n)
{
	return (unsigned)((draw() >> 32) % n);
}

unsigned random_insn(uint8_t *out)
{
	unsigned n = 0, i;

	if (below(8) == 0) { /* cases that a uniform draw would seldom produce */
		switch (below(8)) {
		case 0: case 1:
			out[n++] = (uint8_t)(0xD8 | below(8));
			break;
		case 2:
			out[n++] = 0x0F;
			out[n++] = below(3) ? 0xAE : 0x18;
			break;
		case 3: case 4: case 5: /* VEX maps 2 and 3 with prefix 66, half of them without a third register */
			out[n++] = 0xC4;
			out[n++] = (uint8_t)((draw() & 0xE0) | (2 + below(2)));
			out[n++] = (uint8_t)((below(2) ? 0x79 : (draw() & 0x78) | 1) | below(2) << 2 | (below(4) == 0) << 7);
			out[n++] = (uint8_t)below(0xC0);
			break;
		case 6:
			out[n++] = 0x66;
			out[n++] = 0x0F;
			out[n++] = (uint8_t)(0x71 + below(3));
			break;
		default:
			out[n++] = 0x66;
			out[n++] = 0x0F;
			out[n++] = below(2) ? 0x38 : 0x3A;
			out[n++] = (uint8_t)below(0x42);
		}
		if (below(2)) { /* register operands */
			out[n] = (uint8_t)(0xC0 | draw());
			n++;
		}
	} else if (below(3)) {
		unsigned map;

		if (below(5) == 0)
			out[n++] = 0x66;
		if (below(12) == 0)
			out[n++] = 0xF0;
		if (below(5) == 0)
			out[n++] = below(2) ? 0xF2 : 0xF3;
		if (below(30) == 0)
			out[n++] = 0x67;
		if (below(2))
			out[n++] = (uint8_t)(0x40 | below(16));
		map = below(4);
		if (map)
			out[n++] = 0x0F;
		if (map == 2 && below(2))
			out[n++] = below(3) ? 0x38 : 0x3A;
	} else if (below(2)) {
		out[n++] = 0xC5;
		out[n++] = (uint8_t)draw();
	} else {
		out[n++] = 0xC4;
		out[n++] = (uint8_t)((draw() & 0xE0) | (1 + below(3)));
		out[n++] = (uint8_t)draw();
	}
	for (i = n; i < 15; i++)
		out[n++] = (uint8_t)draw();
	if (below(4) == 0) /* vector instructions have VEX.vvvv = none more often than random bytes do */
		out[out[0] == 0xC4 ? 2 : 1] |= out[0] == 0xC4 || out[0] == 0xC5 ? 0x78 : 0;
	return 15;
}
