/* bench/catalogue/row.c: finds rows by name, and names the values of a row's fields. */
#include "bench/catalogue/result.h"

const char *row_status_name(enum row_status s)
{
	static const char *const names[ROW_STATUS_COUNT] = {
		[ROW_OK] = "ok", [ROW_NOISY] = "noisy", [ROW_UNPROVEN] = "unproven",
		[ROW_UNSUPPORTED] = "unsupported", [ROW_FAULT] = "fault", [ROW_TIMEOUT] = "timeout", [ROW_FAILED] = "failed",
		[ROW_CRASHED] = "crashed",
	};
	return (unsigned)s < ROW_STATUS_COUNT ? names[s] : "?";
}

enum row_status row_status_of(enum status st)
{
	switch (st) {
	case ST_UNSUPPORTED: case ST_FULL: return ROW_UNSUPPORTED;
	case ST_FAULT: return ROW_FAULT;
	case ST_TIMEOUT: return ROW_TIMEOUT;
	default: return ROW_FAILED;
	}
}

bool row_was_ended(enum row_status s) { return s == ROW_FAULT || s == ROW_TIMEOUT || s == ROW_FAILED; }

/* --- names of values --------------------------------------------------------------------------- */

static const char *const kinds[ROW_KIND_COUNT] = {
	[KIND_LATENCY] = "latency", [KIND_PENALTY] = "penalty", [KIND_THROUGHPUT] = "throughput", [KIND_INTERVAL] = "interval", [KIND_SIZE] = "size",
	[KIND_SAMPLED] = "sampled",
};
static const char *const units[UNIT_COUNT] = {
	[UNIT_CYCLES] = "cycles", [UNIT_NS] = "ns", [UNIT_BYTES_PER_SECOND] = "bytes/s", [UNIT_ENTRIES] = "entries",
	[UNIT_INSTRUCTIONS] = "instructions", [UNIT_LINES] = "lines", [UNIT_COUNTERS] = "counters",
};
static const char *const targets[TARGET_COUNT] = {
	[TARGET_L1] = "l1", [TARGET_L2] = "l2", [TARGET_L3] = "l3", [TARGET_DRAM] = "dram", [TARGET_DTLB] = "dtlb", [TARGET_STLB] = "stlb",
	[TARGET_CORE] = "core", [TARGET_OTHER_CORE] = "other core", [TARGET_OTHER_COMPLEX] = "other complex", [TARGET_OTHER_DIE] = "other die", [TARGET_OTHER_SOCKET] = "other socket", [TARGET_SAME_CORE] = "same core",
	[TARGET_SAME_CLUSTER] = "same cluster",
};
static const char *const orders[ORDER_COUNT] = {
	[ORDER_LINES] = "lines", [ORDER_SPARSE] = "sparse", [ORDER_PAGES] = "pages", [ORDER_PAGE_GROUPS] = "page groups", [ORDER_STREAMS] = "streams",
	[ORDER_PAIR] = "pair", [ORDER_OPEN_PAGES] = "open pages", [ORDER_MATRIX] = "matrix", [ORDER_MULTICORE] = "multicore", [ORDER_NODES] = "nodes",
	[ORDER_LOADED] = "loaded", [ORDER_LINE] = "line", [ORDER_CURVE] = "curve", [ORDER_REGIONS] = "regions", [ORDER_STAIRS] = "stairs",
	[ORDER_GATHER] = "gather", [ORDER_SKID_PRECISE] = "skid precise", [ORDER_SKID_INTERRUPT] = "skid interrupt",
	[ORDER_SKID_ADDRESSES] = "skid addresses", [ORDER_TLB_SIZE] = "tlb size",
	[ORDER_PRIORITY_RECORDS] = "priority records", [ORDER_PRIORITY_OVERFLOWS] = "priority overflows",
};
static const char *const prepares[PREPARE_COUNT] = {
	[PREPARE_WARM] = "warm", [PREPARE_FLUSH] = "flush", [PREPARE_FILL] = "fill", [PREPARE_READ] = "read", [PREPARE_EXCLUSIVE] = "exclusive",
	[PREPARE_MODIFIED] = "modified", [PREPARE_SHARED] = "shared",
};
static const char *const baselines[BASELINE_COUNT] = {
	[BASELINE_NONE] = "none", [BASELINE_L1] = "l1", [BASELINE_PACKED] = "packed", [BASELINE_PAIR] = "pair", [BASELINE_OPEN_PAGES] = "open pages",
};
static const char *const statistics[STATISTIC_COUNT] = { [STAT_MINIMUM] = "minimum", [STAT_MEDIAN] = "median", [STAT_MEAN] = "mean" };
static const char *const prefetches[PREFETCH_COUNT] = { [PREFETCH_OFF] = "off", [PREFETCH_AS_FOUND] = "as found", [PREFETCH_PAIR] = "pair" };
static const char *const sources[SOURCE_COUNT] = {
	[SOURCE_L1] = "own L1 data cache", [SOURCE_L2] = "own L2 cache", [SOURCE_FILL_BUFFER] = "a fill buffer", [SOURCE_L3] = "own L3 cache",
	[SOURCE_L3_UNSHARED] = "own L3 cache, unshared", [SOURCE_L3_SHARED] = "L3 cache, shared by other cores",
	[SOURCE_L3_CLEAN] = "L3 cache, clean in another core", [SOURCE_L3_MODIFIED] = "L3 cache, modified in another core",
	[SOURCE_OTHER_CORE] = "another core of the socket", [SOURCE_OWNER] = "the core that had the line",
	[SOURCE_NEAR_CLEAN] = "cache of another complex", [SOURCE_NEAR_MODIFIED] = "modified in another complex",
	[SOURCE_REMOTE_CLEAN] = "cache of another socket", [SOURCE_REMOTE_MODIFIED] = "modified in another socket",
	[SOURCE_DRAM_LOCAL] = "memory of this node", [SOURCE_DRAM_OF_CORE] = "memory of the core's node",
	[SOURCE_DRAM_REMOTE] = "memory of another node", [SOURCE_DRAM_DISTANT] = "memory of another node of the socket",
	[SOURCE_CORE] = "the core itself", [SOURCE_COUNTERS] = "the counters themselves",
	[SOURCE_ANY] = "whatever holds the lines",
};
static const char *const pers[PER_COUNT] = { [PER_UNIT] = "unit", [PER_LOAD] = "load", [PER_STORE] = "store" };
static const char *const fills[FILL_COUNT] = { [FILL_ZERO] = "zero", [FILL_RANDOM_BIT] = "random bit", [FILL_RANDOM_4] = "random of 4" };
static const char *const codes[CODE_COUNT] = {
	[CODE_NONE] = "none", [CODE_LCP] = "lcp", [CODE_COMPARES_PLAIN] = "compares plain", [CODE_NOPS_LONG] = "nops long", [CODE_TARGETS] = "targets",
	[CODE_TARGETS_BASE] = "targets base", [CODE_LINES_L2] = "lines l2", [CODE_LINES_L3] = "lines l3", [CODE_LINES_BASE] = "lines base",
	[CODE_PAGES_ITLB] = "pages itlb", [CODE_PAGES_ITLB_BASE] = "pages itlb base", [CODE_PAGES_WALK] = "pages walk",
	[CODE_PAGES_WALK_BASE] = "pages walk base", [CODE_SMC] = "smc", [CODE_SMC_BASE] = "smc base", [CODE_LINES_FAR_BASE] = "lines far base",
};
static const char *const curves[CURVE_COUNT] = {
	[CURVE_OVERLAP] = "overlap", [CURVE_TWICE] = "twice", [CURVE_WINDOW] = "window", [CURVE_CHAINS] = "chains", [CURVE_WALKS] = "walks",
	[CURVE_SPREAD] = "spread", [CURVE_PAIRS] = "pairs", [CURVE_SERIAL] = "serial", [CURVE_BESIDE] = "beside",
};
static const char *const fillers[FILLER_COUNT] = {
	[FILLER_NOP] = "nop", [FILLER_WAITING] = "waiting", [FILLER_LOAD] = "load", [FILLER_STORE] = "store", [FILLER_MISS] = "miss",
};
static const char *const values[VALUE_COUNT] = { [VALUE_FLAT] = "flat", [VALUE_LAST] = "last", [VALUE_KNEE] = "knee" };

