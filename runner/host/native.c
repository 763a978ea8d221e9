/* runner/host/native.c: the backend that runs kernels on this Linux machine.
 *
 * One thread per core, pinned, waits for work. A job runs on the stack at the top of the core's control area; a fault is
 * caught as a signal and becomes a status, and so does a time-out. While one core alone has jobs, the calling thread waits
 * on that core's processor: to wake the thread there, and to be woken by it, takes a switch of threads, but to wake one on a
 * processor that sleeps takes an interrupt, in a virtual machine many times a short job's time.
 *
 * Disturbances are not excluded as they are in the UEFI application: interrupts, other processes and the hypervisor continue,
 * and no counter reveals them. The callers' measuring loop allows for that. */
#include <cpuid.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "asm/kernel.h"
#include "runner/host/native.h"
#include "runner/host/native_map.h"
#include "runner/host/topology.h"

#define DEFAULT_LIMIT_NS 10000000000ull
#define SIGNAL_TIME_OUT  SIGUSR2
#define ALTERNATE_STACK_BYTES 65536
#define ALONE_LEAST 8u /* jobs in a row of one core, before the caller follows it */

enum work { WORK_JOB, WORK_CPUID, WORK_TSC, WORK_QUIT };

struct native_core {
	struct native *native;
	unsigned index;
	pthread_t thread;
	bool started;
	sem_t go;
	enum work work;
	struct job *job;
	struct cpuid_regs cpuid; /* in: EAX and ECX */
	uint64_t tsc;
	volatile sig_atomic_t in_job;
	sigjmp_buf recovery;
	uint8_t vector;
	uint64_t ip;
	void *alternate_stack;
};

struct native {
	struct access access;
	struct topology topology;
	struct native_core core[TOPOLOGY_CORES_MAX];
	sem_t done;
	atomic_uint arrived; /* jobs of this run whose core is ready */
	atomic_uint running; /* threads at work; the last one posts `done` */
	unsigned expected;
	atomic_bool late;    /* the time limit has passed: threads that wait for others give up */
	struct mapping code, control, ds;
	struct sigaction before[5];
	unsigned handlers;
	cpu_set_t caller_before; /* the caller's processors before it was pinned */
	int caller_cpu;          /* the one that it is pinned to; -1: it is not */
	unsigned last_alone, alone; /* the core of the last job, and how many in a row it had alone */
};

static const int signals_caught[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGNAL_TIME_OUT};

/* The core of this thread; signal handlers have no other way to know. */
static __thread struct native_core *current;

static void on_signal(int number, siginfo_t *info, void *context)
{
	const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	struct native_core *c = current;
	(void)info;
	if (!c || !c->in_job) {
		if (number == SIGNAL_TIME_OUT)
			return; /* the job ended just then */
		signal(number, SIG_DFL); /* a fault of this program: it recurs and ends it */
		return;
	}
	c->in_job = 0;
	c->vector = (uint8_t)registers[REG_TRAPNO];
	c->ip = (uint64_t)registers[REG_RIP];
	siglongjmp(c->recovery, number == SIGNAL_TIME_OUT ? 2 : 1);
}

/* Calls entry(argument) on another stack. Clobbers all caller-saved registers of the System V ABI and RBX, which
 * holds our own stack pointer. */
static void call_on_stack(uint64_t entry, uint64_t argument, uint64_t stack)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
	                 "movq %%rcx, %%rsp\n\t"
	                 "call *%%rax\n\t"
	                 "movq %%rbx, %%rsp\n\t"
	                 : "+D"(argument), "+a"(entry), "+c"(stack)
	                 :
	                 : "rbx", "rdx", "rsi", "r8", "r9", "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
	                   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "memory",
	                   "cc");
}

static uint64_t stack_top(unsigned core)
{
	return SPACE_CONTROL + (core + 1) * CONTROL_BYTES;
}

static void do_job(struct native_core *c)
{
	struct native *n = c->native;
	struct job *job = c->job;
	atomic_fetch_add(&n->arrived, 1);
	while (atomic_load(&n->arrived) < n->expected && !atomic_load(&n->late))
		_mm_pause();
	if (atomic_load(&n->arrived) < n->expected) {
		job->status = ST_TIMEOUT;
		return;
	}
	switch (sigsetjmp(c->recovery, 1)) {
	case 0:
		c->in_job = 1;
		call_on_stack(job->entry, job->argument, stack_top(c->index));
		c->in_job = 0;
		job->status = ST_OK;
		return;
	case 1:
		job->status = ST_FAULT;
		job->vector = c->vector;
		break;
	default:
		job->status = ST_TIMEOUT;
		break;
	}
	job->ip = c->ip;
	/* An interrupted kernel leaves a non-empty x87 stack and its own masks. */
	__asm__ volatile("fninit");
	_mm_setcsr(0x1F80); /* the value after reset, SDM vol. 1, 10.2.3 */
}

