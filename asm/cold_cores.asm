; asm/cold_cores.asm: chases of lines held by other cores, or beside other active cores, with a cold wrapper.

; CLFLUSH the line of the return address and those of the block %1 up to the first counts before; MFENCE. 8 instructions
%macro FLUSH_WRAPPER 1
%assign step 0
%rep 6
	clflush [%1 + step]
%assign step step + 64
%endrep
	clflush [rsp]
	mfence
%endmacro

; uint64_t k_chase_open(void *start /* rdi */, uint64_t iterations /* rsi */, struct measure_block *block /* rdx */)
;   as k_chase_cold, but the lines are loaded and flushed again before the chase
; For a few loads that memory does not answer: in all samples these lines are memory's last requests, in the same order, so
; its pages are equally open when the wrapper requests them again.
KERNEL k_chase_open, 0, 18, 16, 0, 128, 28, 1
	FLUSH_WRAPPER rdx
	mov rax, [rsp]
%assign step 0
%rep 6
	mov rax, [rdx + step]
%assign step step + 64
%endrep
	mfence
	FLUSH_WRAPPER rdx
	mov rax, rdi
	CHASE
	lfence
	ret
ENDKERNEL k_chase_open

; uint64_t k_chase_stop_cold(void *start /* rdi */, uint64_t iterations /* rsi */, uint64_t *flag /* rdx */, uint64_t token /* rcx */,
;                            struct measure_block *block /* r8 */)
;   flushes the wrapper's lines, then as k_chase_stop: what other cores bring in during the longer run evicts them from a small
;   last level, and in the shorter run does not
KERNEL k_chase_stop_cold, 0, 34, 16, 0, 128, 12, 1
	FLUSH_WRAPPER r8
	CHASE_STOP
ENDKERNEL k_chase_stop_cold
