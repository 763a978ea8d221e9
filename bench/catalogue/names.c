/* bench/catalogue/names.c: see names.h. */
#include "bench/catalogue/names.h"

#define WORD_MOST 128u

static char folded(char c)
{
	if (c >= 'a' && c <= 'z')
		return (char)(c - 'a' + 'A');
	return c == '-' || c == '_' ? '.' : c;
}

bool names_equal(const char *a, size_t n, const char *b)
{
	size_t i = 0;

	for (; i < n && b[i]; i++)
		if (folded(a[i]) != folded(b[i]))
			return false;
	return i == n && !b[i];
}

size_t names_begin(const char *a, size_t n, const char *b)
{
	size_t i = 0;

	while (i < n && b[i] && folded(a[i]) == folded(b[i]))
		i++;
	return b[i] ? 0 : i;
}

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned before[WORD_MOST + 1], now[WORD_MOST + 1];

	n = n < WORD_MOST ? n : WORD_MOST;
	m = m < WORD_MOST ? m : WORD_MOST;
	for (size_t j = 0; j <= m; j++)
		before[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		now[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++)
			now[j] = least(least(now[j - 1], before[j]) + 1, before[j - 1] + (folded(a[i - 1]) != folded(b[j - 1])));
		memcpy(before, now, (m + 1) * sizeof(now[0]));
	}
	return before[m];
}

void nearest_init(struct nearest *n, const char *wanted, size_t length)
{
	memset(n, 0, sizeof(*n));
	n->wanted = wanted;
	n->length = length;
}

void nearest_try(struct nearest *n, const char *prefix, const char *name)
{
	char full[NEAREST_BYTES];
	struct text t;
	unsigned d, at;

	text_init(&t, full, sizeof(full));
	text_fmt(&t, "%s%s", prefix, name);
	d = distance(n->wanted, n->length, full, str_length(full));
	for (at = n->count; at > 0 && n->best[at - 1].distance > d; at--)
		if (at < NEAREST_MAX)
			n->best[at] = n->best[at - 1];
	for (unsigned i = 0; i < n->count; i++)
		if (str_equal(n->best[i].name, full))
			return;
	if (at == NEAREST_MAX)
		return;
	str_copy(n->best[at].name, sizeof(n->best[at].name), full);
	n->best[at].distance = d;
	n->count += n->count < NEAREST_MAX;
}

void nearest_text(const struct nearest *n, struct text *t)
{
	for (unsigned i = 0; i < n->count; i++)
		text_fmt(t, "%s%s", i == 0 ? "; nearest: " : i + 1 == n->count ? " and " : ", ", n->best[i].name);
}