static void *worker(void *argument)
{
	struct native_core *c = argument;
	current = c;
	stack_t alternate = {.ss_sp = c->alternate_stack, .ss_size = ALTERNATE_STACK_BYTES};
	sigaltstack(&alternate, NULL);
	/* A thread of this policy does not preempt the one that wakes it: the caller sleeps before the job begins, and not in its midst. */
	const struct sched_param none = {.sched_priority = 0};
	(void)sched_setscheduler(0, SCHED_BATCH, &none);
	for (;;) {
		while (sem_wait(&c->go))
			;
		switch (c->work) {
		case WORK_JOB:
			do_job(c);
			break;
		case WORK_CPUID:
			__cpuid_count(c->cpuid.eax, c->cpuid.ecx, c->cpuid.eax, c->cpuid.ebx, c->cpuid.ecx, c->cpuid.edx);
			break;
		case WORK_TSC:
			c->tsc = __rdtsc();
			break;
		case WORK_QUIT:
			alternate.ss_flags = SS_DISABLE;
			sigaltstack(&alternate, NULL);
			return NULL;
		}
		if (atomic_fetch_sub(&c->native->running, 1) == 1)
			sem_post(&c->native->done);
	}
}

static struct native_core *core_of(void *self, unsigned core)
{
	struct native *n = self;
	return core < n->access.cores ? &n->core[core] : NULL;
}

static void ask(struct native_core *c, enum work work)
{
	c->work = work;
	atomic_store(&c->native->running, 1);
	sem_post(&c->go);
	while (sem_wait(&c->native->done))
		;
}

static enum status native_cpuid(void *self, unsigned core, uint32_t leaf, uint32_t subleaf, struct cpuid_regs *out)
{
	struct native_core *c = core_of(self, core);
	if (!c)
		return ST_RANGE;
	c->cpuid = (struct cpuid_regs){.eax = leaf, .ecx = subleaf};
	ask(c, WORK_CPUID);
	*out = c->cpuid;
	return ST_OK;
}

static enum status native_rdtsc(void *self, unsigned core, uint64_t *value)
{
	struct native_core *c = core_of(self, core);
	if (!c)
		return ST_RANGE;
	ask(c, WORK_TSC);
	*value = c->tsc;
	return ST_OK;
}

/* A process cannot access registers, counters and devices. */
static enum status native_rdmsr(void *self, unsigned core, uint32_t msr, uint64_t *value)
{
	(void)self, (void)core, (void)msr, (void)value;
	return ST_UNSUPPORTED;
}
static enum status native_wrmsr(void *self, unsigned core, uint32_t msr, uint64_t value)
{
	(void)self, (void)core, (void)msr, (void)value;
	return ST_UNSUPPORTED;
}
static enum status native_pci_read32(void *self, struct pci_address at, uint32_t *value)
{
	(void)self, (void)at, (void)value;
	return ST_UNSUPPORTED;
}
static enum status native_pci_write32(void *self, struct pci_address at, uint32_t value)
{
	(void)self, (void)at, (void)value;
	return ST_UNSUPPORTED;
}
static enum status native_mmio_read(void *self, uint64_t address, unsigned width_bytes, uint64_t *value)
{
	(void)self, (void)address, (void)width_bytes, (void)value;
	return ST_UNSUPPORTED;
}
static enum status native_mmio_write(void *self, uint64_t address, unsigned width_bytes, uint64_t value)
{
	(void)self, (void)address, (void)width_bytes, (void)value;
	return ST_UNSUPPORTED;
}

static enum status native_map(void *self, struct mapping *m)
{
	const struct native *n = self;
	if (m->va < SPACE_SCRATCH || m->va >= SPACE_END || m->bytes > SPACE_END - m->va || m->node >= n->access.nodes)
		return ST_RANGE;
	return native_map_pages(m, n->access.nodes > 1 ? n->topology.node_id[m->node] : -1);
}

static enum status native_unmap(void *self, struct mapping *m)
{
	(void)self;
	return native_unmap_pages(m);
}

static void *native_control(void *self, unsigned core)
{
	return core_of(self, core) ? (void *)(uintptr_t)(SPACE_CONTROL + core * CONTROL_BYTES) : NULL;
}

