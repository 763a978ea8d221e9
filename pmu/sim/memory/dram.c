/* pmu/sim/memory/dram.c: memory channels of each node.
 *
 * Consecutive lines alternate between the channels of their home node. A channel moves one line at a time in 64 /
 * channel_bytes_per_second, reads and writes alike; the unloaded latency contains that time. With dram.open_page each bank
 * keeps its last DRAM row open: the same row again is a page hit (latency - page_hit_ps), a bank with no open row is page
 * empty (the latency of the formulas), another row is a page miss (latency + page_miss_ps). Without it every access is page
 * empty.
 *
 * Each dram.refresh_ps all ranks of a channel are refreshed, before which their open rows are closed. That takes no time of the channel.
 *
 * Not modelled: row cycle and activation limits (tRC, tFAW), the time of a refresh, turnaround between reads and writes, priorities of
 * the scheduler. */
#include "pmu/sim/memory/dram.h"
#include "pmu/sim/memory/uncore_traffic.h"

#define ROW_CLOSED UINT32_MAX

uint64_t lane_period(const struct machine *m, uint64_t bytes_per_second)
{
	/* 64 * core_hz / rate in 1/65536 cycles, in integers that do not overflow */
	const uint64_t hz3 = m->clock_bus_hz_times_3 * m->clock_core_ratio * 64, rate3 = bytes_per_second * 3;
	return (hz3 / rate3 << 16) + (hz3 % rate3 << 16) / rate3;
}

void dram_init(struct memory *s, struct socket *k, struct arena *a)
{
	const struct machine *m = s->m;
	const uint64_t period = lane_period(m, m->dram_channel_bytes_per_second);
	for (unsigned c = 0; c < m->dram_channels; c++) {
		uint32_t *row = arena_get(a, m->dram_banks * sizeof(uint32_t));
		if (!a->at)
			continue;
		k->channels[c].row = row;
		memset(row, 0xFF, m->dram_banks * sizeof(uint32_t));
		lane_init(&k->channels[c].lane, period);
	}
}

unsigned dram_channel(const struct memory *s, uint32_t line)
{
	return (line & (NODE_LINES - 1)) % s->channels + part_of(s, line) * s->channels;
}

uint64_t dram_sent(struct memory *s, unsigned from, unsigned to, uint64_t t) { return lane_take(lane_between(s, from, to), t); }

#define RANK_BANKS 16 /* of DDR4 */

void dram_refresh(struct memory *s, unsigned home, unsigned unit, uint64_t t)
{
	struct channel *c = &s->socket[home].channels[unit];
	const unsigned banks = (unsigned)s->m->dram_banks, ranks = (banks + RANK_BANKS - 1) / RANK_BANKS;
	const uint64_t period = s->refresh_cycles, due = t / period;
	for (; c->refreshed < due; c->refreshed++) {
		const uint64_t at = (c->refreshed + 1) * period;
		for (unsigned rank = 0; rank < ranks; rank++) {
			bool open = false;
			for (unsigned b = rank * RANK_BANKS; b < banks && b < (rank + 1) * RANK_BANKS; b++) {
				open |= c->row[b] != ROW_CLOSED;
				c->row[b] = ROW_CLOSED;
			}
			if (open)
				uncore_pulse(s, home, unit, UNC_MEMORY_PRECHARGE_ALL, at);
			uncore_pulse(s, home, unit, UNC_MEMORY_REFRESH, at);
		}
	}
}

/* Emits that a line moves to or from a bank of its channel, whose number is the opcode. */
static void emit_transfer(struct memory *s, unsigned home, unsigned unit, uint32_t at, enum uncore_signal sig, uint64_t t)
{
	const struct uncore_attributes bank = { .opcode = (uint16_t)(at / (uint32_t)(s->m->dram_page_bytes / 64) % (uint32_t)s->m->dram_banks) };
	if (uncore_subscribed(s, sig))
		uncore_pulse_deliver(s, home, unit, sig, t, 1, &bank);
	if (uncore_subscribed(s, UNC_MEMORY_AWAKE))
		uncore_level_deliver(s, home, unit, UNC_MEMORY_AWAKE, t, 0, (unsigned)s->m->dram_power_down_cycles + 1, 0, &bank);
}

