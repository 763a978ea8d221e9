/* tests/boot/firmware/hostile/devices.c: screens, watchdog, timer events, interrupts.
 *   gop-none     no graphics output
 *   gop-two      the first graphics output is not the console's and draws nothing
 *   tls-none     a network without TLS
 *   gop-blt      the console's graphics output has no frame buffer, as virtio-gpu's
 *   watchdog     SetWatchdogTimer counts, and how long it was not called
 *   watchdog-only-counts  the same, and it does nothing: a host that is busy for a second is no machine that hangs
 *   apic-off     the boot processor's local APIC is off by its spurious vector register
 *   timer        an event each millisecond that moves much memory
 *   conout=UID   the firmware's console is said to be on that serial port
 *   memory=N     from the N-th on no memory at a given address is to be had
 *   reset-returns  ResetSystem does nothing
 *   time-none    there is no clock of the day
 *   variables-refused  no variable can be written
 *   nmi          NMIs that reach the firmware's own table are counted */
#include "tests/boot/firmware/hostile/hostile.h"
#include "efi/network/protocols.h"

static EFI_GUID graphics = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;
static EFI_GUID tls = TLS_SERVICE_GUID;
static EFI_STATUS (EFIAPI *locate)(EFI_GUID *, VOID *, VOID **);
static EFI_STATUS (EFIAPI *handle_protocol)(EFI_HANDLE, EFI_GUID *, VOID **);
static EFI_STATUS (EFIAPI *set_watchdog)(UINTN, UINT64, UINTN, CHAR16 *);
static EFI_GRAPHICS_OUTPUT_PROTOCOL other;
static uint64_t other_blts, feeds, last_feed, longest_ticks, timer_events, nmis, ticks_per_ms;
static uint8_t moved[2][65536];

