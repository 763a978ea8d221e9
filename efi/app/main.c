/* efi/app/main.c: entry of the UEFI application: settings, backend, suite, end. */
#include "efi/firmware/boot_next.h"
#include "efi/firmware/console.h"
#include "efi/app/end.h"
#include "efi/firmware/fwcfg.h"
#include "efi/app/menu.h"
#include "efi/network/served.h"
#include "efi/app/run.h"
#include "efi/app/selftest.h"
#include "efi/app/simulated.h"
#include "efi/app/speed.h"

EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system);

struct app {
	struct files files;
	struct config config;
	struct acpi acpi;
	struct smbios smbios;
	struct network network;
	struct served served;
	struct clock clock;
	struct environment environment;
	struct resume_state state;
	struct watchdog watchdog;
	struct screen screen;
	struct saved_results saved;
	char directory[64];        /* of the last run, without its number */
	bool prepared;             /* the machine has been identified: running again need not repeat it */
	bool ran;                  /* a run took place: the menu shows its results and offers another run */
	bool may_return;
	uint32_t limit_ms;         /* of a job, set by a debugger; 0: the backend's */
	bool again;                /* another boot of a series follows */
	bool refused;              /* the last starts completed nothing */
};

static enum exit_status on_machine(struct app *app, struct run *r, const char *test)
{
	struct hw *hw;
	enum exit_status result;
	enum start how = test[0] == 0 ? resume_start(&app->state, &app->files, app->config.processors) : app->config.processors;
	enum status s = hw_open(&hw, &app->acpi, &app->clock, how, &app->may_return);
	if (test[0] == 0)
		resume_started(&app->state, &app->files);
	if (s != ST_OK) {
		print("no memory for page tables, code and stacks\n");
		return EXIT_BROKEN;
	}
	hw->watchdog = &app->watchdog;
	if (app->limit_ms != 0)
		hw->limit_ms = app->limit_ms;
	if (test[0] != 0) {
		result = selftest_run(test, hw) == 0 ? EXIT_GOOD : EXIT_ROWS;
	} else {
		environment_fill(&app->environment, &app->smbios, &app->acpi, &app->clock, hw);
		suite_run_name(r->directory, sizeof(r->directory), app->smbios.product, smbios_identity(&app->smbios));
		result = run_suite(&hw->access, r);
	}
	for (unsigned i = 0; i < hw->access.cores; i++)
		if (hw->cores[i]->interrupts != 0)
			print("processor %u: %lu interrupts came through, the last of vector 0x%lx\n", i, (unsigned long)hw->cores[i]->interrupts,
			      (unsigned long)hw->cores[i]->stray);
	if (hw->lost != 0)
		print("%u processors were lost on the way\n", hw->lost);
	app->may_return = hw_close(hw);
	return result;
}

static enum exit_status on_simulated(struct app *app, struct run *r)
{
	struct simulated sim;
	enum status s = simulated_open(&sim, &app->config, &app->files);
	if (s != ST_OK) {
		print("%s\n", app->config.problem[0] != 0 ? app->config.problem : "no memory for the simulated machine");
		return app->config.problem[0] != 0 ? EXIT_BAD_INPUT : EXIT_BROKEN;
	}
	environment_fill(&app->environment, &app->smbios, &app->acpi, &app->clock, NULL);
	suite_run_name(r->directory, sizeof(r->directory), sim.access->name, sim.identity);
	enum exit_status result = run_suite(sim.access, r);
	simulated_close(&sim);
	return result;
}

/* Reads the settings, from the server that the application was loaded from if that has any. */
static void read_settings(struct app *app)
{
	smbios_open(&app->smbios);
	network_open(&app->network);
	served_get(&app->served, &app->network, app->smbios.uuid);
	const struct config_text text = { app->served.name, app->served.text, app->served.bytes };
	config_read(&app->config, &app->files, app->served.text != NULL ? &text : NULL);
	if (app->served.problem[0] != 0)
		str_copy(app->config.problem, sizeof(app->config.problem), app->served.problem);
	served_put(&app->served); /* the name stays: messages use it */
}

/* Identifies the machine, once; then runs what the settings say. */
static enum exit_status run_app(struct app *app)
{
	struct suite_settings settings;
	struct run r = { .config = &app->config, .settings = &settings, .files = &app->files, .clock = &app->clock,
	                 .environment = &app->environment, .state = &app->state, .watchdog = &app->watchdog, .saved = &app->saved, .network = &app->network };
	char test[64] = "";
	enum exit_status result;

