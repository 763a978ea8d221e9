/* efi/bios/console.c: text of 80 columns and 25 lines (the BIOS's video mode 3), COM1, and keys from the keyboard
 * controller and COM1. The application writes COM1 itself: EFI_SIMPLE_TEXT_OUTPUT_PROTOCOL (12.4) goes to the screen only.
 *
 * Not supported: USB keyboards that the BIOS does not emulate as the controller's. */
#include "efi/bios/loader.h"
#include "efi/firmware/exit.h"
#include "pmu/text.h"

#define COLUMNS  80u
#define LINES    25u
#define CELLS    ((volatile uint16_t *)(uintptr_t)0xB8000)
#define GREY     0x0700u
#define COM1     0x3F8
#define CRTC     0x3D4  /* VGA: the index port; the data port follows it */
#define KEYBOARD 0x60   /* 8042: data; 0x64 status: [0] output buffer full, [5] from the mouse */

static SIMPLE_TEXT_OUTPUT_MODE mode = { .MaxMode = 1 };
static bool control_held, extended;

static void crtc(uint8_t index, uint8_t value)
{
	out8(CRTC, index);
	out8(CRTC + 1, value);
}

static void show_cursor(void)
{
	unsigned at = (unsigned)mode.CursorRow * COLUMNS + (unsigned)mode.CursorColumn;
	crtc(0x0E, (uint8_t)(at >> 8));
	crtc(0x0F, (uint8_t)at);
}

static void clear_lines(unsigned from, unsigned to)
{
	for (unsigned i = from * COLUMNS; i < to * COLUMNS; i++)
		CELLS[i] = GREY | ' ';
}

static void screen_char(uint16_t c)
{
	if (c == '\r') {
		mode.CursorColumn = 0;
	} else if (c == '\b') {
		mode.CursorColumn -= mode.CursorColumn > 0;
	} else if (c == '\n') {
		mode.CursorRow++;
	} else {
		CELLS[(unsigned)mode.CursorRow * COLUMNS + (unsigned)mode.CursorColumn] = GREY | (c >= ' ' && c < 0x7F ? c : '?');
		if (++mode.CursorColumn == (INT32)COLUMNS) {
			mode.CursorColumn = 0;
			mode.CursorRow++;
		}
	}
	if (mode.CursorRow == (INT32)LINES) {
		for (unsigned i = 0; i < (LINES - 1) * COLUMNS; i++)
			CELLS[i] = CELLS[i + COLUMNS];
		clear_lines(LINES - 1, LINES);
		mode.CursorRow--;
	}
}

static void uart_char(char c)
{
	/* LSR bit 5: transmitter empty. Bounded: a dead line must not hang the loader. */
	for (unsigned i = 0; i < 100000 && (in8(COM1 + 5) & 0x20) == 0; i++)
		relax();
	out8(COM1, (uint8_t)c);
}

static void print_text(const char *s)
{
	for (; *s != 0; s++) {
		if (*s == '\n') {
			uart_char('\r');
			screen_char('\r');
		}
		uart_char(*s);
		screen_char((uint8_t)*s);
	}
	show_cursor();
}

static void print_list(const char *format, va_list args)
{
	char line[200];
	struct text t;
	text_init(&t, line, sizeof(line));
	text_vfmt(&t, format, args);
	print_text(line);
}

void console_print(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print_list(format, args);
	va_end(args);
}

/* The last line stays on the screen; QEMU exits with a status (efi/firmware/exit.h). */
static _Noreturn void stop(enum exit_status status)
{
	uint32_t r[4];
	cpuid_raw(1, 0, r);
	if (r[2] >> 31 != 0)
		out8(EXIT_PORT, (uint8_t)(EXIT_PORT_BASE + status));
	for (;;)
		__asm__ volatile("cli; hlt");
}

void loader_fail(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	print_text("Stallmeter: ");
	print_list(format, args);
	print_text("; nothing was started\n");
	va_end(args);
	stop(EXIT_BROKEN);
}

