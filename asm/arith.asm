; asm/arith.asm: long operations, dependent and independent, with easy and hard operands, and whatever
; disturbs the execution units. Operands are immediate: no buffer.

%define ONE        0x3FF0000000000000 ; 1.0
%define HALF       0x3FE0000000000000 ; 0.5
%define PI         0x400921FB54442D18 ; 3.14159...: no short quotient
%define NEAR_ONE   0x3FF0000000000123 ; 1 + 291 * 2^-52: dividing by it again and again stays near
%define SMALLEST   0x0010000000000000 ; the smallest normal number, 2^-1022

; %1 name, %2 operation, %3 first operand, %4 second operand: 8 dependent operations an iteration.
; uint64_t %1(uint64_t iterations /* rdi */)
;   x = %3, y = %4; for each iteration: 8 times x = x %2 y
; 10 instructions.
%macro CHAIN_SD 4
KERNEL %1, 0, 10, 0, 0, 0, 6, 0
	mov rax, %3
	movq xmm0, rax
	mov rax, %4
	movq xmm1, rax
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	%2 xmm0, xmm1
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
CHAIN_SD k_divsd_chain_easy, divsd, ONE, ONE
CHAIN_SD k_divsd_chain_hard, divsd, PI, NEAR_ONE
CHAIN_SD k_addsd_chain, addsd, ONE, HALF
CHAIN_SD k_mulsd_chain, mulsd, ONE, ONE

; %1 name, %2 first operand. As CHAIN_SD with x = sqrt(x), of 1.0: easy.
%macro CHAIN_SQRT 2
KERNEL %1, 0, 10, 0, 0, 0, 4, 0
	mov rax, %2
	movq xmm0, rax
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	sqrtsd xmm0, xmm0
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
CHAIN_SQRT k_sqrtsd_chain_easy, ONE

; uint64_t k_sqrtsd_chain_hard(uint64_t iterations /* rdi */)
;   x = pi; for each iteration: 8 times: x = sqrt(x), then x = x AND 0 OR pi
; Repeated roots converge to 1.0, so each starts afresh; the two logic operations make it depend on the
; previous one. 26 instructions.
KERNEL k_sqrtsd_chain_hard, 0, 26, 0, 0, 0, 6, 0
	mov rax, PI
	movq xmm0, rax
	movapd xmm1, xmm0
	xorps xmm2, xmm2
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	sqrtsd xmm0, xmm0
	andps xmm0, xmm2
	orps xmm0, xmm1
%endrep
	LOOP_END rdi
ENDKERNEL k_sqrtsd_chain_hard

; %1 name, %2 operation, %3 and %4 operands: 8 independent operations an iteration.
; uint64_t %1(uint64_t iterations /* rdi */)
; 18 instructions: each operation starts from a fresh copy.
%macro INDEPENDENT_SD 4
KERNEL %1, 0, 18, 0, 0, 0, 6, 0
	mov rax, %3
	movq xmm8, rax
	mov rax, %4
	movq xmm9, rax
	LOOP_ALIGN
.loop:
%assign %%i 0
%rep 8
	UNIT
	movapd xmm %+ %%i, xmm8
	%2 xmm %+ %%i, xmm9
%assign %%i %%i + 1
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
INDEPENDENT_SD k_divsd_indep_easy, divsd, ONE, ONE
INDEPENDENT_SD k_divsd_indep_hard, divsd, PI, NEAR_ONE
INDEPENDENT_SD k_sqrtsd_indep_hard, sqrtsd, ONE, PI
; A product below the smallest normal number: each needs a microcode assist unless denormals are flushed.
; The baseline's product is a normal number.
INDEPENDENT_SD k_fp_assist, mulsd, SMALLEST, HALF
INDEPENDENT_SD k_fp_assist_base, mulsd, ONE, HALF

; %1 name, %2 accumulator, %3 register of the dividend, %4 of the divisor, %5 dividend, %6 divisor: 4 dependent unsigned divisions, of 128 by
; 64 bits or of 64 by 32.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 4 times: accumulator = (accumulator | dividend) / divisor
; 14 instructions.
%macro CHAIN_DIV 6
KERNEL %1, 0, 14, 0, 0, 0, 5, 0
	mov %3, %5
	mov %4, %6
	xor eax, eax
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	or %2, %3
	xor edx, edx
	div %4
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
CHAIN_DIV k_div64_chain_easy, rax, r8, rcx, 1, 1
CHAIN_DIV k_div64_chain_hard, rax, r8, rcx, 0x7FFFFFFFFFFFFFFF, 3

