/* runner/shim/shim.c: a library that `stallmeter simulate` preloads into a program (LD_PRELOAD). It redirects the program's accesses to
 * /dev/cpu/N/msr, /dev/cpu/N/cpuid and PCI configuration space in /proc/bus/pci and /sys/bus/pci, and its CPUID and RDPMC instructions,
 * to the simulated machine; all others go to this one.
 *
 * CPUID is intercepted if processor and kernel can make it fault (arch_prctl ARCH_SET_CPUID). The program runs on this machine's logical
 * processors: number N stands for the simulated machine's N. Not intercepted: direct system calls, mapped files, static programs, ports 0xCF8
 * and 0xCFC. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

#include "runner/shim/request.h"

#define EXPORT __attribute__((visibility("default")))
#define ARCH_SET_CPUID 0x1012
#define FILES 1024

enum kind { NONE, MSR, CPUID, PCI };
static struct file { enum kind kind; unsigned cpu; uint64_t address; off_t at; } files[FILES];
static struct sockaddr_un server;
static socklen_t server_bytes;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- the server ------------------------------------------------------------------------------- */

/* Uses system calls only, since a signal handler calls it too. */
static bool ask(const struct shim_request *q, struct shim_answer *a)
{
	const int old = errno;
	bool good = false;
	const int fd = server_bytes ? (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
	if (fd >= 0 && syscall(SYS_connect, fd, &server, server_bytes) == 0 && syscall(SYS_write, fd, q, sizeof(*q)) == (long)sizeof(*q)) {
		size_t got = 0;
		long n = 1;
		while (got < sizeof(*a) && (n = syscall(SYS_read, fd, (char *)a + got, sizeof(*a) - got)) > 0)
			got += (size_t)n;
		good = got == sizeof(*a);
	}
	if (fd >= 0)
		syscall(SYS_close, fd);
	errno = old;
	return good;
}

/* ---- instructions ----------------------------------------------------------------------------- */

static struct sigaction before;

static void fault(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	greg_t *g = u->uc_mcontext.gregs;
	const uint8_t *ip = (const uint8_t *)g[REG_RIP];
	struct shim_answer a;
	unsigned cpu = 0;
	(void)syscall(SYS_getcpu, &cpu, NULL, NULL);
	/* CPUID and RDPMC fault with SI_KERNEL; other faults are the program's own. */
	const bool here = info->si_code == SI_KERNEL && ip[0] == 0x0F;
	if (here && ip[1] == 0xA2) {
		const struct shim_request q = { .op = SHIM_CPUID, .cpu = cpu, .address = (uint32_t)g[REG_RAX], .value = (uint32_t)g[REG_RCX] };
		if (ask(&q, &a)) {
			g[REG_RAX] = (uint32_t)a.value[0], g[REG_RBX] = (greg_t)(a.value[0] >> 32);
			g[REG_RCX] = (uint32_t)a.value[1], g[REG_RDX] = (greg_t)(a.value[1] >> 32);
			g[REG_RIP] += 2;
			return;
		}
	}
	if (here && ip[1] == 0x33) {
		const struct shim_request q = { .op = SHIM_RDPMC, .cpu = cpu, .address = (uint32_t)g[REG_RCX] };
		if (ask(&q, &a) && !a.status) {
			g[REG_RAX] = (uint32_t)a.value[0], g[REG_RDX] = (greg_t)(a.value[0] >> 32);
			g[REG_RIP] += 2;
			return;
		}
	}
	if (before.sa_flags & SA_SIGINFO && before.sa_sigaction) {
		before.sa_sigaction(number, info, context);
	} else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(number);
	} else {
		struct sigaction plain = { .sa_handler = SIG_DFL };
		REAL(sigaction)(SIGSEGV, &plain, NULL); /* the instruction then faults again */
	}
}

EXPORT int sigaction(int number, const struct sigaction *act, struct sigaction *old)
{
	if (number != SIGSEGV || !server_bytes)
		return REAL(sigaction)(number, act, old);
	if (old)
		*old = before;
	if (act)
		before = *act;
	return 0;
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_RESTART }, old;
	return sigaction(number, &act, &old) ? SIG_ERR : old.sa_handler;
}

__attribute__((constructor)) static void start(void)
{
	const char *name = getenv(SHIM_SOCKET);
	if (!name || strlen(name) + 2 > sizeof(server.sun_path))
		return;
	server.sun_family = AF_UNIX;
	memcpy(server.sun_path + 1, name, strlen(name));
	server_bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
	struct sigaction act = { .sa_sigaction = fault, .sa_flags = SA_SIGINFO | SA_NODEFER };
	REAL(sigaction)(SIGSEGV, &act, &before);
	if (!getenv("STALLMETER_SIM_CPUID"))
		(void)syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0);
}

/* ---- files ------------------------------------------------------------------------------------ */

