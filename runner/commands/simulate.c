/* runner/commands/simulate.c: `stallmeter simulate`: runs a program whose register accesses go to a simulated machine. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmu/sim/machine/machine.h"
#include "runner/options/command.h"
#include "runner/shim/serve.h"

static const char *machine_name = "", *kernel = "", *trace_name = "";
static uint64_t instructions = 1000000, cpu, threads;
static bool kernel_mode;

static unsigned simulate_options(struct option *list, unsigned most)
{
	const struct option all[] = {
		{"--machine", OPTION_TEXT, &machine_name, "NAME|FILE", NULL, 0, 0, "the simulated machine"},
		{"--threads", OPTION_NUMBER, &threads, "N", NULL, 1, 2, "logical processors per core (default: as in the machine file)"},
		{"--kernel-mode", OPTION_SWITCH, &kernel_mode, NULL, NULL, 0, 0, "kernels run at CPL 0, not at CPL 3"},
		{"--trace", OPTION_TEXT, &trace_name, "FILE", NULL, 0, 0, "write the accesses in the form that `stallmeter replay` reads"},
		{"--run", OPTION_TEXT, &kernel, "KERNEL", NULL, 0, 0, "within PROGRAM: run a kernel on the simulated machine"},
		{"--instructions", OPTION_NUMBER, &instructions, "N", NULL, 1, SERVE_INSTRUCTIONS_MOST, "with --run: the approximate number of instructions"},
		{"--cpu", OPTION_NUMBER, &cpu, "N", NULL, 0, 511, "with --run: the logical processor"},
	};
	return options_copy(list, most, all, COUNT_OF(all));
}

static socklen_t name_of(struct sockaddr_un *a, const char *name)
{
	*a = (struct sockaddr_un){ .sun_family = AF_UNIX };
	snprintf(a->sun_path + 1, sizeof(a->sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(a->sun_path + 1));
}

static bool whole(int fd, void *at, size_t bytes)
{
	size_t got = 0;
	ssize_t n = 1;
	while (got < bytes && (n = read(fd, (char *)at + got, bytes - got)) > 0)
		got += (size_t)n;
	return got == bytes;
}

/* ---- --run, within the program: requests a kernel ------------------------------------------------------- */

static int run_kernel(const struct command *c)
{
	const char *socket_name = getenv(SHIM_SOCKET);
	struct shim_request q = { .op = SHIM_RUN, .cpu = (uint32_t)cpu, .value = instructions };
	struct shim_answer a;
	struct sockaddr_un server;
	if (!socket_name) {
		complain(c, "--run: only within a program that stallmeter simulate started");
		return EXIT_BAD_INPUT;
	}
	snprintf(q.name, sizeof(q.name), "%s", kernel);
	const socklen_t bytes = name_of(&server, socket_name);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const bool good = fd >= 0 && connect(fd, (struct sockaddr *)&server, bytes) == 0 && write(fd, &q, sizeof(q)) == (ssize_t)sizeof(q) && whole(fd, &a, sizeof(a));
	if (fd >= 0)
		close(fd);
	if (!good || a.status) {
		complain(c, !good ? "the simulated machine does not answer" : a.status == STALLMETER_SIM_MISSING ? "no such kernel or processor" : "the kernel did not finish");
		return good && a.status == STALLMETER_SIM_MISSING ? EXIT_BAD_INPUT : EXIT_BROKEN;
	}
	printf("%" PRIu64 " instructions, %" PRIu64 " cycles\n", a.value[0], a.value[1]);
	return EXIT_GOOD;
}

/* ---- the machine's side ----------------------------------------------------------------------- */

/* Answers requests until the program ends; returns its wait status. */
static int serve(struct stallmeter_sim *s, int listener, pid_t child, FILE *trace)
{
	int ended = 0;
	while (waitpid(child, &ended, WNOHANG) == 0) {
		struct pollfd p = { .fd = listener, .events = POLLIN };
		struct shim_request q;
		uint8_t bytes[sizeof(q)];
		if (poll(&p, 1, 20) <= 0)
			continue;
		const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (whole(fd, bytes, sizeof(bytes))) {
			const struct shim_answer a = serve_request(s, bytes, sizeof(bytes), &q);
			if (trace)
				serve_note(trace, &q, &a);
			if (write(fd, &a, sizeof(a)) != (ssize_t)sizeof(a))
				perror("stallmeter simulate");
		}
		close(fd);
	}
	return ended;
}

