/* efi/app/menu.h: what the user wants after a run: look through the results, and go on. */
#ifndef EFI_MENU_H
#define EFI_MENU_H

#include "efi/app/config.h"
#include "efi/storage/saved_results.h"
#include "efi/firmware/screen.h"

enum menu_choice { MENU_REBOOT, MENU_SHUTDOWN, MENU_RETURN, MENU_AGAIN, MENU_OTHER };

struct menu {
	struct saved_results *kept;         /* NULL: there is nothing to show or save */
	struct files *files;       /* to save to, with `prefix` */
	const char *prefix;
	struct screen *screen;     /* its pages are drawn there; NULL: they are text */
	const char *other;         /* the other suite's name, NULL: none is offered */
	bool may_run, may_return;
};

/* Shows pages and saves as keys say, until a key chooses something else. */
enum menu_choice menu_ask(struct menu *m);

#endif
