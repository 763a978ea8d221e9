; asm/measure.asm: the measuring wrapper. Contract and layout of the block: asm/kernel.h.
;
; uint64_t k_measure(struct measure_block *block /* rdi */);
;
;   for i in 0..counters: before[i] = rdpmc(index[i])
;   tsc_before = rdtsc; serialise
;   result = kernel(argument[0..5])
;   serialise; tsc_after = rdtsc
;   for i in 0..counters: after[i] = rdpmc(index[i])
;
; It uses callee-saved RBX, RBP, R12 and saves them on the stack: unlike kernels, it is called from C.
; LFENCE waits until all earlier instructions have completed (SDM vol. 2, LFENCE); where it is not documented to
; (Pentium 4, early Core 2), CPUID serialises (SDM vol. 3, 8.3).

%define MB_KERNEL     0
%define MB_ARGUMENT   8
%define MB_COUNTERS   56
%define MB_SERIALISE  64
%define MB_RESULT     72
%define MB_TSC_BEFORE 80
%define MB_TSC_AFTER  88
%define MB_INDEX      96
%define MB_BEFORE     (96 + 8 * 24)
%define MB_AFTER      (96 + 16 * 24)
%define MB_GATE       (96 + 24 * 24)

; Entry of a wrapper, which puts the block in RBP, and its return.
%macro WRAPPER 0
	push rbx
	push rbp
	push r12
	mov rbp, rdi
%endmacro
%macro WRAPPER_RETURN 0
	pop r12
	pop rbp
	pop rbx
	ret
%endmacro
; The kernel's six arguments, from %1 + %2 on.
%macro ARGUMENTS 2
	mov rdi, [%1 + %2]
	mov rsi, [%1 + %2 + 8]
	mov rdx, [%1 + %2 + 16]
	mov rcx, [%1 + %2 + 24]
	mov r8,  [%1 + %2 + 32]
	mov r9,  [%1 + %2 + 40]
%endmacro

%macro SERIALISE 0
	mfence
	cmp qword [rbp + MB_SERIALISE], 0
	jne %%cpuid
	lfence
	jmp %%done
%%cpuid:
	xor eax, eax
	xor ecx, ecx
	cpuid
%%done:
%endmacro

; Reads every counter of the block's list into the array at offset %1 of the block.
%macro READ_COUNTERS 1
	xor r12d, r12d
	jmp %%test
%%next:
	mov ecx, [rbp + r12 * 8 + MB_INDEX]
	rdpmc
	shl rdx, 32
	or rax, rdx
	mov [rbp + r12 * 8 + %1], rax
	inc r12
%%test:
	cmp r12, [rbp + MB_COUNTERS]
	jb %%next
%endmacro

; The code before the call of the kernel, with its arguments in place, and the code after it.
%macro MEASURE_BEGIN 0
	WRAPPER
	SERIALISE
	READ_COUNTERS MB_BEFORE
	rdtsc
	shl rdx, 32
	or rax, rdx
	mov [rbp + MB_TSC_BEFORE], rax
	SERIALISE
	ARGUMENTS rbp, MB_ARGUMENT
%endmacro

%macro MEASURE_END 0
	mov r8, rax
	SERIALISE
	rdtsc
	shl rdx, 32
	or rax, rdx
	mov r9, rax
	READ_COUNTERS MB_AFTER
	mov [rbp + MB_RESULT], r8
	mov [rbp + MB_TSC_AFTER], r9
	mov rax, r8
	WRAPPER_RETURN
%endmacro

KERNEL k_measure, 0, 0, 0, 0, 0, 0, 0
	MEASURE_BEGIN
	call [rbp + MB_KERNEL]
	MEASURE_END
ENDKERNEL k_measure
