/* efi/app/menu.h: the menu after a run: pages through the results and offers what to do next. */
#ifndef EFI_MENU_H
#define EFI_MENU_H

#include "efi/app/config.h"
#include "efi/storage/saved_results.h"
#include "efi/firmware/screen.h"

enum menu_choice { MENU_REBOOT, MENU_SHUTDOWN, MENU_RETURN, MENU_AGAIN, MENU_OTHER };

struct menu {
	struct saved_results *saved;        /* NULL: nothing to show or save */
	struct files *files;       /* to save to, with `prefix` */
	const char *prefix;
	struct screen *screen;     /* pages are drawn there; NULL: they are text */
	const char *other;         /* name of the other suite, NULL: none is offered */
	bool may_run, may_return;
};

/* Shows pages and saves results until a key ends the menu. */
enum menu_choice menu_ask(struct menu *m);

#endif
