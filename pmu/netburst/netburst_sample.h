/* pmu/netburst/netburst_sample.h: NetBurst's two ways to sample an event: by records (PEBS), and by interrupts.
 *
 * Sprunt, IEEE Micro 2002: the record is written just before the tagged uop retires; the interrupt comes when it comes.
 * SDM volume 3, "PEBS for Intel NetBurst", "DS save area": layouts. Records are taken in bursts that are smaller than the
 * buffer; no interrupt reports that it is full. */
#ifndef PMU_NETBURST_SAMPLE_H
#define PMU_NETBURST_SAMPLE_H

#include "pmu/sampling_gate.h"
#include "pmu/netburst/netburst.h"

struct netburst_record {
	uint64_t flags, ip;  /* an interrupt gives no flags: 0 */
	uint64_t gpr[16];    /* RAX RCX RDX RBX RSP ..., as instructions number them; a record of 40 bytes has none from R8 on: 0 */
};

struct netburst_sample {
	const struct access *a;
	const struct cpu *cpu;
	unsigned core;
	bool precise;
	uint8_t *ds;                /* the DS area as C code sees it */
	struct sampling_gate gate;  /* out, of netburst_sample_start: the registers that the sampled job writes */
	struct interrupts taken;    /* to sample by interrupts, the caller sets records and capacity */
	unsigned records;           /* of the last burst */
	bool full;                  /* the buffer filled up: records may be missing */
};

/* Prepares to sample an event of the processor's list every `period` events (1 to 2^31 - 1, else ST_RANGE), by records or by interrupts. s->gate
 * begins and ends the sampling. *s must exist until netburst_sample_stop. ST_UNSUPPORTED with *why, before anything is written: no PEBS, a debug
 * store of 32 bits, an event that PEBS cannot record or IQ_COUNTER4 cannot count, a backend that takes no interrupts. */
MUST_CHECK enum status netburst_sample_start(struct netburst_sample *s, const struct event *event, uint64_t period, const char **why);
/* Stops sampling and sets s->records and s->full. */
MUST_CHECK enum status netburst_sample_stop(struct netburst_sample *s);
/* Record i of the last burst. */
MUST_CHECK enum status netburst_sample_read(const struct netburst_sample *s, unsigned i, struct netburst_record *out);
/* Bytes of a word in a record of 40 bytes, and in one of 144. */
enum netburst_record_word { NETBURST_RECORD_NARROW = 4, NETBURST_RECORD_WIDE = 8 };
/* Decodes a record in memory. */
void netburst_record_read(const uint8_t *at, enum netburst_record_word word, struct netburst_record *out);

#endif
