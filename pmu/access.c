/* pmu/access.c: see access.h. */
#include "pmu/access.h"
#include "pmu/text.h"

void access_failure_text(const struct access *a, struct text *t)
{
	const struct register_failure *f = a->failure;

	if (!f || !f->known)
		text_fmt(t, "a register could not be read or written");
	else if (f->pci)
		text_fmt(t, "register 0x%X of PCI function %X:%02X:%02X.%u does not answer", f->at.reg, f->at.segment, f->at.bus, f->at.device,
		         f->at.function);
	else if (f->mapped)
		text_fmt(t, "register at 0x%llX in memory does not answer", (unsigned long long)f->address);
	else
		text_fmt(t, "register 0x%X does not answer", f->msr);
}
