/* pmu/sim/signals/signal.c against a recomputation that keeps every cycle of every signal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/sim/signals/signal.h"
#include "tests/unit/support/sim_look.h"

#define CYCLES 6000

static uint64_t seed;
static unsigned draw(unsigned below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % below;
}

struct bench { struct signals *s; void *a; };
static struct bench bench_open(bool ring)
{
	struct bench x = { .a = calloc(1, signals_bytes()) };
	x.s = signals_init(x.a);
	if (ring)
		signals_attach_heap(x.s);
	return x;
}
static void bench_close(struct bench *x)
{
	signals_detach(x->s);
	free(x->a);
}

static void listen(struct tap *t, enum signal g) { t->listen[g / 64] |= 1ull << (g % 64); t->on = true; }

static uint64_t naive(const int *count, unsigned cycles, const struct tap *t)
{
	uint64_t value = 0;
	bool before = false;
	for (unsigned c = 0; c < cycles; c++) {
		if (!t->cmask && !t->edge) {
			value += (uint64_t)count[c];
			continue;
		}
		bool now = t->cmask ? (t->inv ? count[c] < t->cmask : count[c] >= t->cmask) : count[c] >= 1;
		value += now && !(t->edge && before);
		before = now;
	}
	return value;
}

/* Random pulses and levels of two signals, emitted out of order within the open cycles. */
static void test_signal_taps_equal_a_recount_of_every_cycle(void **state)
{
	(void)state;
	static int count[2][CYCLES + 300], sum[CYCLES + 300];
	for (seed = 1; seed <= 40; seed++) {
		uint64_t kept = seed;
		struct bench x = bench_open(true);
		struct tap taps[TAPS_MAX];
		memset(taps, 0, sizeof(taps));
		memset(count, 0, sizeof(count));
		for (unsigned t = 0; t < TAPS_MAX; t++) {
			listen(&taps[t], SIG_UOPS_EXECUTED_P0);
			if (t >= 12)
				listen(&taps[t], SIG_L1D_REPLACED);
			taps[t].cmask = (uint8_t)((t % 12) / 3);
			taps[t].inv = t % 3 == 1;
			taps[t].edge = t % 3 == 2;
			signals_tap(x.s, t, &taps[t]);
		}
		unsigned sparse = draw(100) + 1;
		uint64_t open = 0;
		while (open < CYCLES) {
			unsigned span = draw(250) + 1;
			for (unsigned n = draw(1 + 400 / sparse); n; n--) {
				unsigned g = draw(2), at = (unsigned)open + draw(span + 30), much = draw(3) + 1, to = at + draw(200);
				if (to >= CYCLES + 250)
					continue;
				enum signal sig = g ? SIG_L1D_REPLACED : SIG_UOPS_EXECUTED_P0;
				if (draw(2)) {
					signal_pulse(x.s, sig, at, much);
					count[g][at] += (int)much;
				} else {
					signal_level(x.s, sig, at, to, much);
					for (unsigned c = at; c < to; c++)
						count[g][c] += (int)much;
				}
			}
			open += span;
			signal_close(x.s, open);
		}
		signal_close(x.s, CYCLES + 300);
		for (unsigned c = 0; c < CYCLES + 300; c++)
			sum[c] = count[0][c] + count[1][c];
		for (unsigned t = 0; t < TAPS_MAX; t++)
			assert_int_equal(signals_tap_get(x.s, t)->value, naive(t >= 12 ? sum : count[0], CYCLES + 300, &taps[t]));
		bench_close(&x);
		seed = kept;
	}
}

static void test_signal_cmask_and_its_inverse_share_all_cycles(void **state)
{
	(void)state;
	struct bench x = bench_open(true);
	for (unsigned c = 1; c <= 6; c++) {
		struct tap t = { .cmask = (uint8_t)c };
		listen(&t, SIG_UOPS_RETIRED_FUSED);
		signals_tap(x.s, 2 * c, &t);
		t.inv = true;
		signals_tap(x.s, 2 * c + 1, &t);
	}
	uint64_t plain = 0, histogram = 0;
	seed = 7;
	/* far longer than the ring, with silent stretches of 100000 cycles */
	uint64_t now = 0;
	for (unsigned i = 0; i < 3000; i++) {
		unsigned n = draw(6);
		signal_pulse(x.s, SIG_UOPS_RETIRED_FUSED, now, n);
		plain += n;
		now += i % 500 ? 1 + draw(90) : 100000;
		signal_close(x.s, now);
	}
	for (unsigned c = 1; c <= 6; c++) {
		uint64_t at_least = signals_tap_get(x.s, 2 * c)->value;
		assert_int_equal(at_least + signals_tap_get(x.s, 2 * c + 1)->value, now);
		histogram += at_least;
	}
	assert_int_equal(histogram, plain);
	bench_close(&x);
}

