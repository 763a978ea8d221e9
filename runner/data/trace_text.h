/* runner/data/trace_text.h: reads recorded register accesses, line by line. docs/replay.md explains the forms, which may be mixed:
 *   own      this program's: the lines of pmu/backend/trace.h, and "cpus MAP"
 *   Linux    the tracepoints msr:read_msr, msr:write_msr and msr:rdpmc as ftrace, trace-cmd and perf script print them; other
 *            tracepoints, stack traces and headers between them are ignored; lost events are reported
 *   mmiotrace  "R WIDTH TIME MAP ADDRESS VALUE PC PID" and "W ..."
 * Numbers of the own form are decimal or 0x-hexadecimal, those of the tracepoints hexadecimal. */
#ifndef RUNNER_TRACE_TEXT_H
#define RUNNER_TRACE_TEXT_H

#include "pmu/access.h"

#define TRACE_LINE_MOST 4096
#define TRACE_CPU_MOST  0xFFFF

enum trace_form_op {
	TRACED_RDMSR, TRACED_WRMSR, TRACED_RDPMC, TRACED_PCI_READ32, TRACED_PCI_WRITE32, TRACED_MMIO_READ, TRACED_MMIO_WRITE,
	TRACED_RUN,  /* code ran on the core: values that depend on it are unknown */
	TRACED_LOST, /* events of a processor were lost; core TRACE_CPU_MOST: of all processors */
	TRACED_CPUS, /* numbering of processors, in `text` */
};

struct traced {
	enum trace_form_op op;
	unsigned core;           /* processor number in the trace */
	uint64_t address;        /* MSR, RDPMC's ECX, MMIO address */
	struct pci_address pci;
	unsigned width_bytes;    /* of MMIO */
	uint64_t value;          /* written or read */
	bool numbered_by_linux;  /* the line is a tracepoint's */
	bool failed;             /* it faulted or failed otherwise when it was recorded */
	const char *text;        /* TRACED_CPUS: the rest of the line, not terminated */
	size_t text_bytes;
};

/* Parses one line. ST_MISSING: no access (blank, comment, ignored); ST_SYNTAX: *problem is the expected form. */
MUST_CHECK enum status trace_text_read(const char *line, size_t bytes, struct traced *out, const char **problem);

#endif
