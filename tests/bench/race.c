/* tests/bench/race.c: the streaming kernels against likwid-bench's and C loops: `race STREAM BYTES THREADS regular|nt ROUNDS [LIKWID-BENCH]`
 *
 * STREAM is likwid-bench's: stream (our triad), copy, load (read), store (write), update (copy onto itself), daxpy (triad that adds to its own
 * array). Arrays of BYTES each a thread (a power of two) are mapped once and are the same for all, and all run in this process: likwid-bench's
 * kernels from the file LIKWID-BENCH (tests/bench/likwid.c). Each of the three has choices: ours vector widths and offsets between the arrays, as
 * bench/measure/vector_width.c has them, likwid-bench its variants, gcc's loop the offsets. A round runs a window of each choice, and that with the
 * least median of all windows so far is taken; then GOES windows of each of the three by turns and twice as long, of which the best counts. Who begins
 * changes from round to round.
 *
 * A window goes on where the last one ended: over whole arrays that fit in a cache, over pieces of larger ones. What is timed follows an untimed
 * sixteenth of it, which brings caches to their state. All threads spin at one barrier before a window and at one behind it, and nothing sleeps in between.
 * Prints a line a round: GB/s of ours, likwid-bench's and gcc's, bytes an element as likwid-bench counts them, 0 for who is not there; then the choices
 * after a `#`. */
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "asm/kernel.h"
#include "tests/bench/likwid.h"

#define THREADS_MAX 2
#define KERNELS 7
#define VARIANTS 6
#define CHOICES 21
#define ROUNDS_MAX 1000
#define FIRST_TRIES 3         /* of each choice in the first round */
#define GOES 3
#define WINDOWS_MAX (ROUNDS_MAX * (1 + GOES) + FIRST_TRIES)
#define WINDOW_NS 20000000u
#define PIECE_BYTES (16u << 20) /* of an array that no cache holds */
#define OFFSET_MOST 4096u

/* Bytes between arrays: as bench/measure has them, half a page and a line, and none; and as likwid-bench's, each at the beginning of another page, since
 * which physical pages a contender has makes 2 % in the L2. */
#define LIKWID_OFFSET 4096u
static const uint64_t offsets[] = { 2112, 0, LIKWID_OFFSET };
#define OFFSETS (sizeof(offsets) / sizeof(offsets[0]))

typedef uint64_t kernel_of_stream(double *a, const double *b, const double *c, uint64_t iterations, uint64_t mask, uint64_t at);
typedef void loop_of_stream(double *a, const double *b, const double *c, size_t n);

struct stream {
	const char *name;
	const char *kernels[2][KERNELS]; /* regular stores, non-temporal ones; the widest first */
	loop_of_stream *loop[2];        /* NULL: no such C loop */
	unsigned arrays;                /* memory that it uses */
	unsigned second, third;         /* the arrays that are the kernel's second and third argument */
	unsigned element_bytes;         /* as likwid-bench counts */
	unsigned likwid[3];             /* the arrays that are likwid-bench's streams */
};

/* One of the three functions, and the bytes between its arrays. */
struct choice {
	const char *name;
	kernel_of_stream *kernel;
	likwid_kernel *likwid;
	loop_of_stream *loop;
	uint64_t offset;
};

enum { OURS, LIKWID, GCC, CONTENDERS };
struct contender {
	struct choice choice[CHOICES];
	unsigned choices, taken;
	uint64_t ps[CHOICES][WINDOWS_MAX]; /* a piece, of the windows so far */
	unsigned windows[CHOICES];
};

struct race {
	const struct stream *stream;
	unsigned threads, rounds;
	uint64_t bytes, piece;            /* of an array; of an array, between two barriers' smallest unit */
	double best[ROUNDS_MAX][CONTENDERS]; /* GB/s */
	struct contender contender[CONTENDERS];
	_Alignas(128) atomic_uint met;
	uint64_t ns[THREADS_MAX];         /* of the last window */
};

/* What a thread has of it: its own arrays. In lines of its own, which no other thread writes. */
struct runner {
	_Alignas(128) pthread_t thread;
	unsigned cpu, meetings;
	uint8_t *memory;
	uint64_t at;              /* byte in each array, where the next window begins */
	uint64_t pieces;          /* of a timed window */
	struct race *race;
};

