/* efi/firmware/console.c: output through the firmware's console while it may be called, otherwise directly through the UART
 * and QEMU's debug port. A firmware console that already writes to a serial line (its ConOut variable names a UART) is not
 * duplicated. */
#include "efi/firmware/console.h"
#include "efi/firmware/screen.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define LINE_STATUS 5     /* of a UART's registers */
#define READY       0x20u /* the transmitter accepts a byte */
#define READS_MAX   1000000u /* about a second; at 1200 baud a byte takes 9 ms */
#define STUCK_MAX   3u
#define DEBUG_PORT 0xE9  /* QEMU -debugcon; reads back 0xE9 where it exists */
#define CTRL_C     0x03

struct console console;

static const EFI_GUID global_variable = EFI_GLOBAL_VARIABLE;
static const EFI_GUID graphics_output = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;

/* The PC's serial ports, by their ACPI number. */
static const uint16_t ports[4] = { 0x3F8, 0x2F8, 0x3E8, 0x2E8 };

/* Whether a list of device paths (a variable's value) contains a UART (type 3, subtype 14). *port: of its parent if that is an
 * ACPI device PNP0501 (type 2, subtype 1), else 0. */
static bool names_uart(const uint8_t *at, size_t bytes, uint16_t *port)
{
	static const uint8_t pnp0501[4] = { 0xD0, 0x41, 0x01, 0x05 };
	size_t i = 0;
	*port = 0;
	while (i + 4 <= bytes) {
		size_t length = at[i + 2] | (size_t)at[i + 3] << 8;
		if (at[i] == 3 && at[i + 1] == 14)
			return true;
		if (length < 4)
			return false;
		*port = 0;
		if (at[i] == 2 && at[i + 1] == 1 && length >= 12 && i + 12 <= bytes && memcmp(at + i + 4, pnp0501, 4) == 0 && at[i + 8] < COUNT_OF(ports))
			*port = ports[at[i + 8]];
		i += length;
	}
	return false;
}

static bool firmware_serial(uint16_t *port)
{
	uint8_t value[2048];
	UINTN bytes = sizeof(value);
	EFI_GUID guid = global_variable;
	CHAR16 name[8];
	uefi_ucs2("ConOut", name, COUNT_OF(name));
	if (uefi.system->RuntimeServices->GetVariable(name, &guid, NULL, &bytes, value) != EFI_SUCCESS)
		return false;
	return names_uart(value, bytes, port);
}

/* A UART's scratch register (offset 7) keeps written values. */
static bool uart_answers(uint16_t port)
{
	uint8_t old = in8(port + 7), a, b;
	out8(port + 7, 0x5A);
	a = in8(port + 7);
	out8(port + 7, 0xA5);
	b = in8(port + 7);
	out8(port + 7, old);
	return a == 0x5A && b == 0xA5;
}

/* 115200 8N1, no interrupts, FIFO on (16550 data sheet: LCR 3, DLL/DLM 0/1, IER 1, FCR 2). */
static void uart_init(uint16_t port)
{
	out8(port + 1, 0);
	out8(port + 3, 0x80);
	out8(port + 0, 1);
	out8(port + 1, 0);
	out8(port + 3, 0x03);
	out8(port + 2, 0x07);
	out8(port + 4, 0x03);
}

/* Bounded: a dead line must neither hang nor slow the run. After a byte that was not accepted, bytes are dropped without a wait until the
 * line accepts one; after three such failures the line is not used again. */
static void uart_byte(uint8_t c)
{
	unsigned most = console.stuck ? 1 : READS_MAX, i = 0;
	if (console.stuck_times == STUCK_MAX)
		return;
	while (i < most && (in8(console.port + LINE_STATUS) & READY) == 0) {
		relax();
		i++;
	}
	if (i == most) {
		console.stuck_times += !console.stuck;
		console.stuck = true;
		return;
	}
	console.stuck = false;
	out8(console.port, c);
}

static void raw_bytes(const char *s, bool uart)
{
	for (; *s != 0; s++) {
		if (uart) {
			if (*s == '\n')
				uart_byte('\r');
			uart_byte((uint8_t)*s);
		}
		if (console.debug_port)
			out8(DEBUG_PORT, (uint8_t)*s);
	}
}

/* The table is some 120 columns wide: selects the widest text mode. */
static void widest_mode(void)
{
	SIMPLE_TEXT_OUTPUT_INTERFACE *out = uefi.system->ConOut;
	UINTN columns, rows, best = 0;
	INT32 mode = -1;
	for (INT32 i = 0; i < out->Mode->MaxMode; i++)
		if (out->QueryMode(out, (UINTN)i, &columns, &rows) == EFI_SUCCESS && columns > best) {
			best = columns;
			mode = i;
		}
	if (mode < 0 || mode == out->Mode->Mode || out->SetMode(out, (UINTN)mode) != EFI_SUCCESS)
		out->ClearScreen(out);
	out->EnableCursor(out, FALSE);
}