	const enum status volume = files_open(&app->files);
	if (!app->prepared)
		read_settings(app);
	if (volume != ST_OK && app->config.upload[0] != 0)
		print("files: no file system where we were booted from; results go to %s alone\n", app->config.upload);
	else if (volume != ST_OK)
		print("files: no file system where we were booted from; results go to the screen alone\n");
	enum status s = app->config.problem[0] != 0 ? ST_SYNTAX : run_settings(&app->config, &app->files, &settings);
	if (s != ST_OK) {
		print("%s\n", app->config.problem[0] != 0 ? app->config.problem : status_name(s));
		/* With end = reboot these starts are counted too; if the count cannot be saved, the machine shuts down. */
		app->refused = app->config.end == END_REBOOT && (!resume_begin(&app->state, &app->files) || !app->state.saved);
		return EXIT_BAD_INPUT;
	}
	if (fwcfg_read(FWCFG_TEST, test, sizeof(test)) != ST_OK)
		test[0] = 0;
	if (str_equal(test, "debugger")) { /* which answers the register accesses: tests/boot/registers/debugger.c */
		print("waiting for a debugger\n");
		app->limit_ms = debugger_wait();
		test[0] = 0;
	}
	if (test[0] == 0 && !resume_begin(&app->state, &app->files)) {
		app->refused = true;
		return EXIT_BROKEN;
	}
	if (test[0] == 0) {
		s = boot_next_set();
		if (s != ST_OK && s != ST_UNSUPPORTED) /* a PC BIOS has no BootNext */
			print("boot: the firmware refuses this medium for its next boot (%s): after a reset its own boot order applies\n", status_name(s));
		watchdog_arm(&app->watchdog, &app->smbios, app->config.watchdog_s);
	}
	if (!app->prepared) {
		acpi_open(&app->acpi);
		console_serial_port(app->acpi.serial_port);
		clock_open(&app->clock, &app->acpi);
		app->prepared = true;
	}
	if (str_equal(test, "speed"))
		return speed_test(&app->clock) == 0 ? EXIT_GOOD : EXIT_ROWS;
	if (console.drawn != NULL)
		screen_clear(&app->screen);
	else if (test[0] == 0)
		s = screen_open(&app->screen);
	if (s == ST_FULL)
		print("no memory for a copy of the screen: text output continues\n");
	result = app->config.backend == BACKEND_SIM && test[0] == 0 ? on_simulated(app, &r) : on_machine(app, &r, test);
	str_copy(app->directory, sizeof(app->directory), r.directory);
	/* A count, a plan or a setting that is refused later completes a start as a row does. With end = reboot refusals keep counting;
	 * otherwise the machine would restart forever. */
	if (test[0] == 0 && result != EXIT_BROKEN && (result != EXIT_BAD_INPUT || app->config.end != END_REBOOT))
		resume_progress(&app->state, &app->files);
	app->ran = test[0] == 0;
	app->again = r.again;
	watchdog_disarm(&app->watchdog);
	if (!app->again)
		boot_next_clear();
	return result;
}

/* The suite that did not run; NULL with a profile, which has rows of its own. */
static const char *other_suite(const struct app *app)
{
	return app->config.profile[0] != 0 ? NULL : str_equal(app->config.suite, "full") ? "quick" : "full";
}

/* Runs as often as the user wants; returns what to do at the end. */
static enum end_action run_and_ask(struct app *app, enum exit_status *status)
{
	for (;;) {
		*status = run_app(app);
		if (app->again)
			return END_REBOOT;
		if (app->refused && app->config.end == END_REBOOT)
			return END_SHUTDOWN; /* otherwise it would loop forever */
		if (app->config.end != END_MENU)
			return app->config.end;
		struct menu menu = { .saved = app->ran ? &app->saved : NULL, .files = &app->files, .prefix = app->directory, .screen = console.drawn,
			.other = other_suite(app), .may_run = app->ran && app->may_return, .may_return = app->may_return };
		enum menu_choice choice = menu_ask(&menu);
		saved_results_put(&app->saved);
		switch (choice) {
		case MENU_OTHER:
			str_copy(app->config.suite, sizeof(app->config.suite), menu.other);
			break;
		case MENU_AGAIN: break;
		case MENU_REBOOT: return END_REBOOT;
		case MENU_SHUTDOWN: return END_SHUTDOWN;
		case MENU_RETURN: return END_RETURN;
		}
		files_close(&app->files);
	}
}

static EFI_STATUS EFIAPI run_in_firmware_abi(void)
{
	enum exit_status status = EXIT_BROKEN;
	enum end_action end = END_RETURN;
	bool may_return = true;
	struct app *app = pages_get(sizeof(*app));

	uefi.boot->SetWatchdogTimer(0, 0, 0, NULL);
	console_open();
	print("Stallmeter: what stalls cost on this machine\n");
	if (app == NULL) {
		print("no memory\n");
	} else {
		app->may_return = true;
		end = run_and_ask(app, &status);
		may_return = app->may_return;
		files_close(&app->files);
		saved_results_put(&app->saved);
		if (end == END_RETURN)
			screen_close(&app->screen);
		if (may_return && console.drawn == NULL) /* a lost processor may still use its tables */
			pages_put(app, sizeof(*app));
	}
	end_run(end, status, may_return);
	return EFI_SUCCESS;
}

/* gnu-efi's start code calls this in the System V ABI; run_in_firmware_abi saves XMM6-15, which kernels use and the
 * firmware expects to be preserved. */
EFI_STATUS efi_main(EFI_HANDLE image, EFI_SYSTEM_TABLE *system)
{
	uefi_init(image, system);
	return run_in_firmware_abi();
}
