/* tests/unit/pmu/test_netburst_assign.c: assignments of detectors and counters, judged by exhaustive search, and the resulting register values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/rigs/netburst_rig.h"

/* Exhaustive search that differs from the driver's: it chooses a counter for each want in turn, then checks whether the ESCRs can be
 * assigned. */
struct brute { const struct netburst_want *wants; unsigned n; unsigned counter[NETBURST_WANTS_MAX]; };

static bool escrs_can(const struct brute *b, unsigned i, uint16_t *escr)
{
	if (i == b->n)
		return true;
	for (unsigned side = 0; side < 2; side++) {
		const struct netburst_want *w = &b->wants[i];
		bool clash = !w->event->escr[side] || !(w->event->counters[side] >> b->counter[i] & 1);
		for (unsigned j = 0; j < i && !clash; j++) {
			const struct netburst_want *o = &b->wants[j];
			clash = escr[j] == w->event->escr[side] &&
			        (o->event->select != w->event->select || o->mask != w->mask || o->tag != w->tag || o->threads != w->threads);
		}
		escr[i] = w->event->escr[side];
		if (!clash && escrs_can(b, i + 1, escr))
			return true;
	}
	return false;
}

static bool brute_force(struct brute *b, unsigned i)
{
	uint16_t escr[NETBURST_WANTS_MAX];
	if (i == b->n)
		return escrs_can(b, 0, escr);
	for (unsigned c = 0; c < NETBURST_COUNTERS; c++) {
		bool clash = c == 1 || !((b->wants[i].event->counters[0] | b->wants[i].event->counters[1]) >> c & 1);
		clash |= b->wants[i].pebs && c != 16;
		for (unsigned j = 0; j < i; j++)
			clash |= b->counter[j] == c;
		b->counter[i] = c;
		if (!clash && brute_force(b, i + 1))
			return true;
	}
	return false;
}

static void is_lawful(const struct netburst_want *wants, unsigned n, const struct netburst_assignment *at)
{
	for (unsigned i = 0; i < n; i++) {
		unsigned side = wants[i].event->escr[1] == at[i].escr;
		assert_int_equal(wants[i].event->escr[side], at[i].escr);
		assert_true(wants[i].event->counters[side] >> at[i].counter & 1);
		assert_int_not_equal(at[i].counter, 1);
		for (unsigned j = 0; j < i; j++) {
			assert_int_not_equal(at[i].counter, at[j].counter);
			if (at[i].escr == at[j].escr)
				assert_int_equal(at[i].escr_value, at[j].escr_value);
		}
	}
}

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

static void test_netburst_assigns_what_can_be_assigned(void **state)
{
	(void)state;
	const struct processor *p = netburst_rig_processor();
	uint64_t seed = 20020704;
	unsigned placed = 0, collided = 0;
	for (unsigned round = 0; round < 1000; round++) {
		struct netburst_want wants[8];
		struct netburst_assignment at[8];
		char why[512];
		unsigned n = 1 + (unsigned)draw(&seed, 8);
		/* every second set is drawn from one block, where collisions are frequent */
		unsigned of_block = round % 2 ? (unsigned)draw(&seed, 4) : 4;
		for (unsigned i = 0; i < n; i++) {
			static const uint32_t blocks[] = { 0xF, 0xF0, 0xF00, 0x3F000, 0x3FFFF };
			do {
				memset(&wants[i], 0, sizeof(wants[i]));
				wants[i].event = &p->detectors[draw(&seed, p->detector_count)];
			} while (!((wants[i].event->counters[0] | wants[i].event->counters[1]) & blocks[of_block]));
			wants[i].mask = (uint16_t)(1u << wants[i].event->units[draw(&seed, wants[i].event->unit_count)].bit);
			wants[i].threads = NETBURST_T0_OS;
			wants[i].active = NETBURST_ANY;
			wants[i].after = -1;
			wants[i].pebs = wants[i].event->tags == 2 && draw(&seed, 4) == 0;
		}
		struct brute b = { .wants = wants, .n = n };
		bool can = brute_force(&b, 0);
		enum status s = netburst_rig_assign(wants, n, at, why);
		assert_int_equal(s, can ? ST_OK : ST_UNSUPPORTED);
		if (can) {
			is_lawful(wants, n, at);
			placed++;
			continue;
		}
		collided++;
		/* the named events cannot be placed together, but can be if any one is left out */
		struct netburst_want named[8];
		unsigned m = 0;
		char *text = strdup(why);
		*strstr(text, " need ") = 0;
		for (char *save, *name = strtok_r(text, ", ", &save); name; name = strtok_r(NULL, ", ", &save))
			m++;
		free(text);
		assert_true(m >= 2 && m <= n);
		/* the names are in order: find a subset of that size that collides and is minimal */
		bool found = false;
		for (unsigned set = 0; set < 1u << n && !found; set++) {
			if ((unsigned)__builtin_popcount(set) != m)
				continue;
			char list[512] = "";
			unsigned k = 0;
			for (unsigned i = 0; i < n; i++)
				if (set >> i & 1) {
					snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s", k ? ", " : "", wants[i].event->name);
					named[k++] = wants[i];
				}
			if (strncmp(why, list, strlen(list)) || strncmp(why + strlen(list), " need ", 6))
				continue;
			struct brute whole = { .wants = named, .n = m };
			bool minimal = !brute_force(&whole, 0);
			for (unsigned out = 0; out < m && minimal; out++) {
				struct netburst_want rest[8];
				for (unsigned i = 0, j = 0; i < m; i++)
					if (i != out)
						rest[j++] = named[i];
				struct brute less = { .wants = rest, .n = m - 1 };
				minimal = brute_force(&less, 0);
			}
			found = minimal;
		}
		if (!found)
			fail_msg("no true conflict: %s", why);
	}
	print_message("1000 sets: %u placed, %u true conflicts\n", placed, collided);
	assert_true(placed > 200 && collided > 200);
}

