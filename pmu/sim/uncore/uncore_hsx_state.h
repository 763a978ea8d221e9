/* pmu/sim/uncore/uncore_hsx_state.h: what uncore_hsx.c, uncore_hsx_msr.c and uncore_hsx_pci.c share. */
#ifndef SIM_UNCORE_HSX_STATE_H
#define SIM_UNCORE_HSX_STATE_H

#include "pmu/sim/uncore/uncore_hsx.h"

#define SOCKETS_MAX 8
#define BOXES_MAX   48

struct counter {
	uint64_t base, start, wraps;  /* as it went on: value, uncore cycle; carries already in the status */
	uint64_t before[HSX_GROUPS];  /* sums as it went on */
	struct hsx_meaning meaning;
	uint32_t select, latched;     /* as read; the event that was taken */
	int8_t tap;                   /* of the socket, -1 none */
	bool on, dead;                /* dead: on, and counts nothing */
};

struct box {
	uint8_t kind, instance;
	bool frozen;
	uint32_t last_control;        /* what its control was last written with */
	uint32_t status;
	struct hsx_filters filter;
	struct counter counter[HSX_COUNTERS + 1];
};

struct hsx_socket {
	struct box box[BOXES_MAX];
	unsigned boxes;
	bool frozen;
	uint32_t global, config;
	uint64_t status;
	uint32_t taps;                /* bit n: tap n is taken */
};

struct hsx {
	const struct machine *m;
	struct uncore_taps *taps;
	struct hsx_socket socket[SOCKETS_MAX];
};

/* Where an access goes, and who is told what is worth a word. */
struct access_to { struct sim_finding *f; uint32_t address; };
void hsx_say(const struct access_to *a, enum finding_kind kind, uint64_t value, const char *why);

enum reg { REG_CONTROL, REG_SELECT, REG_COUNTER, REG_COUNTER_HIGH, REG_FILTER, REG_STATUS, REG_NONE };
/* A box of a socket; NULL: it has none. */
struct box *hsx_find_box(struct hsx_socket *k, enum hsx_kind kind, unsigned instance);
unsigned hsx_counters(enum hsx_kind kind);
/* Counters of a socket on and off as its registers say; its overflow bits up to date, and stopped where they say so. */
void hsx_program(struct hsx *u, unsigned s, const struct access_to *a);
void hsx_sync(struct hsx *u, unsigned s);
/* Register number n of its sort; msr: of 64 bits, else a doubleword. */
MUST_CHECK enum status hsx_read_box(struct hsx *u, unsigned s, struct box *b, enum reg reg, unsigned n, bool msr, uint64_t *value);
MUST_CHECK enum status hsx_write_box(struct hsx *u, unsigned s, struct box *b, enum reg reg, unsigned n, bool msr, uint64_t value,
                                     const struct access_to *a);

/* uncore_hsx_msr.c */
enum status hsx_rdmsr(void *box, unsigned thread, uint32_t msr, uint64_t *value, struct sim_finding *finding);
enum status hsx_wrmsr(void *box, unsigned thread, uint32_t msr, uint64_t value, struct sim_finding *finding);
/* uncore_hsx_pci.c */
enum status hsx_pci_read32(void *box, struct pci_address at, uint32_t *value, struct sim_finding *finding);
enum status hsx_pci_write32(void *box, struct pci_address at, uint32_t value, struct sim_finding *finding);

#endif
