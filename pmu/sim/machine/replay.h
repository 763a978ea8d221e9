/* pmu/sim/machine/replay.h: replays recorded register accesses on a simulated machine and judges each.
 *
 * Reads two texts, which may be mixed:
 *   own     the lines of pmu/backend/trace.h: rdmsr CORE MSR VALUE [fault], wrmsr ..., rdpmc CORE INDEX VALUE,
 *           pci_read32 SSSS:BB:DD.F+REG VALUE, pci_write32 ..., mmio_read ADDRESS WIDTH VALUE, mmio_write ...;
 *           cpuid, rdtsc and run lines are passed over; " # " starts a comment behind an access
 *   Linux   the tracepoints msr:read_msr, msr:write_msr and msr:rdpmc, as ftrace and perf script print
 *           them: "... [CORE] ... write_msr: 38f, value 70000000f"; " #GP" at the end where it faulted
 * Numbers of the own format are decimal or 0x-hexadecimal, those of the tracepoints hexadecimal.
 * Blank lines and lines that start with '#' are passed over. No line here is longer than
 * REPLAY_LINE_MOST. No kernel runs between the accesses: the counts that are read are not judged. */
#ifndef SIM_REPLAY_H
#define SIM_REPLAY_H

#include "pmu/access.h"
#include "pmu/sim/machine/sim.h"

#define REPLAY_LINE_MOST 4096

enum replay_op { REPLAY_RDMSR, REPLAY_WRMSR, REPLAY_RDPMC, REPLAY_PCI_READ32, REPLAY_PCI_WRITE32, REPLAY_MMIO_READ, REPLAY_MMIO_WRITE };

struct replay_access {
	enum replay_op op;
	unsigned core;
	uint64_t address;        /* MSR, RDPMC's ECX, MMIO address */
	struct pci_address pci;
	unsigned width_bytes;    /* of MMIO */
	uint64_t value;          /* written, or what was read */
};

/* What one line asks for. ST_MISSING: nothing (blank, comment, passed over); ST_SYNTAX: *problem says
 * what a line reads. */
MUST_CHECK enum status replay_parse(const char *line, size_t bytes, struct replay_access *out, const char **problem);

enum replay_verdict {
	REPLAY_ACCEPTED, REPLAY_FAULTS, REPLAY_RESERVED, REPLAY_WRONG_COUNTER, REPLAY_IGNORED, REPLAY_UNMODELLED, REPLAY_NO_LATCH,
	REPLAY_VERDICTS
};
/* "accepted", "faults", "reserved bit", "wrong counter", "ignored", "unmodelled", "missing latch". */
const char *replay_verdict_name(enum replay_verdict v);

struct replay_result {
	enum replay_verdict verdict;
	enum status status;      /* how the access ended on the machine */
	const char *why;         /* of the finding, "" if there is none */
};

/* Carries the access out on the machine. ST_RANGE: it has no such core. */
MUST_CHECK enum status replay_run(struct sim *s, const struct replay_access *a, struct replay_result *out);

#endif
