/* efi/firmware/screen.h: the machine's own screen, drawn by us while a run and its results are on it.
 *
 * All drawing is in memory; the firmware's graphics output (Blt) shows the changed part. It is a call of the firmware: never
 * inside the bracket of efi/processor/quiet.c. Where there is no such screen the firmware's text console goes on as it is. */
#ifndef EFI_SCREEN_H
#define EFI_SCREEN_H

#include "bench/report/canvas.h"
#include "bench/report/screen_pages.h"
#include "efi/firmware/uefi.h"

struct screen {
	EFI_GRAPHICS_OUTPUT_PROTOCOL *output;
	struct canvas canvas;
	size_t bytes;
	unsigned column, y;        /* where the log's next character stands, in characters and in pixels */
	unsigned shown_permille;   /* of the bar; 1001 none yet */
};

/* Takes the screen over: from now on the console writes to it. ST_MISSING: no graphics output of at least 640 x 400 whose
 * mode is set; ST_REFUSED: the firmware's console goes to a serial line that we do not write ourselves, and would fall silent;
 * ST_FULL: no memory. */
MUST_CHECK enum status screen_open(struct screen *s);
/* Gives it back to the firmware's console, cleared. */
void screen_close(struct screen *s);
/* Text behind what is there, as on a terminal; a line that is too long is cut. */
void screen_text(struct screen *s, const char *text);
/* The line above the log, and how much of the work is done. */
void screen_progress(struct screen *s, const char *line, unsigned permille);
/* A page of results with its title and, at the lower edge, what keys do. */
void screen_page(struct screen *s, const struct screen_pages *p, unsigned page, const char *keys);
/* A line of its own on the page, above the keys. */
void screen_note(struct screen *s, const char *line);
/* Empty, for the next run. */
void screen_clear(struct screen *s);
/* How large such a page may be. */
void screen_page_size(const struct screen *s, struct screen_pages *p);

#endif
