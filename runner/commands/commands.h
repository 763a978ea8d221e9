/* runner/commands/commands.h: the subcommands of stallmeter. */
#ifndef RUNNER_COMMANDS_H
#define RUNNER_COMMANDS_H

#include "runner/options/command.h"

#define COMMAND(name) extern const struct command command_##name;
#include "runner/commands/commands.def"
#undef COMMAND
/* In the order of --help. */
extern const struct command *const commands[];
extern const unsigned commands_count;

#endif
