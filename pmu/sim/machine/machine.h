/* pmu/sim/machine/machine.h: the description of a simulated machine and its reader.
 *
 * Every field is one line of machine.def: section, name, type, limits, meaning. From that
 * list come struct machine, the reader, the checks and the list in FORMAT.md (a test
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

/* A file's text, built in or read; it must stay in place. */
struct machine_file { const char *name; const char *text; size_t bytes; };

struct event_map;
struct uncore_map;
struct machine {
	char name[MACHINE_TEXT];
	uint64_t text_hash;       /* fnv1a64 of the file's text, and of its event map's if that is not built in */
	struct machine_file map;  /* the event map that pmu.events names: checked */
	const struct machine *small; /* describes the small cores, once sim_open has read it; NULL: there are none */
	const struct event_map *events; /* the map, once event_map_load (called by sim_open) has read it */
	struct machine_file uncore_map; /* the map that pmu.uncore_events names: checked; no text: there is no uncore PMU */
	const struct uncore_map *uncore; /* the map, once uncore_map_load has read it */
#define NUMBER(section, name, low, high, preset, what) uint64_t section##_##name;
#define TEXT(section, name, preset, what) char section##_##name[MACHINE_TEXT];
#include "pmu/sim/machine/machine.def"
#undef NUMBER
#undef TEXT
	struct exec_cost exec[UC_COUNT];
	/* derived by machine_read */
	uint64_t tick_per_core_cycle, tick_per_uncore_cycle, tick_per_tsc; /* of the common tick */
	uint64_t core_hz, uncore_hz, tsc_hz;
};

/* The machine that core `core` of a socket is of: m itself, or that of its small cores. */
static inline const struct machine *machine_of_core(const struct machine *m, unsigned core)
{
	return m->small && core >= m->topology_cores - m->topology_small_cores ? m->small : m;
}
/* *out: the machine of m's small cores, with m's figures of the whole machine. ST_BROKEN: m is not as machine_read left it. */
MUST_CHECK enum status machine_small(const struct machine *m, struct machine *out);

/* Finds the event map `name` (without ".map") beside a machine file: true, and *map, whose text and name stay valid until the
 * machine is opened. */
struct machine_beside {
	void *self;
	bool (*find)(void *self, const char *name, struct machine_file *map);
};

/* Reads and checks a machine file, and the event map that it names: one beside it takes precedence over a built-in one; `beside` may be
 * NULL. On failure `problem` (capacity bytes) is one line: "FILE:LINE: key: what is wrong, what is allowed". */
MUST_CHECK enum status machine_read_beside(const char *file_name, const char *text, size_t bytes, const struct machine_beside *beside,
                                           struct machine *out, char *problem, size_t capacity);
MUST_CHECK enum status machine_read(const char *file_name, const char *text, size_t bytes, struct machine *out,
                                    char *problem, size_t capacity);


/* The built-in machines, and event maps of cores and of uncores: tables/machines/, by name without ".machine" and ".map". */
extern const struct machine_file machine_files[], machine_maps[], machine_uncore_maps[];
extern const unsigned machine_files_count, machine_maps_count, machine_uncore_maps_count;
extern const char *const machine_default;  /* the one that applies where none is named */
extern const char *const machine_simulate; /* ... by `stallmeter simulate`: the one that Linux's own tools know best */
extern const char *const machine_simulate; /* ... by `stallmeter simulate`: the one that Linux's own tools know best */
/* NULL: no built-in machine has that name. */
const struct machine_file *machine_builtin(const char *name);

#endif
