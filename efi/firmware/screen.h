/* efi/firmware/screen.h: the machine's own screen, drawn by the application during a run and for its results.
 *
 * All drawing is in memory; the firmware's graphics output (Blt) copies the changed part. That is a firmware call and is never
 * made while isolated (efi/processor/quiet.c). Without such a screen the firmware's text console stays in use. */
#ifndef EFI_SCREEN_H
#define EFI_SCREEN_H

#include "bench/report/canvas.h"
#include "bench/report/screen_pages.h"
#include "efi/firmware/uefi.h"

struct screen {
	EFI_GRAPHICS_OUTPUT_PROTOCOL *output;
	struct canvas canvas;
	size_t bytes;
	unsigned column, y;        /* position of the log's next character; column in characters, y in pixels */
	unsigned shown_permille;   /* of the bar; 1001: none yet */
};

/* Takes over the screen: the console writes to it from now on. ST_MISSING: no graphics output of at least 640 x 400 with a
 * mode set; ST_REFUSED: the firmware's console writes to a serial line that we cannot write, and which would fall
 * silent; ST_FULL: no memory. */
MUST_CHECK enum status screen_open(struct screen *s);
/* Clears it and returns it to the firmware's console. */
void screen_close(struct screen *s);
/* Appends text, as on a terminal; truncates long lines. */
void screen_text(struct screen *s, const char *text);
/* Draws the line above the log, and the bar of the completed work. */
void screen_progress(struct screen *s, const char *line, unsigned permille);
/* Draws a page of results with its title, and the keys at the bottom. */
void screen_page(struct screen *s, const struct screen_pages *p, unsigned page, const char *keys);
/* Draws a line on the page, above the keys. */
void screen_note(struct screen *s, const char *line);
/* Clears it for the next run. */
void screen_clear(struct screen *s);
/* The size of such a page. */
void screen_page_size(const struct screen *s, struct screen_pages *p);

#endif
