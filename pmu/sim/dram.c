/* pmu/sim/dram.c: memory channels of each node.
 *
 * Lines go round the channels of their home node. A channel moves one line at a time in
 * 64 / channel_bytes_per_second, reads and writes alike; the unloaded latency contains that
 * time. With dram.open_page each bank keeps its last row open: the same row again is a page
 * hit (latency - page_hit_ps), a bank whose rows are all closed is page empty (the latency of
 * the formulas), another row is a page miss (latency + page_miss_ps). Without it every access
 * is page empty.
 *
 * Not modelled: row cycle and activation limits (tRC, tFAW), refresh, turnaround between
 * reads and writes, priorities of the scheduler. */
#include "pmu/sim/memory_state.h"

#define ROW_CLOSED UINT32_MAX

void dram_init(struct memory *s, struct socket *k, struct arena *a)
{
	const struct machine *m = s->m;
	/* core cycles a line * 65536 = 64 * core_hz / rate * 65536, in whole numbers without overflow */
	const uint64_t hz3 = m->clock_bus_hz_times_3 * m->clock_core_ratio, rate3 = m->dram_channel_bytes_per_second * 3;
	const uint64_t whole = 64 * hz3 / rate3, rest = 64 * hz3 % rate3;
	const uint64_t period = (whole << 16) + (rest << 16) / rate3;
	for (unsigned c = 0; c < m->dram_channels; c++) {
		uint32_t *row = arena_get(a, m->dram_banks * sizeof(uint32_t));
		if (!a->at)
			continue;
		k->channels[c].row = row;
		memset(row, 0xFF, m->dram_banks * sizeof(uint32_t));
		lane_init(&k->channels[c].lane, period);
	}
}

static struct channel *channel_of(struct memory *s, uint32_t line, uint32_t *at)
{
	const uint32_t n = (uint32_t)s->m->dram_channels, offset = line & (NODE_LINES - 1);
	*at = offset / n;
	return &s->socket[home_of(line)].channels[offset % n];
}

/* Opens the line's row; returns the difference to the page-empty latency. */
static int64_t open_row(struct memory *s, struct channel *c, uint32_t at)
{
	if (!s->m->dram_open_page)
		return 0;
	const uint32_t page = at / (uint32_t)(s->m->dram_page_bytes / 64);
	const uint32_t bank = page % (uint32_t)s->m->dram_banks, row = page / (uint32_t)s->m->dram_banks;
	const uint32_t before = c->row[bank];
	c->row[bank] = row;
	if (before == row)
		return -(int64_t)s->page_hit_cycles;
	return before == ROW_CLOSED ? 0 : (int64_t)s->page_miss_cycles;
}

int64_t dram_read(struct memory *s, uint32_t line, uint64_t t)
{
	uint32_t at;
	struct channel *c = channel_of(s, line, &at);
	const int64_t page = open_row(s, c, at);
	return (int64_t)(lane_take(&c->lane, t) - t) + page;
}

uint64_t dram_write(struct memory *s, uint32_t line, uint64_t t, unsigned transfers)
{
	uint32_t at;
	struct channel *c = channel_of(s, line, &at);
	(void)open_row(s, c, at);
	uint64_t start = t;
	for (unsigned i = 0; i < transfers; i++)
		start = lane_take(&c->lane, t);
	return start - t;
}