static void refused(const struct netburst_want *wants, unsigned n, enum status s, const char *words)
{
	struct netburst_assignment at[NETBURST_WANTS_MAX];
	char why[512];
	assert_int_equal(netburst_rig_assign(wants, n, at, why), s);
	if (!strstr(why, words))
		fail_msg("\"%s\" is not in \"%s\"", words, why);
}

static void test_netburst_says_what_collides(void **state)
{
	(void)state;
	struct netburst_want two[3] = { netburst_rig_want("IOQ_active_entries.ALL_READ"), netburst_rig_want("IOQ_active_entries.ALL_WRITE") };
	refused(two, 2, ST_UNSUPPORTED, "IOQ_active_entries, IOQ_active_entries need ESCR 0x3A3 and counter 2, 3, and cannot all have them");
	two[0] = netburst_rig_want("BSQ_allocation.REQ_TYPE0");
	two[1] = netburst_rig_want("BSQ_allocation.REQ_TYPE0");
	refused(two, 2, ST_UNSUPPORTED, "need ESCR 0x3A0 and counter 0, and");
	two[0] = netburst_rig_want("replay_event.NBOGUS:1stL_cache_load_miss_retired");
	two[1] = netburst_rig_want("replay_event.NBOGUS:2ndL_cache_load_miss_retired");
	refused(two, 2, ST_UNSUPPORTED, "1stL_cache_load_miss_retired and 2ndL_cache_load_miss_retired: IA32_PEBS_ENABLE (0x3F1)");
	two[0] = netburst_rig_want("front_end_event.NBOGUS");
	two[1] = netburst_rig_want("replay_event.NBOGUS");
	two[0].pebs = two[1].pebs = true;
	refused(two, 2, ST_UNSUPPORTED, "front_end_event, replay_event need ESCR 0x3CC, ESCR 0x3CD and counter 16");
	two[0] = netburst_rig_want("instr_retired.NBOGUSNTAG");
	two[0].pebs = true;
	refused(two, 1, ST_RANGE, "instr_retired: PEBS records tagged uops that retire alone");
	two[0] = netburst_rig_want("instr_retired.NBOGUSNTAG");
	two[0].threshold = 1;
	refused(two, 1, ST_RANGE, "need compare");
	two[0].threshold = 0;
	two[0].tag = 1;
	refused(two, 1, ST_RANGE, "can be tagged");
	two[0] = netburst_rig_want("instr_retired.NBOGUSNTAG");
	two[1] = netburst_rig_want("tc_ms_xfer.CISC");
	two[1].after = 0;
	refused(two, 2, ST_RANGE, "tc_ms_xfer: a cascade cannot start: its two counters must be of one block");
	two[1].after = 1;
	refused(two, 2, ST_RANGE, "a cascade starts after an event that has a counter and starts by itself");
}

/* A cascade's second counter is the first one's counterpart in the block's other pair, and only the first one's overflow enables it. */
static void test_netburst_cascade_takes_paired_counters(void **state)
{
	(void)state;
	struct netburst_want w[2] = { netburst_rig_want("global_power_events.RUNNING"), netburst_rig_want("BPU_fetch_request.TCMISS") };
	struct netburst_assignment at[2];
	char why[512];
	w[1].after = 0;
	assert_int_equal(netburst_rig_assign(w, 2, at, why), ST_OK);
	assert_int_equal(at[1].counter, at[0].counter ^ 2);
	assert_int_equal(at[0].cccr_value, 0x0003D000);
	assert_int_equal(at[1].cccr_value, 0x40030000);
}