static EFI_STATUS EFIAPI other_blt(EFI_GRAPHICS_OUTPUT_PROTOCOL *self, EFI_GRAPHICS_OUTPUT_BLT_PIXEL *at, EFI_GRAPHICS_OUTPUT_BLT_OPERATION what,
                                   UINTN fx, UINTN fy, UINTN tx, UINTN ty, UINTN w, UINTN h, UINTN d)
{
	(void)self, (void)at, (void)what, (void)fx, (void)fy, (void)tx, (void)ty, (void)w, (void)h, (void)d;
	other_blts++;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI locate_ours(EFI_GUID *guid, VOID *registration, VOID **out)
{
	if (memcmp(guid, &tls, sizeof(tls)) == 0 && wanted("tls-none", NULL))
		return EFI_NOT_FOUND;
	if (memcmp(guid, &graphics, sizeof(graphics)) != 0 || wanted("tls-none", NULL))
		return locate(guid, registration, out);
	if (wanted("gop-none", NULL))
		return EFI_NOT_FOUND;
	*out = &other;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI handle_ours(EFI_HANDLE handle, EFI_GUID *guid, VOID **out)
{
	if (memcmp(guid, &graphics, sizeof(graphics)) == 0 && wanted("gop-none", NULL))
		return EFI_UNSUPPORTED;
	return handle_protocol(handle, guid, out);
}

static EFI_STATUS EFIAPI watchdog_ours(UINTN seconds, UINT64 code, UINTN bytes, CHAR16 *data)
{
	uint64_t now = read_tsc();
	if (seconds != 0 && last_feed != 0 && now - last_feed > longest_ticks)
		longest_ticks = now - last_feed;
	last_feed = seconds != 0 ? now : 0;
	feeds += seconds != 0;
	return wanted("watchdog-only-counts", NULL) ? EFI_SUCCESS : set_watchdog(seconds, code, bytes, data);
}

static EFI_STATUS (EFIAPI *allocate)(EFI_ALLOCATE_TYPE, EFI_MEMORY_TYPE, UINTN, EFI_PHYSICAL_ADDRESS *);
static uint64_t allocations;

static EFI_STATUS EFIAPI allocate_ours(EFI_ALLOCATE_TYPE how, EFI_MEMORY_TYPE type, UINTN pages, EFI_PHYSICAL_ADDRESS *at)
{
	uint64_t from = 0;
	(void)wanted("memory", &from);
	if (how != AllocateAddress || ++allocations < from)
		return allocate(how, type, pages, at);
	if (allocations == from)
		tell("memory is refused from allocation % on\n", from);
	return EFI_OUT_OF_RESOURCES;
}

static void move_console(uint64_t uid)
{
	static const uint8_t pnp0501[4] = { 0xD0, 0x41, 0x01, 0x05 };
	EFI_GUID global = EFI_GLOBAL_VARIABLE;
	UINT32 attributes;
	uint8_t value[2048];
	UINTN bytes = sizeof(value);
	CHAR16 name[8];
	uefi_ucs2("ConOut", name, COUNT_OF(name));
	if (host.system->RuntimeServices->GetVariable(name, &global, &attributes, &bytes, value) != EFI_SUCCESS)
		return;
	for (UINTN i = 0; i + 8 < bytes; i++)
		if (memcmp(value + i, pnp0501, 4) == 0) {
			value[i + 4] = (uint8_t)uid;
			tell("the console is on serial port %\n", uid);
		}
	(void)host.system->RuntimeServices->SetVariable(name, &global, attributes, bytes, value);
}

static EFI_STATUS EFIAPI reset_ours(EFI_RESET_TYPE type, EFI_STATUS status, UINTN bytes, CHAR16 *data)
{
	(void)status, (void)bytes, (void)data;
	tell("a reset of type % comes back\n", type);
	return EFI_UNSUPPORTED;
}

static EFI_STATUS EFIAPI time_ours(EFI_TIME *time, EFI_TIME_CAPABILITIES *capabilities)
{
	(void)time, (void)capabilities;
	return EFI_DEVICE_ERROR;
}

static EFI_STATUS EFIAPI variable_ours(CHAR16 *name, EFI_GUID *guid, UINT32 attributes, UINTN bytes, VOID *data)
{
	(void)name, (void)guid, (void)attributes, (void)bytes, (void)data;
	return EFI_WRITE_PROTECTED;
}

static void runtime_services(void)
{
	EFI_RUNTIME_SERVICES *r = host.system->RuntimeServices;
	if (wanted("reset-returns", NULL)) {
		tell("ResetSystem does nothing\n", 0);
		r->ResetSystem = reset_ours;
	}
	if (wanted("time-none", NULL)) {
		tell("there is no clock of the day\n", 0);
		r->GetTime = time_ours;
	}
	if (wanted("variables-refused", NULL)) {
		tell("no variable can be written\n", 0);
		r->SetVariable = variable_ours;
	}
}

static VOID EFIAPI timer_event(EFI_EVENT event, VOID *context)
{
	(void)event, (void)context;
	timer_events++;
	memcpy(moved[timer_events & 1], moved[~timer_events & 1], sizeof(moved[0]));
}

__attribute__((naked)) static void nmi_entry(void)
{
	__asm__ volatile("lock incq %0; iretq" : "+m"(nmis));
}

static void count_nmis(void)
{
	struct __attribute__((packed)) { uint16_t limit; uint64_t base; } idt;
	uint64_t at = (uint64_t)(uintptr_t)nmi_entry;
	__asm__ volatile("sidt %0" : "=m"(idt));
	uint64_t *gate = (uint64_t *)(uintptr_t)(idt.base + 2 * 16);
	gate[0] = (gate[0] & 0x0000FFFFFFFF0000ull) | (at & 0xFFFF) | (at >> 16 & 0xFFFF) << 48;
	gate[1] = at >> 32;
}

void devices(void)
{
	uint64_t number, from = read_tsc();
	host.boot->Stall(10000);
	ticks_per_ms = (read_tsc() - from) / 10;
	if (wanted("gop-none", NULL))
		tell("no graphics output\n", 0);
	if (wanted("gop-two", NULL))
		tell("another screen is found first\n", 0);
	if (wanted("tls-none", NULL))
		tell("no TLS\n", 0);
	if (wanted("gop-none", NULL) || wanted("gop-two", NULL) || wanted("tls-none", NULL)) {
		EFI_GRAPHICS_OUTPUT_PROTOCOL *real = protocol(&graphics);
		if (real != NULL) {
			other = *real;
			other.Blt = other_blt;
		}
		locate = host.boot->LocateProtocol;
		host.boot->LocateProtocol = (void *)locate_ours;
		handle_protocol = host.boot->HandleProtocol;
		host.boot->HandleProtocol = handle_ours;
	}
	if (wanted("gop-blt", NULL)) {
		tell("the screen has Blt alone\n", 0);
		EFI_GRAPHICS_OUTPUT_PROTOCOL *real = protocol(&graphics);
		if (real != NULL) {
			real->Mode->FrameBufferBase = 0;
			real->Mode->FrameBufferSize = 0;
			real->Mode->Info->PixelFormat = PixelBltOnly;
		}
	}
	if (wanted("watchdog", NULL) || wanted("watchdog-only-counts", NULL)) {
		tell("SetWatchdogTimer is counted\n", 0);
		set_watchdog = host.boot->SetWatchdogTimer;
		host.boot->SetWatchdogTimer = watchdog_ours;
	}
	if (wanted("apic-off", NULL)) {
		volatile uint32_t *spurious = (volatile uint32_t *)(uintptr_t)0xFEE000F0u;
		*spurious &= ~0x100u;
		tell("the local APIC is off\n", 0);
	}
	if (wanted("timer", NULL)) {
		EFI_EVENT event;
		tell("a timer event comes each millisecond\n", 0);
		if (host.boot->CreateEvent(EVT_TIMER | EVT_NOTIFY_SIGNAL, TPL_NOTIFY, timer_event, NULL, &event) == EFI_SUCCESS)
			(void)host.boot->SetTimer(event, TimerPeriodic, 10000);
	}
	if (wanted("nmi", NULL)) {
		tell("NMIs of the firmware are counted\n", 0);
		count_nmis();
	}
	runtime_services();
	if (wanted("conout", &number))
		move_console(number);
	if (wanted("memory", NULL)) {
		allocate = host.boot->AllocatePages;
		host.boot->AllocatePages = allocate_ours;
	}
}

void leave(void)
{
	if (wanted("apic-off", NULL))
		tell((*(volatile uint32_t *)(uintptr_t)0xFEE000F0u & 0x100u) == 0 ? "the local APIC was left off\n" : "the local APIC was left on\n", 0);
	if (wanted("gop-two", NULL))
		tell("% pictures went to the screen that is not the console's\n", other_blts);
	if (wanted("watchdog", NULL) || wanted("watchdog-only-counts", NULL)) {
		tell("the watchdog was fed % times\n", feeds);
		tell("the longest time between was % ms\n", longest_ticks / (ticks_per_ms + 1));
	}
	if (wanted("timer", NULL))
		tell("% timer events\n", timer_events);
	if (wanted("nmi", NULL))
		tell("% NMIs reached the firmware\n", nmis);
	map_left();
	processors_left();
	out8(0xF4, 0x10);
}
