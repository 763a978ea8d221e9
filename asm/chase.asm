; asm/chase.asm: dependent loads. A node is a line whose first 8 bytes hold the address of the next.

; uint64_t k_chase(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: 16 times p = *p; return p
; 16 loads, 18 instructions and 128 bytes an iteration. The next call continues at the returned address.
KERNEL k_chase, 0, 18, 16, 0, 128, 3, 1
	mov rax, rdi
	CHASE
	ret
ENDKERNEL k_chase
