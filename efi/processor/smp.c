/* efi/processor/smp.c: all processors: started once, each in our mailbox loop until the end.
 *
 * The firmware's time-out is not used: it would reset a processor that is running our code. */
#include "efi/processor/apic.h"
#include "efi/firmware/console.h"
#include "efi/firmware/fwcfg.h"
#include "efi/processor/hw.h"
#include "efi/processor/mp.h"
#include "efi/processor/parking.h"
#include "efi/processor/quiet.h"
#include "efi/firmware/uefi.h"
#include "efi/processor/ap_start.h"
#include "pmu/text.h"

#define START_MS   5000u  /* until the first answer; allows for emulators */
#define READY_MS   2000u  /* from a posted call to its processor's answer */
#define ABANDON_MS 500u   /* from the NMI that aborts a call to the call's end */
#define LEAVE_MS   3000u

static const EFI_GUID mp_services = MP_SERVICES_GUID;

static uint64_t job_stack(const struct core *c)
{
	return SPACE_CONTROL + (uint64_t)c->number * CONTROL_BYTES + CONTROL_BYTES;
}

/* --- an application processor --------------------------------------------------------------------- */
/* Runs a job and, if it faults, its undo routine, still on our page tables: sampling left enabled would write through the firmware's. */
static uint64_t guarded_job(struct core *c, uint64_t entry, uint64_t undo, uint64_t argument, uint64_t stack_top)
{
	uint64_t faulted = faults_guarded(c, entry, argument, stack_top), vector = c->vector, ip = c->ip;
	c->left_on = faulted != 0 && undo != 0 && faults_guarded(c, undo, argument, stack_top) != 0;
	c->vector = vector;
	c->ip = ip;
	return faulted;
}

/* The mailbox loop. Returns with our tables still loaded. */
static void loop(struct core *c)
{
	struct hw *h = c->hw;
	quiet_enter(c, h->space.cr3, h->space.nx);
	c->answered = 1;
	for (;;) {
		uint64_t n;
		while ((n = c->posted) == c->done)
			park_here(h, c);
		if (c->leave) {
			/* An NMI in flight must still meet our IDT: the firmware's handler would stop the processor for good. */
			for (c->ready = n; !h->go_home;)
				relax();
			break;
		}
		/* Mappings may have changed: flush the TLB, as the boot processor's write of CR3 does. */
		__asm__ volatile("mov %0, %%cr3" : : "r"(h->space.cr3) : "memory");
		c->ready = n;
		park_until_go(h, c);
		c->faulted = h->go < c->go_at ? 2 : guarded_job(c, c->entry, c->undo, c->argument, c->stack_top);
		__asm__ volatile("" : : : "memory");
		c->done = n;
	}
}

static void loop_and_leave(void *argument)
{
	struct core *c = argument;
	loop(c);
	quiet_leave(c);
	c->answered = 2;
}

/* Whether the processor stays. Some MP services wait for the procedure to return, even with an event: the boot processor would never get control
 * back to post jobs. */
static bool begins(struct hw *h)
{
	for (uint64_t from = read_tsc(); h->began == 0; relax())
		if (read_tsc() - from > START_MS * h->tsc_per_ms)
			(void)__sync_val_compare_and_swap(&h->began, 0u, 2u);
	return h->began == 1;
}

static VOID EFIAPI ap_procedure(VOID *argument)
{
	struct hw *h = argument;
	uint32_t id = apic_own_id();
	for (unsigned i = 1; i < h->started; i++)
		if (h->all[i]->apic_id == id && begins(h)) {
			call_on_stack((uint64_t)(uintptr_t)h->all[i]->stack + STACK_BYTES, loop_and_leave, h->all[i]);
			return;
		}
}

/* --- the boot processor's side -------------------------------------------------------------------- */
enum status core_make(struct hw *h, uint32_t apic_id, struct core **out)
{
	struct core *c = pages_get(sizeof(*c));
	*out = c;
	if (c == NULL)
		return ST_FULL;
	c->self = (uint64_t)(uintptr_t)c;
	c->hw = h;
	c->apic_id = apic_id;
	c->node = acpi_core_node(h->acpi, apic_id);
	c->idt = pages_get(4096);
	c->gdt = pages_get(GDT_BYTES);
	c->tss = pages_get(4096);
	c->fault_stacks = pages_get(3 * FAULT_STACK_BYTES);
	c->stack = pages_get(STACK_BYTES);
	return c->idt && c->gdt && c->tss && c->fault_stacks && c->stack ? ST_OK : ST_FULL;
}

