; asm/study.asm: a small program whose loops, branches and calls are known exactly, observed through
; PEBS records and last-branch records.

; uint64_t k_known_program(const uint8_t *choices /* rdi */, uint64_t iterations /* rsi */, uint64_t frozen /* rdx */)
;   for each iteration, c = choices[iteration] in 0 .. 3:
;     a counted loop of c + 1 iterations, one of 4 - c; rax += c odd ? 3 : 1; call a routine with c in rcx,
;     which does rax += c
;   if (frozen bits 63:32) MSR frozen bits 63:32 = frozen bits 31:0
; 30 instructions an iteration for every c. The write freezes the last-branch records (pmu/core/lbr.h,
; lbr_frozen): the code that returns to the caller would otherwise push the loop's records out. It
; needs ring 0; the caller has put the register on its list of registers to restore. Uses 8 bytes of stack.
KERNEL k_known_program, 0, 30, 2, 1, 17, 6, 1
	xor eax, eax
	LOOP_ALIGN
.loop:
	movzx ecx, byte [rdi + rsi - 1]
	lea r9, [dword rcx + 1]
	xor r10d, r10d
.first:
	add r10, 1
	cmp r10, r9
	jb .first
	mov r9d, 4
	sub r9, rcx
	xor r10d, r10d
.second:
	add r10, 1
	cmp r10, r9
	jb .second
	test ecx, 1
	jz .even
	add rax, 3
	jmp .join
.even:
	add rax, 1
	nop
.join:
	call .routine
	dec rsi
	jnz .loop
	mov rcx, rdx
	shr rcx, 32
	jz .done
	mov r8, rax
	mov eax, edx
	xor edx, edx
	wrmsr
	mov rax, r8
.done:
	ret
align 64, db 0xCC
.routine:
	add rax, rcx
	ret
ENDKERNEL k_known_program
