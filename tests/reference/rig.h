/* tests/reference/rig.h: pieces of code on pmu/sim/core/ and on the reference, one or two threads of a core.
 *
 * What the core tells the taps is to be handed to rig_receive as well (hear.h), so that the cycles need not be asked for by one tap
 * each. */
#ifndef TESTS_RIG_H
#define TESTS_RIG_H

#include "pmu/access.h"
#include "pmu/sim/core/core.h"
#include "tests/reference/reference.h"
#include "tests/reference/stream.h"

#define RIG_DATA_BYTES 12288u
#define RIG_CODE_BYTES (STREAM_BYTES + 64)

/* One thread: its stream, the decoded stream, and the signals of both models. */
struct rig_thread {
	struct stream stream;
	uint64_t code_va, data_va;
	uint8_t code[RIG_CODE_BYTES], data[RIG_DATA_BYTES];
	struct signals *signals;
	struct exec_range ranges[EXEC_RANGES];
	struct ref_step steps[REF_INSNS];
	struct core_plan plans[REF_INSNS];
	unsigned count;
	bool missed;                   /* a branch was mispredicted */
	struct ref_trace is, wanted;   /* the model's, the reference's */
};

struct rig { struct machine m; unsigned threads; uint64_t start; struct rig_thread t[2]; };

void rig_receive(const struct signals *s, enum signal sig, uint64_t cycle, unsigned n);
/* Runs both. Whether they agree in every cycle; else `why` gets the first difference. *apt: the reference models what happened. */
bool rig_agree(struct rig *g, char why[160], bool *apt);
/* Leaves out of the streams what can be left out without the models agreeing. */
void rig_shrink(struct rig *g, char why[160]);
/* The streams and the machine, to stderr. */
void rig_print(const struct rig *g);
uint64_t rig_setting(const char *name, uint64_t preset);

#endif
