/* tests/boot/firmware/hostile/processors.c: MP services as some firmware has them.
 *   ap-blocks   StartupAllAPs ignores its event and waits for the end
 *   ap-fewer    the processor with APIC id 1 never runs the procedure
 *   ap-dead     StartupAllAPs starts nobody and never returns
 *   ap-reserved processor 1 is disabled: somebody else's */
#include "efi/processor/mp.h"
#include "tests/boot/firmware/hostile/hostile.h"

static EFI_STATUS (EFIAPI *startup_all)(struct mp_services *, mp_procedure, BOOLEAN, EFI_EVENT, UINTN, VOID *, UINTN **);
static mp_procedure procedure_asked;

static VOID EFIAPI all_but_one(VOID *argument)
{
	uint32_t r[4];
	cpuid_raw(1, 0, r);
	if (r[1] >> 24 != 1)
		procedure_asked(argument);
}

static EFI_STATUS EFIAPI start(struct mp_services *self, mp_procedure procedure, BOOLEAN one_by_one, EFI_EVENT event, UINTN timeout_us,
                               VOID *argument, UINTN **failed)
{
	if (wanted("ap-dead", NULL)) {
		tell("StartupAllAPs does not return\n", 0);
		for (;;)
			relax();
	}
	if (wanted("ap-fewer", NULL)) {
		tell("one processor does not start\n", 0);
		procedure_asked = procedure;
		procedure = all_but_one;
	}
	if (wanted("ap-blocks", NULL)) {
		tell("StartupAllAPs waits for the end\n", 0);
		EFI_STATUS s = startup_all(self, procedure, one_by_one, NULL, timeout_us, argument, failed);
		tell("StartupAllAPs ends: %\n", s & 0xFF);
		return s;
	}
	return startup_all(self, procedure, one_by_one, event, timeout_us, argument, failed);
}

static volatile uint64_t answers;

static VOID EFIAPI answer(VOID *argument)
{
	(void)argument;
	__asm__ volatile("lock incq %0" : "+m"(answers));
}

void processors_left(void)
{
	static const EFI_GUID guid = MP_SERVICES_GUID;
	struct mp_services *mp = protocol(&guid);
	if (mp == NULL || startup_all == NULL)
		return;
	(void)startup_all(mp, answer, FALSE, NULL, 2000000, NULL, NULL);
	tell("% processors answer the firmware\n", answers);
}

void processors(void)
{
	static const EFI_GUID guid = MP_SERVICES_GUID;
	struct mp_services *mp = protocol(&guid);
	if (mp == NULL)
		return;
	UINT32 health = 0;
	if (wanted("ap-reserved", NULL) && mp->enable(mp, 1, FALSE, &health) == EFI_SUCCESS)
		tell("processor % is disabled\n", 1);
	startup_all = mp->startup_all;
	mp->startup_all = start;
}
