/* pmu/uncore/uncore_derived.c: values derived from several uncore counts. */
#include "pmu/uncore/uncore.h"

#define LINE_BYTES 64

#define GQ "UNC_GQ_TRACKER_OCCUP."
#define IN "UNC_GQ_ALLOC."
#define CLOCK "UNC_CLK_UNHALTED.REF"

const struct uncore_derived uncore_derived[] = {
	{ "gq.read.residence", DERIVED_RESIDENCE, { GQ "RT", NULL }, IN "RT", "guide, after T22: longer than the delivery, with bookkeeping" },
	{ "gq.read.l3_response", DERIVED_RESIDENCE, { GQ "RT_TO_LLC_RESP", NULL }, IN "RT_TO_LLC_RESP", "guide, after T22" },
	{ "gq.read.miss", DERIVED_RESIDENCE, { GQ "RT_LLC_MISS", NULL }, IN "RT_LLC_MISS", "guide, after T22" },
	{ "gq.read.rtid", DERIVED_RESIDENCE, { GQ "RT_TO_RTID_ACQUIRED", NULL }, IN "RT_TO_RTID_ACQUIRED", "guide, after T22" },
	{ "gq.write.residence", DERIVED_RESIDENCE, { GQ "WT", NULL }, IN "WT", "guide, after T22" },
	{ "gq.write.rtid", DERIVED_RESIDENCE, { GQ "WT_TO_RTID_ACQUIRED", NULL }, IN "WT_TO_RTID_ACQUIRED", "guide, after T22" },
	{ "gq.peer.residence", DERIVED_RESIDENCE, { GQ "PPT", NULL }, IN "PPT", "guide, after T22" },
	{ "qhl.local.residence", DERIVED_RESIDENCE, { "UNC_QHL_OCCUPANCY.LOCAL", NULL }, "UNC_QHL_REQUESTS.LOCAL_READS", "guide, before T31" },
	{ "qhl.remote.residence", DERIVED_RESIDENCE, { "UNC_QHL_OCCUPANCY.REMOTE", NULL }, "UNC_QHL_REQUESTS.REMOTE_READS", "guide, before T31" },
	{ "qhl.ioh.residence", DERIVED_RESIDENCE, { "UNC_QHL_OCCUPANCY.IOH", NULL }, "UNC_QHL_REQUESTS.IOH_READS", "guide, before T31" },
	{ "qhl.local.busy", DERIVED_BUSY, { "UNC_QHL_CYCLES_NOT_EMPTY.LOCAL", NULL }, "UNC_QHL_REQUESTS.LOCAL_READS", "guide, before T31" },
	{ "qhl.remote.busy", DERIVED_BUSY, { "UNC_QHL_CYCLES_NOT_EMPTY.REMOTE", NULL }, "UNC_QHL_REQUESTS.REMOTE_READS", "guide, before T31" },
	{ "imc.channel0.residence", DERIVED_RESIDENCE, { "UNC_IMC_NORMAL_OCCUPANCY.CH0", NULL }, "UNC_IMC_NORMAL_READS.CH0", "guide, before T32" },
	{ "imc.channel1.residence", DERIVED_RESIDENCE, { "UNC_IMC_NORMAL_OCCUPANCY.CH1", NULL }, "UNC_IMC_NORMAL_READS.CH1", "guide, before T32" },
	{ "imc.channel2.residence", DERIVED_RESIDENCE, { "UNC_IMC_NORMAL_OCCUPANCY.CH2", NULL }, "UNC_IMC_NORMAL_READS.CH2", "guide, before T32" },
	{ "imc.channel0.read", DERIVED_RATE, { "UNC_IMC_NORMAL_READS.CH0", NULL }, CLOCK, "guide, after T32" },
	{ "imc.channel1.read", DERIVED_RATE, { "UNC_IMC_NORMAL_READS.CH1", NULL }, CLOCK, "guide, after T32" },
	{ "imc.channel2.read", DERIVED_RATE, { "UNC_IMC_NORMAL_READS.CH2", NULL }, CLOCK, "guide, after T32" },
	{ "imc.channel0.write", DERIVED_RATE, { "UNC_IMC_WRITES.FULL.CH0", NULL }, CLOCK, "guide, after T32; without partial lines" },
	{ "imc.channel1.write", DERIVED_RATE, { "UNC_IMC_WRITES.FULL.CH1", NULL }, CLOCK, "guide, after T32; without partial lines" },
	{ "imc.channel2.write", DERIVED_RATE, { "UNC_IMC_WRITES.FULL.CH2", NULL }, CLOCK, "guide, after T32; without partial lines" },
	{ "uncached.writes", DERIVED_DIFFERENCE, { "UNC_QHL_REQUESTS.LOCAL_READS", "UNC_QHL_REQUESTS.REMOTE_READS" },
	  "UNC_IMC_NORMAL_READS.ANY", "guide, before T39: requests for ownership without data" },
};
const unsigned uncore_derived_count = COUNT_OF(uncore_derived);

enum status uncore_derive(const struct uncore_derived *d, const uint64_t over[2], uint64_t under, uint64_t uncore_hz, int64_t *value)
{
	const uint64_t sum = over[0] + (d->over[1] ? over[1] : 0);
	if (d->kind == DERIVED_DIFFERENCE) {
		*value = ((int64_t)sum - (int64_t)under) * 1000;
		return ST_OK;
	}
	if (!under)
		return ST_RANGE;
	if (d->kind == DERIVED_RATE) {
		const uint64_t lines_a_second = sum / under * uncore_hz + sum % under * uncore_hz / under;
		*value = (int64_t)(lines_a_second * LINE_BYTES);
	} else {
		*value = (int64_t)(sum / under * 1000 + sum % under * 1000 / under);
	}
	return ST_OK;
}

enum status uncore_link_latency(int64_t miss_milli, int64_t response_milli, int64_t qhl_milli, int64_t local_milli,
                                int64_t remote_milli, int64_t *link_milli)
{
	if (remote_milli <= 0)
		return ST_RANGE;
	*link_milli = ((miss_milli - response_milli) * 1000 - local_milli * qhl_milli) / remote_milli;
	return ST_OK;
}