static bool pci_address(const char *form, const char *path, uint64_t *address)
{
	unsigned segment = 0, bus, device, function;
	char last;
	const int n = form[0] == 's' ? sscanf(path, "/sys/bus/pci/devices/%4x:%2x:%2x.%1x/confi%c", &segment, &bus, &device, &function, &last) - 2 :
		sscanf(path, "/proc/bus/pci/%2x/%2x.%1x%c", &bus, &device, &function, &last);
	if (n != 3 || (form[0] == 's' && last != 'g') || device > 31 || function > 7)
		return false;
	struct shim_request q = { .op = SHIM_PCI_READ32, .address = (uint64_t)segment << 28 | bus << 20 | device << 15 | function << 12 };
	struct shim_answer a;
	*address = q.address;
	return ask(&q, &a) && !a.status && (uint32_t)a.value[0] != 0xFFFFFFFF;
}

/* The simulated machine's file that the path names. */
static struct file file_of(const char *path)
{
	struct file f = { NONE, 0, 0, 0 };
	char rest[8] = "";
	struct shim_request q = { .op = SHIM_CPUS };
	struct shim_answer a;
	if (!server_bytes || !path)
		return f;
	if (sscanf(path, "/dev/cpu/%u/%7s", &f.cpu, rest) == 2 && ask(&q, &a) && f.cpu < a.value[0])
		f.kind = !strcmp(rest, "msr") ? MSR : !strcmp(rest, "cpuid") ? CPUID : NONE;
	else if (pci_address("proc", path, &f.address) || pci_address("sys", path, &f.address))
		f.kind = PCI;
	return f;
}

