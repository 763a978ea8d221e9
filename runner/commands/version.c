/* runner/commands/version.c: `stallmeter --version`. */
#include "bench/results/report.h"
#include "runner/version.h"
#include "runner/options/command.h"

void version_print(FILE *to)
{
	fprintf(to, "stallmeter %s\nbuild %s\nresults.json and journal.jsonl: version %u\n", STALLMETER_VERSION, STALLMETER_BUILD, RESULTS_VERSION);
}