void loader_exception(const uint64_t *frame)
{
	uint64_t cr2;
	__asm__ volatile("mov %%cr2, %0" : "=r"(cr2));
	console_print("Stallmeter: exception %lu, error 0x%lx, at 0x%lx, CR2 0x%lx; the machine stops\n", (unsigned long)frame[0], (unsigned long)frame[1],
	    (unsigned long)frame[2], (unsigned long)cr2);
	stop(EXIT_PANIC);
}

void console_init(void)
{
	mode.CursorVisible = TRUE;
	clear_lines(0, LINES);
	show_cursor();
}

/* --- EFI_SIMPLE_TEXT_OUTPUT_PROTOCOL ------------------------------------------------------------------------------------ */
static EFI_STATUS EFIAPI out_clear(SIMPLE_TEXT_OUTPUT_INTERFACE *out)
{
	graphics_leave();
	clear_lines(0, LINES);
	out->Mode->CursorColumn = out->Mode->CursorRow = 0;
	show_cursor();
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI out_reset(SIMPLE_TEXT_OUTPUT_INTERFACE *out, BOOLEAN thorough)
{
	(void)thorough;
	return out_clear(out);
}

static EFI_STATUS EFIAPI out_string(SIMPLE_TEXT_OUTPUT_INTERFACE *out, CHAR16 *s)
{
	(void)out;
	for (; *s != 0; s++)
		screen_char((uint16_t)*s);
	show_cursor();
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI out_test(SIMPLE_TEXT_OUTPUT_INTERFACE *out, CHAR16 *s)
{
	(void)out;
	for (; *s != 0; s++)
		if ((uint16_t)*s >= 0x7F)
			return EFI_UNSUPPORTED;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI out_query(SIMPLE_TEXT_OUTPUT_INTERFACE *out, UINTN number, UINTN *columns, UINTN *rows)
{
	(void)out;
	if (number != 0)
		return EFI_UNSUPPORTED;
	*columns = COLUMNS;
	*rows = LINES;
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI out_set_mode(SIMPLE_TEXT_OUTPUT_INTERFACE *out, UINTN number)
{
	return number == 0 ? out_clear(out) : EFI_UNSUPPORTED;
}

static EFI_STATUS EFIAPI out_attribute(SIMPLE_TEXT_OUTPUT_INTERFACE *out, UINTN attribute)
{
	(void)out;
	(void)attribute; /* all text is grey */
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI out_cursor(SIMPLE_TEXT_OUTPUT_INTERFACE *out, UINTN column, UINTN row)
{
	if (column >= COLUMNS || row >= LINES)
		return EFI_UNSUPPORTED;
	out->Mode->CursorColumn = (INT32)column;
	out->Mode->CursorRow = (INT32)row;
	show_cursor();
	return EFI_SUCCESS;
}

static EFI_STATUS EFIAPI out_show_cursor(SIMPLE_TEXT_OUTPUT_INTERFACE *out, BOOLEAN visible)
{
	out->Mode->CursorVisible = visible;
	crtc(0x0A, visible ? 14 : 0x20); /* cursor start register, bit 5: off */
	return EFI_SUCCESS;
}

SIMPLE_TEXT_OUTPUT_INTERFACE console_out = {
	.Reset = out_reset, .OutputString = out_string, .TestString = out_test, .QueryMode = out_query, .SetMode = out_set_mode,
	.SetAttribute = out_attribute, .ClearScreen = out_clear, .SetCursorPosition = out_cursor, .EnableCursor = out_show_cursor,
	.Mode = &mode,
};

/* --- EFI_SIMPLE_TEXT_INPUT_PROTOCOL (12.3) -------------------------------------------------------------------------------- */
/* Scan code set 1 from 0x02 on, US layout. */
static const char keys[] = "1234567890-=\b\tqwertyuiop[]\r\0asdfghjkl;'`\0\\zxcvbnm,./\0*\0 ";
static const struct { uint8_t code, ansi; uint16_t scan; } arrows[] = {
	{ 0x48, 'A', SCAN_UP }, { 0x50, 'B', SCAN_DOWN }, { 0x4D, 'C', SCAN_RIGHT }, { 0x4B, 'D', SCAN_LEFT },
	{ 0x49, '5', SCAN_PAGE_UP }, { 0x51, '6', SCAN_PAGE_DOWN },
};

/* Decodes a byte of the keyboard controller; true if it completes a key. */
static bool key_of_code(uint8_t code, EFI_INPUT_KEY *key)
{
	bool far = extended;
	extended = code == 0xE0;
	if ((code & 0x7F) == 0x1D && !extended)
		control_held = code < 0x80;
	if (code >= 0x80)
		return false;
	for (unsigned i = 0; i < COUNT_OF(arrows); i++)
		if (arrows[i].code == code)
			key->ScanCode = arrows[i].scan;
	if (code == 0x01)
		key->ScanCode = SCAN_ESC;
	if (!far && code >= 2 && code < 2 + sizeof(keys) - 1)
		key->UnicodeChar = (CHAR16)(uint8_t)keys[code - 2];
	if (control_held && key->UnicodeChar >= 'a' && key->UnicodeChar <= 'z')
		key->UnicodeChar = (CHAR16)(key->UnicodeChar - 'a' + 1);
	return key->ScanCode != 0 || key->UnicodeChar != 0;
}

/* The next byte of COM1 if it arrives within 10 ms, else 0. */
static uint8_t uart_soon(void)
{
	for (unsigned i = 0; (in8(COM1 + 5) & 1) == 0; i++) {
		if (i == 10)
			return 0;
		machine_stall(1000);
	}
	return in8(COM1);
}

/* Terminals send arrow keys as ESC [ letter, and page keys as ESC [ digit ~ (ECMA-48). */
static bool key_of_terminal(uint8_t c, EFI_INPUT_KEY *key)
{
	if (c != 0x1B) {
		key->UnicodeChar = (CHAR16)c;
		return c != 0;
	}
	c = uart_soon();
	if (c != '[' && c != 'O') {
		key->ScanCode = SCAN_ESC;
		return true;
	}
	c = uart_soon();
	for (unsigned i = 0; i < COUNT_OF(arrows); i++)
		if (arrows[i].ansi == c)
			key->ScanCode = arrows[i].scan;
	if (c == '5' || c == '6')
		(void)uart_soon();
	return key->ScanCode != 0;
}

static EFI_STATUS EFIAPI in_key(SIMPLE_INPUT_INTERFACE *in, EFI_INPUT_KEY *key)
{
	(void)in;
	memset(key, 0, sizeof(*key));
	/* An absent port reads as all ones. */
	for (unsigned i = 0; i < 64; i++) {
		uint8_t state = in8(KEYBOARD + 4);
		if (state == 0xFF || (state & 1) == 0)
			break;
		uint8_t code = in8(KEYBOARD);
		if ((state & 0x20) == 0 && key_of_code(code, key))
			return EFI_SUCCESS;
	}
	uint8_t line = in8(COM1 + 5);
	return line != 0xFF && (line & 1) != 0 && key_of_terminal(in8(COM1), key) ? EFI_SUCCESS : EFI_NOT_READY;
}

static EFI_STATUS EFIAPI in_reset(SIMPLE_INPUT_INTERFACE *in, BOOLEAN thorough)
{
	EFI_INPUT_KEY key;
	(void)thorough;
	for (unsigned i = 0; i < 64 && in_key(in, &key) == EFI_SUCCESS; i++)
		;
	return EFI_SUCCESS;
}

SIMPLE_INPUT_INTERFACE console_in = { .Reset = in_reset, .ReadKeyStroke = in_key };