; uint64_t k_fdiv_chain(uint64_t iterations /* rdi */)
;   x = log2(e), y = pi; for each iteration: 8 times: x = y / x
; x87, dependent; both values that x alternates between have long quotients. Leaves the x87 stack empty.
; 10 instructions.
%macro CHAIN_FDIV 3 ; name, loads of y and x
KERNEL %1, 0, 10, 0, 0, 0, 6, 0
	%2
	%3
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	fdivr st0, st1
%endrep
	dec rdi
	jnz .loop
	fstp st0
	fstp st0
	ret
ENDKERNEL %1
%endmacro
CHAIN_FDIV k_fdiv_chain, fldpi, fldl2e

; %1 name, %2 instruction before the ADC.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 8 times: r8 -= 1, keeping the carry (DEC) or not (SUB); rax += carry
; DEC writes all flags but the carry, so the following ADC reads flags of two producers. 18 instructions.
%macro PARTIAL_FLAGS 2+
KERNEL %1, 0, 18, 0, 0, 0, 4, 0
	xor eax, eax
	mov r8, -1
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	%2
	adc rax, 0
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
PARTIAL_FLAGS k_partial_flags, dec r8
PARTIAL_FLAGS k_partial_flags_base, sub r8, 1

; %1 name, %2 to %5 pairs of registers.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 4 times: four comparisons of two registers each
; No register but the counter is ever written, so all values are read from the register file. Four comparisons of eight
; registers need more read ports than processors before Sandy Bridge have; those of two registers do not. 18 instructions.
%macro READ_PORTS 5
KERNEL %1, 0, 18, 0, 0, 0, 2, 0
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	cmp %2
	UNIT
	cmp %3
	UNIT
	cmp %4
	UNIT
	cmp %5
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
READ_PORTS k_read_ports, {rax, rcx}, {rdx, rsi}, {r8, r9}, {r10, r11}
READ_PORTS k_read_ports_base, {rax, rcx}, {rax, rcx}, {rax, rcx}, {rax, rcx}

; %1 name, %2 instruction that writes part or all of RAX.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 8 times: write AH (or EAX); ecx = eax
; The move reads a register whose parts have two producers. 18 instructions.
%macro PARTIAL_REGISTER 2+
KERNEL %1, 0, 18, 0, 0, 0, 3, 0
	xor eax, eax
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	%2
	mov ecx, eax
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
PARTIAL_REGISTER k_partial_register, mov ah, 1
PARTIAL_REGISTER k_partial_register_base, mov eax, 1

; %1 name, %2 logic instruction.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 8 times: x = x + 0.0; x = x | 0, or + 0 as integers
; The addition works in the floating-point domain, PADDD (of zeros) in the integer domain, ORPS in the former.
; The difference per operation is two domain crossings. 18 instructions.
%macro BYPASS 2
KERNEL %1, 0, 18, 0, 0, 0, 5, 0
	xorps xmm0, xmm0
	xorps xmm1, xmm1
	xorps xmm2, xmm2
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	addps xmm0, xmm1
	UNIT
	%2 xmm0, xmm2
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
BYPASS k_bypass_delay, paddd
BYPASS k_bypass_delay_base, orps

; %1 name, %2 bits in which the second control word differs, %3 load instruction, %4 store instruction, %5 bytes an iteration, %6 address of the first one.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   buffer[0] = control word; buffer[4] = control word XOR %2; for each iteration: 4 times: load buffer[4],
;   load buffer[0]; finally load buffer[0] again, which restores the word
; 10 instructions.
%macro CONTROL_WORD 6
KERNEL %1, 0, 10, 8, 0, %5, 7, 1
	%4 [rdi]
	mov eax, [rdi]
	xor eax, %2
	mov [rdi + 4], eax
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	%3 [rdi + 4]
	UNIT
	%3 [%6]
%endrep
	dec rsi
	jnz .loop
	%3 [rdi]
	ret
ENDKERNEL %1
%endmacro
CONTROL_WORD k_mxcsr_change, 0x6000, ldmxcsr, stmxcsr, 32, byte rdi ; rounding control, MXCSR[14:13]
CONTROL_WORD k_mxcsr_same, 0, ldmxcsr, stmxcsr, 32, byte rdi
CONTROL_WORD k_fpcw_change, 0x0C00, fldcw, fnstcw, 16, rdi ; rounding control, FPCW[11:10]
CONTROL_WORD k_fpcw_same, 0, fldcw, fnstcw, 16, rdi

; uint64_t k_control_base(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration: 4 times: load 4 bytes at buffer[4], load 4 bytes at buffer[0]
; The baseline of the four above: as many independent loads. 10 instructions.
KERNEL k_control_base, 0, 10, 8, 0, 32, 2, 1
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	mov eax, [rdi + 4]
	UNIT
	mov ecx, [rdi]
%endrep
	LOOP_END rsi
ENDKERNEL k_control_base
