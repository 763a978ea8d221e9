; asm/flush_wrapper.asm: a chase whose windows begin and end cold.

; uint64_t k_chase_cold(void *start /* rdi */, uint64_t iterations /* rsi */, struct measure_block *block /* rdx */)
;   CLFLUSH the line of the return address and those of the block up to the first counts before; MFENCE; then as k_chase; LFENCE
; Small caches lose lines of the wrapper's in the longer of two windows and not in the shorter one, where one load
; from memory more in a thousand is most of a small penalty. So neither window finds them; the LFENCE keeps them from
; coming while a short chase is still under way.
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
