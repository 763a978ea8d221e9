/* tests/bench/race.c: the streaming kernels against C loops: `race WHO STREAM BYTES THREADS regular|nt GB`
 *
 * STREAM is likwid-bench's: stream (our triad), copy, load (read), store (write), update (copy onto itself), daxpy (triad that adds to its own
 * array). Ours is the vector width that is the fastest here, then the offset between the arrays that is, as bench/measure/vector_width.c takes
 * them for a row: found by passes of each by passes, not timed. WHO is ours or gcc; arrays of BYTES each a thread (a power of two). Prints GB/s,
 * bytes an element as likwid-bench counts them, over the passes that move GB a thread. As there, all threads spin at one barrier
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
#include <unistd.h>

#include "asm/kernel.h"

#define THREADS_MAX 2
#define WIDTHS 5
#define TRIES 7

/* Bytes between arrays, as bench/measure has them: half a page and a line, and none. */
static const uint64_t offsets[] = { 2112, 0 };
#define OFFSETS (sizeof(offsets) / sizeof(offsets[0]))
#define ROUNDS (TRIES * (WIDTHS + OFFSETS))
enum { ALL_READY, ALL_WARM, ALL_DONE, ALL_TRIED, BARRIERS = ALL_TRIED + ROUNDS + 2 };

typedef uint64_t kernel_of_stream(double *a, const double *b, const double *c, uint64_t iterations, uint64_t mask, uint64_t at);
typedef void loop_of_stream(double *a, const double *b, const double *c, size_t n);

struct stream {
	const char *name;
	const char *kernels[2][WIDTHS]; /* regular stores, non-temporal ones; the widest first */
	loop_of_stream *loop[2];        /* NULL: no such C loop */
	unsigned arrays;                /* memory that it uses */
	unsigned second, third;         /* the arrays that are the kernel's second and third argument */
	unsigned element_bytes;         /* as likwid-bench counts */
};

struct race {
	unsigned threads, widths;
	kernel_of_stream *kernel[WIDTHS]; /* the widest first */
	uint64_t tried_ns[THREADS_MAX][ROUNDS];
	_Alignas(64) atomic_uint at[BARRIERS];
};

struct runner {
	pthread_t thread;
	unsigned cpu;
	const struct stream *stream;
	uint8_t *memory;
	uint64_t offset;          /* bytes between arrays */
	kernel_of_stream *kernel; /* NULL: the C loop; of several that which is taken */
	uint64_t bytes, passes, ns; /* passes: round the arrays, while timed; ns: of all of them, until the last thread is done */
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

#define C_LOOP static __attribute__((noinline, optimize("no-tree-loop-distribute-patterns"))) void
C_LOOP loop_triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		a[i] = b[i] + 3.0 * c[i];
}

C_LOOP loop_triad_nt(double *restrict a, const double *restrict b, const double *restrict c, size_t n)
{
	const __m128d s = _mm_set1_pd(3.0);
	for (size_t i = 0; i < n; i += 2)
		_mm_stream_pd(a + i, _mm_add_pd(_mm_load_pd(b + i), _mm_mul_pd(s, _mm_load_pd(c + i))));
	_mm_sfence();
}

C_LOOP loop_copy(double *restrict a, const double *restrict b, const double *c, size_t n)
{
	(void)c;
	for (size_t i = 0; i < n; i++)
		a[i] = b[i];
}

C_LOOP loop_store(double *a, const double *b, const double *c, size_t n)
{
	(void)b, (void)c;
	for (size_t i = 0; i < n; i++)
		a[i] = 3.0;
}

C_LOOP loop_update(double *a, const double *b, const double *c, size_t n)
{
	(void)b, (void)c;
	for (size_t i = 0; i < n; i++)
		a[i] = 3.0 * a[i];
}

C_LOOP loop_daxpy(double *restrict a, const double *b, const double *restrict c, size_t n)
{
	(void)b;
	for (size_t i = 0; i < n; i++)
		a[i] = a[i] + 3.0 * c[i];
}

#define WIDTHS_OF(name) { name "_avx512", name "_avx512_fma", name "_avx", name "_avx_fma", name "_sse2" }
static const struct stream streams[] = {
	{ "stream", { WIDTHS_OF("k_triad"), WIDTHS_OF("k_triad_nt") }, { loop_triad, loop_triad_nt }, 3, 1, 2, 24 },
	{ "copy", { WIDTHS_OF("k_copy"), WIDTHS_OF("k_copy_nt") }, { loop_copy, NULL }, 2, 1, 1, 16 },
	{ "load", { WIDTHS_OF("k_read"), { NULL } }, { NULL, NULL }, 1, 0, 0, 8 },
	{ "store", { WIDTHS_OF("k_write"), WIDTHS_OF("k_write_nt") }, { loop_store, NULL }, 1, 0, 0, 8 },
	{ "update", { WIDTHS_OF("k_copy"), { NULL } }, { loop_update, NULL }, 1, 0, 0, 16 },
	{ "daxpy", { WIDTHS_OF("k_triad"), { NULL } }, { loop_daxpy, NULL }, 2, 0, 1, 24 },
};

static double *array(const struct runner *r, unsigned i) { return (double *)(void *)(r->memory + i * (r->bytes + r->offset)); }