static const struct { const char *const *names; unsigned count; } fields[FIELD_COUNT] = {
	[FIELD_KIND] = { kinds, ROW_KIND_COUNT }, [FIELD_UNIT] = { units, UNIT_COUNT }, [FIELD_TARGET] = { targets, TARGET_COUNT },
	[FIELD_ORDER] = { orders, ORDER_COUNT }, [FIELD_PREPARE] = { prepares, PREPARE_COUNT }, [FIELD_BASELINE] = { baselines, BASELINE_COUNT },
	[FIELD_STATISTIC] = { statistics, STATISTIC_COUNT }, [FIELD_PREFETCH] = { prefetches, PREFETCH_COUNT }, [FIELD_SOURCE] = { sources, SOURCE_COUNT },
	[FIELD_PER] = { pers, PER_COUNT }, [FIELD_FILL] = { fills, FILL_COUNT }, [FIELD_CODE] = { codes, CODE_COUNT },
	[FIELD_CURVE] = { curves, CURVE_COUNT }, [FIELD_FILLER] = { fillers, FILLER_COUNT }, [FIELD_VALUE] = { values, VALUE_COUNT },
};

const char *row_value_name(enum row_field field, unsigned value)
{
	return (unsigned)field < FIELD_COUNT && value < fields[field].count ? fields[field].names[value] : NULL;
}

static const char *name_or_unknown(enum row_field field, unsigned value)
{
	const char *name = row_value_name(field, value);

	return name ? name : "?";
}

const char *row_unit_name(enum row_unit u) { return name_or_unknown(FIELD_UNIT, u); }
const char *row_kind_name(enum row_kind k) { return name_or_unknown(FIELD_KIND, k); }
const char *row_source_name(enum source s) { return name_or_unknown(FIELD_SOURCE, s); }

/* --- rows -------------------------------------------------------------------------------------- */

bool row_is_of_loop(const struct row *r)
{
	switch (r->order) {
	case ORDER_LINES: case ORDER_SPARSE: case ORDER_PAGES: case ORDER_PAGE_GROUPS: case ORDER_STREAMS: case ORDER_PAIR: case ORDER_OPEN_PAGES:
	case ORDER_REGIONS:
		return true;
	default:
		return false;
	}
}

const struct row *row_find(const char *name)
{
	for (unsigned i = 0; i < rows_count; i++)
		if (str_equal(rows[i].name, name))
			return &rows[i];
	return NULL;
}

bool row_has_value(const struct row_result *r)
{
	return r->samples > 0 && (r->status == ROW_OK || r->status == ROW_NOISY || r->status == ROW_UNPROVEN);
}