static void *native_ds(void *self, unsigned core)
{
	return core_of(self, core) ? (void *)(uintptr_t)(SPACE_DS + core * DS_BYTES) : NULL;
}

static struct timespec after_ns(uint64_t ns)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	ns += (uint64_t)t.tv_nsec;
	t.tv_sec += (time_t)(ns / 1000000000u);
	t.tv_nsec = (long)(ns % 1000000000u);
	return t;
}

/* To one processor, or -1: to those that it had before. Where the kernel refuses, the caller stays where it is: jobs are
 * slower to start, and nothing else differs. */
static void pin_caller(struct native *n, int cpu)
{
	cpu_set_t set = n->caller_before;
	if (cpu == n->caller_cpu)
		return;
	if (cpu >= 0) {
		CPU_ZERO(&set);
		CPU_SET(cpu, &set);
	}
	if (!sched_setaffinity(0, sizeof(set), &set))
		n->caller_cpu = cpu;
}

static enum status native_run(void *self, struct job *jobs, unsigned count, uint64_t limit_tsc)
{
	struct native *n = self;
	for (unsigned i = 0; i < count; i++) {
		if (jobs[i].core >= n->access.cores)
			return ST_RANGE;
		for (unsigned j = 0; j < i; j++)
			if (jobs[j].core == jobs[i].core)
				return ST_RANGE;
	}
	uint64_t limit_ns = DEFAULT_LIMIT_NS;
	if (limit_tsc)
		limit_ns = (uint64_t)((unsigned __int128)limit_tsc * 1000000000u / n->access.tsc_hz) + 1;
	atomic_store(&n->arrived, 0);
	atomic_store(&n->late, false);
	n->expected = count;
	if (!count)
		return ST_OK;
	/* Moved at every job, as where cores take turns, it is in their way: the samples of a pair of cores scattered three times as far. */
	n->alone = count > 1 ? 0 : jobs[0].core == n->last_alone ? n->alone + 1 : 1;
	n->last_alone = jobs[0].core;
	pin_caller(n, n->alone >= ALONE_LEAST ? n->topology.cpu[jobs[0].core] : -1);
	atomic_store(&n->running, count);
	for (unsigned i = 0; i < count; i++) {
		struct native_core *c = &n->core[jobs[i].core];
		jobs[i].status = ST_BROKEN;
		jobs[i].vector = 0;
		jobs[i].ip = 0;
		c->job = &jobs[i];
		c->work = WORK_JOB;
		sem_post(&c->go);
	}
	struct timespec until = after_ns(limit_ns);
	while (sem_clockwait(&n->done, CLOCK_MONOTONIC, &until)) {
		if (errno != ETIMEDOUT)
			continue;
		/* Repeated, since a core that is not yet in its job ignores the signal. */
		atomic_store(&n->late, true);
		for (unsigned i = 0; i < count; i++)
			pthread_kill(n->core[jobs[i].core].thread, SIGNAL_TIME_OUT);
		until = after_ns(1000000);
	}
	for (unsigned i = 0; i < count; i++)
		if (jobs[i].status != ST_OK)
			return jobs[i].status;
	return ST_OK;
}

static const struct access_ops native_ops = {
	.cpuid = native_cpuid, .rdmsr = native_rdmsr, .wrmsr = native_wrmsr, .rdpmc = native_rdmsr,
	.rdtsc = native_rdtsc, .pci_read32 = native_pci_read32, .pci_write32 = native_pci_write32,
	.mmio_read = native_mmio_read, .mmio_write = native_mmio_write, .map = native_map, .unmap = native_unmap,
	.run = native_run, .control = native_control, .ds = native_ds,
};

/* Reads TSC and clock together: of 32 tries the one with the shortest gap. */
static void read_both(uint64_t *tsc, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;
	for (int i = 0; i < 32; i++) {
		struct timespec t;
		uint64_t before = __rdtsc();
		clock_gettime(CLOCK_MONOTONIC_RAW, &t);
		uint64_t after = __rdtsc();
		if (after - before < least) {
			least = after - before;
			*tsc = before + least / 2;
			*ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		}
	}
}

static uint64_t calibrate_tsc(void)
{
	uint64_t tsc[2], ns[2];
	const struct timespec pause = {.tv_nsec = 50000000};
	read_both(&tsc[0], &ns[0]);
	nanosleep(&pause, NULL);
	read_both(&tsc[1], &ns[1]);
	return (uint64_t)((unsigned __int128)(tsc[1] - tsc[0]) * 1000000000u / (ns[1] - ns[0]));
}

