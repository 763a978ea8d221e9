/* efi/app/sbat.c: the section by which shim distinguishes generations of an application (UEFI shim, SBAT.md). A security fix increments the number
 * in the second line. */
#include "pmu/base.h"

extern const char sbat[];
__attribute__((section(".sbat"), used)) const char sbat[] =
	"sbat,1,SBAT Version,sbat,1,https://github.com/rhboot/shim/blob/main/SBAT.md\n"
	"stallmeter,1,Stallmeter,stallmeter,1,https://stallmeter.invalid/\n";
