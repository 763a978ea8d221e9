/* efi/firmware/serial.c: see serial.h. */
#include "efi/firmware/serial.h"
#include "efi/firmware/console.h"
#include "pmu/text.h"

#define PART_BYTES 400u

static void part(const struct serial *s, char file, unsigned line, unsigned number, unsigned parts, const char *bytes, size_t n)
{
	char head[64], at[PART_BYTES + 96];
	struct text t;
	text_init(&t, head, sizeof(head));
	text_fmt(&t, "%08x %c %u %u %u", s->tag, file, line, number, parts);
	uint64_t h = fnv1a64(fnv1a64(fnv1a64(FNV1A64_START, head, t.length), " ", 1), bytes, n);
	text_init(&t, at, sizeof(at));
	/* The cursor may be at the end of the console's transient line. */
	text_fmt(&t, "\r\n@sm %s %08x ", head, (unsigned)(h ^ h >> 32));
	text_bytes(&t, bytes, n);
	text_fmt(&t, "\r\n");
	console_uart(at);
	if (s->working != NULL)
		s->working(s->self);
}

static void whole_line(const struct serial *s, char file, unsigned line, const char *bytes, size_t n)
{
	unsigned parts = n == 0 ? 1 : (unsigned)((n + PART_BYTES - 1) / PART_BYTES);
	for (unsigned i = 0; i < parts; i++) {
		size_t from = i * (size_t)PART_BYTES;
		part(s, file, line, i + 1, parts, bytes + from, n - from > PART_BYTES ? PART_BYTES : n - from);
	}
}

static unsigned all_lines(const struct serial *s, char file, unsigned line, const char *bytes, size_t n)
{
	for (size_t from = 0, at = 0; at < n; at++)
		if (bytes[at] == '\n') {
			whole_line(s, file, ++line, bytes + from, at - from);
			from = at + 1;
		}
	return line;
}

void serial_begin(struct serial *s, const char *run, const char *journal, size_t n)
{
	const uint64_t h = fnv1a64(FNV1A64_START, run, str_length(run));
	size_t last = 0;
	unsigned lines = 0;
	for (size_t i = 0; i < n; i++)
		if (journal[i] == '\n') {
			lines++;
			last = i + 1 < n ? i + 1 : last;
		}
	s->tag = (uint32_t)(h ^ h >> 32);
	s->journal_line = lines == 0 ? 0 : lines - 1;
	whole_line(s, 'n', 1, run, str_length(run));
	if (lines != 0)
		serial_journal(s, journal + last, n - last);
}

void serial_journal(struct serial *s, const char *bytes, size_t n)
{
	s->journal_line = all_lines(s, 'j', s->journal_line, bytes, n);
}

void serial_file(const struct serial *s, char file, const char *bytes, size_t n)
{
	(void)all_lines(s, file, 0, bytes, n);
}
