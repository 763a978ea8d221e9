; asm/flush.asm: flushes the lines that a stream in memory will visit, in few instructions.

; uint64_t k_warm_flush(void *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration: CLFLUSH the 16 lines from a + at; at = (at + 1024) & mask;  MFENCE; return at. 20 instructions.
; Arrays as in asm/stream.asm, of at least 1024 bytes; `at` is a multiple of 1024.
%assign STREAM_STEP 1024
KERNEL k_warm_flush, 0, 20, 0, 0, 0, 4, 3
	LOOP_ALIGN
.loop:
%assign step 0
%rep 16
	clflush [rdi + r9 + step]
%assign step step + 64
%endrep
	STREAM_NEXT
	mfence
	mov rax, r9
	ret
ENDKERNEL k_warm_flush
%assign STREAM_STEP 0