static uint64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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

#define NAMES_OF(name) { name "_avx512", name "_avx", name "_short_avx", name "_sse2", name "_short_sse2" }
#define TRIADS { "k_triad_avx512", "k_triad_avx512_fma", "k_triad_avx", "k_triad_avx_fma", "k_triad_short_avx_fma", "k_triad_sse2", "k_triad_grouped_sse2" }
static const struct stream streams[] = {
	{ "stream", { TRIADS, NAMES_OF("k_triad_nt") }, { loop_triad, loop_triad_nt }, 3, 1, 2, 24, { 0, 1, 2 } },
	{ "copy", { NAMES_OF("k_copy"), NAMES_OF("k_copy_nt") }, { loop_copy, NULL }, 2, 1, 1, 16, { 1, 0, 0 } },
	{ "load", { NAMES_OF("k_read"), { NULL } }, { NULL, NULL }, 1, 0, 0, 8, { 0, 0, 0 } },
	{ "store", { NAMES_OF("k_write"), NAMES_OF("k_write_nt") }, { loop_store, NULL }, 1, 0, 0, 8, { 0, 0, 0 } },
	{ "update", { NAMES_OF("k_copy"), { NULL } }, { loop_update, NULL }, 1, 0, 0, 16, { 0, 0, 0 } },
	{ "daxpy", { TRIADS, { NULL } }, { loop_daxpy, NULL }, 2, 0, 1, 24, { 0, 1, 1 } },
};
enum width { WIDTH_AVX512, WIDTH_AVX, WIDTH_FMA, WIDTH_SSE };
/* likwid-bench's. */
static const struct { const char *name; enum width width; } variants[VARIANTS] = {
	{ "avx512", WIDTH_AVX512 }, { "avx512_fma", WIDTH_AVX512 }, { "avx", WIDTH_AVX }, { "avx_fma", WIDTH_FMA }, { "sse", WIDTH_SSE }, { "sse_fma", WIDTH_FMA },
};

/* ---- windows --------------------------------------------------------------------------------- */

static void meet(struct runner *r)
{
	struct race *const all = r->race;
	const unsigned want = ++r->meetings * all->threads;

	atomic_fetch_add(&all->met, 1);
	while (atomic_load(&all->met) < want)
		_mm_pause();
}

/* Byte `at` of an array. */
static double *array(const struct runner *r, const struct choice *c, unsigned i, uint64_t at)
{
	return (double *)(void *)(r->memory + i * (r->race->bytes + c->offset) + at);
}

/* So many pieces, from r->at on. */
static void pass(struct runner *r, const struct choice *c, uint64_t pieces)
{
	const struct race *const all = r->race;
	const struct stream *const s = all->stream;
	const uint64_t piece = all->piece, mask = all->bytes - 1, n = piece / 8;
	double *const a = array(r, c, 0, 0), *const b = array(r, c, s->second, 0), *const d = array(r, c, s->third, 0);
	double *const stream[] = { array(r, c, s->likwid[0], 0), array(r, c, s->likwid[1], 0), array(r, c, s->likwid[2], 0) };
	uint64_t at = r->at;

	r->at = (at + pieces * piece) & mask;
	if (c->kernel) {
		(void)c->kernel(a, b, d, pieces * piece / 256, mask, at);
		return;
	}
	for (uint64_t i = 0; i < pieces; i++, at = (at + piece) & mask) {
		if (c->likwid)
			c->likwid(n, stream[0] + at / 8, stream[1] + at / 8, stream[2] + at / 8);
		else
			c->loop(a + at / 8, b + at / 8, d + at / 8, n);
	}
#ifdef __AVX__
	_mm256_zeroupper(); /* likwid-bench's kernels leave upper halves dirty */
#endif
}

