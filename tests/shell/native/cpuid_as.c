/*
 * Preloaded into a program, answers its CPUID instructions from a table, by CPUID faulting (Intel SDM volume 3, "CPUID Faulting"; arch_prctl(2),
 * ARCH_SET_CPUID): the program executes at this processor's speed and sees another's leaves.
 *
 * CPUID_AS names the table: lines of leaf, subleaf, EAX, EBX, ECX, EDX in hexadecimal. A leaf that it lacks is 0. Each processor's APIC
 * identifier is its number. A leaf with one line has one answer for every subleaf. Of instruction sets those are left that this processor has too, and
 * leaf 0xD (the state that XSAVE saves) is its own.
 *
 * Not covered: a program without the dynamic linker, and what runs before this constructor. Exit status 77: this processor does not fault on CPUID.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define ARCH_SET_CPUID 0x1012

struct line { uint32_t leaf, sub, out[4]; };

/* Bits of instruction sets. The others (counters, topology, types of cores) are told as listed. */
static const struct line sets[] = {
	{ 1, 0, { 0, 0, 0x7ED81203u, 0 } },
	{ 7, 0, { 0, ~0u, 0x00007F42u, 0x0181011Cu } },
	{ 0x80000001u, 0, { 0, 0, 0x00010860u, 0 } },
};

static struct line lines[512];
static uint32_t owned[sizeof(sets) / sizeof(sets[0])][4];
static unsigned count;
static struct sigaction theirs;

static int (*real_sigaction(void))(int, const struct sigaction *, struct sigaction *)
{
	int (*f)(int, const struct sigaction *, struct sigaction *);
	*(void **)&f = dlsym(RTLD_NEXT, "sigaction");
	return f;
}

static void answer(uint32_t leaf, uint32_t sub, uint32_t out[4])
{
	const struct line *found = NULL;
	unsigned same = 0;
	for (unsigned i = 0; i < count; i++) {
		if (lines[i].leaf != leaf)
			continue;
		same++;
		if (!found || lines[i].sub == sub)
			found = &lines[i];
	}
	memset(out, 0, 16);
	if (found && (same == 1 || found->sub == sub))
		memcpy(out, found->out, 16);
	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		for (unsigned k = 0; sets[i].leaf == leaf && k < 4; k++)
			out[k] &= owned[i][k] | ~sets[i].out[k];
	uint32_t self = (uint32_t)sched_getcpu();
	if (leaf == 1)
		out[1] = (out[1] & 0xFFFFFFu) | self << 24;
	if (found && (leaf == 0xB || leaf == 0x1F || leaf == 0x80000026u))
		out[3] = self;
	if (found && leaf == 0x8000001Eu)
		out[0] = self;
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *r = ((ucontext_t *)context)->uc_mcontext.gregs;
	const unsigned char *at = (const unsigned char *)r[REG_RIP];
	/* A fault of CPUID comes without an address (SI_KERNEL), so that these bytes can be read: they were fetched. */
	if (info->si_code == SI_KERNEL && at[0] == 0x0F && at[1] == 0xA2) {
		uint32_t out[4];
		answer((uint32_t)r[REG_RAX], (uint32_t)r[REG_RCX], out);
		r[REG_RAX] = out[0];
		r[REG_RBX] = out[1];
		r[REG_RCX] = out[2];
		r[REG_RDX] = out[3];
		r[REG_RIP] += 2;
		return;
	}
	if (theirs.sa_flags & SA_SIGINFO && theirs.sa_sigaction) {
		theirs.sa_sigaction(number, info, context);
		return;
	}
	if (!(theirs.sa_flags & SA_SIGINFO) && theirs.sa_handler != SIG_DFL && theirs.sa_handler != SIG_IGN) {
		theirs.sa_handler(number);
		return;
	}
	struct sigaction plain = { .sa_handler = SIG_DFL };
	real_sigaction()(SIGSEGV, &plain, NULL); /* the instruction then faults again */
}

int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	if (number != SIGSEGV)
		return real_sigaction()(number, act, old);
	if (old)
		*old = theirs;
	if (act)
		theirs = *act;
	return 0;
}

sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	return sigaction(number, &act, &old) ? SIG_ERR : old.sa_handler;
}

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("CPUID_AS");
	FILE *f = name ? fopen(name, "r") : NULL;
	if (!f) {
		fprintf(stderr, "cpuid_as: CPUID_AS names no file\n");
		_exit(2);
	}
	for (unsigned i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		__cpuid_count(sets[i].leaf, 0, owned[i][0], owned[i][1], owned[i][2], owned[i][3]);
	struct line l;
	while (count < sizeof(lines) / sizeof(lines[0]) && fscanf(f, "%x %x %x %x %x %x", &l.leaf, &l.sub, &l.out[0], &l.out[1], &l.out[2], &l.out[3]) == 6)
		if (l.leaf != 0xD)
			lines[count++] = l;
	fclose(f);
	for (l.leaf = 0xD, l.sub = 0; count && l.sub < 10 && count < sizeof(lines) / sizeof(lines[0]); l.sub++) {
		__cpuid_count(0xD, l.sub, l.out[0], l.out[1], l.out[2], l.out[3]);
		lines[count++] = l;
	}
	struct sigaction act = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	if (!count || real_sigaction()(SIGSEGV, &act, NULL) || syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0))
		_exit(77);
}
