/* tables/processor.h: the description of a processor. Const data only, written by
 * tables/generate.py from the text files of this folder; discovered facts live in struct cpu. */
#ifndef TABLES_PROCESSOR_H
#define TABLES_PROCESSOR_H

#include <stdint.h>

/* One countable event of the core PMU, from the documents (never from the simulator's map). */
struct event {
	const char *name;      /* the manual's spelling, e.g. "MEM_LOAD_RETIRED.L1D_HIT" */
	uint16_t select;       /* PERFEVTSEL[7:0]; AMD: bits 11:8 are PERF_CTL[35:32] */
	uint16_t umask;        /* [15:8]; its upper byte [47:40], where CPUID 0x23 has UMASK2 */
	uint8_t cmask;         /* as the name implies it, 0 if none */
	uint8_t inv, edge, any;
	uint8_t pebs;          /* 1 precise, 2 only precise, 3 the load-latency event */
	uint8_t fixed;         /* 1 + number of the fixed counter that counts it, 0 if none */
	uint8_t arch;          /* 1 + bit of CPUID.0xA EBX that says it is missing, 0 if it is not architectural */
	uint32_t counter_mask; /* general counters that can count it */
	uint32_t extra_msr;    /* 0x1A6, 0x3F6, ... that must hold extra_value, 0 if none */
	uint64_t extra_value;
	const struct netburst_use *netburst; /* NetBurst's counters count it, so; NULL: PERFEVTSEL does */
	const char *what;      /* what it counts, in our own words */
	const char *source;    /* the source of the row */
	uint8_t privilege;     /* EVENT_USER, EVENT_KERNEL: at which levels it counts; 0 as EVENT_KERNEL, where the kernels run */
};
enum { EVENT_USER = 1, EVENT_KERNEL = 2 };

/* A meaning that an event can have, used by rows, stall terms, checks and samples. */
struct concept { const char *name, *unit, *what; };
extern const struct concept concepts[]; /* sorted by name */
extern const uint16_t concept_count;

/* How exactly an expression counts its concept. SUPERSET counts more, SUBSET less, CYCLES the cycles that it lasts instead of how often it comes. */
enum exactness { EXACTNESS_NONE, EXACTNESS_EXACT, EXACTNESS_SUPERSET, EXACTNESS_SUBSET, EXACTNESS_CYCLES };
struct expression_term {
	const struct event *event; /* with the modifiers of the expression: not always one of processor.events; NULL: of a box */
	const char *uncore;        /* ... whose event this is, as uncore_plan takes it: all terms of an expression or none */
	int8_t sign;               /* 1, -1 */
};
/* What a processor counts for a concept: the sum of its terms. */
struct expression {
	const char *concept;
	const char *text;          /* as the table has it, e.g. "A-B" */
	uint8_t exactness;         /* enum exactness; EXACTNESS_NONE has no terms */
	uint8_t term_count;        /* at most EXPRESSION_TERMS_MAX */
	const struct expression_term *terms;
	const char *why;           /* why there is none, or what it counts more, less or instead; "" if exact */
	const char *source;
};
#define EXPRESSION_TERMS_MAX 4

/* A source of stalls of the cycle accounting. What a processor counts for it is processor.stalls, in the same order. */
enum stall_bound { STALL_BY_STALLS, STALL_BY_MISSES, STALL_BY_FRONT_END, STALL_BY_LAST }; /* what the terms of one bound cannot exceed together, see stall_model.h */
struct stall_term {
	const char *key, *title;
	const char *count;         /* concepts, as the table has them */
	const char *penalty, *overlap, *latency; /* rows; penalty "": the count is of cycles */
	uint8_t bound;             /* enum stall_bound */
	const char *source;
};
extern const struct stall_term stall_terms[];
extern const uint8_t stall_term_count; /* at most STALL_TERMS_MAX */
#define STALL_TERMS_MAX 32

/* A register that may be written on this processor, and what happens to it at exit. */
struct writable_msr {
	uint32_t first, last;  /* inclusive range */
	uint64_t mask;         /* bits that may be changed */
	uint8_t restore;       /* 1: value from before is put back at exit; 0: self-updating, see `what` */
	const char *what;
	const char *source;
};

struct latency_source { uint8_t code; const char *name; const char *what; };

