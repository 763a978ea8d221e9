/* pmu/sim/uncore/uncore_hsx_state.h: shared by uncore_hsx*.c and uncore_mesh*.c. */
#ifndef SIM_UNCORE_HSX_STATE_H
#define SIM_UNCORE_HSX_STATE_H

#include "pmu/sim/uncore/uncore_hsx.h"

#define SOCKETS_MAX 8
#define BOXES_MAX   128

/* Mistakes of a counter, each of which is reported once. */
enum mistake { MISTAKE_LATCH = 1, MISTAKE_EVENT = 2, MISTAKE_THRESHOLD = 4, MISTAKE_FROZEN = 8 };

struct counter {
	uint64_t base, start, wraps;  /* value and uncore cycle when it was enabled; wraps that the status already shows */
	uint8_t how;                  /* enum uncore_count_mode: what it counts is a clock, a watch, or nothing */
	bool time;                    /* its watch counts cycles */
	uint32_t select, select_high; /* as read, low and high half */
	uint32_t latched;             /* the latched event */
	int16_t watch;                /* of the socket, -1: none */
	bool on, dead;                /* dead: enabled, but counts nothing */
	bool ran;                     /* it has been on since its select was written */
	uint8_t told;                 /* mask of enum mistake */
};

struct box {
	const struct uncore_map *map; /* the machine's */
	uint8_t kind, instance;
	bool frozen, told;            /* told: a table or a window gives its address (meshes since Ice Lake-SP) */
	uint32_t pci;                 /* configuration space: its function's address, as in findings */
	uint32_t last_control;        /* the last value written to its control */
	uint32_t status;
	struct hsx_filters filter;
	struct counter counter[HSX_COUNTERS + 1];
};

struct hsx_socket {
	struct box *box; /* after struct hsx, as many as the machine has */
	unsigned boxes;
	bool frozen;
	uint32_t global, config;
	uint64_t status;
};

struct hsx {
	const struct machine *m;
	struct uncore_taps *taps;
	struct hsx_socket socket[SOCKETS_MAX];
};

/* An access: where its findings go, and its address. */
struct access_to { struct sim_finding *f; uint32_t address; };
/* uncore_hsx_finding.c: reports a finding; one about a box; one about counter n of a box as it is programmed. a may be NULL, except in those of counters. */
void hsx_finding(const struct access_to *a, enum finding_kind kind, uint64_t value, const char *why);
void hsx_finding_of_box(const struct access_to *a, enum finding_kind kind, const struct box *b, uint64_t value, const char *why, const char *cite);
void hsx_finding_of_counter(const struct access_to *a, enum finding_kind kind, const struct box *b, unsigned n, const char *why, const char *cite);
/* A finding with the counter, the event of a select, and the select's address unless that is the one accessed. */
struct sim_finding hsx_finding_of(const struct access_to *a, const struct box *b, unsigned n, uint64_t select);
const char *hsx_kind_name(enum hsx_kind kind);

enum reg { REG_CONTROL, REG_SELECT, REG_SELECT_HIGH, REG_COUNTER, REG_COUNTER_HIGH, REG_FILTER, REG_STATUS, REG_NONE };
/* A box of a socket; NULL: it has none. */
struct box *hsx_find_box(struct hsx_socket *k, enum hsx_kind kind, unsigned instance);
unsigned hsx_counters(enum hsx_kind kind);
/* The boxes of all sockets as they are after a reset. */
void hsx_init(void *box, const struct machine *m, struct uncore_taps *taps);
size_t hsx_bytes(const struct machine *m);
/* Enables and disables a socket's counters according to its registers. */
void hsx_program(struct hsx *u, unsigned s, const struct access_to *a);
/* Updates a socket's overflow bits, and freezes it if they demand that. */
void hsx_sync(struct hsx *u, unsigned s);
/* Access to register number n of its kind; msr: 64 bits, else a doubleword. */
MUST_CHECK enum status hsx_read_box(struct hsx *u, unsigned s, struct box *b, enum reg reg, unsigned n, bool msr, uint64_t *value,
                                    const struct access_to *a);
MUST_CHECK enum status hsx_write_box(struct hsx *u, unsigned s, struct box *b, enum reg reg, unsigned n, bool msr, uint64_t value,
                                     const struct access_to *a);

/* uncore_hsx_msr.c */
enum status hsx_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *finding);
enum status hsx_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *finding);
/* uncore_hsx_pci.c. The address of a box's function, as in findings; 0: it has none. */
uint32_t hsx_pci_of(const struct machine *m, unsigned socket, enum hsx_kind kind, unsigned instance);
enum status hsx_pci_read32(void *box, struct pci_address at, uint32_t *value, struct sim_finding *finding);
enum status hsx_pci_write32(void *box, struct pci_address at, uint32_t value, struct sim_finding *finding);
/* uncore_mesh_discovery.c: meshes since Ice Lake-SP. */
enum status hsx_discovered_rdmsr(struct hsx *u, unsigned s, uint32_t msr, uint64_t *value, struct sim_finding *f);
enum status hsx_discovered_wrmsr(struct hsx *u, unsigned s, uint32_t msr, uint64_t value, struct sim_finding *f);
enum status hsx_discovered_pci_read32(struct hsx *u, struct pci_address at, uint32_t *value, struct sim_finding *f);
enum status hsx_discovered_pci_write32(struct hsx *u, struct pci_address at, uint32_t value, struct sim_finding *f);
enum status hsx_discovered_mmio_read(void *box, uint64_t address, unsigned width_bytes, uint64_t *value, struct sim_finding *f);
enum status hsx_discovered_mmio_write(void *box, uint64_t address, unsigned width_bytes, uint64_t value, struct sim_finding *f);
/* uncore_mesh_table.c: a socket's discovery table. A quadword of it, by number, by address (false: not one of its addresses). */
uint64_t hsx_table_quad(const struct hsx *u, unsigned socket, unsigned n);
bool hsx_table_memory(const struct hsx *u, uint64_t address, uint64_t *value);
/* A doubleword of the function that gives the table's address. */
uint32_t hsx_table_capability(const struct hsx *u, unsigned socket, uint16_t reg);
/* The address of a box's control, as in the table; 0: the socket has no such box. */
uint64_t hsx_table_control(const struct machine *m, unsigned socket, enum hsx_kind kind, unsigned instance);
/* What a function is: a box's; kind HSX_KINDS: the one that gives the table's address; HSX_KINDS + 1: the UBox's. False: there is none. */
bool hsx_table_place(const struct machine *m, unsigned socket, struct pci_address at, uint8_t *kind, uint8_t *instance, uint16_t *id);
/* uncore_mesh.c: registers of PCU and UBox, at the addresses of Skylake-SP; NULL: none of theirs. */
struct box *hsx_mesh_fixed_msr(struct hsx_socket *k, uint32_t msr, enum reg *reg, unsigned *n);
/* uncore_mesh.c: hsx_pci_of for a mesh; the offset of a box's select n in its function. */
uint32_t hsx_mesh_pci_of(const struct machine *m, unsigned socket, enum hsx_kind kind, unsigned instance);
uint32_t hsx_mesh_select(enum hsx_kind kind, unsigned n);

#endif