/* Path of the library to preload: in this program's folder, or where make install puts it. */
static bool shim_path(char *to, size_t capacity)
{
	static const char *const paths[] = { "libstallmeter_shim.so", "../lib/stallmeter/libstallmeter_shim.so" };
	char self[4000];
	const ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
	for (unsigned i = 0; slash && i < COUNT_OF(paths); i++) {
		slash[1] = 0;
		if ((size_t)snprintf(to, capacity, "%s%s", self, paths[i]) < capacity && access(to, R_OK) == 0)
			return true;
	}
	return false;
}

static int simulate(const struct command *c, struct stallmeter_sim *s, char **program)
{
	char shim[4096], name[64];
	struct sockaddr_un address;
	int result = EXIT_BROKEN;
	FILE *trace = trace_name[0] ? fopen(trace_name, "we") : NULL;
	if (trace_name[0] && !trace) {
		complain(c, "%s: %s", trace_name, strerror(errno));
		return EXIT_BROKEN;
	}
	snprintf(name, sizeof(name), "stallmeter-%d", (int)getpid());
	const socklen_t bytes = name_of(&address, name);
	const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (!shim_path(shim, sizeof(shim))) {
		complain(c, "libstallmeter_shim.so is neither beside this program nor in ../lib/stallmeter");
	} else if (listener < 0 || bind(listener, (struct sockaddr *)&address, bytes) || listen(listener, 64)) {
		complain(c, "no socket: %s", strerror(errno));
	} else {
		const pid_t child = fork();
		if (child == 0) {
			setenv(SHIM_SOCKET, name, 1);
			setenv("LD_PRELOAD", shim, 1);
			setenv("PCM_NO_PERF", "1", 1); /* pcm programs the registers itself, not through Linux */
			execvp(program[0], program);
			complain(c, "%s: %s", program[0], strerror(errno));
			_exit(127);
		}
		signal(SIGPIPE, SIG_IGN);
		const int ended = child > 0 ? serve(s, listener, child, trace) : 0;
		result = child < 0 ? EXIT_BROKEN : WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	}
	if (listener >= 0)
		close(listener);
	if (trace && fclose(trace))
		result = EXIT_BROKEN;
	return result;
}

static int simulate_command(const struct command *c, int operands, char **operand)
{
	char problem[512];
	if (kernel[0] && operands) {
		complain(c, "--run takes no program");
		return EXIT_BAD_INPUT;
	}
	if (kernel[0])
		return run_kernel(c);
	if (!operands) {
		complain(c, "a program is expected, as in: stallmeter simulate -- rdmsr 0x38f");
		return EXIT_BAD_INPUT;
	}
	if (!machine_name[0])
		machine_name = machine_simulate;
	struct stallmeter_sim *s = stallmeter_sim_open(machine_name, (unsigned)threads, problem, sizeof(problem));
	if (!s) {
		complain(c, "%s", problem);
		return EXIT_BAD_INPUT;
	}
	if (!kernel_mode && stallmeter_sim_user(s, 1) != STALLMETER_SIM_OK)
		complain(c, "%s runs all code at CPL 0", machine_name);
	char **program = calloc((size_t)operands + 1, sizeof(*program)); /* ends in NULL */
	int result = EXIT_BROKEN;
	if (program) {
		memcpy(program, operand, (size_t)operands * sizeof(*program));
		result = simulate(c, s, program);
	}
	free(program);
	stallmeter_sim_close(s);
	return result;
}

const struct command command_simulate = {
	"simulate", "-- PROGRAM [ARGUMENT...]", "Runs a program whose register accesses go to a simulated machine.",
	"The simulated machine answers all accesses of PROGRAM and of the programs that it starts to /dev/cpu/N/msr, /dev/cpu/N/cpuid and PCI\n"
	"configuration space (/proc/bus/pci, /sys/bus/pci), and their CPUID and RDPMC instructions, so rdmsr, wrmsr, likwid-perfctr and pcm run\n"
	"unchanged. Within PROGRAM, `stallmeter simulate --run KERNEL` runs a kernel on that machine under its counters, and prints the retired instructions:\n\n"
	"    stallmeter simulate -- likwid-perfctr -C 0 -g BRANCH stallmeter simulate --run k_add_chain\n\n"
	"Kernels: k_add_chain, k_chase and others without data of their own. The exit status is the program's.\n",
	simulate_options, simulate_command,
};
