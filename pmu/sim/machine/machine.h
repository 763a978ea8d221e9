/* pmu/sim/machine/machine.h: the description of a simulated machine and its reader.
 *
 * Every field is one line of machine.def: section, name, type, limits, what it says. From that
 * one list come struct machine, the reader, the checks and the list in FORMAT.md (a test
 * compares). A machine file gives every figure with its source or says that it is unknown. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include "pmu/base.h"
#include "pmu/sim/isa/decode.h"

#define MACHINE_TEXT 64
#define MACHINE_THREADS_MAX 512 /* logical processors */
#define MACHINE_THREADS_MAX_TEXT "512"

/* What the main uop of a class costs: [exec] lines read `name = LATENCY PORTS BUSY`,
 * e.g. `fp_div64 = 22 0 22`: 22 cycles, port 0, which is blocked for 22; `int = 1 015 1`. */
struct exec_cost { uint16_t latency; uint16_t port_mask; uint16_t busy; };

struct machine {
	char name[MACHINE_TEXT];
	uint64_t text_hash;       /* fnv1a64 of the file's text */
#define NUMBER(section, name, low, high, preset, what) uint64_t section##_##name;
#define TEXT(section, name, preset, what) char section##_##name[MACHINE_TEXT];
#include "pmu/sim/machine/machine.def"
#undef NUMBER
#undef TEXT
	struct exec_cost exec[UC_COUNT];
	/* derived by machine_finish */
	uint64_t tick_per_core_cycle, tick_per_uncore_cycle, tick_per_tsc; /* of the common tick */
	uint64_t core_hz, uncore_hz, tsc_hz;
};

/* Reads and checks a machine file. On failure `problem` (capacity bytes) is one line:
 * "FILE:LINE: key: what is wrong, what is allowed". */
MUST_CHECK enum status machine_read(const char *file_name, const char *text, size_t bytes, struct machine *out,
                                    char *problem, size_t capacity);

/* Name of a timing class as an [exec] line writes it; NULL beyond UC_COUNT. */
const char *machine_class_name(unsigned uop_class);
/* Whether `name` is an event map that counter_events.c has. */
bool machine_events_known(const char *name);

/* The machines built into the program: tables/machines/, by name without ".machine". */
struct machine_file { const char *name; const char *text; size_t bytes; };
extern const struct machine_file machine_files[];
extern const unsigned machine_files_count;
/* NULL when no built-in machine has that name. */
const struct machine_file *machine_builtin(const char *name);

#endif
