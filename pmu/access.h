/* pmu/access.h: the backend interface. Every access to a processor goes through here.
 *
 * One table of operations with several implementations, chosen at run time in one binary:
 *   efi/      the machine at hand, from ring 0              (backend=hw)
 *   pmu/sim/  the simulated machine                         (backend=sim:NAME, sim:FILE)
 *   runner/   kernels on this Linux machine, no PMU         (--backend native)
 * and layers that wrap another one: pmu/backend/msr_guard.c (refuses writes that the processor's description does not list,
 * saves and restores), pmu/backend/trace.c (records).
 *
 * Cores are logical processors; number 0 runs the program.
 *
 * The job address space. Every buffer, the kernels' code, the control blocks and the DS areas lie at fixed virtual addresses,
 * the same in the guest, on Linux and in the simulator, so stored pointers, branch targets and PEBS records are the same
 * everywhere. 32 TiB is free in Linux processes (also with AddressSanitizer, whose shadow ends below) and above any
 * physical memory that firmware identity-maps. */
#ifndef PMU_ACCESS_H
#define PMU_ACCESS_H

#include "pmu/base.h"

#define SPACE_BASE      0x200000000000ull
#define SPACE_CODE      (SPACE_BASE)                 /* the blob of asm/, 4 KiB pages, executable */
#define SPACE_CONTROL   (SPACE_BASE + 0x010000000ull) /* one control area per core */
#define SPACE_DS        (SPACE_BASE + 0x020000000ull) /* one debug-store area per core */
#define SPACE_SCRATCH   (SPACE_BASE + 0x030000000ull) /* code that kernels modify, 4 KiB pages, executable */
#define SPACE_DATA      (SPACE_BASE + 0x1000000000ull) /* buffers, each at a multiple of 1 GiB */
#define SPACE_END       (SPACE_BASE + 0x8000000000ull) /* 512 GiB: one entry of the top page table */

#define CONTROL_BYTES    0x10000ull /* stride of control areas: block first, stack from the top down */
#define DS_BYTES         0x10000ull /* stride of DS areas */

#define PAGE_4K 0x1000ull
#define PAGE_2M 0x200000ull
#define PAGE_1G 0x40000000ull
#define SPACE_LOCK (SPACE_DATA + 9 * PAGE_1G) /* the page for the uncore driver's bus lock while a row is measured */

struct cpuid_regs { uint32_t eax, ebx, ecx, edx; };

struct pci_address { uint16_t segment; uint8_t bus, device, function; uint16_t reg; };

/* A function that answers in PCI configuration space. */
#define PCI_FUNCTIONS_MAX 4096u
struct pci_function {
	struct pci_address at;
	uint32_t id;       /* [15:0] vendor, [31:16] device */
	uint32_t kind;     /* [31:8] class code, [7:0] revision */
	bool reached;      /* its bus is the first of its segment, or is reached through a bridge */
};

/* A range of the job address space. The caller fills the first group, map() the second. */
struct mapping {
	uint64_t va;         /* in the job address space, multiple of page_bytes */
	uint64_t bytes;      /* multiple of page_bytes */
	uint64_t page_bytes; /* PAGE_4K, PAGE_2M or PAGE_1G: exactly this, or ST_UNSUPPORTED */
	unsigned node;       /* memory node, 0 .. access.nodes - 1 */
	bool executable;
	bool repeats;        /* all pages may map the same memory, since each holds its content at a different offset: many TLB
	                        entries for one page of memory. map() clears it if each page has its own memory */

	void *host;          /* address at which C code of this program reads and writes the bytes; zeroed by map().
	                        C code never prepares cache state: kernels do. */
	uint64_t pa;         /* physical address of the first page, 0 if unknown */
	void *owner;         /* private to the backend */
};

/* Address at which C code accesses byte `offset` of a range that map() made. */
static inline void *mapping_at(const struct mapping *m, uint64_t offset)
{
	return (uint8_t *)m->host + (m->repeats ? offset % m->page_bytes : offset);
}

struct sampling_gate; /* pmu/sampling_gate.h */

/* One call on one core: entry(argument) on the core's own stack, isolated. */
struct job {
	unsigned core;
	uint64_t entry;    /* virtual address of a routine of asm/, normally MEASURE */
	uint64_t argument; /* passed in RDI: virtual address of a struct measure_block */
	uint64_t undo;     /* called with the same argument if the job did not end, before anything else runs on the core; 0: none */
	const struct sampling_gate *gate; /* registers that the routine itself writes, for layers that check or record writes; NULL: none */
	enum status status; /* out: ST_OK, ST_FAULT, ST_TIMEOUT */
	uint8_t vector;     /* out: exception vector with ST_FAULT */
	uint64_t ip;        /* out: address of the fault, or where the time limit hit */
};

