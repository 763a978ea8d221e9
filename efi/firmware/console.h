/* efi/firmware/console.h: one log for the screen, the serial line and QEMU's debug port. */
#ifndef EFI_CONSOLE_H
#define EFI_CONSOLE_H

#include "pmu/base.h"

struct console {
	bool screen;      /* there is a graphics or text display */
	bool firmware_serial; /* the firmware's console already writes to a serial line */
	uint16_t port;    /* of the serial line: that of the firmware's console, else the first PC port that answers */
	bool own_serial;  /* only we write to it */
	bool uart;        /* a UART answers there, whoever writes to it */
	bool stuck;       /* it did not take the last byte */
	uint8_t stuck_times;
	bool debug_port;  /* QEMU's port 0xE9 */
	bool hypervisor;  /* CPUID 1 ECX[31] */
	struct screen *drawn; /* the screen that we draw (efi/firmware/screen.h) instead of the firmware's console;
	                         NULL: the firmware's console is used */
};
extern struct console console;

/* Determines the outputs and reports missing ones once. */
void console_open(void);
/* Sets the port of a serial console that another source names; ignored if no UART answers there. */
void console_serial_port(uint16_t port);
/* Prints a line or part of one to all outputs; at most 1,000 bytes. LF becomes CR LF where needed. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_text(const char *s);
/* Prints a transient line, ended by a carriage return, on the firmware's console; while we draw the screen, on that console's serial line
 * alone (screen_progress draws the line). */
void print_screen(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* print_text without firmware calls: for faults and while isolated. */
void print_raw(const char *s);
/* print_text to all outputs but a screen that we draw. */
void console_log(const char *s);
/* Writes to the UART only, byte for byte. */
void console_uart(const char *s);
/* Whether Esc or Ctrl-C is among the keys pressed since the last call. Empties the key buffer. */
bool console_stop_pressed(void);
/* Waits for a key and returns its character, upper case; CONSOLE_NEXT for right, down and page down, CONSOLE_PREVIOUS for
 * their opposites; 0 for other keys without a character. */
#define CONSOLE_NEXT     1
#define CONSOLE_PREVIOUS 2
char console_key(void);

#endif
