; asm/flush_wrapper.asm: a chase with a cold wrapper.

; uint64_t k_chase_cold(void *start /* rdi */, uint64_t iterations /* rsi */, struct measure_block *block /* rdx */)
;   CLFLUSH the line of the return address and those of the block up to the first counts before; MFENCE; then as k_chase; LFENCE
; Small caches evict lines of the wrapper in the longer run but not in the shorter one, and one more load from memory in a
; thousand is most of a small penalty. So the lines are flushed for both runs; the LFENCE keeps the wrapper from requesting
; them while a short chase is still in flight.
KERNEL k_chase_cold, 0, 18, 16, 0, 128, 12, 1
%assign step 0
%rep 6
	clflush [rdx + step]
%assign step step + 64
%endrep
	clflush [rsp]
	mfence
	mov rax, rdi
	CHASE
	lfence
	ret
ENDKERNEL k_chase_cold
