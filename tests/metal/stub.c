/* tests/metal/stub.c: see stub.h. */
#include "tests/metal/stub.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BYTES_MOST 8192

static int stub = -1;
static unsigned selected = UINT32_MAX;
static unsigned long packets;

_Noreturn void die(const char *format, ...)
{
	va_list arguments;
	if (stub >= 0 && write(stub, "$k#6b", 5) != 5)
		fprintf(stderr, "%s: the guest could not be ended\n", program_invocation_short_name);
	va_start(arguments, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static bool get_byte(char *c)
{
	static char buffer[4096];
	static ssize_t n, next;
	if (next == n) {
		next = 0;
		n = read(stub, buffer, sizeof(buffer));
		if (n <= 0) {
			n = 0;
			return false;
		}
	}
	*c = buffer[next++];
	return true;
}

static void put_bytes(const char *bytes, size_t n)
{
	while (n) {
		ssize_t sent = write(stub, bytes, n);
		if (sent <= 0)
			die("the stub takes nothing any more");
		bytes += sent;
		n -= (size_t)sent;
	}
}

static void send_packet(const char *text)
{
	char packet[BYTES_MOST];
	unsigned sum = 0;
	for (const char *c = text; *c; c++)
		sum += (unsigned char)*c;
	int n = snprintf(packet, sizeof(packet), "$%s#%02x", text, sum & 0xFF);
	put_bytes(packet, (size_t)n);
	packets++;
}

/* The next packet's text; false when the guest is gone. Acknowledges it. */
static bool receive(char text[BYTES_MOST])
{
	char c;
	size_t n = 0;
	do {
		if (!get_byte(&c))
			return false;
	} while (c != '$');
	while (get_byte(&c) && c != '#')
		if (n + 1 < BYTES_MOST)
			text[n++] = c;
	text[n] = 0;
	if (!get_byte(&c) || !get_byte(&c))
		return false;
	put_bytes("+", 1);
	return true;
}

/* Connecting stops the guest, which the stub reports at some later time: such a packet is no answer. */
static bool ask(const char *command, char answer[BYTES_MOST])
{
	send_packet(command);
	do {
		if (!receive(answer))
			return false;
	} while (command[0] != '?' && answer[0] == 'T');
	return true;
}

static void must(const char *command)
{
	char answer[BYTES_MOST];
	if (!ask(command, answer) || strcmp(answer, "OK"))
		die("%s: answered \"%.40s\"", command, answer);
}

static void select_cpu(unsigned cpu)
{
	char command[32];
	if (cpu == selected)
		return;
	snprintf(command, sizeof(command), "Hgp1.%x", cpu + 1); /* threads are numbered from 1 */
	must(command);
	selected = cpu;
}

static unsigned bytes_of(unsigned which) { return which >= STUB_RFLAGS && which < STUB_GS_BASE - 1 ? 4 : 8; }

void stub_registers(unsigned cpu, uint64_t r[STUB_REGISTERS])
{
	char answer[BYTES_MOST];
	const char *at = answer;
	select_cpu(cpu);
	if (!ask("g", answer) || strlen(answer) < 236 * 2)
		die("no registers");
	for (unsigned i = 0; i < STUB_REGISTERS; i++) {
		r[i] = 0;
		for (unsigned b = 0; b < bytes_of(i); b++, at += 2) {
			unsigned byte;
			if (sscanf(at, "%2x", &byte) != 1)
				die("a register is no number");
			r[i] |= (uint64_t)byte << 8 * b;
		}
	}
}

void stub_set(unsigned cpu, const uint64_t before[STUB_REGISTERS], const uint64_t now[STUB_REGISTERS])
{
	select_cpu(cpu);
	for (unsigned i = 0; i < STUB_REGISTERS; i++) {
		char command[64];
		if (now[i] == before[i])
			continue;
		int n = snprintf(command, sizeof(command), "P%x=", i);
		for (unsigned b = 0; b < bytes_of(i); b++)
			n += snprintf(command + n, sizeof(command) - (size_t)n, "%02x", (unsigned)(now[i] >> 8 * b & 0xFF));
		must(command);
	}
}

void stub_breakpoint(uint64_t address)
{
	char command[64];
	snprintf(command, sizeof(command), "Z0,%" PRIx64 ",1", address);
	must(command);
}

void stub_no_breakpoint(uint64_t address)
{
	char command[64];
	snprintf(command, sizeof(command), "z0,%" PRIx64 ",1", address);
	must(command);
}

/* The processor of a packet that reports a stop. */
static int stopped(const char *why)
{
	const char *thread = strstr(why, "thread:");
	if (!thread || why[0] != 'T')
		die("the guest stopped otherwise: %s", why);
	thread += 7;
	if (strchr(thread, '.') && strchr(thread, '.') < strchr(thread, ';'))
		thread = strchr(thread, '.') + 1;
	selected = (unsigned)strtoul(thread, NULL, 16) - 1; /* the stub has selected it, too */
	return (int)selected;
}

int stub_go_on(uint64_t held, unsigned cpus)
{
	char why[BYTES_MOST];
	if (held) {
		char command[BYTES_MOST] = "vCont";
		size_t n = 5;
		for (unsigned i = 0; i < cpus; i++)
			if (!(held >> i & 1))
				n += (size_t)snprintf(command + n, sizeof(command) - n, ";c:p1.%x", i + 1);
		send_packet(command);
	} else {
		send_packet("c");
	}
	if (!receive(why) || why[0] == 'W' || why[0] == 'X')
		return -1;
	return stopped(why);
}

void stub_let_run(unsigned us)
{
	char why[BYTES_MOST];
	send_packet("c");
	usleep(us);
	if (write(stub, "\x03", 1) != 1 || !receive(why))
		die("the guest cannot be stopped");
	selected = UINT32_MAX;
}

void stub_attach(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char answer[BYTES_MOST];
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	stub = socket(AF_UNIX, SOCK_STREAM, 0);
	if (stub < 0 || connect(stub, (struct sockaddr *)&address, sizeof(address)))
		die("%s: %s", path, strerror(errno));
	if (!ask("?", answer))
		die("no answer");
	/* QEMU writes single registers only for clients that have read their list. */
	if (!ask("qXfer:features:read:target.xml:0,100", answer) || (answer[0] != 'm' && answer[0] != 'l'))
		die("no description of registers: \"%.40s\"", answer);
}

unsigned long stub_packets(void) { return packets; }
