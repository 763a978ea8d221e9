/* pmu/counters/pebs.h: precise event based sampling without an interrupt handler.
 *
 * Sources: SDM volume 3B, "Precise Event Based Sampling" and "Load Latency Performance Monitoring
 * Facility"; Levinthal's guide, "Precise Memory Access Events". Records are taken in bursts that are
 * smaller than the buffer: start, run, stop, read. No interrupt is ever requested. The sampled job starts and stops
 * the sampling itself (sampling_gate.h).
 *
 * A counter under PEBS overflows after `period` events; the first event after the hardware is armed writes a record, and
 * the counter restarts. Between two records, `period` events lead to the overflow, one writes the record, and those that
 * fall into the time until PEBS is armed (the shadow) write nothing. So records alone do not tell how many were lost. A
 * companion, another counter of the same event without PEBS, tells how many events there were. */
#ifndef PMU_PEBS_H
#define PMU_PEBS_H

#include "pmu/counters/counters.h"
#include "pmu/sampling_gate.h"

#define PEBS_COUNTERS_MAX 4 /* sampled at once: record formats 0 to 3 have no more, and no caller uses more */

/* Record layout of a format: offsets in bytes, 0 = this format has no such field. */
struct pebs_layout {
	uint16_t bytes;         /* of a record */
	uint16_t flags, ip, gpr; /* flags may be at 0; gpr: the first of 16 */
	uint16_t status, address, source, latency, eventing_ip, tsc;
	uint32_t counters;      /* mask of general counters that can sample */
	uint16_t buffer_bytes;  /* at most */
	uint64_t latency_mask;  /* bits of the latency field that hold it */
	bool global_status;     /* `status` is IA32_PERF_GLOBAL_STATUS, of all counters */
	uint32_t groups;        /* adaptive records: the groups in MSR_PEBS_DATA_CFG, which each record repeats; 0: not adaptive */
};

/* A record in a common form; fields that its format lacks are 0. */
struct pebs_record {
	uint64_t flags;
	uint64_t ip;            /* of the instruction after the one that caused the record */
	uint64_t gpr[16];       /* after that instruction, numbered as instructions encode them: RAX RCX RDX RBX RSP ... */
	uint64_t status;        /* IA32_PERF_GLOBAL_STATUS; from format 3 on the counters that caused the record */
	uint64_t address;       /* linear address of the load or store */
	uint64_t source;        /* data source, as recorded */
	uint64_t latency;       /* cycles, load-latency event only */
	uint64_t eventing_ip, tsc;
	uint16_t retire_latency; /* cycles since the instruction before retired, 0xFFFF or more at most; 0 unless struct pebs.timed */
};

/* One event to sample. */
struct pebs_request {
	const struct event *event;
	uint64_t period;        /* events per overflow, 1 .. 2^31 - 1; use primes, so that no loop synchronises with it */
	bool companion;         /* count the same event on another counter too */
	const struct event *beside; /* another event to count at the same time, NULL: none */
	uint8_t wanted;         /* 1 + the required counter; 0: any that can sample it */
	/* out, of pebs_start */
	uint8_t counter, companion_counter, beside_counter;
	bool has_companion, has_beside; /* a counter was free for it */
	/* out, of pebs_stop */
	uint64_t events;        /* the companion's count */
	uint64_t beside_events; /* the count of `beside` */
	uint64_t since;         /* events since the last record or the start, as the sampling counter has them */
};

/* A counter that counts at the same time without sampling, and overflows at the `until`-th event, 1 .. 2^31 - 1. */
struct pebs_plain { const struct event *event; uint64_t until; uint8_t counter; };

struct pebs {
	const struct access *a;
	const struct cpu *cpu;
	unsigned core;
	const struct pebs_layout *layout;
	uint8_t *ds;            /* the core's DS area, as C code addresses it */
	uint64_t va;            /* the same as the processor addresses it */
	unsigned capacity;      /* records */
	bool timed;             /* records hold retire latencies */
	const struct event *auxiliary; /* out, of pebs_start: counted beside the load-latency event, which is wrong without it; NULL: none */
	uint8_t auxiliary_counter;
	/* in, of pebs_start; 0 after pebs_open */
	const struct pebs_plain *plain; /* must live until pebs_stop */
	unsigned plain_count;
	unsigned threshold_records; /* after which the buffer's threshold is met, which sets its bit of the status; 0: never */
	struct sampling_gate gate; /* out, of pebs_start: the registers that the sampled job writes */
	struct pebs_request *requests;
	unsigned count;         /* of requests while sampling, else 0 */
	unsigned records;       /* of the last burst */
	bool full;              /* the buffer filled up: later records are missing */
};

/* Layout of a record format, NULL if it is none of 0 to 6. */
const struct pebs_layout *pebs_layout(unsigned format);
/* Prepares sampling on a core. ST_UNSUPPORTED with the reason in *why: no debug store, a record format
 * that is not described, a backend without DS areas. Nothing is written. */
MUST_CHECK enum status pebs_open(struct pebs *p, const struct access *a, const struct cpu *cpu, unsigned core,
                                 const char **why);
/* Gives each request a counter and prepares sampling, which p->gate begins and ends. The load-latency event samples alone (SDM). The
 * requests must live until pebs_stop, which fills in what they counted.
 * ST_UNSUPPORTED with *why: an event that is not precise, or no counter left for it. */
MUST_CHECK enum status pebs_start(struct pebs *p, struct pebs_request *requests, unsigned n, const char **why);
/* For counters_start: what IA32_PEBS_ENABLE must hold while these general counters, one bit each, count the load-latency event (SDM: PEBS_EN and
 * LL_EN of each), over an empty debug-store area. They write no record, for none of them overflows. ST_UNSUPPORTED: PEBS or its records lack it. */
MUST_CHECK enum status pebs_latency_enable(const struct access *a, const struct cpu *cpu, unsigned core, uint32_t counters, uint64_t *enable);
/* Stops sampling if the job did not, and determines the number of records. */
MUST_CHECK enum status pebs_stop(struct pebs *p);
/* Decodes a record of l->bytes bytes, whose contents are not trusted. ST_BROKEN: an adaptive record whose groups or size differ from those
 * requested. SDM volume 3, "Adaptive PEBS"; timed: bits 47:32 of its first word hold the retire latency. */
MUST_CHECK enum status pebs_decode(const struct pebs_layout *l, bool timed, const uint8_t *record, struct pebs_record *out);
/* Record i of the last burst, i < p->records. ST_BROKEN: an adaptive record whose groups differ from those requested. */
MUST_CHECK enum status pebs_read(const struct pebs *p, unsigned i, struct pebs_record *out);

/* The balance of events and records from two bursts with different periods: if a share f of records is lost and the mean
 * shadow has s events, events / records = (period + 1 + s) / (1 - f). */
struct pebs_balance {
	bool known;             /* there were two periods with records and companions */
	uint32_t lost;          /* records that were due and not written, in both bursts: the estimate, or with `exact` their number */
	int64_t shadow_milli;   /* events in the shadow of one overflow, likewise */
	/* What the events beyond records * (period + 1) can be: fewer than one period, so that no record is lost and they are shadow; or in both
	 * bursts whole periods, as many as the estimate has. Anything else leaves loss and shadow unknown. */
	bool exact;
	uint32_t lost_most;     /* if there is no shadow at all */
};
struct pebs_burst { uint64_t period, events, since, records; };
void pebs_balance(const struct pebs_burst *a, const struct pebs_burst *b, struct pebs_balance *out);

#endif
