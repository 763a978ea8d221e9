; asm/flush.asm: what a stream in memory is to visit leaves the caches, by few instructions. The loop is asm/visit.asm's.

; uint64_t k_visit_flush_16(void *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration: CLFLUSH the 16 lines from a + at; at = (at + 1024) & mask;  MFENCE; return at. 20 instructions.
; Arrays as in asm/stream.asm, of at least 1024 bytes; `at` is a multiple of 1024.
%assign STREAM_STEP 1024
VISIT_FLUSH k_visit_flush_16, 16
%assign STREAM_STEP 0
