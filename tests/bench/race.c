/* tests/bench/race.c: the triad kernels against a C loop: `race WHO BYTES THREADS regular|nt GB`
 *
 * Ours is the width of vectors that is the fastest here, as bench/measure/vector_width.c takes it for a row: found by passes of each by turns, not timed.
 * WHO is ours or gcc; three arrays of BYTES each a thread (a power of two). Prints GB/s of 24 bytes an element, as
 * likwid-bench counts its stream kernels, over the passes that move GB a thread. As there, all threads spin at one barrier
 * before these passes and at one behind them, and nothing sleeps in between; the pass before them, which brings pages and
 * caches to their state, is not timed. */
#include <emmintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#include "asm/kernel.h"

#define THREADS_MAX 2
#define SKEW 2112 /* bytes between arrays, as bench/measure/layout.c has them */

typedef uint64_t triad(double *a, const double *b, const double *c, uint64_t iterations, uint64_t mask, uint64_t at);

#define WIDTHS 3
#define TRIES 7
enum { ALL_READY, ALL_WARM, ALL_DONE, ALL_TRIED, BARRIERS = ALL_TRIED + TRIES * WIDTHS + 1 };

struct race {
	unsigned threads, widths;
	triad *kernel[WIDTHS]; /* the widest first */
	uint64_t tried_ns[THREADS_MAX][WIDTHS][TRIES];
	_Alignas(64) atomic_uint at[BARRIERS];
};

struct runner {
	pthread_t thread;
	unsigned cpu;
	double *a, *b, *c;
	triad *kernel; /* NULL: the C loop; of several that which is taken */
	uint64_t bytes, turns, ns; /* turns: round the arrays, while timed; ns: of all of them, until the last thread is done */
	bool nt;
	struct race *race;
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void meet(struct race *r, unsigned barrier)
{
	atomic_fetch_add(&r->at[barrier], 1);
	while (atomic_load(&r->at[barrier]) < r->threads)
		_mm_pause();
}

static __attribute__((noinline)) void loop(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + 3.0 * c[i];
}

static __attribute__((noinline)) void loop_nt(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
	const __m128d s = _mm_set1_pd(3.0);
	for (size_t i = 0; i < n; i += 2)
		_mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(s, _mm_load_pd(c + i))));
	_mm_sfence();
}

static void pass(const struct runner *r, uint64_t turns)
{
	if (r->kernel)
		(void)r->kernel(r->a, r->b, r->c, turns * r->bytes / 256, r->bytes - 1, 0);
	else
		for (uint64_t i = 0; i < turns; i++)
			(r->nt ? loop_nt : loop)(r->a, r->b, r->c, r->bytes / 8);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* All threads try each kernel at once, by turns; of the sum of their times the one with the least median is taken by all. */
static void try_widths(struct runner *r)
{
	struct race *all = r->race;
	uint64_t sum[TRIES], best = UINT64_MAX;
	for (unsigned i = 0; i < TRIES * all->widths; i++) {
		const unsigned width = (i + i / all->widths) % all->widths;
		r->kernel = all->kernel[width];
		meet(all, ALL_TRIED + i);
		const uint64_t from = now_ns();
		pass(r, r->turns / 16 + 1);
		all->tried_ns[r->cpu][width][i / all->widths] = now_ns() - from;
	}
	meet(all, BARRIERS - 1);
	for (unsigned width = 0; width < all->widths; width++) {
		for (unsigned i = 0; i < TRIES; i++)
			for (unsigned t = sum[i] = 0; t < all->threads; t++)
				sum[i] += all->tried_ns[t][width][i];
		qsort(sum, TRIES, sizeof(sum[0]), by_size);
		if (sum[TRIES / 2] < best) {
			best = sum[TRIES / 2];
			r->kernel = all->kernel[width];
		}
	}
}

static void *run(void *argument)
{
	struct runner *r = argument;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(r->cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
	meet(r->race, ALL_READY);
	pass(r, r->turns / 16 + 1);
	if (r->race->widths)
		try_widths(r);
	meet(r->race, ALL_WARM);
	const uint64_t from = now_ns();
	pass(r, r->turns);
	meet(r->race, ALL_DONE);
	r->ns = now_ns() - from;
	return NULL;
}

/* The kernels in memory of their own, those that this processor has. */
static bool kernels(struct race *race, bool nt)
{
	const bool has[WIDTHS] = { __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"),
		__builtin_cpu_supports("avx"), true };
	static const char *const names[][WIDTHS] = { { "k_triad_avx512", "k_triad_avx", "k_triad_sse2" },
		{ "k_triad_nt_avx512", "k_triad_nt_avx", "k_triad_nt_sse2" } };
	const size_t bytes = (size_t)(kernel_code_end - kernel_code);
	uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return false;
	memcpy(code, kernel_code, bytes);
	if (mprotect(code, bytes, PROT_READ | PROT_EXEC))
		return false;
	const char *const widest = getenv("WIDEST"); /* avx, sse: wider ones stay hidden */
	const unsigned first = !widest || !strcmp(widest, "avx512") ? 0 : !strcmp(widest, "avx") ? 1 : 2;

	for (unsigned i = first; i < WIDTHS; i++)
		for (const struct kernel *k = kernel_table; has[i] && k < kernel_table_end; k++)
			if (!strcmp(k->name, names[nt][i]))
				race->kernel[race->widths++] = (triad *)(void *)(code + k->offset);
	return race->widths;
}

int main(int argc, char **argv)
{
	struct runner r[THREADS_MAX];
	if (argc != 6)
		return 2;
	const bool nt = !strcmp(argv[4], "nt"), ours = !strcmp(argv[1], "ours");
	const uint64_t bytes = strtoull(argv[2], NULL, 10), all_bytes = strtoull(argv[5], NULL, 10) * 1000000000;
	struct race race = { .threads = (unsigned)strtoul(argv[3], NULL, 10) };
	if (!race.threads || race.threads > THREADS_MAX || bytes < 256 || (bytes & (bytes - 1)) || all_bytes < 3 * bytes)
		return 2;
	if (ours && !kernels(&race, nt))
		return 3;
	const uint64_t turns = all_bytes / (3 * bytes);
	for (unsigned i = 0; i < race.threads; i++) {
		const size_t all = (3 * bytes + 2 * SKEW + (2u << 20) - 1) >> 21 << 21;
		uint8_t *at = aligned_alloc(2u << 20, all);
		if (!at)
			return 3;
		(void)madvise(at, all, MADV_HUGEPAGE);
		memset(at, 0, all);
		r[i] = (struct runner){ .cpu = i, .bytes = bytes, .turns = turns, .nt = nt, .race = &race, .a = (double *)(void *)at,
		                        .b = (double *)(void *)(at + bytes + SKEW), .c = (double *)(void *)(at + 2 * bytes + 2 * SKEW) };
		if (pthread_create(&r[i].thread, NULL, run, &r[i]))
			return 3;
	}
	uint64_t ns = 0;
	for (unsigned i = 0; i < race.threads; i++) {
		pthread_join(r[i].thread, NULL);
		ns = r[i].ns > ns ? r[i].ns : ns;
	}
	printf("%.3f\n", (double)(race.threads * turns * bytes * 3) / (double)ns);
	return 0;
}
