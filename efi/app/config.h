/* efi/app/config.h: what the user wants: \stallmeter\stallmeter.ini, then the UEFI load options,
 * then fw_cfg's opt/stallmeter/options; the later wins. */
#ifndef EFI_CONFIG_H
#define EFI_CONFIG_H

#include "efi/storage/files.h"

enum backend_kind { BACKEND_AUTO, BACKEND_HW, BACKEND_SIM };
enum end_action { END_MENU, END_RETURN, END_REBOOT, END_SHUTDOWN, END_EXIT };

/* Where a value came from, for messages: "\stallmeter\stallmeter.ini:3". */
struct origin { const char *file; unsigned line; };

#define BOOT_VARIANCE_MAX      99
#define WATCHDOG_S     300  /* a row of the full suite takes less, also on a simulated machine under an emulator */
#define WATCHDOG_S_MAX 600
#define CONFIG_TEXT 256
struct config {
	enum backend_kind backend;
	char machine[CONFIG_TEXT]; /* behind "sim:" */
	struct origin backend_from;
	char suite[CONFIG_TEXT];
	struct origin suite_from;
	bool plan;                 /* mode = plan */
	char profile[CONFIG_TEXT]; /* "" none */
	struct origin profile_from;
	char cores[CONFIG_TEXT], nodes[CONFIG_TEXT]; /* lists, "" all */
	struct origin cores_from, nodes_from;
	unsigned repetitions;
	uint64_t seed;
	char label[CONFIG_TEXT];
	char expect[CONFIG_TEXT];  /* path of a file, "" if none */
	struct origin expect_from;
	enum end_action end;
	bool resume;               /* go on with a run that a crash broke off */
	unsigned boots;            /* repeat the run over so many boots; 0 and 1: once */
	unsigned watchdog_s;       /* 0: none */
	bool watchdog_given;
	char problem[512];         /* the first thing that is wrong, one line; "" if nothing is */
};

#define CONFIG_FILE "\\stallmeter\\stallmeter.ini"

/* Reads all three places to the end, so that `end` is known also when something is wrong. */
void config_read(struct config *c, struct files *files);
/* "ORIGIN: what is wrong" into c->problem, unless there is an earlier one. */
void config_problem(struct config *c, const struct origin *from, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