/* What a program must know of this processor; `writes`, if there are any, are register writes to
 * be made, in this order, before counters are programmed. */
struct msr_value { uint32_t msr; uint64_t value; };
/* A bit of CPUID: of register 0 (EAX) to 3 (EDX); leaf 0: none. */
struct cpuid_bit { uint32_t leaf, subleaf; uint8_t reg, bit; };
struct quirk {
	const char *name; const char *erratum; const char *what;
	const struct msr_value *writes;
	uint8_t write_count;
	struct cpuid_bit told;     /* the writes are made where this bit is set; none: always */
	const char *overcounts;    /* beginnings of names of events that count too much, separated by blanks; "" none */
};

/* A list of events that answers one question, by name. */
struct profile {
	const char *name, *title;
	const char *const *events; /* names, all of this processor */
	uint8_t event_count;
	uint16_t lbr_select;       /* filter of last-branch records that go with it, 0 none */
	const char *source;
};

/* A field of an uncore box that an event may need: bits high:low of a register, which all counters of the box share. */
#define UNCORE_FILTERS_MAX 8
struct uncore_filter {
	const char *name;        /* "opc" */
	uint32_t reg;            /* as control of the box: of instance 0, or an offset */
	uint8_t low, high;
	uint8_t function;        /* PCI: of another function of the same device; UNCORE_OWN: the box's own */
	uint32_t select;         /* bits of the select that the filter works with (tid_en), 0 none */
};
#define UNCORE_OWN 0xFF

/* One countable event of an uncore box, from the documents. */
struct uncore_event {
	const char *name;
	uint8_t select, umask;   /* control[7:0], [15:8] */
	uint8_t cmask;           /* control[31:24] */
	uint8_t extended;        /* control[21]: the second set of event codes */
	uint8_t queue;           /* 1: a queue's occupancy: a bus lock must follow its selection before it counts */
	uint8_t fixed;           /* 1: counted by the box's fixed counter alone */
	uint8_t filters;         /* bit f: needs filter f of its box */
	uint8_t implied;         /* 1 + a filter of its box that holds implied_value where the user gives none; 0 none */
	uint32_t implied_value;
	uint16_t increment;      /* what it can add in one cycle, 0 unknown */
	uint32_t counter_mask;   /* general counters of the box that can count it */
	uint32_t extra_msr;      /* must hold extra_value, 0 none */
	uint64_t extra_value;
	uint64_t high;           /* bits of the code and of the umask that stand above these fields in the control */
	const char *what;
	const char *source;
};

/* A type of uncore box: where its registers are and what switches it on. Counter c's select lies at control +
 * c * control_stride, its count at counter + c * counter_stride: MSRs, to which instance i of a socket adds i * stride,
 * offsets in the configuration space of devices[i], or offsets from an address of memory, likewise with i * stride. Select layout: event 7:0, umask 15:8, edge 18, extended 21,
 * invert 23, threshold 31:24, and `enable`; `selectable` are the bits that may be written. */
