/* tests/firmware/serial.c: the lines of a run on a serial line that is slow: at 115200 baud a line of all pairs of 448 processors takes five minutes. */
#include <string.h>

#include "efi/firmware/console.h"
#include "efi/firmware/serial.h"
#include "tests/firmware/parts.h"

#define LINE_BYTES 100000u
#define PART_MOST  600u /* bytes between two calls: a twentieth of a second at 115200 baud */

static size_t sent, since, longest;
static unsigned begun;
static char beginnings[8][32];

void console_uart(const char *text)
{
	const size_t n = strlen(text);
	sent += n;
	since += n;
	longest = since > longest ? since : longest;
	if (begun < 8)
		memcpy(beginnings[begun++], text, sizeof(beginnings[0]) - 1);
}

static void worked(void *self)
{
	++*(unsigned *)self;
	since = 0;
}

static bool line_is(unsigned n, const char *file_line_part)
{
	return n < begun && strncmp(beginnings[n] + strlen("\r\n@sm 01234567 "), file_line_part, strlen(file_line_part)) == 0;
}

void serial_parts(void)
{
	static char line[LINE_BYTES + 1];
	unsigned calls = 0;
	struct serial s = { .working = worked, .self = &calls };
	memset(line, 'x', LINE_BYTES);
	line[LINE_BYTES] = '\n';
	serial_begin(&s, "machine-0001", NULL, 0);
	serial_journal(&s, line, sizeof(line));
	claim(sent > LINE_BYTES && longest < PART_MOST, "serial_long_line_tells_that_it_goes_on");
	claim(calls > LINE_BYTES / PART_MOST, "serial_long_line_tells_it_often");
	/* A run that goes on: its name, and the last line that it has. */
	static const char journal[] = "one\ntwo\nthree\n";
	begun = 0;
	serial_begin(&s, "machine-0001", journal, sizeof(journal) - 1);
	serial_journal(&s, "four\n", 5);
	claim(begun == 3 && line_is(0, "n 1 1 1") && line_is(1, "j 3 1 1") && line_is(2, "j 4 1 1"), "serial_begins_again_with_the_last_line");
	const struct serial silent = { .tag = 1 };
	serial_file(&silent, 'm', "a\nb\n", 4);
	claim(begun == 5 && line_is(3, "m 1 1 1") && line_is(4, "m 2 1 1"), "serial_files_need_nobody_who_works");
}