static void test_signal_without_subscribers_costs_and_counts_nothing(void **state)
{
	(void)state;
	struct bench x = bench_open(false);
	struct tap t = { .on = false };
	listen(&t, SIG_LOADS_RETIRED);
	signals_tap(x.s, 3, &t);
	assert_true(signal_subscribed(x.s, SIG_LOADS_RETIRED));
	assert_false(signal_subscribed(x.s, SIG_STORES_RETIRED));
	signal_pulse(x.s, SIG_STORES_RETIRED, 5, 9);
	signal_pulse(x.s, SIG_LOADS_RETIRED, 5, 2);
	signal_level(x.s, SIG_LOADS_RETIRED, 10, 20, 3);
	assert_int_equal(signals_tap_get(x.s, 3)->value, 32);
	signals_tap(x.s, 3, NULL);
	assert_false(signal_subscribed(x.s, SIG_LOADS_RETIRED));
	signal_pulse(x.s, SIG_LOADS_RETIRED, 5, 2);
	assert_int_equal(signals_tap_get(x.s, 3)->value, 0);
	bench_close(&x);
}

static void test_signal_sleep_is_not_counted(void **state)
{
	(void)state;
	struct bench x = bench_open(true);
	struct tap t = { .cmask = 1, .inv = true };
	listen(&t, SIG_LOADS_RETIRED);
	signals_tap(x.s, 0, &t);
	signal_close(x.s, 100);
	signal_skip(x.s, 70000);
	signal_close(x.s, 70010);
	assert_int_equal(signals_tap_get(x.s, 0)->value, 110);
	bench_close(&x);
}

/* Two threads that emit at different times: the pair sees the sum of both in each cycle. */
static void test_signal_pair_sees_both_threads(void **state)
{
	(void)state;
	static int sum[CYCLES];
	for (seed = 1; seed <= 20; seed++) {
		uint64_t kept = seed, at[2] = { 0, 0 };
		struct bench x[3] = { bench_open(true), bench_open(true), bench_open(true) };
		struct tap own = { .cmask = 1 };
		memset(sum, 0, sizeof(sum));
		signals_pair(x[2].s, x[0].s, x[1].s);
		signal_skip(x[0].s, 0);
		signal_skip(x[1].s, 0);
		struct tap taps[6] = { { .cmask = 0 }, { .cmask = 1 }, { .cmask = 1, .inv = true }, { .cmask = 1, .inv = true, .edge = true },
			{ .cmask = 2 }, { .cmask = 4, .inv = true } };
		for (unsigned t = 0; t < COUNT_OF(taps); t++) {
			listen(&taps[t], SIG_UOPS_EXECUTED);
			signals_tap(x[2].s, t, &taps[t]);
		}
		assert_true(signals_any(x[2].s));
		listen(&own, SIG_UOPS_EXECUTED);
		signals_tap(x[0].s, 3, &own);
		while (at[0] < CYCLES - 300 || at[1] < CYCLES - 300) {
			unsigned i = at[1] < at[0]; /* the thread that is behind continues */
			for (unsigned n = draw(20); n--;) {
				unsigned c = (unsigned)at[i] + draw(200), k = draw(3);
				signal_pulse_often(x[i].s, SIG_UOPS_EXECUTED, c, k);
				sum[c] += (int)k;
			}
			at[i] += draw(90);
			signal_close(x[i].s, at[i]);
		}
		for (unsigned i = 0; i < 2; i++) {
			signal_close(x[i].s, CYCLES);
			signal_sleep(x[i].s);
		}
		for (unsigned t = 0; t < COUNT_OF(taps); t++)
			if (signals_tap_get(x[2].s, t)->value != naive(sum, CYCLES, &taps[t]))
				fail_msg("seed %u, tap %u", (unsigned)kept, t);
		assert_true(signals_tap_get(x[0].s, 3)->value < signals_tap_get(x[2].s, 1)->value);
		for (unsigned i = 3; i-- > 0;) /* the pair before its threads */
			bench_close(&x[i]);
		seed = kept;
	}
}

