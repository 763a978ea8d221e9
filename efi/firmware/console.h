/* efi/firmware/console.h: one log for the screen, the serial line and QEMU's debug port. */
#ifndef EFI_CONSOLE_H
#define EFI_CONSOLE_H

#include "pmu/base.h"

struct console {
	bool screen;      /* a graphics or text display is there */
	bool firmware_serial; /* the firmware's console already goes to a serial line */
	bool com1;        /* a UART answers at 0x3F8 and we write it ourselves */
	bool uart;        /* a UART answers at 0x3F8, the firmware's or ours */
	bool debug_port;  /* QEMU's port 0xE9 */
	bool hypervisor;  /* CPUID 1 ECX[31] */
	struct screen *drawn; /* we draw the screen ourselves (efi/firmware/screen.h); the firmware's console is not used. NULL: it is */
};
extern struct console console;

/* Finds out where output goes and says once what is missing. */
void console_open(void);
/* A line or a part of one, everywhere; at most 1,000 bytes. LF becomes CR LF where it must. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_text(const char *s);
/* On the firmware's console alone, or where it would have gone but for the screen that we draw (screen_progress is for that):
 * a passing line, which a carriage return takes back. */
void print_screen(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same as print_text without the firmware: for faults and inside the bracket. */
void print_raw(const char *s);
/* print_text to all but a screen that we draw. */
void console_log(const char *s);
/* On the UART alone, byte for byte. */
void console_uart(const char *s);
/* Whether Esc or Ctrl-C is among the keys pressed since the last call. Empties the key buffer. */
bool console_stop_pressed(void);
/* Waits for a key and returns its character, upper case; CONSOLE_NEXT for right, down and page down, CONSOLE_PREVIOUS for their
 * opposites; 0 for others without a character. */
#define CONSOLE_NEXT     1
#define CONSOLE_PREVIOUS 2
char console_key(void);

#endif
