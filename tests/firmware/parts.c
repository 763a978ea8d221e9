/* tests/firmware/parts.c: parts of efi/ that need no firmware, on the host under the sanitizers, for machines that no emulator
 * makes. Speaks TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/firmware/parts.h"

static unsigned count, failed;

void claim(bool good, const char *name)
{
	printf("%s %u - %s\n", good ? "ok" : "not ok", ++count, name);
	failed += !good;
}

int main(void)
{
	clock_parts();
	mtrr_parts();
	network_parts();
	watchdog_parts();
	bmc_parts();
	serial_parts();
	printf("1..%u\n", count);
	return failed != 0;
}