/* Recounts a pair's tap. counts[i][c]: of thread i in cycle c; awake[i]: the cycles in which thread i wakes and falls asleep. */
static uint64_t naive_pair(int counts[2][CYCLES], uint64_t awake[2][2], const struct tap *t)
{
	uint64_t value = 0;
	bool before = false;
	for (unsigned c = 0; c < CYCLES; c++) {
		unsigned state = 0;
		int n = 0;
		for (unsigned i = 0; i < 2; i++) {
			state |= (unsigned)(c >= awake[i][0] && c < awake[i][1]) << i;
			n += !t->from || t->from >> i & 1 ? counts[i][c] : 0;
		}
		const bool now = (t->awake ? t->awake >> state & 1 : true) && (t->cmask ? (n >= t->cmask) != t->inv : n > 0);
		if (t->awake && !(t->awake >> state & 1))
			n = 0;
		value += t->cmask || t->edge ? (uint64_t)(now && !(t->edge && before)) : (uint64_t)n;
		before = now;
	}
	return value;
}

/* Threads that fall asleep at different times: a tap that is limited to certain sets of awake threads counts in their cycles only. */
static void test_signal_pair_counts_while_certain_threads_are_awake(void **state)
{
	(void)state;
	static int counts[2][CYCLES];
	for (seed = 1; seed <= 40; seed++) {
		const uint64_t kept = seed, start = 200 + draw(100);
		uint64_t at[2] = { start, start }, awake[2][2], ends[2];
		struct bench x[3] = { bench_open(true), bench_open(true), bench_open(true) };
		struct tap taps[TAPS_MAX];
		memset(counts, 0, sizeof(counts));
		signals_pair(x[2].s, x[0].s, x[1].s);
		for (unsigned t = 0; t < TAPS_MAX; t++) {
			taps[t] = (struct tap){ .from = (uint8_t)draw(4), .awake = (uint8_t)(1 + draw(15)), .cmask = (uint8_t)draw(4), .edge = draw(4) == 0 };
			taps[t].inv = taps[t].cmask && draw(2);
			listen(&taps[t], SIG_UOPS_EXECUTED);
			signals_tap(x[2].s, t, &taps[t]);
		}
		signal_idle(x[2].s, 50); /* the pair is read while both are asleep */
		for (unsigned i = 0; i < 2; i++) {
			signal_skip(x[i].s, start);
			ends[i] = 400 + draw(CYCLES - 1000);
			awake[i][0] = start;
		}
		for (bool asleep[2] = { false, false }; !asleep[0] || !asleep[1];) {
			const unsigned i = asleep[0] || (!asleep[1] && at[1] < at[0]);
			for (unsigned n = draw(20); n--;) {
				const unsigned c = (unsigned)at[i] + draw(60), k = draw(3);
				signal_pulse_often(x[i].s, SIG_UOPS_EXECUTED, c, k);
				counts[i][c] += (int)k;
			}
			if (draw(3) == 0) {
				const unsigned from = (unsigned)at[i] + draw(30), to = from + draw(30);
				signal_level(x[i].s, SIG_UOPS_EXECUTED, from, to, 1);
				for (unsigned c = from; c < to; c++)
					counts[i][c]++;
			}
			at[i] += draw(90);
			if (at[i] >= ends[i]) {
				asleep[i] = true;
				at[i] += 90; /* nothing is in progress any more */
				awake[i][1] = at[i];
			}
			signal_close(x[i].s, at[i]);
			if (asleep[i])
				signal_sleep(x[i].s);
		}
		signal_idle(x[2].s, CYCLES - 100);
		signal_idle(x[2].s, CYCLES);
		for (unsigned t = 0; t < TAPS_MAX; t++)
			if (signals_tap_get(x[2].s, t)->value != naive_pair(counts, awake, &taps[t]))
				fail_msg("seed %u, tap %u: from %u awake %u cmask %u inv %u edge %u: %u instead of %u", (unsigned)kept, t, taps[t].from, taps[t].awake,
				         taps[t].cmask, taps[t].inv, taps[t].edge, (unsigned)signals_tap_get(x[2].s, t)->value,
				         (unsigned)naive_pair(counts, awake, &taps[t]));
		for (unsigned i = 3; i-- > 0;) /* the pair before its threads */
			bench_close(&x[i]);
		seed = kept;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signal_pair_sees_both_threads),
		cmocka_unit_test(test_signal_pair_counts_while_certain_threads_are_awake),
		cmocka_unit_test(test_signal_taps_equal_a_recount_of_every_cycle),
		cmocka_unit_test(test_signal_cmask_and_its_inverse_share_all_cycles),
		cmocka_unit_test(test_signal_without_subscribers_costs_and_counts_nothing),
		cmocka_unit_test(test_signal_sleep_is_not_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