enum uncore_space { UNCORE_MSR, UNCORE_PCI, UNCORE_MMIO };
/* Whose registers they are: a socket's; or, in the same place for each, those of the cores that share an L3, which are then the instances. */
enum uncore_scope { UNCORE_OF_SOCKET, UNCORE_OF_COMPLEX };
struct uncore_device { uint16_t id; uint8_t device, function; };
struct uncore_box {
	const char *name;
	uint8_t space, scope;    /* enum uncore_space, enum uncore_scope */
	uint8_t instances;       /* of a socket, at most */
	const struct uncore_device *devices; /* [instances], PCI only; vendor 0x8086 */
	uint8_t io_bus;          /* 1: on the socket's bus of devices, below the uncore's */
	uint8_t bus_number;      /* where a register names the buses of a socket: which of them */
	uint32_t stride;
	const uint32_t *places;  /* [instances], or NULL: how far each lies from control and counter, instead of stride */
	uint8_t jump_from;       /* instances from this one on lie `jump` further, 0 none */
	uint32_t jump;
	/* MMIO: the address from which offsets are told: map_mask of a register of 64 bits of a function on the first segment's first bus (vendor 0x8086), if
	 * all bits of map_enable are set there */
	uint8_t map_device, map_function;
	uint16_t map_register;
	uint64_t map_mask, map_enable;
	uint8_t type;            /* or 1 + the number that a discovery table gives boxes of the type, 0 none: offsets are told from the unit's control, which the */
	uint64_t within_first, within_last; /* table tells; where all of its registers must be, 0 and 0: anywhere but in configuration space of another vendor */
	/* or: a function on each socket's uncore bus, id 0 none: window_mask of window_register, shifted, and of the register of the block of
	 * block_boxes that the instance is in, from block_register on, block_mask, shifted: both added up are the address. No base if one is 0 */
	struct uncore_device window;
	uint32_t window_register, window_mask, block_register, block_mask;
	uint8_t window_shift, block_step, block_shift, block_boxes;
	uint8_t free_running;    /* 1: counter c counts one event, always: no select, and never written */
	uint32_t control, counter;
	uint8_t control_stride, counter_stride;
	uint8_t counters, width; /* bits; width as the documents have it, probed before it is believed */
	uint64_t enable, selectable;
	uint64_t select_bits;    /* that every select has beside `enable` */
	uint8_t threshold;       /* which of its bits 31:24 are a threshold */
	uint8_t select_writes;   /* 2: a select takes hold only when it is written twice, first without `enable` */
	uint32_t fixed_control, fixed_counter; /* 0 none */
	uint64_t fixed_enable, fixed_reset;
	uint32_t box_control;    /* 0 none: reset by zeroes, frozen by the global control alone */
	uint64_t box_keep;       /* bits that every write of it must have */
	uint64_t box_reset, box_freeze;
	uint8_t box_steps;       /* 1: its bits are set one write after the other */
	uint32_t box_status;     /* overflow bits, written 1 to clear; 0 none */
	uint64_t box_status_mask; /* one for each counter; with a fixed counter of the box in PCI space that is bit 0 */
	uint32_t global_control; /* 0 none */
	uint64_t global_counters, global_fixed; /* bits of counter 0 on, and of the fixed counter; 0 stops all. Or: */
	uint64_t global_enable;  /* or these bits together start all counters of the socket; 0 stops all. Or: */
	uint64_t global_freeze, global_unfreeze; /* written alone: all boxes of the socket stop and go on */
	uint64_t global_cores;   /* bits beside them that name the cores which an overflow interrupts */
	uint32_t global_status;  /* which boxes of the socket overflowed, written 1 to clear; 0 none */
	uint64_t global_status_mask;
	uint32_t status, clear;  /* overflow bits as in global_control, read; written 1 to clear; 0 none */
	/* How many instances a socket really has: bits of an MSR, or of a register of a PCI device, where
	 * 0 stands for count_zero and all else for count_other; neither: PCI devices that are there */
	uint32_t count_msr;
	uint8_t count_less;      /* the MSR's bits less this */
	uint8_t count_cores;     /* 1: as many as the socket has cores, if that is more, or if there is no other count */
	struct uncore_device count_device;
	uint32_t count_offset;
	uint64_t count_mask;
	uint8_t count_zero, count_other;
	uint8_t count_bus;       /* bus_number of count_device */
	uint8_t count_ones;      /* 1: the number is that of bits that are 1 */
	uint32_t count_next;     /* a further register of count_device, the mask's bits 63:32 are of; 0 none */
	uint32_t present_leaf;   /* CPUID leaf whose ECX has a bit for each instance that is there, 0 none */
	uint8_t present_counters; /* its EBX[5 + this:this] is the number of counters of all of them */
	uint8_t counter_0_code;  /* of the event that counts what counter 0 of the box counts; 0 none */
	uint8_t occupancy_code;  /* bit of an event's code that says it adds up occupancies, whose edge and invert bits are others; 0 none */
	uint32_t occupancy_edge, occupancy_invert;
	uint8_t line_units;      /* of its events of data: how many a line of 64 bytes is; 0: 8, of 8 bytes each */
	const struct uncore_filter *filters;
	uint8_t filter_count;
	const struct uncore_event *events;
	uint16_t event_count;
	uint16_t code_count;     /* events that differ in more than the umask */
	const char *source;
};

/* What counts of the uncore say together: pmu/uncore/uncore_metric.h. */
struct uncore_metric {
	const char *name;        /* "cbo.AVG_TOR_DRD_LATENCY" */
	const char *unit, *expression;
	const char *lacks;       /* why it cannot be had, "" if it can */
	const char *what, *source;
};

