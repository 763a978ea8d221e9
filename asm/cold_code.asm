; asm/cold_code.asm: code written at run time, in samples that begin and end with a cold wrapper.

; uint64_t k_run_code_cold(const void *code /* rdi */, uint64_t iterations /* rsi */, void *pointer /* rdx */, struct measure_block *block /* rcx */)
;   CLFLUSH the line of the return address and those of the block up to the first counts before; MFENCE; then as k_run_code; LFENCE
; For curves through memory, as k_chase_cold for chases: only the longer run evicts lines of the wrapper from a small last level;
; the wrapper would load them from memory again, which adds the time of one iteration in 32.
KERNEL k_run_code_cold, 0, 4, 0, 0, 0, 12, 1
%assign step 0
%rep 6
	clflush [rcx + step]
%assign step step + 64
%endrep
	clflush [rsp]
	mfence
	lea r11, [.back]
	LOOP_ALIGN
.loop:
	jmp rdi
.back:
	dec rsi
	jnz .loop
	lfence
	ret
	jmp r11
ENDKERNEL k_run_code_cold