int64_t dram_change_row(struct memory *s, unsigned home, unsigned unit, uint32_t at, uint64_t t, bool read)
{
	struct channel *c = &s->socket[home].channels[unit];
	const uint32_t page = at / (uint32_t)(s->m->dram_page_bytes / 64);
	const uint32_t bank = page % (uint32_t)s->m->dram_banks, row = page / (uint32_t)s->m->dram_banks;
	if (s->refresh_cycles)
		dram_refresh(s, home, unit, t);
	const uint32_t before = c->row[bank];
	s->row_opened = before != row;
	if (before == row) {
		uncore_pulse(s, home, unit, UNC_MEMORY_PAGE_HIT, t);
		return -(int64_t)s->page_hit_cycles;
	}
	c->row[bank] = row;
	uncore_pulse(s, home, unit, UNC_MEMORY_OPEN, t);
	if (read)
		uncore_pulse(s, home, unit, UNC_MEMORY_OPEN_READ, t);
	if (before == ROW_CLOSED)
		return 0;
	if (uncore_subscribed(s, UNC_MEMORY_PAGE_MISS))
		uncore_pulse_deliver(s, home, unit, UNC_MEMORY_PAGE_MISS, t, 1, &(struct uncore_attributes){ .tags = read ? UTAG(READ) : UTAG(WRITE) });
	return (int64_t)s->page_miss_cycles;
}

void dram_emit_read(struct memory *s, unsigned from, uint32_t line, uint64_t t, uint64_t sent, uint64_t start)
{
	const unsigned home = home_socket(s, line);
	const bool local = home_of(s, line) == node_of(s, from);
	uint32_t at, unit;
	const uint64_t moving = dram_channel_of(s, line, &at, &unit)->lane.period >> 16;
	if (s->sink.traffic) {
		s->link_waits = sent - t;
		uncore_traffic_home_read(s, from, line, t, sent, start);
	}
	if (!s->m->dram_open_page) {
		uncore_pulse(s, home, unit, UNC_MEMORY_OPEN, t);
		uncore_pulse(s, home, unit, UNC_MEMORY_OPEN_READ, t);
	}
	uncore_pulse(s, home, unit, local ? UNC_HOME_READ_LOCAL : UNC_HOME_READ_REMOTE, t);
	if (!local)
		uncore_link_out(s, home, line, sent);
	emit_transfer(s, home, unit, at, UNC_MEMORY_READ, start);
	if (s->m->fault_ecc_every && ++s->socket[home].channels[unit].reads % s->m->fault_ecc_every == 0)
		uncore_pulse(s, home, unit, UNC_MEMORY_CORRECTED, start);
	uncore_level(s, home, unit, UNC_MEMORY_BUSY_READ, start, 0, 0, moving);
	uncore_level(s, home, unit, UNC_MEMORY_READ_OCCUPANCY, sent, 0, 0, start - sent + moving);
}

static uint64_t write_line(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full,
                           bool uncached, enum uncore_signal told)
{
	const unsigned home = home_socket(s, line);
	const bool local = home_of(s, line) == node_of(s, from);
	uint32_t at, unit;
	struct channel *c = dram_channel_of(s, line, &at, &unit);
	uint64_t start = t, sent = t;
	if (!local)
		sent = lane_take(lane_between(s, from, home), t);
	if (s->m->dram_open_page)
		(void)dram_change_row(s, home, unit, at, t, false);
	else
		uncore_pulse(s, home, unit, UNC_MEMORY_OPEN, t);
	for (unsigned i = 0; i < transfers; i++) {
		start = lane_take(&c->lane, sent);
		if (uncore_subscribed(s, UNC_MEMORY_BUSY_WRITE))
			uncore_level_deliver(s, home, unit, UNC_MEMORY_BUSY_WRITE, start, 0, 0, c->lane.period >> 16,
			                   &(struct uncore_attributes){ .tags = full ? 0 : UTAG(PARTIAL) });
	}
	uncore_pulse(s, home, unit, told, t);
	if (s->sink.deliver)
		uncore_complex_out(s, from, home_of(s, line), line, sent);
	if (s->sink.traffic)
		uncore_traffic_home_write(s, from, line, full, uncached ? UNCORE_TRAFFIC_UNCACHED : UNCORE_TRAFFIC_WRITE_BACK, t, sent, start);
	emit_transfer(s, home, unit, at, full ? UNC_MEMORY_WRITE_FULL : UNC_MEMORY_WRITE_PARTIAL, start);
	return start - t;
}

uint64_t dram_write(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full)
{
	return write_line(s, from, line, t, transfers, full, false, home_of(s, line) == node_of(s, from) ? UNC_HOME_WRITE_LOCAL : UNC_HOME_WRITE_REMOTE);
}

uint64_t dram_write_uncached(struct memory *s, unsigned from, uint32_t line, uint64_t t, unsigned transfers, bool full)
{
	const unsigned home = home_socket(s, line);
	const bool local = home_of(s, line) == node_of(s, from);
	uncore_pulse(s, home, dram_channel(s, line), local ? UNC_HOME_OWN_LOCAL : UNC_HOME_OWN_REMOTE, t);
	return write_line(s, from, line, t, transfers, full, true, local ? UNC_HOME_UNCACHED_LOCAL : UNC_HOME_WRITE_REMOTE);
}
