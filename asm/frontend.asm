; asm/frontend.asm: the cost of the path from bytes to uops.

; uint64_t k_run_code(const void *code /* rdi */, uint64_t iterations /* rsi */, void *pointer /* rdx */)
;   for each iteration: jump to code, which jumps back to r11
; For code written at run time (bench/measure/codegen.h). The jump back is the least that such code can be:
; with it there are 4 instructions an iteration.
KERNEL k_run_code, 0, 4, 0, 0, 0, 3, 1
	lea r11, [.back]
	LOOP_ALIGN
.loop:
	jmp rdi
.back:
	dec rsi
	jnz .loop
	ret
	jmp r11
ENDKERNEL k_run_code

; %1 name, %2 instruction with a two- or a four-byte immediate.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: 64 times: add a constant to ecx (or cx)
; Prefix 66 before an opcode with a 16-bit immediate changes the instruction's length, which the predecoder detects
; late. 64 of them exceed every loop buffer. 66 instructions.
%macro PREFIXES 2+
KERNEL %1, 0, 66, 0, 0, 0, 3, 0
	xor ecx, ecx
	LOOP_ALIGN
.loop:
%rep 64
	%2
%endrep
	dec rdi
	jnz near .loop
	ret
ENDKERNEL %1
%endmacro
PREFIXES k_lcp, add cx, 0x1234
PREFIXES k_lcp_base, add ecx, 0x12345678
