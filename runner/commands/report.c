/* runner/commands/report.c: `stallmeter report`: redraws a run's report.html from its results. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/report/html.h"
#include "runner/options/command.h"
#include "runner/data/reader.h"
#include "runner/data/rundir.h"

static const char *out_file;

static unsigned report_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--out", OPTION_TEXT, &out_file, "FILE", NULL, 0, 0, "where the report goes (default: report.html beside the results; -: standard output)"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static int keep(const struct command *c, const struct results *r, const char *html, size_t bytes)
{
	char path[1100];
	if (out_file && !strcmp(out_file, "-"))
		return fwrite(html, 1, bytes, stdout) == bytes ? EXIT_GOOD : EXIT_BROKEN;
	const char *slash = strrchr(r->path, '/');
	if (out_file)
		snprintf(path, sizeof(path), "%.1000s", out_file);
	else
		snprintf(path, sizeof(path), "%.*sreport.html", slash ? (int)(slash - r->path) + 1 : 0, r->path);
	FILE *f = fopen(path, "we");
	bool good = f && fwrite(html, 1, bytes, f) == bytes;
	if (f && fclose(f))
		good = false;
	if (!good) {
		complain(c, "%s: cannot be written", path);
		return EXIT_BROKEN;
	}
	printf("report: %s\n", path);
	return EXIT_GOOD;
}

static int report_command(const struct command *c, int operands, char **operand)
{
	static struct results r;
	if (!operand_open_one(c, &r, operands, operand))
		return EXIT_BAD_INPUT;
	int status = EXIT_BROKEN;
	size_t bytes = 0;
	char *html = malloc(HTML_BYTES_MOST);
	if (html && html_report(&r.d, r.note, html, HTML_BYTES_MOST, &bytes) == ST_OK)
		status = keep(c, &r, html, bytes);
	else
		complain(c, "%s: the report is larger than %u bytes", r.path, HTML_BYTES_MOST);
	free(html);
	reader_free(&r);
	return status;
}

const struct command command_report = {
	"report", "RUN", "Draws report.html of a run from its results.",
	"RUN is a run's directory, its results.json or its journal.jsonl, of any backend. The report\n"
	"is one self-contained file: open it in any browser, or print it.\n",
	report_options, report_command,
};
