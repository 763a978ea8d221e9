/* tests/penalties/expected.c: prints what each row should find on a built-in machine.
 *
 * usage: expected MACHINE    lines "ROW LEAST MOST" in thousandths of the row's unit, "-" where there is no formula or the
 * machine has nothing to measure. Runs in the source tree's root: reads tables/machines/FORMAT.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/catalogue/row.h"
#include "pmu/sim/machine/machine.h"
#include "tests/expect/expect.h"

int main(int argc, char **argv)
{
	static char format[1 << 18];
	const struct machine_file *f = argc == 2 ? machine_builtin(argv[1]) : NULL;
	FILE *in = fopen("tables/machines/FORMAT.md", "r");
	char *text;

	if (!f || !in) {
		fprintf(stderr, "expected: %s\n", f ? "tables/machines/FORMAT.md cannot be read" : "which machine?");
		return 2;
	}
	if (!fread(format, 1, sizeof(format) - 1, in))
		return 2;
	fclose(in);
	text = calloc(1, f->bytes + 1);
	if (!text)
		return 2;
	memcpy(text, f->text, f->bytes);
	for (unsigned i = 0; i < rows_count; i++) {
		struct expectation e;

		if (expect_row(text, format, rows[i].name, &e) == ST_OK)
			printf("%s %lld %lld\n", rows[i].name, (long long)e.least_milli, (long long)e.most_milli);
		else
			printf("%s - -\n", rows[i].name);
	}
	free(text);
	return 0;
}