/* ns that the slowest thread took for so many pieces, which all begin together. */
static uint64_t window(struct runner *r, const struct choice *c, uint64_t pieces)
{
	struct race *const all = r->race;
	uint64_t ns = 0;

	pass(r, c, pieces / 16 + 1);
	meet(r);
	const uint64_t from = now_ns();
	pass(r, c, pieces);
	meet(r);
	all->ns[r->cpu] = now_ns() - from;
	meet(r);
	for (unsigned t = 0; t < all->threads; t++)
		ns = all->ns[t] > ns ? all->ns[t] : ns;
	meet(r); /* nobody overwrites what another has yet to read */
	return ns;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* The first thread keeps the book of windows. */
static void record(const struct runner *r, struct contender *c, unsigned which, uint64_t ns, uint64_t pieces)
{
	if (!r->cpu)
		c->ps[which][c->windows[which]++] = ns * 1000 / pieces;
}

/* One more try of each choice, and which has the least median. All read that behind the barrier of the next window. */
static void try_all(struct runner *r, struct contender *c, unsigned round)
{
	static uint64_t sorted[WINDOWS_MAX];
	const uint64_t pieces = r->pieces / 2 + 1;
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < c->choices && c->choices > 1; i++) {
		const unsigned which = (i + round) % c->choices;

		record(r, c, which, window(r, &c->choice[which], pieces), pieces);
	}
	for (unsigned which = 0; which < c->choices && c->choices > 1 && !r->cpu; which++) {
		memcpy(sorted, c->ps[which], c->windows[which] * sizeof(*sorted));
		qsort(sorted, c->windows[which], sizeof(*sorted), by_size);
		if (sorted[c->windows[which] / 2] < least) {
			least = sorted[c->windows[which] / 2];
			c->taken = which;
		}
	}
	meet(r);
}

/* As many pieces as take WINDOW_NS. */
static void set_window(struct runner *r, const struct choice *c)
{
	uint64_t ns = 0;

	for (r->pieces = 1; (ns = window(r, c, r->pieces)) < WINDOW_NS / 8; r->pieces *= 2)
		;
	r->pieces = r->pieces * WINDOW_NS / ns + 1;
}

static void *run(void *argument)
{
	struct runner *r = argument;
	struct race *const all = r->race;
	struct contender *const c = all->contender;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(r->cpu, &set);
	(void)sched_setaffinity(0, sizeof(set), &set);
	set_window(r, &c[OURS].choice[0]);
	for (unsigned round = 0; round < all->rounds; round++) {
		for (unsigned i = 0; i < CONTENDERS * (round ? 1 : FIRST_TRIES); i++)
			try_all(r, &c[i % CONTENDERS], round + i / CONTENDERS);
		for (unsigned i = 0; i < GOES * CONTENDERS; i++) {
			const unsigned who = (i + round) % CONTENDERS;
			if (!c[who].choices)
				continue;
			const uint64_t ns = window(r, &c[who].choice[c[who].taken], r->pieces);
			const double speed = (double)(all->threads * r->pieces * all->piece) * all->stream->element_bytes / 8 / (double)ns;
			record(r, &c[who], c[who].taken, ns, r->pieces);
			if (!r->cpu && speed > all->best[round][who])
				all->best[round][who] = speed;
		}
	}
	return NULL;
}

/* ---- who runs --------------------------------------------------------------------------------- */

static void add(struct contender *c, struct choice choice)
{
	if (c->choices < CHOICES)
		c->choice[c->choices++] = choice;
}

/* Whether this processor has it, and WIDEST=avx or sse does not hide it. */
static bool has(enum width width)
{
	const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"),
		avx = __builtin_cpu_supports("avx");
	const char *const widest = getenv("WIDEST");
	const enum width first = !widest || !strcmp(widest, "avx512") ? WIDTH_AVX512 : !strcmp(widest, "avx") ? WIDTH_AVX : WIDTH_SSE;
	const bool here[] = { wide, avx, avx && __builtin_cpu_supports("fma"), true };

	return width >= first && here[width];
}

static enum width width_of(const struct kernel *k)
{
	return k->isa & ISA_AVX512 ? WIDTH_AVX512 : k->isa & ISA_FMA ? WIDTH_FMA : k->isa & ISA_AVX ? WIDTH_AVX : WIDTH_SSE;
}