static void post(struct core *c, uint64_t entry, uint64_t undo, uint64_t argument, uint64_t stack_top, uint64_t go_at)
{
	c->entry = entry;
	c->undo = undo;
	c->argument = argument;
	c->stack_top = stack_top;
	c->go_at = go_at;
	c->abandon = 0;
	__asm__ volatile("mfence" : : : "memory");
	c->posted = c->posted + 1;
}

static bool wait_ready(struct hw *h, struct core *c)
{
	if (park_wait_for(h, c, &c->ready, c->posted, READY_MS, park_kick(h)))
		return true;
	c->lost = true;
	h->lost++;
	return false;
}

/* Waits until `limit` TSC ticks after `from`, then aborts the call by an NMI. False: even that failed; the core is lost. */
static bool wait_done(struct hw *h, struct core *c, uint64_t from, uint64_t limit)
{
	while (c->done != c->posted && read_tsc() - from < limit)
		relax();
	if (c->done == c->posted)
		return true;
	c->abandon = 1;
	if (park_wait_for(h, c, &c->done, c->posted, ABANDON_MS, KICK_AT_ONCE))
		return true;
	c->lost = true;
	h->lost++;
	return false;
}

static enum status outcome(const struct core *c, uint64_t faulted)
{
	if (faulted == 0)
		return ST_OK;
	if (faulted == 2 || c->vector == VECTOR_DEADLINE || (c->vector == VECTOR_NMI && c->abandon != 0))
		return ST_TIMEOUT;
	return ST_FAULT;
}

enum status core_call(struct hw *h, unsigned core, void (*entry)(struct register_op *), struct register_op *op)
{
	enum status s;
	if (core >= h->access.cores)
		return ST_RANGE;
	struct core *b = h->cores[0], *c = h->cores[core];
	if (c->lost)
		return ST_TIMEOUT;
	space_refresh(&h->space);
	quiet_enter(b, h->space.cr3, h->space.nx);
	if (core == 0) {
		s = outcome(b, faults_guarded(b, (uint64_t)(uintptr_t)entry, (uint64_t)(uintptr_t)op, 0));
	} else {
		post(c, (uint64_t)(uintptr_t)entry, 0, (uint64_t)(uintptr_t)op, 0, 0);
		if (wait_ready(h, c) && wait_done(h, c, read_tsc(), READY_MS * h->tsc_per_ms))
			s = outcome(c, c->faulted);
		else
			s = ST_TIMEOUT;
	}
	quiet_leave(b);
	return s;
}

static void settle(struct job *j, const struct core *c, uint64_t faulted)
{
	j->status = outcome(c, faulted);
	if (faulted == 1) {
		j->vector = (uint8_t)c->vector;
		j->ip = c->ip;
	}
}

static enum status check_jobs(const struct hw *h, struct job *jobs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (jobs[i].core >= h->access.cores)
			return ST_RANGE;
		for (unsigned k = 0; k < i; k++)
			if (jobs[k].core == jobs[i].core)
				return ST_RANGE;
		jobs[i].status = h->cores[jobs[i].core]->lost ? ST_TIMEOUT : ST_OK;
		jobs[i].vector = 0;
		jobs[i].ip = 0;
	}
	return ST_OK;
}