void console_open(void)
{
	uint32_t r[4];
	uint16_t theirs = 0;
	cpuid_raw(1, 0, r);
	console.hypervisor = (r[2] >> 31) != 0;
	console.debug_port = console.hypervisor && in8(DEBUG_PORT) == DEBUG_PORT;
	console.screen = uefi_locate(&graphics_output) != NULL;
	console.firmware_serial = uefi.system->ConOut != NULL && firmware_serial(&theirs);
	const uint16_t choices[] = { theirs, ports[0], ports[1] };
	for (unsigned i = 0; i < COUNT_OF(choices) && !console.uart; i++) {
		console.port = choices[i];
		console.uart = choices[i] != 0 && uart_answers(choices[i]);
	}
	console.own_serial = console.uart && !console.firmware_serial;
	if (console.own_serial)
		uart_init(console.port);
	if (uefi.system->ConOut != NULL)
		widest_mode();
	if (!console.screen)
		print("console: no framebuffer; output goes to the firmware's text console and serial\n");
	if (!console.own_serial && !console.firmware_serial)
		print("console: no serial port; the log is on the screen alone\n");
}

/* Keeps the baud rate that the firmware has set. */
void console_serial_port(uint16_t port)
{
	if (port == 0 || port == console.port || !uart_answers(port))
		return;
	console.port = port;
	console.uart = true;
	console.own_serial = !console.firmware_serial;
	console.stuck = false;
	console.stuck_times = 0;
	print("console: the serial line is at 0x%x, as the firmware's SPCR says\n", port);
}

void print_raw(const char *s)
{
	/* Whether the UART is the firmware's or ours, it may be written while no other code runs. */
	raw_bytes(s, console.own_serial || console.firmware_serial);
}

void console_uart(const char *s)
{
	for (; console.uart && *s != 0; s++)
		uart_byte((uint8_t)*s);
}

static void firmware_text(const char *s)
{
	CHAR16 line[256];
	size_t n = 0;
	if (uefi.system->ConOut == NULL)
		return;
	for (; *s != 0; s++) {
		if (*s == '\n')
			line[n++] = '\r';
		line[n++] = (CHAR16)(uint8_t)*s;
		if (n + 3 > COUNT_OF(line) || s[1] == 0) {
			line[n] = 0;
			uefi.system->ConOut->OutputString(uefi.system->ConOut, line);
			n = 0;
		}
	}
}

void console_log(const char *s)
{
	/* The firmware's console would write to the screen that we draw, so we write to its serial line ourselves. */
	raw_bytes(s, console.own_serial || (console.drawn != NULL && console.firmware_serial));
	if (console.drawn == NULL)
		firmware_text(s);
}

void print_text(const char *s)
{
	console_log(s);
	if (console.drawn != NULL)
		screen_text(console.drawn, s);
}

bool console_stop_pressed(void)
{
	bool stop = false;
	EFI_INPUT_KEY key;
	if (uefi.system->ConIn == NULL)
		return false;
	while (uefi.system->ConIn->ReadKeyStroke(uefi.system->ConIn, &key) == EFI_SUCCESS)
		if (key.ScanCode == SCAN_ESC || key.UnicodeChar == CTRL_C)
			stop = true;
	return stop;
}

char console_key(void)
{
	EFI_INPUT_KEY key;
	for (;;) {
		if (uefi.system->ConIn != NULL &&
		    uefi.system->ConIn->ReadKeyStroke(uefi.system->ConIn, &key) == EFI_SUCCESS) {
			uint16_t c = (uint16_t)key.UnicodeChar;
			if (c >= 'a' && c <= 'z')
				c = (uint16_t)(c - 'a' + 'A');
			if (c == 0)
				switch (key.ScanCode) {
				case SCAN_RIGHT: case SCAN_DOWN: case SCAN_PAGE_DOWN: return CONSOLE_NEXT;
				case SCAN_LEFT: case SCAN_UP: case SCAN_PAGE_UP: return CONSOLE_PREVIOUS;
				default: return 0;
				}
			return c >= ' ' && c < 0x7F ? (char)c : 0;
		}
		uefi.boot->Stall(20000);
	}
}

static const char *format_line(char *bytes, size_t capacity, const char *format, va_list args)
{
	struct text t;
	text_init(&t, bytes, capacity);
	text_vfmt(&t, format, args);
	return bytes;
}

void print(const char *format, ...)
{
	char bytes[1024];
	va_list args;
	va_start(args, format);
	print_text(format_line(bytes, sizeof(bytes), format, args));
	va_end(args);
}

void print_screen(const char *format, ...)
{
	char bytes[256];
	va_list args;
	va_start(args, format);
	(void)format_line(bytes, sizeof(bytes), format, args);
	va_end(args);
	if (console.drawn == NULL)
		firmware_text(bytes);
	else if (console.firmware_serial)
		console_uart(bytes);
}