struct access_ops {
	enum status (*cpuid)(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out);
	enum status (*rdmsr)(void *self, unsigned core, uint32_t msr, uint64_t *value);
	enum status (*wrmsr)(void *self, unsigned core, uint32_t msr, uint64_t value);
	enum status (*rdpmc)(void *self, unsigned core, uint32_t index, uint64_t *value);
	enum status (*rdtsc)(void *self, unsigned core, uint64_t *value);
	enum status (*pci_read32)(void *self, struct pci_address at, uint32_t *value);
	enum status (*pci_write32)(void *self, struct pci_address at, uint32_t value);
	/* A memory-mapped register, at a physical address that is a multiple of its width of 1, 2, 4 or 8 bytes; otherwise ST_RANGE. ST_UNSUPPORTED: this
	 * backend reaches no device at that address. */
	enum status (*mmio_read)(void *self, uint64_t address, unsigned width_bytes, uint64_t *value);
	enum status (*mmio_write)(void *self, uint64_t address, unsigned width_bytes, uint64_t value);
	enum status (*map)(void *self, struct mapping *m);
	enum status (*unmap)(void *self, struct mapping *m);
	/* Starts all jobs together, one per core, and returns when all have ended or the limit (in TSC ticks; 0 = the backend's
	 * own) has expired. Caches keep their state between runs. ST_OK if every job ended well, else the status of the first
	 * job that did not. */
	enum status (*run)(void *self, struct job *jobs, unsigned n, uint64_t limit_tsc);
	/* Address at which C code of this program reads and writes the control area of a core, which
	 * lies at SPACE_CONTROL + core * CONTROL_BYTES and begins with the measure block. NULL: no such
	 * core. Every backend maps SPACE_CODE (the blob of asm/), the control and the DS areas itself
	 * when it opens; the layers above map buffers (SPACE_DATA) and SPACE_SCRATCH. */
	void *(*control)(void *self, unsigned core);
	/* The same for the DS area of a core at SPACE_DS + core * DS_BYTES, DS_BYTES long. */
	void *(*ds)(void *self, unsigned core);
};

/* Counter interrupts that were taken: for each, the address of the next instruction and the registers (RAX RCX RDX RBX ..). */
#define INTERRUPT_WRITES 4
struct interrupts {
	struct { uint64_t ip, gpr[16]; } *records; /* the caller's */
	unsigned capacity, count;    /* count, out: records; interrupts beyond the capacity are dropped */
	uint32_t dropped;
	/* The writes by which the handler re-arms the interrupt, to registers that were written through wrmsr before. */
	struct { uint32_t msr; uint64_t value; } again[INTERRUPT_WRITES];
	unsigned writes;
};

/* The last register whose access raised a fault: an MSR of a core; with `pci`, a register in configuration space; with `mapped`, a memory-mapped one at
 * a physical address. */
struct register_failure { bool known, pci, mapped; uint32_t msr; uint16_t core; struct pci_address at; uint64_t address; };

enum access_kind { ACCESS_HW, ACCESS_SIM, ACCESS_NATIVE };

struct access {
	const struct access_ops *ops;
	void *self;
	enum access_kind kind;
	bool dry;          /* nothing is written or counted (pmu/backend/dry_run.h): steps that depend on a count are planned in any case */
	const char *name;  /* "hw", "sim:nehalem-ep", "native" */
	unsigned cores;    /* logical processors that answer */
	const char *core_kind; /* "p", "e", ..., "all": the kind of these cores, in a layer of core_kind.c; NULL: all cores are alike */
	unsigned first;    /* the backend's number for core 0: not 0 in a layer that shows only some of its cores (core_kind.c) */
	unsigned nodes;    /* memory nodes */
	uint64_t tsc_hz;   /* as calibrated (hw, native) or known (sim) */
	/* Locality of cores and nodes as reported by the firmware; NULL if unknown. */
	const uint8_t *core_node;  /* [cores]: node of each core */
	const uint8_t *distance;   /* [nodes * nodes], SLIT style, 10 = local */
	const struct pci_function *pci; /* functions that were found; NULL if nobody searched */
	unsigned pci_count;
	struct register_failure *failure; /* as a layer records it (msr_guard.c); NULL: none does */
	/* Whether the machine counts the event of an IA32_PERFEVTSEL value: a simulated one knows some events by name only, whose
	 * counts are unknown, not 0. NULL: it counts all. Layers hand it on together with counts_self. */
	bool (*counts)(void *counts_self, unsigned core, uint64_t select); /* NetBurst: an ESCR's value, its address in bits 63:32 */
	/* Number of events, of cores and uncore boxes, switched on so far that a simulated machine knows by name only: it does not
	 * count them, and a 0 read for one is not a count. NULL: a real machine. */
	uint64_t (*unmodelled)(void *counts_self);
	/* Why the latest of these is not counted, as its event map says; "" if the map gives no reason. NULL: a real machine. */
	const char *(*unmodelled_why)(void *counts_self);
	/* Instructions that a simulated machine has executed on all cores since it was opened; NULL: a real one. */
	uint64_t (*instructions)(void *counts_self);
	/* Takes the interrupts of a core's counters while jobs run there, until called with NULL. The backend owns *i until
	 * then. NULL: this backend takes none, and they stay masked. */
	enum status (*interrupts)(void *counts_self, unsigned core, struct interrupts *i);
	void *counts_self;
};

/* Addresses of a core's control area and debug-store area in the job address space. */
static inline uint64_t control_va(const struct access *a, unsigned core) { return SPACE_CONTROL + (uint64_t)(a->first + core) * CONTROL_BYTES; }
static inline uint64_t ds_va(const struct access *a, unsigned core) { return SPACE_DS + (uint64_t)(a->first + core) * DS_BYTES; }

struct text;
/* Names the register of a failed access: "register 0x3F6 does not answer"; a general text if no layer recorded it. */
void access_failure_text(const struct access *a, struct text *t);

#endif