enum status cores_run(struct hw *h, struct job *jobs, unsigned n, uint64_t limit_tsc)
{
	struct core *b = h->cores[0];
	struct job *own = NULL;
	uint64_t from, faulted = 0;
	enum status s = check_jobs(h, jobs, n);
	if (s != ST_OK)
		return s;
	if (limit_tsc == 0)
		limit_tsc = h->limit_ms * h->tsc_per_ms;
	if (limit_tsc < h->tsc_per_ms)
		limit_tsc = h->tsc_per_ms;
	h->generation++;
	space_refresh(&h->space);
	quiet_enter(b, h->space.cr3, h->space.nx);
	for (unsigned i = 0; i < n; i++) {
		struct core *c = h->cores[jobs[i].core];
		if (jobs[i].core == 0)
			own = &jobs[i];
		else if (jobs[i].status == ST_OK)
			post(c, jobs[i].entry, jobs[i].undo, jobs[i].argument, job_stack(c), h->generation);
	}
	for (unsigned i = 0; i < n; i++)
		if (jobs[i].core != 0 && jobs[i].status == ST_OK && !wait_ready(h, h->cores[jobs[i].core]))
			jobs[i].status = ST_TIMEOUT;
	from = read_tsc();
	h->go = h->generation;
	park_wake(h, jobs, n, READY_MS);
	if (own != NULL) {
		bool timed = quiet_deadline_arm(b, (limit_tsc >> QUIET_INTERVAL_SHIFT) * h->timer_per_interval + h->timer_per_interval);
		faulted = guarded_job(b, own->entry, own->undo, own->argument, job_stack(b));
		if (timed)
			quiet_deadline_disarm(b);
	}
	for (unsigned i = 0; i < n; i++) {
		struct core *c = h->cores[jobs[i].core];
		if (&jobs[i] == own)
			settle(own, b, faulted);
		else if (jobs[i].status == ST_OK && wait_done(h, c, from, limit_tsc))
			settle(&jobs[i], c, c->faulted);
		else
			jobs[i].status = ST_TIMEOUT;
	}
	quiet_leave(b);
	for (unsigned i = 0; i < n; i++) {
		if (h->cores[jobs[i].core]->left_on && jobs[i].status != ST_OK) /* reported here, since no firmware call is allowed earlier or on other processors */
			print("processors: registers that a job of processor %u had left on could not be restored\n", jobs[i].core);
		if (jobs[i].status != ST_OK)
			return jobs[i].status;
	}
	return ST_OK;
}

/* --- start and end --------------------------------------------------------------------------------- */
/* Finds the processors; h->all[0] is the boot processor. False: the firmware does not list them. */
static bool enumerate(struct hw *h, struct mp_services *mp)
{
	UINTN all = 0, enabled = 0;
	if (mp == NULL || mp->get_number(mp, &all, &enabled) != EFI_SUCCESS)
		return false;
	for (UINTN i = 0; i < all && h->started < HW_CORES_MAX; i++) {
		struct mp_processor info;
		memset(&info, 0, sizeof(info));
		if (mp->get_info(mp, i, &info) != EFI_SUCCESS || (info.flags & MP_IS_BSP) != 0)
			continue;
		if ((info.flags & (MP_ENABLED | MP_HEALTHY)) != (MP_ENABLED | MP_HEALTHY)) {
			print("processors: APIC id %u is disabled or not healthy and left out\n", (unsigned)info.id);
			continue;
		}
		if (core_make(h, (uint32_t)info.id, &h->all[h->started]) == ST_OK)
			h->started++;
	}
	if (all > HW_CORES_MAX)
		print("processors: %u of %lu are used\n", HW_CORES_MAX, (unsigned long)all);
	return true;
}

/* Starts h->all[1..] by start-up messages. */
static bool start_by_messages(struct hw *h)
{
	enum status s = ap_start_all(h, loop);
	if (s == ST_OK)
		h->started_by = STARTED_BY_SIPI;
	else
		print("processors: %s; only the boot processor is used\n", s == ST_FULL ? "no memory below 1 MiB to start them in" : "no local APIC");
	return s == ST_OK;
}

/* Whether any processor answers in time. */
static bool anybody(const struct hw *h)
{
	for (uint64_t from = read_tsc(); read_tsc() - from < START_MS * h->tsc_per_ms; relax())
		for (unsigned i = 1; i < h->started; i++)
			if (h->all[i]->answered != 0)
				return true;
	return false;
}

/* Takes the processors from MP services by start-up messages; the firmware must not get them back. */
static bool start_taken(struct hw *h)
{
	h->started_by = STARTED_BY_NOBODY;
	h->taken_away = true;
	return start_by_messages(h);
}

/* Starts all by MP services, without a time-out and without waiting for the end; the event is signalled when all have returned. If the firmware
 * refuses, or no processor answers, INIT and start-up messages take them from the firmware, which must not get them back. */