/* Ours, in memory of their own. */
static bool add_ours(struct contender *c, const struct stream *stream, bool nt)
{
	const size_t bytes = (size_t)(kernel_code_end - kernel_code);
	uint8_t *code = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return false;
	memcpy(code, kernel_code, bytes);
	if (mprotect(code, bytes, PROT_READ | PROT_EXEC))
		return false;
	for (unsigned o = 0; o < (stream->arrays > 1 ? OFFSETS : 1); o++)
		for (unsigned i = 0; i < KERNELS; i++)
			for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
				if (stream->kernels[nt][i] && !strcmp(k->name, stream->kernels[nt][i]) && has(width_of(k)))
					add(c, (struct choice){ .name = k->name, .kernel = (kernel_of_stream *)(void *)(code + k->offset), .offset = offsets[o] });
	return c->choices;
}

static void add_likwid(struct contender *c, const struct stream *stream, bool nt, const struct likwid *l)
{
	for (unsigned i = 0; i < VARIANTS; i++) {
		char name[64];
		snprintf(name, sizeof(name), "%s_%s%s", stream->name, nt ? "mem_" : "", variants[i].name);
		likwid_kernel *const k = has(variants[i].width) ? likwid_find(l, name) : NULL;
		if (k)
			add(c, (struct choice){ .name = variants[i].name, .likwid = k, .offset = LIKWID_OFFSET });
	}
}

static void add_gcc(struct contender *c, const struct stream *stream, bool nt)
{
	for (unsigned o = 0; o < (stream->arrays > 1 ? OFFSETS : 1) && stream->loop[nt]; o++)
		add(c, (struct choice){ .name = "loop", .loop = stream->loop[nt], .offset = offsets[o] });
}

static void print(const struct race *race)
{
	for (unsigned i = 0; i < race->rounds; i++)
		printf("%.3f %.3f %.3f\n", race->best[i][OURS], race->best[i][LIKWID], race->best[i][GCC]);
	printf("#");
	for (unsigned i = 0; i < CONTENDERS; i++) {
		const struct contender *const c = &race->contender[i];
		if (c->choices)
			printf(" %s+%u", c->choice[c->taken].name, (unsigned)c->choice[c->taken].offset);
	}
	printf("\n");
}

int main(int argc, char **argv)
{
	static struct race race;
	struct runner r[THREADS_MAX];
	struct likwid likwid = { NULL, 0 };

	for (size_t i = 0; argc >= 6 && i < sizeof(streams) / sizeof(streams[0]); i++)
		if (!strcmp(streams[i].name, argv[1]))
			race.stream = &streams[i];
	if (!race.stream || argc > 7)
		return 2;
	const bool nt = !strcmp(argv[4], "nt");
	race.bytes = strtoull(argv[2], NULL, 10);
	race.piece = race.bytes < PIECE_BYTES ? race.bytes : PIECE_BYTES;
	race.threads = (unsigned)strtoul(argv[3], NULL, 10);
	race.rounds = (unsigned)strtoul(argv[5], NULL, 10);
	if (!race.threads || race.threads > THREADS_MAX || race.bytes < 4096 || (race.bytes & (race.bytes - 1)) || !race.rounds || race.rounds > ROUNDS_MAX)
		return 2;
	if (argc == 7 && !likwid_open(&likwid, argv[6]))
		fprintf(stderr, "race: %s: left out, since its kernels cannot be found\n", argv[6]);
	if (!add_ours(&race.contender[OURS], race.stream, nt))
		return 3;
	add_likwid(&race.contender[LIKWID], race.stream, nt, &likwid);
	add_gcc(&race.contender[GCC], race.stream, nt);
	for (unsigned i = 0; i < race.threads; i++) {
		const size_t all = (race.stream->arrays * (race.bytes + OFFSET_MOST) + (2u << 20) - 1) >> 21 << 21;
		uint8_t *at = aligned_alloc(2u << 20, all);
		if (!at)
			return 3;
		(void)madvise(at, all, MADV_HUGEPAGE);
		memset(at, 0, all);
		r[i] = (struct runner){ .cpu = i, .memory = at, .race = &race };
	}
	for (unsigned i = 0; i < race.threads; i++)
		if (pthread_create(&r[i].thread, NULL, run, &r[i]))
			return 3;
	for (unsigned i = 0; i < race.threads; i++)
		pthread_join(r[i].thread, NULL);
	print(&race);
	return 0;
}
