/* tests/bench/race.c: the triad kernels against a C loop: `race WHO BYTES THREADS regular|nt`
 *
 * WHO is ours or gcc; three arrays of BYTES each a thread (a power of two). Prints GB/s of 24 bytes an element, as
 * likwid-bench counts its stream kernels, over all passes but the first, which brings pages and caches to their state. */
#include <emmintrin.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#include "asm/kernel.h"

#define THREADS_MAX 2
#define PASSES 12
#define PASS_BYTES (96ull << 20) /* of one array */
#define SKEW 2112 /* bytes between arrays, as bench/layout.c has them */

typedef uint64_t triad(double *a, const double *b, const double *c, uint64_t iterations, uint64_t mask, uint64_t at);

struct runner {
	pthread_t thread;
	unsigned cpu;
	double *a, *b, *c;
	triad *kernel; /* NULL: the C loop */
	uint64_t bytes, ns; /* ns: of all passes but the first */
	bool nt;
	pthread_barrier_t *together;
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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

static void *run(void *argument)
{
	struct runner *r = argument;
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(r->cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
	const uint64_t turns = r->bytes < PASS_BYTES ? PASS_BYTES / r->bytes : 1;
	r->ns = 0;
	for (unsigned pass = 0; pass < PASSES; pass++) {
		pthread_barrier_wait(r->together);
		const uint64_t from = now_ns();
		if (r->kernel)
			(void)r->kernel(r->a, r->b, r->c, turns * r->bytes / 256, r->bytes - 1, 0);
		else
			for (uint64_t i = 0; i < turns; i++)
				(r->nt ? loop_nt : loop)(r->a, r->b, r->c, r->bytes / 8);
		pthread_barrier_wait(r->together);
		r->ns += pass ? now_ns() - from : 0;
	}
	return NULL;
}

static triad *kernel(const char *name)
{
	const size_t bytes = (size_t)(kernel_code_end - kernel_code);
	uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED)
		return NULL;
	memcpy(code, kernel_code, bytes);
	if (mprotect(code, bytes, PROT_READ | PROT_EXEC))
		return NULL;
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (!strcmp(k->name, name))
			return (triad *)(void *)(code + k->offset);
	return NULL;
}

int main(int argc, char **argv)
{
	struct runner r[THREADS_MAX];
	pthread_barrier_t together;
	if (argc != 5)
		return 2;
	const bool nt = !strcmp(argv[4], "nt"), ours = !strcmp(argv[1], "ours");
	const uint64_t bytes = strtoull(argv[2], NULL, 10);
	const unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);
	if (!threads || threads > THREADS_MAX || bytes < 256 || (bytes & (bytes - 1)))
		return 2;
	const bool avx = __builtin_cpu_supports("avx");
	triad *k = ours ? kernel(nt ? avx ? "k_triad_nt_avx" : "k_triad_nt_sse2" : avx ? "k_triad_avx" : "k_triad_sse2") : NULL;
	if (ours && !k)
		return 3;
	pthread_barrier_init(&together, NULL, threads);
	for (unsigned i = 0; i < threads; i++) {
		const size_t all = (3 * bytes + 2 * SKEW + (4u << 20) - 1) >> 21 << 21;
		uint8_t *at = aligned_alloc(2u << 20, all);
		if (!at)
			return 3;
		(void)madvise(at, all, MADV_HUGEPAGE);
		memset(at, 0, all);
		r[i] = (struct runner){ .cpu = i, .kernel = k, .bytes = bytes, .nt = nt, .together = &together, .a = (double *)(void *)at,
		                        .b = (double *)(void *)(at + bytes + SKEW), .c = (double *)(void *)(at + 2 * bytes + 2 * SKEW) };
		if (pthread_create(&r[i].thread, NULL, run, &r[i]))
			return 3;
	}
	uint64_t ns = 0;
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(r[i].thread, NULL);
		ns = r[i].ns > ns ? r[i].ns : ns;
	}
	const uint64_t turns = bytes < PASS_BYTES ? PASS_BYTES / bytes : 1;
	printf("%.3f\n", (double)(threads * turns * bytes * 3 * (PASSES - 1)) / (double)ns);
	return 0;
}
