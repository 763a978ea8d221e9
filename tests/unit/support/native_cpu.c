#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "asm/kernel.h"
#include "pmu/access.h"
#include "tests/unit/support/native_cpu.h"

/* XSAVE's standard format (SDM vol. 1, 13.4): legacy 512 bytes, header 64, upper halves of YMM at 576. */
struct xsave {
	uint16_t fcw, fsw;
	uint8_t ftw, pad0;
	uint16_t fop;
	uint64_t fip, fdp;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[8][16];
	uint64_t xmm[16][2];
	uint8_t pad1[96];
	uint64_t header[8];
	uint64_t ymm_high[16][2];
	uint8_t pad2[256];
} __attribute__((aligned(64)));

/* The assembly below refers to these by name. */
struct xsave judge_guest, judge_host;
uint64_t judge_gpr[16], judge_flags, judge_entry, judge_host_rsp, judge_which, judge_mask;

__asm__(
	".text\n"
	".globl judge_enter\n.type judge_enter, @function\n"
	"judge_enter:\n"
	"	push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n	push %r15\n"
	"	mov judge_mask(%rip), %eax\n	xor %edx, %edx\n"
	"	xsave judge_host(%rip)\n"
	"	mov judge_mask(%rip), %eax\n	xor %edx, %edx\n"
	"	xrstor judge_guest(%rip)\n"
	"	mov %rsp, judge_host_rsp(%rip)\n"
	"	push judge_flags(%rip)\n"
	"	mov 0+judge_gpr(%rip), %rax\n	mov 8+judge_gpr(%rip), %rcx\n	mov 16+judge_gpr(%rip), %rdx\n"
	"	mov 24+judge_gpr(%rip), %rbx\n	mov 40+judge_gpr(%rip), %rbp\n	mov 48+judge_gpr(%rip), %rsi\n"
	"	mov 56+judge_gpr(%rip), %rdi\n	mov 64+judge_gpr(%rip), %r8\n	mov 72+judge_gpr(%rip), %r9\n"
	"	mov 80+judge_gpr(%rip), %r10\n	mov 88+judge_gpr(%rip), %r11\n	mov 96+judge_gpr(%rip), %r12\n"
	"	mov 104+judge_gpr(%rip), %r13\n	mov 112+judge_gpr(%rip), %r14\n	mov 120+judge_gpr(%rip), %r15\n"
	"	popfq\n"
	"	mov 32+judge_gpr(%rip), %rsp\n"
	"	jmp *judge_entry(%rip)\n"
	".globl judge_exit_1\n"
	"judge_exit_1:\n	movq $1, judge_which(%rip)\n	jmp 1f\n"
	".globl judge_exit_0\n"
	"judge_exit_0:\n	movq $0, judge_which(%rip)\n"
	"1:	mov %rsp, 32+judge_gpr(%rip)\n	mov judge_host_rsp(%rip), %rsp\n"
	"	pushfq\n	pop judge_flags(%rip)\n	cld\n"
	"	mov %rax, 0+judge_gpr(%rip)\n	mov %rcx, 8+judge_gpr(%rip)\n	mov %rdx, 16+judge_gpr(%rip)\n"
	"	mov %rbx, 24+judge_gpr(%rip)\n	mov %rbp, 40+judge_gpr(%rip)\n	mov %rsi, 48+judge_gpr(%rip)\n"
	"	mov %rdi, 56+judge_gpr(%rip)\n	mov %r8, 64+judge_gpr(%rip)\n	mov %r9, 72+judge_gpr(%rip)\n"
	"	mov %r10, 80+judge_gpr(%rip)\n	mov %r11, 88+judge_gpr(%rip)\n	mov %r12, 96+judge_gpr(%rip)\n"
	"	mov %r13, 104+judge_gpr(%rip)\n	mov %r14, 112+judge_gpr(%rip)\n	mov %r15, 120+judge_gpr(%rip)\n"
	"	mov judge_mask(%rip), %eax\n	xor %edx, %edx\n"
	"	xsave judge_guest(%rip)\n"
	"	mov judge_mask(%rip), %eax\n	xor %edx, %edx\n"
	"	xrstor judge_host(%rip)\n"
	"	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n	pop %rbp\n	pop %rbx\n"
	"	ret\n"
	".size judge_enter, . - judge_enter\n");
extern void judge_enter(void);
extern char judge_exit_0[], judge_exit_1[];

