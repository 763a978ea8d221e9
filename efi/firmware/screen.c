/* efi/firmware/screen.c: see screen.h. Lines from the top: progress, its bar, an empty one, then the log. A page: two title
 * lines, the page, an empty line, the keys. */
#include "efi/firmware/screen.h"
#include "efi/firmware/console.h"

#define WIDTH_LEAST  640u
#define HEIGHT_LEAST 400u
#define HEAD_LINES   3u

static const EFI_GUID graphics_output = EFI_GRAPHICS_OUTPUT_PROTOCOL_GUID;

static void show(struct screen *s, unsigned y, unsigned height)
{
	if (y >= s->canvas.height)
		return;
	height = height > s->canvas.height - y ? s->canvas.height - y : height;
	/* a failure is ignored: the same text is on the serial line and in the files */
	(void)s->output->Blt(s->output, (EFI_GRAPHICS_OUTPUT_BLT_PIXEL *)(void *)s->canvas.at, EfiBltBufferToVideo, 0, y, 0, y,
	                     s->canvas.width, height, (UINTN)s->canvas.width * sizeof(uint32_t));
}

static unsigned log_top(const struct screen *s)
{
	return HEAD_LINES * canvas_line(&s->canvas);
}

enum status screen_open(struct screen *s)
{
	memset(s, 0, sizeof(*s));
	/* With two adapters the first one found may have no monitor; the user looks at the console's. */
	s->output = uefi.system->ConsoleOutHandle != NULL ? uefi_protocol(uefi.system->ConsoleOutHandle, &graphics_output) : NULL;
	if (s->output == NULL)
		s->output = uefi_locate(&graphics_output);
	if (s->output == NULL || s->output->Mode == NULL || s->output->Mode->Info == NULL)
		return ST_MISSING;
	unsigned width = s->output->Mode->Info->HorizontalResolution, height = s->output->Mode->Info->VerticalResolution;
	if (width < WIDTH_LEAST || height < HEIGHT_LEAST || width > 0x4000 || height > 0x4000)
		return ST_MISSING;
	if (console.firmware_serial && !console.uart)
		return ST_REFUSED;
	s->bytes = (size_t)width * height * sizeof(uint32_t);
	uint32_t *pixels = pages_get(s->bytes);
	if (pixels == NULL)
		return ST_FULL;
	canvas_init(&s->canvas, pixels, width, height);
	screen_clear(s);
	console.drawn = s;
	return ST_OK;
}

void screen_close(struct screen *s)
{
	if (console.drawn != s)
		return;
	console.drawn = NULL;
	pages_put(s->canvas.at, s->bytes);
	memset(s, 0, sizeof(*s));
	if (uefi.system->ConOut != NULL)
		uefi.system->ConOut->ClearScreen(uefi.system->ConOut);
}

static void next_line(struct screen *s, unsigned *from, unsigned *to)
{
	unsigned h = canvas_line(&s->canvas);

	s->column = 0;
	s->y += h;
	if (s->y + h <= s->canvas.height)
		return;
	canvas_scroll(&s->canvas, log_top(s), s->y, h);
	s->y -= h;
	*from = log_top(s);
	*to = s->canvas.height;
}

void screen_text(struct screen *s, const char *text)
{
	unsigned w = canvas_column(&s->canvas), h = canvas_line(&s->canvas), from = s->y, to = s->y + h;

	while (*text != 0) {
		size_t n = 0;
		while (text[n] != 0 && text[n] != '\n' && text[n] != '\r')
			n++;
		(void)canvas_text(&s->canvas, s->column * w, s->y, COLOUR_TEXT, text, n);
		s->column += (unsigned)n;
		if (s->y + h > to)
			to = s->y + h;
		text += n;
		if (*text == '\n')
			next_line(s, &from, &to);
		if (*text != 0)
			text++;
	}
	show(s, from, to - from);
}

void screen_progress(struct screen *s, const char *line, unsigned permille)
{
	unsigned h = canvas_line(&s->canvas);

	permille = permille > 1000 ? 1000 : permille;
	canvas_fill(&s->canvas, 0, 0, s->canvas.width, h, COLOUR_GROUND);
	(void)canvas_text(&s->canvas, 0, 0, COLOUR_TEXT, line, (size_t)-1);
	if (permille != s->shown_permille) {
		unsigned done = (unsigned)((uint64_t)s->canvas.width * permille / 1000);

		canvas_fill(&s->canvas, 0, h + h / 4, done, h / 2, COLOUR_BAR);
		canvas_fill(&s->canvas, done, h + h / 4, s->canvas.width - done, h / 2, COLOUR_LINE);
		s->shown_permille = permille;
	}
	show(s, 0, 2 * h);
}

void screen_page_size(const struct screen *s, struct screen_pages *p)
{
	p->columns = s->canvas.width / canvas_column(&s->canvas);
	p->lines = s->canvas.height / canvas_line(&s->canvas) - 4; /* two titles, keys, and an empty line before them */
}

void screen_note(struct screen *s, const char *line)
{
	unsigned h = canvas_line(&s->canvas), y = (s->canvas.height / h - 2) * h;

	canvas_fill(&s->canvas, 0, y, s->canvas.width, h, COLOUR_GROUND);
	(void)canvas_text(&s->canvas, 0, y, COLOUR_TEXT, line, (size_t)-1);
	show(s, y, h);
}

void screen_clear(struct screen *s)
{
	canvas_fill(&s->canvas, 0, 0, s->canvas.width, s->canvas.height, COLOUR_GROUND);
	s->column = 0;
	s->y = log_top(s);
	s->shown_permille = 1001;
	show(s, 0, s->canvas.height);
}

void screen_page(struct screen *s, const struct screen_pages *p, unsigned page, const char *keys)
{
	unsigned h = canvas_line(&s->canvas), last = (s->canvas.height / h - 1) * h;
	char title[320];
	struct text t;

	canvas_fill(&s->canvas, 0, 0, s->canvas.width, s->canvas.height, COLOUR_GROUND);
	text_init(&t, title, sizeof(title));
	screen_pages_title(p, page, &t);
	(void)canvas_text(&s->canvas, 0, 0, COLOUR_MARK, title, sizeof(title));
	text_init(&t, title, sizeof(title));
	screen_pages_subtitle(p, &t);
	(void)canvas_text(&s->canvas, 0, h, COLOUR_TEXT, title, sizeof(title));
	screen_pages_draw(p, page, &s->canvas, 2 * h, last - h);
	(void)canvas_text(&s->canvas, 0, last, COLOUR_MARK, keys, (size_t)-1);
	show(s, 0, s->canvas.height);
	/* further output begins on the last line */
	s->column = 0;
	s->y = last;
	s->shown_permille = 1001;
}
