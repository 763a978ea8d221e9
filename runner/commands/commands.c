/* runner/commands/commands.c: the list of subcommands. */
#include "runner/commands/commands.h"

const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "runner/commands/commands.def"
#undef COMMAND
};
const unsigned commands_count = COUNT_OF(commands);
