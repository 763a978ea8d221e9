/* Fuzzes the configuration's reader, efi/app/config.c, and what reads the values: the same bytes as the settings file, as the UEFI load
 * options, as a file of expected results. What it accepts goes to the suite, the profile and the lists of cores and nodes; what it
 * refuses is one line. max_len=384
 * seed_folder=tests/fuzz/seeds/settings */
#include <stdlib.h>
#include <string.h>

#include "bench/suite/suite.h"
#include "efi/app/config.h"
#include "efi/firmware/fwcfg.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* --- what efi/app/config.c has from the firmware and the volume -------------------------------------- */
struct uefi uefi;
static EFI_LOADED_IMAGE image;
static const uint8_t *given;
static size_t given_bytes;

enum status files_read(struct files *f, const char *path, size_t most, char **out, size_t *bytes, size_t *pages_bytes)
{
	(void)f, (void)path;
	if (given_bytes > most)
		return ST_FULL;
	*out = malloc(given_bytes ? given_bytes : 1); /* exactly its bytes: a read beyond them ends the program */
	memcpy(*out, given, given_bytes);
	*bytes = *pages_bytes = given_bytes;
	return ST_OK;
}

void pages_put(void *at, size_t bytes)
{
	(void)bytes;
	free(at);
}

/* As in efi/firmware/uefi.c. */
bool uefi_ascii(const CHAR16 *from, size_t units, char *to, size_t capacity)
{
	bool clean = true;
	size_t n = 0;
	for (size_t i = 0; i < units && from[i] != 0; i++) {
		clean = clean && ((from[i] >= 0x20 && from[i] < 0x7F) || from[i] == '\t' || from[i] == '\r' || from[i] == '\n');
		if (n + 1 < capacity)
			to[n++] = (char)from[i];
	}
	to[n] = 0;
	return clean;
}

enum status fwcfg_read(const char *name, char *to, size_t capacity)
{
	(void)name, (void)to, (void)capacity;
	return ST_MISSING;
}

/* --- what comes of it ------------------------------------------------------------------------------ */
static void one_line(const char *problem)
{
	if (!problem[0] || strchr(problem, '\n'))
		abort();
}

static void use(const struct config *c, const char *expect)
{
	static const struct processor *processor;
	static const uint8_t core_node[4] = {0, 0, 1, 1};
	char problem[400] = "";
	for (unsigned i = 0; i < processor_count && !processor; i++)
		if (processors[i].profile_count)
			processor = &processors[i];
	const struct cpu cpu = {.processor = processor, .pmu_version = 3, .general_counters = 4, .general_mask = 15, .fixed_counters = 3, .fixed_mask = 7};
	const struct access a = {.cores = 4, .nodes = 2, .core_node = core_node};
	struct suite_settings s = {.suite = c->suite, .repetitions = c->repetitions, .seed = c->seed, .label = c->label,
		.cores = c->cores, .nodes = c->nodes, .profile = c->profile[0] ? c->profile : NULL, .expect = expect};
	if (suite_check(&s, problem, sizeof(problem)) != ST_OK)
		one_line(problem);
	if (suite_check_processor(&cpu, &s, problem, sizeof(problem)) != ST_OK)
		one_line(problem);
	if (suite_check_cpuset(&a, &s, problem, sizeof(problem)) != ST_OK)
		one_line(problem);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static CHAR16 options[4096];
	struct config c;
	given = data;
	given_bytes = size;
	uefi.loaded = NULL;
	config_read(&c, NULL, NULL);
	if (c.problem[0])
		one_line(c.problem);
	else
		use(&c, NULL);

	given_bytes = 0;
	uefi.loaded = &image;
	for (size_t i = 0; i < size && i < COUNT_OF(options); i++)
		options[i] = data[i];
	image.LoadOptions = options;
	image.LoadOptionsSize = (UINT32)(2 * (size < COUNT_OF(options) ? size : COUNT_OF(options)));
	config_read(&c, NULL, NULL);
	if (c.problem[0])
		one_line(c.problem);
	else
		use(&c, NULL);

	char *expect = malloc(size + 1);
	memcpy(expect, data, size);
	expect[size] = 0;
	memset(&c, 0, sizeof(c));
	use(&c, expect);
	free(expect);
	return 0;
}