static sigjmp_buf back;
static volatile sig_atomic_t running;

static void caught(int signal_number)
{
	if (!running)
		_exit(100 + signal_number);
	siglongjmp(back, signal_number);
}

bool judge_has_avx(void)
{
	return __builtin_cpu_supports("avx");
}

bool judge_has(uint32_t isa)
{
	return !((isa & ISA_SSE41 && !__builtin_cpu_supports("sse4.1")) || (isa & ISA_AVX && !__builtin_cpu_supports("avx"))
	      || (isa & ISA_AVX2 && !__builtin_cpu_supports("avx2")) || (isa & ISA_FMA && !__builtin_cpu_supports("fma"))
	      || (isa & ISA_AVX512 && !__builtin_cpu_supports("avx512dq")) || (isa & ISA_SSSE3 && !__builtin_cpu_supports("ssse3"))
	      || (isa & ISA_POPCNT && !__builtin_cpu_supports("popcnt")));
}

bool judge_open(void)
{
	stack_t stack = {.ss_size = 1 << 16};

	if (mmap((void *)NATIVE_CODE, NATIVE_CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED
	 || mmap((void *)NATIVE_DATA, NATIVE_DATA_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED)
		return false;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	judge_mask = judge_has_avx() ? 7 : 3;
	return true;
}

void judge_catch(void)
{
	static const int signals[] = {SIGILL, SIGSEGV, SIGBUS, SIGFPE, SIGTRAP};
	struct sigaction action = {.sa_handler = caught, .sa_flags = SA_ONSTACK | SA_NODEFER};
	unsigned i;

	for (i = 0; i < COUNT_OF(signals); i++)
		sigaction(signals[i], &action, NULL);
}

void judge_exit_stub(uint8_t *at, unsigned which)
{
	static const uint8_t jump[6] = {0xFF, 0x25};
	const char *to = which ? judge_exit_1 : judge_exit_0;

	memcpy(at, jump, 6);
	memcpy(at + 6, &to, 8);
}

unsigned judge_exit(void)
{
	return (unsigned)judge_which;
}

int judge_run(struct hart_regs *regs)
{
	struct x87 *x = &regs->x87;
	unsigned i, top = x->status >> 11 & 7;
	int stopped;

	memset(&judge_guest, 0, sizeof(judge_guest));
	judge_guest.header[0] = judge_mask;
	judge_guest.fcw = x->control;
	judge_guest.fsw = x->status;
	judge_guest.mxcsr = regs->mxcsr;
	for (i = 0; i < 8; i++) {
		unsigned k = (top + i) & 7;

		if ((x->tag >> 2 * k & 3) != 3)
			judge_guest.ftw |= (uint8_t)(1u << k);
		memcpy(judge_guest.st[i], &x->mantissa[k], 8);
		memcpy(judge_guest.st[i] + 8, &x->exponent[k], 2);
	}
	for (i = 0; i < 16; i++) {
		memcpy(judge_guest.xmm[i], regs->vec[i], 16);
		memcpy(judge_guest.ymm_high[i], regs->vec[i] + 2, 16);
	}
	memcpy(judge_gpr, regs->gpr, sizeof(judge_gpr));
	judge_flags = regs->rflags;
	judge_entry = regs->rip;
	stopped = sigsetjmp(back, 1);
	if (stopped) {
		running = 0;
		return stopped;
	}
	running = 1;
	judge_enter();
	running = 0;
	memcpy(regs->gpr, judge_gpr, sizeof(judge_gpr));
	regs->rflags = judge_flags;
	regs->mxcsr = judge_guest.mxcsr;
	x->control = judge_guest.fcw;
	x->status = judge_guest.fsw;
	top = x->status >> 11 & 7;
	x->tag = 0;
	for (i = 0; i < 8; i++) {
		unsigned k = (top + i) & 7;

		if (!(judge_guest.ftw >> k & 1))
			x->tag |= (uint16_t)(3u << 2 * k);
		memcpy(&x->mantissa[k], judge_guest.st[i], 8);
		memcpy(&x->exponent[k], judge_guest.st[i] + 8, 2);
	}
	for (i = 0; i < 16; i++) {
		memcpy(regs->vec[i], judge_guest.xmm[i], 16);
		if (judge_mask & 4)
			memcpy(regs->vec[i] + 2, judge_guest.ymm_high[i], 16);
	}
	return 0;
}
