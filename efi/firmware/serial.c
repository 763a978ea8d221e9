/* efi/firmware/serial.c: see serial.h. */
#include "efi/firmware/serial.h"
#include "efi/firmware/console.h"
#include "pmu/text.h"

#define PART_BYTES 400u

static void part(uint32_t tag, char file, unsigned line, unsigned number, unsigned parts, const char *bytes, size_t n)
{
	char head[64], at[PART_BYTES + 96];
	struct text t;
	text_init(&t, head, sizeof(head));
	text_fmt(&t, "%08x %c %u %u %u", tag, file, line, number, parts);
	uint64_t h = fnv1a64(fnv1a64(fnv1a64(FNV1A64_START, head, t.length), " ", 1), bytes, n);
	text_init(&t, at, sizeof(at));
	/* A transient line of the console may be there. */
	text_fmt(&t, "\r\n@sm %s %08x ", head, (unsigned)(h ^ h >> 32));
	text_bytes(&t, bytes, n);
	text_fmt(&t, "\r\n");
	console_uart(at);
}

static void whole_line(uint32_t tag, char file, unsigned line, const char *bytes, size_t n)
{
	unsigned parts = n == 0 ? 1 : (unsigned)((n + PART_BYTES - 1) / PART_BYTES);
	for (unsigned i = 0; i < parts; i++) {
		size_t from = i * (size_t)PART_BYTES;
		part(tag, file, line, i + 1, parts, bytes + from, n - from > PART_BYTES ? PART_BYTES : n - from);
	}
}

static unsigned all_lines(uint32_t tag, char file, unsigned line, const char *bytes, size_t n)
{
	for (size_t from = 0, at = 0; at < n; at++)
		if (bytes[at] == '\n') {
			whole_line(tag, file, ++line, bytes + from, at - from);
			from = at + 1;
		}
	return line;
}

void serial_begin(struct serial *s, const char *run, unsigned journal_lines)
{
	uint64_t h = fnv1a64(FNV1A64_START, run, str_length(run));
	s->tag = (uint32_t)(h ^ h >> 32);
	s->journal_line = journal_lines;
	whole_line(s->tag, 'n', 1, run, str_length(run));
}

void serial_journal(struct serial *s, const char *bytes, size_t n)
{
	s->journal_line = all_lines(s->tag, 'j', s->journal_line, bytes, n);
}

void serial_file(const struct serial *s, char file, const char *bytes, size_t n)
{
	(void)all_lines(s->tag, file, 0, bytes, n);
}
