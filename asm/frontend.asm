; asm/frontend.asm: the cost of the path from bytes to uops.

; uint64_t k_run_code(const void *code /* rdi */, uint64_t iterations /* rsi */, void *pointer /* rdx */)
;   for each iteration: jump to code, which jumps back to r11
; For code written at run time (bench/measure/codegen.h). The shortest such code is the jump back alone:
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
