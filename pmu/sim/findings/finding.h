/* pmu/sim/findings/finding.h: a mistake in a register access, or another remark about it. docs/lint.md explains each kind on hardware. */
#ifndef SIM_FINDING_H
#define SIM_FINDING_H

#include "pmu/base.h"

enum finding_kind {
	FIND_FAULT,             /* the processor raises #GP: no such register, or it cannot be written */
	FIND_RESERVED,          /* a reserved bit, which raises #GP */
	FIND_RESERVED_IGNORED,  /* a reserved bit, which the box ignores */
	FIND_WRONG_COUNTER,     /* the event does not count on this counter */
	FIND_IGNORED,           /* no effect */
	FIND_UNDEFINED,         /* the manual leaves it undefined */
	FIND_UNMODELLED,        /* an event, or a part of one, that this simulator has no signal for */
	FIND_NO_LATCH,          /* a start-up sequence or second write is missing */
	FIND_UNMAPPED,          /* the processor writes to unmapped memory: on hardware a page fault in the firmware, which stops the machine */
	FIND_SIMULATOR,         /* true of this simulator alone */
	FIND_OUTSIDE,           /* not a register of the PMU, and one that this simulator does not have */
	FIND_COUNT
};

struct sim_findings;
struct sim_finding {
	enum finding_kind kind;
	unsigned thread;
	uint32_t address;
	uint64_t value;
	const char *why;        /* NULL: there is none */
	const char *cite;       /* the manual's paragraph, or NULL */
	const char *event;      /* its name, or NULL */
	uint32_t clash;         /* the other register that it clashes with; 0: none */
	char where[28];         /* "counter 1", "CBo 3 counter 1", or "" */
	struct sim_findings *more;  /* receives further findings of the same access; NULL: dropped. The caller sets it before an access */
};

/* Further findings of one access. */
#define SIM_FINDINGS_MOST 32
struct sim_findings { unsigned n; struct sim_finding at[SIM_FINDINGS_MOST]; };

/* "faults", "reserved, faults", "reserved, ignored", "wrong counter", "ignored", "undefined", "unmodelled", "missing latch", "unmapped",
 * "simulator". */
const char *sim_finding_kind_name(enum finding_kind k);
/* Called before an access: clears the findings. f may be NULL. */
void sim_finding_none(struct sim_finding *f);
/* Adds a finding to those of an access, if the caller takes any. */
void sim_finding_add(struct sim_finding *f, const struct sim_finding *one);
/* Fills in `where`: "counter 3". */
void sim_finding_where(struct sim_finding *f, const char *what, unsigned n);

#endif