static bool start_all(struct hw *h, struct mp_services *mp, const char *without)
{
	EFI_EVENT event = NULL;
	EFI_STATUS s = uefi.boot->CreateEvent(0, 0, NULL, NULL, &event);
	if (s == EFI_SUCCESS && str_equal(without, "mp-start"))
		s = EFI_UNSUPPORTED;
	else if (s == EFI_SUCCESS && !str_equal(without, "mp-answer"))
		s = mp->startup_all(mp, ap_procedure, FALSE, event, 0, h, NULL);
	h->ap_event = event;
	h->started_by = STARTED_BY_MP_SERVICES;
	bool waited = !__sync_bool_compare_and_swap(&h->began, 0u, 1u);
	if (s == EFI_SUCCESS && !waited && anybody(h))
		return true;
	if (waited)
		print("processors: the firmware's MP services block until the started code ends; INIT and start-up messages are tried\n");
	else if (s == EFI_SUCCESS)
		print("processors: the firmware's MP services start no processor; INIT and start-up messages are tried\n");
	else
		print("processors: the firmware cannot start them (status %lx); INIT and start-up messages are tried\n", (unsigned long)(s & ~EFI_ERROR_MASK));
	return start_taken(h);
}

/* Without MP services: starts the processors that the MADT lists by start-up messages. */
static bool start_ourselves(struct hw *h)
{
	ap_start_enumerate(h);
	if (h->started < 2) {
		print("processors: no MP services, and the MADT names no others; only the boot processor is used\n");
		return true;
	}
	print("processors: no MP services; %u of the MADT are started by INIT and start-up messages\n", h->started - 1);
	return start_by_messages(h);
}

void cores_start(struct hw *h, enum start how)
{
	char without[32] = "";
	struct mp_services *mp = uefi_locate(&mp_services);
	bool alone = how == START_ONE;
	if (fwcfg_read(FWCFG_WITHOUT, without, sizeof(without)) == ST_OK) {
		alone = alone || str_equal(without, "processors");
		if (alone || str_starts(without, "mp-services"))
			mp = NULL;
	} else {
		without[0] = 0;
	}
	park_choose(h);
	if (core_make(h, apic_own_id(), &h->all[0]) != ST_OK)
		return;
	h->started = h->access.cores = 1;
	h->cores[0] = h->all[0];
	quiet_enter(h->cores[0], h->space.cr3, h->space.nx);
	h->timer_per_interval = quiet_timer_rate(h->cores[0]);
	quiet_leave(h->cores[0]);

	bool started = false;
	if (alone)
		print("processors: only the boot processor is used\n");
	else if (!enumerate(h, mp))
		started = start_ourselves(h);
	else if (h->started < 2)
		started = true;
	else
		started = how == START_SIPI ? start_taken(h) : start_all(h, mp, without);
	if (!started)
		h->started = 1;
	uint64_t from = read_tsc();
	for (unsigned i = 1; i < h->started; i++) {
		struct core *c = h->all[i];
		while (c->answered == 0 && read_tsc() - from < START_MS * h->tsc_per_ms)
			relax();
		if (c->answered == 0) {
			print("processors: APIC id %u did not answer and is left out\n", c->apic_id);
			c->lost = true;
			h->lost++;
			continue;
		}
		c->number = h->access.cores;
		h->cores[h->access.cores++] = c;
	}
}

bool cores_stop(struct hw *h)
{
	struct core *b = h->cores[0];
	bool all = h->lost == 0;
	if (h->started < 2)
		return true;
	quiet_enter(b, h->space.cr3, h->space.nx);
	for (unsigned i = 1; i < h->access.cores; i++) {
		struct core *c = h->cores[i];
		if (c->lost)
			continue;
		c->leave = true;
		post(c, 0, 0, 0, 0, 0);
		all = park_wait_for(h, c, &c->ready, c->posted, LEAVE_MS, park_kick(h)) && all;
	}
	for (uint64_t from = read_tsc(); read_tsc() - from < h->tsc_per_ms;) /* until the last NMI has arrived */
		relax();
	h->go_home = true;
	for (unsigned i = 1; i < h->access.cores; i++) {
		struct core *c = h->cores[i];
		for (uint64_t from = read_tsc(); !c->lost && c->answered != 2 && read_tsc() - from < LEAVE_MS * h->tsc_per_ms;)
			relax();
		all = all && !c->lost && c->answered == 2;
	}
	quiet_leave(b);
	if (h->started_by == STARTED_BY_SIPI) {
		ap_start_stop(h);
		return all && !h->taken_away;
	}
	/* The firmware polls for their return by a timer of its own. */
	for (unsigned i = 0; all && i < LEAVE_MS / 10; i++) {
		if (uefi.boot->CheckEvent(h->ap_event) == EFI_SUCCESS) {
			uefi.boot->CloseEvent(h->ap_event);
			return true;
		}
		uefi.boot->Stall(10000);
	}
	return false;
}
