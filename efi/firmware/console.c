/* efi/firmware/console.c: output through the firmware's console while it may be called, otherwise directly through the UART
 * and QEMU's debug port. A firmware console that already writes to a serial line (its ConOut variable names a UART) is not
 * duplicated. */
#include "efi/firmware/console.h"
#include "efi/firmware/screen.h"
#include "efi/firmware/uefi.h"
#include "pmu/text.h"

#define COM1       0x3F8 /* the PC's first serial port */
#define DEBUG_PORT 0xE9  /* QEMU -debugcon; reads back 0xE9 where it exists */
#define CTRL_C     0x03

struct console console;

static const EFI_GUID global_variable = EFI_GLOBAL_VARIABLE;
static const EFI_GUID graphics_output = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;

/* Does a list of device paths (a variable's value) name a UART (type 3, subtype 14)? */
static bool names_uart(const uint8_t *at, size_t bytes)
{
	size_t i = 0;
	while (i + 4 <= bytes) {
		size_t length = at[i + 2] | (size_t)at[i + 3] << 8;
		if (at[i] == 3 && at[i + 1] == 14)
			return true;
		if (length < 4)
			return false;
		i += length;
	}
	return false;
}

static bool firmware_serial(void)
{
	uint8_t value[2048];
	UINTN bytes = sizeof(value);
	EFI_GUID guid = global_variable;
	CHAR16 name[8];
	uefi_ucs2("ConOut", name, COUNT_OF(name));
	if (uefi.system->RuntimeServices->GetVariable(name, &guid, NULL, &bytes, value) != EFI_SUCCESS)
		return false;
	return names_uart(value, bytes);
}

/* A UART keeps what is written to its scratch register (offset 7). */
static bool uart_answers(void)
{
	uint8_t old = in8(COM1 + 7), a, b;
	out8(COM1 + 7, 0x5A);
	a = in8(COM1 + 7);
	out8(COM1 + 7, 0xA5);
	b = in8(COM1 + 7);
	out8(COM1 + 7, old);
	return a == 0x5A && b == 0xA5;
}

/* 115200 8N1, no interrupts, FIFO on (16550 data sheet: LCR 3, DLL/DLM 0/1, IER 1, FCR 2). */
static void uart_init(void)
{
	out8(COM1 + 1, 0);
	out8(COM1 + 3, 0x80);
	out8(COM1 + 0, 1);
	out8(COM1 + 1, 0);
	out8(COM1 + 3, 0x03);
	out8(COM1 + 2, 0x07);
	out8(COM1 + 4, 0x03);
}

static void uart_byte(uint8_t c)
{
	/* LSR bit 5: transmitter empty. Bounded: a dead line must not hang the run. */
	for (unsigned i = 0; i < 100000 && (in8(COM1 + 5) & 0x20) == 0; i++)
		relax();
	out8(COM1, c);
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
	bool uart = uart_answers();
	cpuid_raw(1, 0, r);
	console.hypervisor = (r[2] >> 31) != 0;
	console.debug_port = console.hypervisor && in8(DEBUG_PORT) == DEBUG_PORT;
	console.screen = uefi_locate(&graphics_output) != NULL;
	console.firmware_serial = uefi.system->ConOut != NULL && firmware_serial();
	console.uart = uart;
	console.com1 = uart && !console.firmware_serial;
	if (console.com1)
		uart_init();
	if (uefi.system->ConOut != NULL)
		widest_mode();
	if (!console.screen)
		print("console: no framebuffer; output goes to the firmware's text console and serial\n");
	if (!console.com1 && !console.firmware_serial)
		print("console: no serial port at 0x3F8; the log is on the screen alone\n");
}

void print_raw(const char *s)
{
	/* The UART is the firmware's or ours; either accepts bytes while nobody else runs. */
	raw_bytes(s, console.com1 || console.firmware_serial);
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
	/* The firmware's console would write to the screen that we draw: its serial line is then ours. */
	raw_bytes(s, console.com1 || (console.drawn != NULL && console.firmware_serial));
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