/* How buses are told to belong to sockets: an MSR of each socket that names its buses (Linux 6.12, uncore_snbep.c, CPU_BUS_NUMBER); or a device that each socket has once, its node id, and the map from
 * node ids to sockets, 3 bits each (manual 331051-002, 1.7, with the shift that its sample lacks). */
struct uncore_buses {
	struct uncore_device device; /* id 0: no PCI boxes */
	uint32_t node_id, node_id_mask, node_map;
	uint32_t msr;            /* or: that has the buses of its socket, 8 bits each; 0 none */
	uint8_t valid;           /* its bit that says so */
};

/* One event of NetBurst's event detectors. A counter counts it through one of two ESCRs, each of which reaches some counters
 * and detects one event at a time; the counter's CCCR picks the ESCR by escr_select. */
struct netburst_unit { const char *name; uint8_t bit; }; /* of the ESCR's event mask */
struct netburst_event {
	const char *name;
	uint8_t select;          /* ESCR[30:25] */
	uint8_t escr_select;     /* CCCR[15:13] */
	uint16_t escr[2];        /* MSRs; 0: the event has only the other */
	uint32_t counters[2];    /* that each reaches, bit c for counter c of 0 to 17 */
	uint8_t shared;          /* 1: it cannot be told which thread caused it */
	uint8_t tags;            /* 1: its ESCR can tag the uops; 2: counts tagged uops at retirement; 3: those that its metric tags */
	uint8_t unit_count;
	const struct netburst_unit *units;
	const char *what;
	const char *source;
};

/* What replay_event counts, by the registers that say which uops are tagged. */
struct netburst_metric {
	const char *name;
	uint32_t pebs_enable;    /* IA32_PEBS_ENABLE[16:0]; bit 24 tags, bit 25 records */
	uint8_t matrix_vert;     /* MSR_PEBS_MATRIX_VERT */
	int16_t also;            /* index of the event that must be detected beside it, -1 none */
	uint16_t also_mask;      /* its event mask */
	uint8_t also_escr;       /* by which ESCR: 0 either, 1 the first, 2 the second */
	const char *what;
	const char *source;
};

/* A field of a register that keeps a clock where it is: bits [high:low] of `msr` are set to `to`. */
enum freq_lock_to { FREQ_LOCK_NUMBER, FREQ_LOCK_BASE_RATIO, FREQ_LOCK_FIELD, FREQ_LOCK_GUARANTEED }; /* FREQ_LOCK_BASE_RATIO: MSR_PLATFORM_INFO[15:8];
	FREQ_LOCK_FIELD: bits from [value] on; FREQ_LOCK_GUARANTEED: IA32_HWP_CAPABILITIES[15:8] */
struct freq_lock {
	const char *name;        /* "turbo", "core_ratio", "hwp", "uncore_ratio" */
	uint32_t msr;
	uint8_t low, high;
	uint8_t to;              /* enum freq_lock_to */
	uint8_t value;           /* the number; or the lowest bit of the field of the same register */
	const char *what, *source;
};

/* An event as rows and users name it: a detector, what its counter does with it, and what must be detected beside it. */
struct netburst_use {
	uint8_t event;           /* index of processor.detectors */
	uint16_t mask;
	int8_t metric;           /* index of processor.metrics, -1 none */
	uint8_t compare, complement, edge, threshold;
	uint8_t threads;         /* whose: bit 0 of the thread that counts, bit 1 of its core's other */
	uint8_t active;          /* CCCR active threads: 0 none, 1 a single one, 2 both, 3 any */
	int16_t upstream;        /* index of the detector that tags its uops, -1 none */
	uint16_t upstream_mask;
	uint8_t escr, upstream_escr; /* of the event and of what tags its uops: 0 either, 1 the first, 2 the second */
	uint8_t tag;             /* by which upstream tags, 1 to 15; 0: 1 */
	uint8_t force_overflow;  /* CCCR FORCE_OVF: each increment overflows */
	uint8_t cascade;         /* starts when the event before it in the plan overflows */
	uint64_t start;          /* value that its counter starts from */
};

struct tlb_facts { uint16_t dtlb_4k, dtlb_2m, dtlb_1g, stlb_4k, itlb_4k, stlb_2m, stlb_1g; }; /* entries, 0 unknown */

