/* efi/processor/percpu.h: a logical processor while it runs for the application: recovery from faults, isolation,
 * mailbox. efi/processor/vectors.asm uses the first fields by offset. */
#ifndef EFI_CORE_H
#define EFI_CORE_H

#include "efi/processor/apic.h"
#include "pmu/base.h"

#define VECTOR_NMI      2
#define VECTOR_PF       14
#define VECTOR_MC       18
#define VECTOR_DEADLINE 0xF1 /* ours: the local APIC's timer, a job's time limit */

struct __attribute__((packed)) descriptor_table { uint16_t limit; uint64_t base; };

/* What quiet_enter changes and quiet_leave restores. */
struct quiet_saved {
	uint64_t cr3, cr4, cr8, efer, gs_base, xcr0, tsc_deadline, flags;
	struct descriptor_table idt, gdt;
	uint16_t tr;
	uint32_t lvt[7];
	bool lvt_there[7];
	uint32_t lvt_extended[APIC_EXTENDED_ENTRIES];
	unsigned extended; /* number of extended entries */
	uint32_t spurious, timer_initial, timer_divide;
	bool apic, deadline_mode, has_xcr0;
};

struct core {
	uint64_t self;            /*  0: own address, read through GS */
	uint64_t recover;         /* 8: RSP to return to if the guarded call faults; 0: none is running */
	uint64_t vector;          /* 16: of the fault that ended the last guarded call */
	uint64_t error;           /* 24: its error code */
	uint64_t ip;              /* 32: its RIP */
	uint64_t address;         /* 40: CR2 */
	uint64_t result;          /* 48: RAX of the last guarded call that returned */
	uint64_t nmis;            /* 56: NMIs seen */
	uint64_t abandon;         /* 64: an NMI aborts the running call */
	uint64_t interrupts;      /* 72: other interrupts that arrived; none are expected */
	uint64_t eoi;             /* 80: address of the xAPIC's EOI register, 0: x2APIC */
	uint64_t has_apic;        /* 88 */
	uint64_t stray;           /* 96: vector of the last such interrupt */

	unsigned number;
	uint32_t apic_id;
	unsigned node;
	bool lost;                /* did not answer; never used again */
	bool left_on;             /* the last job's undo faulted: registers that the job had enabled are not restored */
	volatile uint32_t answered; /* 1: in our loop; 2: back in the firmware */
	struct quiet_saved saved;
	uint64_t *idt;            /* 256 gates of 16 bytes */
	uint64_t *gdt;            /* the firmware's, with our task state appended; GDT_BYTES */
	uint8_t *tss;             /* task state: only its interrupt stacks are used */
	uint8_t *fault_stacks;    /* three of FAULT_STACK_BYTES: faults, NMI, machine check */
	void *stack;              /* of the mailbox loop, STACK_BYTES */
	void *control, *ds;       /* its areas of the job address space, as C code addresses them */
	struct hw *hw;

	/* mailbox: written by the boot processor, which then increments `posted` */
	_Alignas(64) volatile uint64_t posted;
	uint64_t entry, argument, stack_top;
	uint64_t undo;            /* called when `entry` faults or is aborted; 0: none */
	uint64_t go_at;           /* wait until hw->go has reached this */
	bool leave;               /* leave the loop instead of making a call */
	/* answers */
	_Alignas(64) volatile uint64_t ready;
	volatile uint64_t done;
	volatile uint64_t halted; /* 1: it waits for hw->go by HLT */
	uint64_t faulted;         /* for the call counted by `done`: 1: it faulted, 2: it was aborted */
};

#define STACK_BYTES       0x4000u
#define FAULT_STACK_BYTES 0x1000u
#define GDT_BYTES         0x10000u

/* efi/processor/vectors.asm: calls entry(argument) on `stack_top` (0: the current stack), recovering from faults. 0: it
 * returned, core->result holds RAX. 1: it faulted; core->vector, error, ip and address are set. */
uint64_t guarded_call(struct core *c, uint64_t entry, uint64_t argument, uint64_t stack_top);
/* Calls function(argument) on another stack. */
void call_on_stack(uint64_t stack_top, void (*function)(void *), void *argument);
extern const uint8_t vector_entries[]; /* 256 entries of 16 bytes */

/* Reports a fault outside every guarded call and ends. */
__attribute__((noreturn)) void fault_panic(const struct core *c, const uint64_t *frame);
/* Loads our IDT, with separate stacks for faults, so that even a job that has lost its stack ends with a
 * status. Saves the previous tables, which faults_leave restores. */
void faults_enter(struct core *c);
void faults_leave(struct core *c);
/* guarded_call, which resets the machine if a machine check has corrupted the processor's context. */
uint64_t faults_guarded(struct core *c, uint64_t entry, uint64_t argument, uint64_t stack_top);

/* Waits until a debugger sets RAX to a value other than 0, and returns it: the time limit of jobs in ms. */
uint32_t debugger_wait(void);

/* Instructions that may fault, as entries of guarded calls. Argument: address of a struct register_op. */
struct register_op { uint64_t index, value, subindex, more; };
void op_rdmsr(struct register_op *);  /* value = MSR index */
void op_wrmsr(struct register_op *);
void op_rdpmc(struct register_op *);
void op_rdtsc(struct register_op *);
void op_cpuid(struct register_op *);  /* index leaf, subindex subleaf; value = EAX | EBX << 32, more = ECX | EDX << 32 */
void op_read(struct register_op *);   /* value = the `more` bytes at address index */
void op_write(struct register_op *);

#endif
