; efi/processor/vectors.asm: exceptions and guarded calls. A fault that is recovered runs no C code, so no
; vector register has to be saved.
;
; All 256 vectors go to one routine. It finds its processor's struct core through GS (quiet_enter
; sets it) and, when a guarded call is running, returns into guarded_call as if the call had ended.
; That return is an IRETQ with a changed frame, which also unblocks NMIs.

%include "efi/processor/vectors.inc"

default rel
bits 64

; struct core, efi/processor/percpu.h
%define SELF       0
%define RECOVER    8
%define VECTOR     16
%define ERROR      24
%define IP         32
%define ADDRESS    40
%define RESULT     48
%define NMIS       56
%define ABANDON    64
%define INTERRUPTS 72
%define EOI        80
%define HAS_APIC   88
%define STRAY      96

%define DEADLINE   0xF1
%define MCG_STATUS 0x17A ; SDM vol. 4: MCIP (bit 2) must be cleared, or the next machine check shuts the processor down
%define X2APIC_EOI 0x80B

section .text
global guarded_call
global call_on_stack
global vector_entries
global op_rdmsr, op_wrmsr, op_rdpmc, op_rdtsc, op_cpuid, op_read, op_write
global debugger_wait, site_rdmsr, site_wrmsr, site_cpuid
extern fault_panic

; uint64_t guarded_call(core rdi, entry rsi, argument rdx, stack_top rcx)
guarded_call:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	sub rsp, 8
	stmxcsr [rsp]
	fnstcw [rsp + 4]
	mov rbx, rdi
	mov [rdi + RECOVER], rsp
	test rcx, rcx
	cmovnz rsp, rcx
	and rsp, -16
	mov rdi, rdx
	cld
	call rsi
	mov [rbx + RESULT], rax
	mov rsp, [rbx + RECOVER]
	mov qword [rbx + RECOVER], 0
	xor eax, eax
.back:
	ldmxcsr [rsp]
	fldcw [rsp + 4]
	add rsp, 8
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	ret
; The fault routine returns here with RSP = RECOVER and RFLAGS clear.
recovered:
	mov rbx, [gs:SELF]
	mov qword [rbx + RECOVER], 0
	fninit
	mov eax, 1
	jmp guarded_call.back

; void call_on_stack(stack_top rdi, function rsi, argument rdx)
call_on_stack:
	push rbx
	mov rbx, rsp
	mov rsp, rdi
	and rsp, -16
	mov rdi, rdx
	call rsi
	mov rsp, rbx
	pop rbx
	ret

align 16
vector_entries:
	VECTOR_ENTRIES 256, vector_common
vector_common:
	cld
	push rax
	push rbx
	mov rbx, [gs:SELF]
	; [rsp] rbx, [8] rax, [16] vector, [24] error, [32] rip, [40] cs, [48] rflags, [56] rsp, [64] ss
	mov eax, [rsp + 16]
	cmp eax, 2
	je .nmi
	cmp eax, 32
	jae .interrupt
.fault:
	cmp qword [rbx + RECOVER], 0
	je .panic
	cmp eax, 18
	jne .give_up
	push rcx
	push rdx
	mov ecx, MCG_STATUS
	xor eax, eax
	xor edx, edx
	wrmsr
	pop rdx
	pop rcx
.give_up:
	mov eax, [rsp + 16]
	mov [rbx + VECTOR], rax
	mov rax, [rsp + 24]
	mov [rbx + ERROR], rax
	mov rax, [rsp + 32]
	mov [rbx + IP], rax
	mov rax, cr2
	mov [rbx + ADDRESS], rax
	lea rax, [recovered]
	mov [rsp + 32], rax
	mov qword [rsp + 48], 2 ; RFLAGS: only the bit that is always set; IF, DF, TF, AC clear
	mov rax, [rbx + RECOVER]
	mov [rsp + 56], rax
.return:
	pop rbx
	pop rax
	add rsp, 16
	iretq
.nmi:
	inc qword [rbx + NMIS]
	cmp qword [rbx + ABANDON], 0
	je .return
	cmp qword [rbx + RECOVER], 0
	jne .give_up
	jmp .return
.interrupt:
	cmp qword [rbx + HAS_APIC], 0
	je .counted
	push rcx
	push rdx
	mov rcx, [rbx + EOI]
	test rcx, rcx
	jz .x2
	mov dword [rcx], 0
	jmp .ended
.x2:
	mov ecx, X2APIC_EOI
	xor eax, eax
	xor edx, edx
	wrmsr
.ended:
	pop rdx
	pop rcx
	mov eax, [rsp + 16]
	cmp eax, DEADLINE
	jne .counted
	cmp qword [rbx + RECOVER], 0
	jne .give_up
.counted:
	mov eax, [rsp + 16]
	mov [rbx + STRAY], rax
	inc qword [rbx + INTERRUPTS]
	jmp .return
.panic:
	mov rdi, rbx
	lea rsi, [rsp + 16]
	and rsp, -16
	call fault_panic

; uint32_t debugger_wait(void): waits until a debugger sets RAX, and returns it. The RIP that the debugger finds tells it our load address.
debugger_wait:
	xor eax, eax
.again:
	pause
	test eax, eax
	jz .again
	ret

; --- guarded entries: struct register_op { index, value, subindex, more } in rdi ----------------
op_rdmsr:
	mov ecx, [rdi]
site_rdmsr:
	rdmsr
	shl rdx, 32
	or rax, rdx
	mov [rdi + 8], rax
	ret
op_wrmsr:
	mov ecx, [rdi]
	mov eax, [rdi + 8]
	mov edx, [rdi + 12]
site_wrmsr:
	wrmsr
	ret
op_rdpmc:
	mov ecx, [rdi]
	rdpmc
	shl rdx, 32
	or rax, rdx
	mov [rdi + 8], rax
	ret
op_rdtsc:
	rdtsc
	shl rdx, 32
	or rax, rdx
	mov [rdi + 8], rax
	ret
op_cpuid:
	push rbx
	mov eax, [rdi]
	mov ecx, [rdi + 16]
site_cpuid:
	cpuid
	mov [rdi + 8], eax
	mov [rdi + 12], ebx
	mov [rdi + 24], ecx
	mov [rdi + 28], edx
	pop rbx
	ret
op_read:
	mov rsi, [rdi]
	mov rcx, [rdi + 24]
	xor eax, eax
	cmp ecx, 8
	je .q
	cmp ecx, 4
	je .d
	cmp ecx, 2
	je .w
	mov al, [rsi]
	jmp .done
.w:	mov ax, [rsi]
	jmp .done
.d:	mov eax, [rsi]
	jmp .done
.q:	mov rax, [rsi]
.done:
	mov [rdi + 8], rax
	ret
op_write:
	mov rsi, [rdi]
	mov rcx, [rdi + 24]
	mov rax, [rdi + 8]
	cmp ecx, 8
	je .q
	cmp ecx, 4
	je .d
	cmp ecx, 2
	je .w
	mov [rsi], al
	ret
.w:	mov [rsi], ax
	ret
.d:	mov [rsi], eax
	ret
.q:	mov [rsi], rax
	ret

section .note.GNU-stack noalloc noexec nowrite progbits