/* What one byte of CPUID leaf 2 says of TLBs. */
struct tlb_descriptor { uint8_t code; struct tlb_facts entries; };
extern const struct tlb_descriptor tlb_descriptors[];
extern const uint16_t tlb_descriptor_count;
/* The same for caches: type 'D', 'I' or 'U'. */
struct cache_descriptor { uint8_t code, level; char type; uint32_t kib; uint8_t ways; uint16_t line_bytes; };
extern const struct cache_descriptor cache_descriptors[];
extern const uint16_t cache_descriptor_count;

/* What others published of a processor: not what is expected, only what stands beside the measured figure. */
struct published {
	const char *processor, *row; /* names of processors[] and of bench/catalogue/rows.c */
	int32_t low_milli, high_milli;
	const char *unit;            /* "cycles" or "ns" */
	const char *how, *source;
};
extern const struct published published[];
extern const uint16_t published_count;

/* likwid's name of an event where it is not the manual's with '_'; "": it has none. */
struct likwid_name { const char *event, *name; };
/* A founding document's spelling of an event, where it is not the table's. */
struct spelling { const char *name, *event; };

#define FAMILY_ANY 0xFFFF
/* Kinds of cores, CPUID leaf 0x1A EAX[31:24] (SDM 2A, CPUID): large and small ones. */
#define CORE_TYPE_CORE 0x40
#define CORE_TYPE_ATOM 0x20

struct processor {
	const char *name;        /* "nehalem-ep" */
	const char *title;       /* "Intel Xeon 5500 (Nehalem-EP)" */
	const char *vendor;      /* CPUID vendor string; "" matches any */
	uint16_t family;         /* as displayed; FAMILY_ANY matches any */
	const uint16_t *models;  /* NULL: any */
	uint8_t model_count;
	uint8_t stepping_low, stepping_high;
	uint8_t core_type;       /* CPUID 0x1A EAX[31:24] of the logical processors that it is for; 0 any */
	uint32_t core_model;     /* EAX[23:0]; 0 any */
	const struct event *events;
	uint16_t event_count;
	const struct writable_msr *msrs;
	uint16_t msr_count;
	const struct latency_source *latency_sources; /* 16 rows or NULL */
	const struct event *latency_auxiliary; /* must be counted beside the load-latency event; NULL: none */
	const struct quirk *quirks;
	uint8_t quirk_count;
	const struct profile *profiles;
	uint8_t profile_count;
	const struct uncore_box *boxes;
	uint8_t box_count;
	const struct uncore_metric *derived;
	uint16_t derived_count;
	const struct expression *expressions; /* sorted by concept: each there is, or none where no event is known */
	uint16_t expression_count;
	const struct expression *stalls; /* for each of stall_terms, named by its key; NULL: no event is known */
	struct uncore_buses buses;
	const struct netburst_event *detectors;
	uint8_t detector_count;
	const struct netburst_metric *metrics;
	uint8_t metric_count;
	struct tlb_facts tlb;
	uint8_t pebs_format;     /* 255 none */
	uint8_t lbr_pairs;
	uint8_t serialise_cpuid; /* 1: LFENCE does not serialise, use CPUID */
	uint8_t imul_cycles;     /* latency of IMUL r32,r32: the second clock where there is no cycle counter */
	uint8_t topdown_metrics; /* bytes of PERF_METRICS: 0, 4, or 8 with the second level */
	uint8_t latency_bound;   /* 1: the load-latency event counts on the counters of its mask alone, without PEBS too */
	uint32_t prefetch_msr;   /* 0 none */
	uint64_t prefetch_off;   /* bits to set to switch all of them off */
	uint64_t prefetch_pair;  /* of these the bit of the one that brings the other line of a pair; 0 not known */
	const struct likwid_name *likwid; /* events that likwid spells otherwise than the manual */
	uint8_t likwid_count;
	const struct spelling *spellings;
	uint8_t spelling_count;
	const struct freq_lock *freq_locks;
	uint8_t freq_lock_count;
	const char *confirmed;   /* "none" or the published results that confirm this row */
	const char *source;
};

extern const struct processor processors[]; /* most specific first; the last rows are generic */
extern const uint16_t processor_count;

#endif
