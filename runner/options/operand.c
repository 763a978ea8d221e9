/* runner/options/operand.c: opens the run that is a subcommand's operand. */
#include "runner/options/command.h"
#include "runner/data/reader.h"

bool operand_open(const struct command *c, struct results *r, const char *path)
{
	char problem[1600];

	if (reader_read(r, path, problem, sizeof(problem)) != ST_OK) {
		complain(c, "%s", problem);
		return false;
	}
	if (r->note[0])
		complain(c, "%s: %s", r->path, r->note);
	return true;
}

bool operand_open_one(const struct command *c, struct results *r, int operands, char **operand)
{
	if (operands == 1)
		return operand_open(c, r, operand[0]);
	complain(c, "one run is expected: its directory, results.json or journal.jsonl");
	return false;
}