static enum status map_own(struct native *n)
{
	uint64_t code_bytes = ((uint64_t)(kernel_code_end - kernel_code) + PAGE_4K - 1) & ~(PAGE_4K - 1);
	n->code = (struct mapping){.va = SPACE_CODE, .bytes = code_bytes, .page_bytes = PAGE_4K};
	n->control = (struct mapping){.va = SPACE_CONTROL, .bytes = n->topology.cores * CONTROL_BYTES, .page_bytes = PAGE_4K};
	n->ds = (struct mapping){.va = SPACE_DS, .bytes = n->topology.cores * DS_BYTES, .page_bytes = PAGE_4K};
	struct mapping *own[] = {&n->code, &n->control, &n->ds};
	for (unsigned i = 0; i < COUNT_OF(own); i++) {
		enum status s = native_map_pages(own[i], -1);
		if (s != ST_OK)
			return s;
	}
	memcpy(n->code.host, kernel_code, (size_t)(kernel_code_end - kernel_code));
	return mprotect(n->code.host, n->code.bytes, PROT_READ | PROT_EXEC) ? ST_REFUSED : ST_OK;
}

static enum status start_core(struct native *n, unsigned i)
{
	struct native_core *c = &n->core[i];
	pthread_attr_t attributes;
	cpu_set_t set;
	sigset_t all, old;
	c->native = n;
	c->index = i;
	c->alternate_stack = malloc(ALTERNATE_STACK_BYTES);
	if (!c->alternate_stack || sem_init(&c->go, 0, 0))
		return ST_FULL;
	CPU_ZERO(&set);
	CPU_SET(n->topology.cpu[i], &set);
	pthread_attr_init(&attributes);
	pthread_attr_setaffinity_np(&attributes, sizeof(set), &set);
	/* Signals such as Ctrl-C's go to the main thread; a worker takes only those that its job raises. */
	sigfillset(&all);
	for (unsigned s = 0; s < COUNT_OF(signals_caught); s++)
		sigdelset(&all, signals_caught[s]);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	c->started = !pthread_create(&c->thread, &attributes, worker, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attributes);
	return c->started ? ST_OK : ST_FULL;
}

enum status native_open(struct native **out, char *problem, size_t capacity)
{
	struct native *n = calloc(1, sizeof(*n));
	if (!n) {
		snprintf(problem, capacity, "no memory");
		return ST_FULL;
	}
	const char *what = "cores";
	n->caller_cpu = -1;
	enum status s = sem_init(&n->done, 0, 0) || sched_getaffinity(0, sizeof(n->caller_before), &n->caller_before) ?
		ST_IO : topology_read(&n->topology);
	if (s == ST_OK) {
		what = "mapping the address space";
		s = map_own(n);
	}
	struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	for (unsigned i = 0; s == ST_OK && i < COUNT_OF(signals_caught); i++) {
		what = "signal handlers";
		s = sigaction(signals_caught[i], &action, &n->before[i]) ? ST_IO : ST_OK;
		n->handlers += s == ST_OK;
	}
	for (unsigned i = 0; s == ST_OK && i < n->topology.cores; i++) {
		what = "starting a thread on each core";
		s = start_core(n, i);
	}
	if (s != ST_OK) {
		snprintf(problem, capacity, "%s: %s", what, status_name(s));
		native_close(n);
		return s;
	}
	n->access = (struct access){
		.ops = &native_ops, .self = n, .kind = ACCESS_NATIVE, .name = "native", .cores = n->topology.cores,
		.nodes = n->topology.nodes, .tsc_hz = calibrate_tsc(), .core_node = n->topology.core_node,
		.distance = n->topology.distance,
	};
	*out = n;
	return ST_OK;
}

void native_close(struct native *n)
{
	for (unsigned i = 0; i < TOPOLOGY_CORES_MAX; i++) {
		struct native_core *c = &n->core[i];
		if (c->started) {
			c->work = WORK_QUIT;
			sem_post(&c->go);
			pthread_join(c->thread, NULL);
		}
		free(c->alternate_stack);
	}
	for (unsigned i = 0; i < n->handlers; i++)
		sigaction(signals_caught[i], &n->before[i], NULL);
	pin_caller(n, -1);
	struct mapping *own[] = {&n->code, &n->control, &n->ds};
	for (unsigned i = 0; i < COUNT_OF(own); i++)
		if (own[i]->host)
			(void)munmap(own[i]->host, own[i]->bytes);
	free(n);
}

const struct access *native_access(struct native *n)
{
	return &n->access;
}
