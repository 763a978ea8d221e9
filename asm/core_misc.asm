; asm/core_misc.asm: more core-internal work: divides of other units, flushed denormals, microcode between
; ordinary instructions, code that mixes SSE and AVX. Uses macros and operands of arith.asm.

INDEPENDENT_SD k_sqrtsd_indep_easy, sqrtsd, ONE, ONE

; uint64_t k_fp_assist_flushed(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   buffer[0] = MXCSR; MXCSR |= FTZ (bit 15), DAZ (bit 6); for each iteration: 8 times x = smallest normal number / 2;
;   MXCSR = buffer[0]
; The products of k_fp_assist, which are now zero. 18 instructions.
KERNEL k_fp_assist_flushed, 0, 18, 0, 0, 0, 12, 1
	stmxcsr [rdi]
	mov eax, [rdi]
	or eax, 0x8040
	mov [rdi + 4], eax
	ldmxcsr [rdi + 4]
	mov rax, SMALLEST
	movq xmm8, rax
	mov rax, HALF
	movq xmm9, rax
	LOOP_ALIGN
.loop:
%assign product 0
%rep 8
	UNIT
	movapd xmm %+ product, xmm8
	mulsd xmm %+ product, xmm9
%assign product product + 1
%endrep
	dec rsi
	jnz .loop
	ldmxcsr [rdi]
	ret
ENDKERNEL k_fp_assist_flushed

CHAIN_DIV k_div32_chain_easy, eax, r8d, r9d, 1, 1
CHAIN_DIV k_div32_chain_hard, eax, r8d, r9d, 0x7FFFFFFF, 3

; %1 name, %2 accumulator, %3 register of the dividend, %4 of the divisor, %5 dividend, %6 divisor: 4 divisions an iteration,
; each of fresh operands: MOV, because not every core recognises that XOR of a register with itself does not depend on it.
; uint64_t %1(uint64_t iterations /* rdi */)
; 14 instructions.
%macro INDEPENDENT_DIV 6
KERNEL %1, 0, 14, 0, 0, 0, 4, 0
	mov %3, %5
	mov %4, %6
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	mov %2, %3
	mov edx, 0
	div %4
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
INDEPENDENT_DIV k_div32_indep_easy, eax, r8d, ecx, 1, 1
INDEPENDENT_DIV k_div32_indep_hard, eax, r8d, ecx, 0x7FFFFFFF, 3
INDEPENDENT_DIV k_div64_indep_easy, rax, r8, rcx, 1, 1
INDEPENDENT_DIV k_div64_indep_hard, rax, r8, rcx, 0x7FFFFFFFFFFFFFFF, 3

; uint64_t k_fdiv_chain_easy(uint64_t iterations /* rdi */)
;   x = 1, y = 1; for each iteration: 8 times: x = y / x
; Leaves the x87 stack empty. 10 instructions.
CHAIN_FDIV k_fdiv_chain_easy, fld1, fld1

; %1 name, %2 load of the constant, %3 operation on st0.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   buffer[0] = the constant; for each iteration: 8 times: load buffer[0], operate, store to buffer[1] and pop
; The copy is loaded from and stored to memory: stack moves would take the port that the operation needs.
; 26 instructions.
%macro INDEPENDENT_X87 3+
KERNEL %1, 0, 26, 8, 8, 128, 4, 1
	%2
	fstp qword [rdi]
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	fld qword [rdi]
	%3
	fstp qword [rdi + 8]
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
INDEPENDENT_X87 k_fsqrt_indep_easy, fld1, fsqrt
INDEPENDENT_X87 k_fsqrt_indep_hard, fldpi, fsqrt

; %1 name, %2 load of the dividend, %3 of the divisor.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   buffer[0] = x, y on the stack; for each iteration: 8 times: load x, y / x, store to buffer[1] and pop
; Leaves the x87 stack empty. 26 instructions.
%macro INDEPENDENT_FDIV 3
KERNEL %1, 0, 26, 8, 8, 128, 6, 1
	%3
	fstp qword [rdi]
	%2
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	fld qword [rdi]
	fdivr st0, st1
	fstp qword [rdi + 8]
%endrep
	dec rsi
	jnz .loop
	fstp st0
	ret
ENDKERNEL %1
%endmacro
INDEPENDENT_FDIV k_fdiv_indep_easy, fld1, fld1
INDEPENDENT_FDIV k_fdiv_indep_hard, fldpi, fldl2e

; uint64_t k_fsqrt_chain_easy(uint64_t iterations /* rdi */)
;   x = 1; for each iteration: 8 times: x = sqrt(x)
; Leaves the x87 stack empty. 10 instructions.
KERNEL k_fsqrt_chain_easy, 0, 10, 0, 0, 0, 4, 0
	fld1
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	fsqrt
%endrep
	dec rdi
	jnz .loop
	fstp st0
	ret
ENDKERNEL k_fsqrt_chain_easy

; uint64_t k_fsqrt_chain_hard(uint64_t iterations /* rdi */)
;   x = pi; for each iteration: 8 times: x = sqrt(x), x = x * x
; The square brings the operand of the next root back to about pi. Leaves the x87 stack empty. 18 instructions.
KERNEL k_fsqrt_chain_hard, 0, 18, 0, 0, 0, 4, 0
	fldpi
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	fsqrt
	fmul st0, st0
%endrep
	dec rdi
	jnz .loop
	fstp st0
	ret
ENDKERNEL k_fsqrt_chain_hard

; %1 name, %2 instruction.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 8 times: %2, three NOPs
; CLD is microcode on all processors of the Core family, and has no effect here. 34 instructions.
%macro MICROCODE 2
KERNEL %1, 0, 34, 0, 0, 0, 2, 0
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	%2
	nop
	nop
	nop
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
MICROCODE k_microcode_switch, cld
MICROCODE k_microcode_switch_base, nop

; %1 name, %2 encoding of every second instruction.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 4 times: an OR of 32 bytes, an OR of 16 bytes
; With the legacy encoding the processor alternates between dirty and saved upper halves: two transitions. With VEX
; none. 10 instructions.
%macro TRANSITION 2+
KERNEL %1, ISA_AVX, 10, 0, 0, 0, 3, 0
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	vorps ymm0, ymm1, ymm1
	UNIT
	%2
%endrep
	dec rdi
	jnz .loop
	vzeroupper
	ret
ENDKERNEL %1
%endmacro
TRANSITION k_avx_transition, orps xmm2, xmm11
TRANSITION k_avx_transition_base, vorps xmm2, xmm2, xmm11
