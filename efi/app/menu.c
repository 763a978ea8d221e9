/* efi/app/menu.c: see menu.h. */
#include "efi/app/menu.h"
#include "efi/firmware/console.h"

#define TEXT_COLUMNS 79u       /* of a page on the serial line or a text console: 80 x 25 at least */
#define TEXT_LINES   20u
#define TEXT_BYTES   (TEXT_COLUMNS * (TEXT_LINES + 2) * 2)

static void keys_text(const struct menu *m, unsigned page, unsigned pages, struct text *t)
{
	if (pages != 0)
		text_fmt(t, "page %u of %u: N, Space, PgDn next; P, PgUp previous; W save; ", page + 1, pages);
	if (m->may_run)
		text_fmt(t, "A run again, ");
	if (m->may_run && m->other != NULL)
		text_fmt(t, "O %s suite, ", m->other);
	text_fmt(t, "R reboot, S shut down%s: ", m->may_return ? ", F back to the firmware" : "");
}

static void show_page(const struct menu *m, const struct screen_pages *p, unsigned page, unsigned count)
{
	char at[TEXT_BYTES], keys[200];
	struct text t;

	text_init(&t, keys, sizeof(keys));
	keys_text(m, page, count, &t);
	if (m->screen != NULL) {
		screen_page(m->screen, p, page, keys);
		return;
	}
	text_init(&t, at, sizeof(at));
	text_char(&t, '\n');
	screen_pages_title(p, page, &t);
	text_char(&t, '\n');
	screen_pages_subtitle(p, &t);
	text_char(&t, '\n');
	screen_pages_text(p, page, &t);
	print_text(at);
	print_text(keys);
}

static void note(const struct menu *m, const char *line)
{
	if (m->screen != NULL)
		screen_note(m->screen, line);
	else
		print("\n");
	console_log(line);
}

static void save(const struct menu *m)
{
	char line[RUN_PATH_MAX + 40];
	struct text t;

	enum status s = saved_results_save(m->saved, m->files, m->prefix);
	text_init(&t, line, sizeof(line));
	if (s == ST_OK)
		text_fmt(&t, "saved: %s", m->files->run_path);
	else
		text_fmt(&t, "not saved: %s", m->saved->journal.lost || m->saved->journal.bytes == 0 ? "the run did not go into memory as a whole" :
		         s == ST_MISSING ? "there is no volume" : s == ST_REFUSED ? "the volume is write-protected" : status_name(s));
	note(m, line);
	console_log("\n");
}

/* Whether S is pressed again. Another key cancels. */
static bool sure(const struct menu *m)
{
	note(m, "S again shuts down, another key does not: ");
	if (console_key() == 'S')
		return true;
	note(m, "not shut down");
	console_log("\n");
	return false;
}

enum menu_choice menu_ask(struct menu *m)
{
	char keys[200];
	struct text t;
	struct screen_pages p = { .columns = TEXT_COLUMNS, .lines = TEXT_LINES };
	unsigned page = 0, count = 0;

	if (m->saved != NULL && saved_results_open(m->saved)) {
		p.d = &m->saved->document;
		if (m->screen != NULL)
			screen_page_size(m->screen, &p);
		count = screen_pages_count(&p);
	}
	if (count != 0 && m->screen != NULL) {
		show_page(m, &p, 0, count);
	} else {
		text_init(&t, keys, sizeof(keys));
		keys_text(m, 0, count, &t);
		print_text(keys);
	}
	for (;;) {
		switch (console_key()) {
		case 'N': case ' ': case CONSOLE_NEXT:
			if (count != 0)
				show_page(m, &p, page = (page + 1) % count, count);
			break;
		case 'P': case CONSOLE_PREVIOUS:
			if (count != 0)
				show_page(m, &p, page = (page + count - 1) % count, count);
			break;
		case 'W':
			if (count != 0)
				save(m);
			break;
		case 'A':
			if (m->may_run) {
				print("run again\n");
				return MENU_AGAIN;
			}
			break;
		case 'O':
			if (m->may_run && m->other != NULL) {
				print("%s suite\n", m->other);
				return MENU_OTHER;
			}
			break;
		case 'R': print("reboot\n"); return MENU_REBOOT;
		case 'S':
			if (!sure(m))
				break;
			print("shut down\n");
			return MENU_SHUTDOWN;
		case 'F':
			if (m->may_return) {
				print("firmware\n");
				return MENU_RETURN;
			}
			break;
		default:
			break;
		}
	}
}