/* Register values of the minimal useful set, from the documents (facts of the digest), for thread 0 and both privilege levels. */
static void test_netburst_values_are_the_documents(void **state)
{
	(void)state;
	static const struct { const char *name; uint32_t escr, cccr; } known[] = {
		{ "global_power_events.RUNNING", 0x2600020C, 0x0003D000 }, { "uops_retired.NBOGUS", 0x0200020C, 0x00039000 },
		{ "instr_retired.NBOGUSNTAG", 0x0400020C, 0x00039000 }, { "branch_retired.MMNP+MMNM+MMTP+MMTM", 0x0C001E0C, 0x0003B000 },
		{ "branch_retired.MMNM+MMTM", 0x0C00140C, 0x0003B000 }, { "replay_event.NBOGUS:DTLB_all_miss_retired", 0x1200020C, 0x0003B000 },
		{ "BSQ_cache_reference.RD_2ndL_MISS", 0x1802000C, 0x0003F000 }, { "page_walk_type.DTMISS", 0x0200020C, 0x00039000 },
		{ "IOQ_allocation.ALL_READ+MEM_WB+OWN", 0x0650400C, 0x0003D000 }, { "IOQ_active_entries.ALL_READ+MEM_WB+OWN", 0x3450400C, 0x0003D000 },
		{ "FSB_data_activity.DRDY_DRV+DRDY_OWN", 0x2E00060C, 0x0003D000 }, { "resource_stall.SBFULL", 0x0200400C, 0x00033000 },
		{ "BPU_fetch_request.TCMISS", 0x0600020C, 0x00031000 }, { "machine_clear.MOCLEAR", 0x0400080C, 0x0003B000 } };
	for (unsigned i = 0; i < COUNT_OF(known); i++) {
		struct netburst_want w = netburst_rig_want(known[i].name);
		struct netburst_assignment at;
		char why[512];
		w.threads = NETBURST_T0_OS | NETBURST_T0_USR;
		assert_int_equal(netburst_rig_assign(&w, 1, &at, why), ST_OK);
		if (at.escr_value != known[i].escr || at.cccr_value != known[i].cccr)
			fail_msg("%s: ESCR 0x%X CCCR 0x%X", known[i].name, at.escr_value, at.cccr_value);
	}
	/* front-end tagging: uop_type tags loads with tag 1 */
	struct netburst_want up = netburst_rig_want("uop_type.TAGLOADS");
	struct netburst_assignment at;
	char why[512];
	up.threads = NETBURST_T0_OS | NETBURST_T0_USR;
	up.tag = 1;
	up.upstream = true;
	assert_int_equal(netburst_rig_assign(&up, 1, &at, why), ST_OK);
	assert_int_equal(at.escr_value, 0x0400043C);
	assert_int_equal(at.counter, NETBURST_NO_COUNTER);
}

/* The additional event that a metric needs uses the ESCR that the SDM's table of metrics names. */
static void test_netburst_metrics_take_the_escr_of_the_manual(void **state)
{
	(void)state;
	static const struct { const char *name; uint16_t escr; } known[] = { { "SPLIT_LOAD_RETIRED", 0x3AF }, { "SPLIT_STORE_RETIRED", 0x3AE } };
	const struct processor *p = netburst_rig_processor();
	const struct cpu cpu = { .processor = p };
	unsigned found = 0;

	for (unsigned i = 0; i < p->event_count; i++)
		for (unsigned k = 0; k < COUNT_OF(known); k++) {
			struct netburst_want w[2];
			struct netburst_assignment at[2];
			char why[512];

			if (strcmp(p->events[i].name, known[k].name))
				continue;
			assert_int_equal(netburst_rig_assign(w, netburst_wants_of(&cpu, &p->events[i], 0, w), at, why), ST_OK);
			assert_int_equal(at[0].escr, known[k].escr);
			found++;
		}
	assert_int_equal(found, COUNT_OF(known));
}
int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_netburst_assigns_what_can_be_assigned),
		cmocka_unit_test(test_netburst_says_what_collides),
		cmocka_unit_test(test_netburst_cascade_takes_paired_counters),
		cmocka_unit_test(test_netburst_values_are_the_documents),
		cmocka_unit_test(test_netburst_metrics_take_the_escr_of_the_manual),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