/* A descriptor of /proc/bus/pci/devices, in Linux's format, with the simulated machine's functions. */
static int devices(void)
{
	const int fd = (int)syscall(SYS_memfd_create, "devices", 0);
	struct shim_request q = { .op = SHIM_PCI_NEXT };
	struct shim_answer a;
	while (fd >= 0 && ask(&q, &a) && !a.status) {
		const unsigned bus = a.value[0] >> 20 & 0xFF, devfn = a.value[0] >> 12 & 0xFF, id = (unsigned)a.value[1];
		dprintf(fd, "%02x%02x\t%04x%04x\t0", bus, devfn, id & 0xFFFF, id >> 16);
		for (unsigned i = 0; i < 14; i++)
			dprintf(fd, "\t%16x", 0);
		dprintf(fd, "\n");
		q.address = a.value[0] + 0x1000;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

/* A descriptor for the path; -1: the path is not redirected. */
static int open_ours(const char *path)
{
	if (server_bytes && path && !strcmp(path, "/proc/bus/pci/devices"))
		return devices();
	const struct file f = file_of(path);
	if (f.kind == NONE)
		return -1;
	const int fd = (int)syscall(SYS_memfd_create, "stallmeter", 0);
	if (fd >= FILES) {
		syscall(SYS_close, fd);
		return -1;
	}
	if (fd >= 0)
		files[fd] = f;
	return fd;
}

#define OPENS(name) \
	EXPORT int name(const char *path, int flags, ...) \
	{ \
		va_list args; \
		va_start(args, flags); \
		const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
		va_end(args); \
		const int fd = open_ours(path); \
		return fd >= 0 ? fd : REAL(name)(path, flags, mode); \
	}
OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
	EXPORT int name(int at, const char *path, int flags, ...) \
	{ \
		va_list args; \
		va_start(args, flags); \
		const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0; \
		va_end(args); \
		const int fd = open_ours(path); \
		return fd >= 0 ? fd : REAL(name)(at, path, flags, mode); \
	}
OPENS_AT(openat)
OPENS_AT(openat64)

/* Programs that were built with _FORTIFY_SOURCE call these. */
EXPORT int __open_2(const char *path, int flags);
EXPORT int __open_2(const char *path, int flags) { return open(path, flags); }
EXPORT int __open64_2(const char *path, int flags);
EXPORT int __open64_2(const char *path, int flags) { return open64(path, flags); }

#define FOPENS(name) \
	EXPORT FILE *name(const char *path, const char *mode) \
	{ \
		const int fd = open_ours(path); \
		return fd >= 0 ? fdopen(fd, mode) : REAL(name)(path, mode); \
	}
FOPENS(fopen)
FOPENS(fopen64)

EXPORT int access(const char *path, int mode)
{
	if (file_of(path).kind != NONE || (server_bytes && !strcmp(path, "/proc/bus/pci/devices")))
		return 0;
	return REAL(access)(path, mode);
}

EXPORT int close(int fd)
{
	if (fd >= 0 && fd < FILES)
		files[fd].kind = NONE;
	return REAL(close)(fd);
}

static struct file *ours(int fd) { return fd >= 0 && fd < FILES && files[fd].kind != NONE ? &files[fd] : NULL; }

static ssize_t denied(int error)
{
	errno = error;
	return -1;
}

/* Reads a file at an offset, as the kernel's drivers do. */
static ssize_t take(const struct file *f, void *to, size_t bytes, off_t at)
{
	struct shim_request q = { .cpu = f->cpu };
	struct shim_answer a;
	size_t done = 0;
	if (f->kind == MSR) {
		q.op = SHIM_RDMSR, q.address = (uint32_t)at;
		if (bytes % 8 || !ask(&q, &a))
			return denied(EINVAL);
		if (a.status)
			return denied(EIO);
		memcpy(to, a.value, bytes ? 8 : 0);
		return bytes ? 8 : 0;
	}
	if (f->kind == CPUID) {
		q.op = SHIM_CPUID, q.address = (uint32_t)at, q.value = (uint64_t)at >> 32;
		if (bytes % 16 || !ask(&q, &a))
			return denied(EINVAL);
		memcpy(to, a.value, bytes ? 16 : 0);
		return bytes ? 16 : 0;
	}
	for (; done < bytes && at + (off_t)done < 0x1000; done++) {
		const uint64_t byte = (uint64_t)at + done;
		if (!done || byte % 4 == 0) {
			q.op = SHIM_PCI_READ32, q.address = f->address | (byte & ~3ull);
			if (!ask(&q, &a) || a.status)
				return denied(EIO);
		}
		((uint8_t *)to)[done] = (uint8_t)(a.value[0] >> 8 * (byte % 4));
	}
	return (ssize_t)done;
}

static ssize_t give(const struct file *f, const void *from, size_t bytes, off_t at)
{
	struct shim_request q = { .cpu = f->cpu };
	struct shim_answer a;
	if (f->kind == MSR) {
		q.op = SHIM_WRMSR, q.address = (uint32_t)at;
		if (bytes != 8)
			return denied(EINVAL);
		memcpy(&q.value, from, 8);
	} else {
		q.op = SHIM_PCI_WRITE32, q.address = f->address | ((uint64_t)at & 0xFFF);
		if (f->kind != PCI || bytes != 4 || at % 4)
			return denied(EINVAL);
		memcpy(&q.value, from, 4);
	}
	if (!ask(&q, &a) || a.status)
		return denied(EIO);
	return (ssize_t)bytes;
}

EXPORT ssize_t read(int fd, void *to, size_t bytes)
{
	struct file *f = ours(fd);
	if (!f)
		return REAL(read)(fd, to, bytes);
	const ssize_t n = take(f, to, bytes, f->at);
	f->at += n > 0 && f->kind == PCI ? n : 0;
	return n;
}

EXPORT ssize_t write(int fd, const void *from, size_t bytes)
{
	struct file *f = ours(fd);
	if (!f)
		return REAL(write)(fd, from, bytes);
	const ssize_t n = give(f, from, bytes, f->at);
	f->at += n > 0 && f->kind == PCI ? n : 0;
	return n;
}

EXPORT ssize_t pread(int fd, void *to, size_t bytes, off_t at)
{
	const struct file *f = ours(fd);
	return f ? take(f, to, bytes, at) : REAL(pread)(fd, to, bytes, at);
}

EXPORT ssize_t pread64(int fd, void *to, size_t bytes, off64_t at)
{
	const struct file *f = ours(fd);
	return f ? take(f, to, bytes, at) : REAL(pread64)(fd, to, bytes, at);
}

EXPORT ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room);
EXPORT ssize_t __pread64_chk(int fd, void *to, size_t bytes, off64_t at, size_t room) { return bytes > room ? denied(EINVAL) : pread64(fd, to, bytes, at); }
EXPORT ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room);
EXPORT ssize_t __pread_chk(int fd, void *to, size_t bytes, off_t at, size_t room) { return bytes > room ? denied(EINVAL) : pread(fd, to, bytes, at); }
EXPORT ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room);
EXPORT ssize_t __read_chk(int fd, void *to, size_t bytes, size_t room) { return bytes > room ? denied(EINVAL) : read(fd, to, bytes); }

EXPORT ssize_t pwrite(int fd, const void *from, size_t bytes, off_t at)
{
	const struct file *f = ours(fd);
	return f ? give(f, from, bytes, at) : REAL(pwrite)(fd, from, bytes, at);
}

EXPORT ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t at)
{
	const struct file *f = ours(fd);
	return f ? give(f, from, bytes, at) : REAL(pwrite64)(fd, from, bytes, at);
}

EXPORT off_t lseek(int fd, off_t at, int whence)
{
	struct file *f = ours(fd);
	if (!f)
		return REAL(lseek)(fd, at, whence);
	if (whence == SEEK_END)
		return denied(EINVAL);
	return f->at = whence == SEEK_CUR ? f->at + at : at;
}

EXPORT off64_t lseek64(int fd, off64_t at, int whence) { return lseek(fd, at, whence); }

/* Programs check for root before they access registers; the simulated machine needs no privilege. */
EXPORT uid_t geteuid(void) { return server_bytes ? 0 : REAL(geteuid)(); }
EXPORT uid_t getuid(void) { return server_bytes ? 0 : REAL(getuid)(); }
