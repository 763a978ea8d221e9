/* efi/app/config.h: the user's settings: the server's file for this machine if the application was loaded from a server and that has one,
 * else \stallmeter\stallmeter.ini, then the UEFI load options, then fw_cfg's opt/stallmeter/options; the later source takes precedence. */
#ifndef EFI_CONFIG_H
#define EFI_CONFIG_H

#include "efi/processor/start.h"
#include "efi/storage/files.h"

enum backend_kind { BACKEND_AUTO, BACKEND_HW, BACKEND_SIM };
enum end_action { END_MENU, END_RETURN, END_REBOOT, END_SHUTDOWN, END_EXIT };

/* Origin of a value, for messages: "\stallmeter\stallmeter.ini:3". */
struct origin { const char *file; unsigned line; };

#define BOOT_VARIANCE_MAX      99
#define WATCHDOG_S     300  /* more than any row of the full suite takes, even on a simulated machine under an emulator */
#define WATCHDOG_S_MAX 600
#define CONFIG_TEXT 256
struct config {
	enum backend_kind backend;
	char machine[CONFIG_TEXT]; /* the text after "sim:" */
	struct origin backend_from;
	char suite[CONFIG_TEXT];
	struct origin suite_from;
	bool plan;                 /* mode = plan */
	char profile[CONFIG_TEXT]; /* "" none */
	struct origin profile_from;
	char count[CONFIG_TEXT], metrics[CONFIG_TEXT], workload[CONFIG_TEXT]; /* count instead of measuring; "" none */
	struct origin count_from, how_from; /* of count or metrics; of workload or a time, whichever was given last */
	uint64_t interval_us, duration_us;
	char kind[CONFIG_TEXT];    /* of cores, "" all */
	char cores[CONFIG_TEXT], nodes[CONFIG_TEXT]; /* lists, "" all */
	struct origin cores_from, nodes_from, kind_from;
	enum start processors;     /* how the other processors are started */
	unsigned repetitions, vector_bits, ibs_misses;
	char kernels[CONFIG_TEXT]; /* of streams, "" any */
	struct origin vector_bits_from, kernels_from, ibs_misses_from;
	uint64_t seed;
	char label[CONFIG_TEXT];
	char expect[CONFIG_TEXT];  /* path of a file, "" if none */
	struct origin expect_from;
	enum end_action end;
	char upload[CONFIG_TEXT];  /* address that results are sent to, "" none */
	bool resume;               /* continue a run that a crash interrupted */
	unsigned boots;            /* repeat the run over that many boots; 0 and 1: once */
	unsigned watchdog_s;       /* 0: none */
	bool watchdog_given;
	char problem[512];         /* the first problem, one line; "" if there is none */
};

#define CONFIG_FILE "\\stallmeter\\stallmeter.ini"

/* A text used instead of the volume's file, NULL if there is none. */
struct config_text { const char *name, *text; size_t bytes; };
/* Reads all three sources to the end, so that `end` is known even if something is wrong. */
void config_read(struct config *c, struct files *files, const struct config_text *served);
/* The origin of the setting whose name the suite's problem begins with; `otherwise` if it begins with none. */
const struct origin *config_origin(const struct config *c, const char *problem, const struct origin *otherwise);
/* Writes "ORIGIN: problem" to c->problem, unless that holds an earlier one. */
void config_problem(struct config *c, const struct origin *from, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