static void pass(const struct runner *r, uint64_t passes)
{
	double *const a = array(r, 0);
	const double *const b = array(r, r->stream->second), *const c = array(r, r->stream->third);

	if (r->kernel)
		(void)r->kernel(a, b, c, passes * r->bytes / 256, r->bytes - 1, 0);
	else
		for (uint64_t i = 0; i < passes; i++)
			r->stream->loop[r->nt](a, b, c, r->bytes / 8);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* All threads run each of `count` choices at once, by passes. Returns the one whose sum of times has the least median. */
static unsigned try_all(struct runner *r, unsigned first, unsigned count, void (*choose)(struct runner *, unsigned))
{
	struct race *all = r->race;
	uint64_t sum[TRIES], least = UINT64_MAX;
	unsigned best = 0;

	for (unsigned i = 0; i < TRIES * count; i++) {
		const unsigned which = (i + i / count) % count;
		choose(r, which);
		meet(all, ALL_TRIED + first + i);
		const uint64_t from = now_ns();
		pass(r, r->passes / 16 + 1);
		all->tried_ns[r->cpu][first + which * TRIES + i / count] = now_ns() - from;
	}
	meet(all, BARRIERS - (first ? 1 : 2));
	for (unsigned which = 0; which < count; which++) {
		for (unsigned i = 0; i < TRIES; i++)
			for (unsigned t = sum[i] = 0; t < all->threads; t++)
				sum[i] += all->tried_ns[t][first + which * TRIES + i];
		qsort(sum, TRIES, sizeof(sum[0]), by_size);
		if (sum[TRIES / 2] < least) {
			least = sum[TRIES / 2];
			best = which;
		}
	}
	choose(r, best);
	return best;
}

static void choose_kernel(struct runner *r, unsigned i) { r->kernel = r->race->kernel[i]; }
static void choose_offset(struct runner *r, unsigned i) { r->offset = offsets[i]; }

static void *run(void *argument)
{
	struct runner *r = argument;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(r->cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
	meet(r->race, ALL_READY);
	pass(r, r->passes / 16 + 1);
	if (r->race->widths) {
		(void)try_all(r, 0, r->race->widths, choose_kernel);
		if (r->stream->arrays > 1 && r->stream->arrays * r->bytes <= (uint64_t)sysconf(_SC_LEVEL2_CACHE_SIZE))
			(void)try_all(r, TRIES * WIDTHS, OFFSETS, choose_offset);
	}
	meet(r->race, ALL_WARM);
	const uint64_t from = now_ns();
	pass(r, r->passes);
	meet(r->race, ALL_DONE);
	r->ns = now_ns() - from;
	return NULL;
}

/* The kernels in memory of their own, those that this processor has. */
static bool kernels(struct race *race, const struct stream *stream, bool nt)
{
	const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"),
		avx = __builtin_cpu_supports("avx"), has[WIDTHS] = { wide, wide, avx, avx && __builtin_cpu_supports("fma"), true };
	const size_t bytes = (size_t)(kernel_code_end - kernel_code);
	uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return false;
	memcpy(code, kernel_code, bytes);
	if (mprotect(code, bytes, PROT_READ | PROT_EXEC))
		return false;
	const char *const widest = getenv("WIDEST"); /* avx, sse: wider ones stay hidden */
	const unsigned first = !widest || !strcmp(widest, "avx512") ? 0 : !strcmp(widest, "avx") ? 2 : 4;

	for (unsigned i = first; i < WIDTHS; i++)
		for (const struct kernel *k = kernel_table; has[i] && k < kernel_table_end; k++)
			if (stream->kernels[nt][i] && !strcmp(k->name, stream->kernels[nt][i]))
				race->kernel[race->widths++] = (kernel_of_stream *)(void *)(code + k->offset);
	return race->widths;
}

int main(int argc, char **argv)
{
	struct runner r[THREADS_MAX];
	const struct stream *stream = NULL;

	for (size_t i = 0; argc == 7 && i < sizeof(streams) / sizeof(streams[0]); i++)
		if (!strcmp(streams[i].name, argv[2]))
			stream = &streams[i];
	if (!stream)
		return 2;
	const bool nt = !strcmp(argv[5], "nt"), ours = !strcmp(argv[1], "ours");
	const uint64_t bytes = strtoull(argv[3], NULL, 10), all_bytes = strtoull(argv[6], NULL, 10) * 1000000000;
	struct race race = { .threads = (unsigned)strtoul(argv[4], NULL, 10) };
	if (!race.threads || race.threads > THREADS_MAX || bytes < 256 || (bytes & (bytes - 1)) || all_bytes < stream->arrays * bytes)
		return 2;
	if (!ours && !stream->loop[nt]) { /* no C loop: no contender */
		puts("0");
		return 0;
	}
	if (ours && !kernels(&race, stream, nt))
		return 3;
	const uint64_t passes = all_bytes / (stream->element_bytes / 8 * bytes) + 1;
	for (unsigned i = 0; i < race.threads; i++) {
		const size_t all = (stream->arrays * (bytes + offsets[0]) + (2u << 20) - 1) >> 21 << 21;
		uint8_t *at = aligned_alloc(2u << 20, all);
		if (!at)
			return 3;
		(void)madvise(at, all, MADV_HUGEPAGE);
		memset(at, 0, all);
		r[i] = (struct runner){ .cpu = i, .stream = stream, .memory = at, .offset = offsets[0], .kernel = race.kernel[0], .bytes = bytes, .passes = passes, .nt = nt,
		                        .race = &race };
		if (pthread_create(&r[i].thread, NULL, run, &r[i]))
			return 3;
	}
	uint64_t ns = 0;
	for (unsigned i = 0; i < race.threads; i++) {
		pthread_join(r[i].thread, NULL);
		ns = r[i].ns > ns ? r[i].ns : ns;
	}
	printf("%.3f\n", (double)(race.threads * passes * bytes) * stream->element_bytes / 8 / (double)ns);
	return 0;
}
