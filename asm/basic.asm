; asm/basic.asm: the simplest kernels: nothing, and a chain of adds.

; uint64_t k_empty(void): returns 0. The baseline of everything.
KERNEL k_empty, 0, 0, 0, 0, 0, 2, 0
	xor eax, eax
	ret
ENDKERNEL k_empty

; uint64_t k_add_chain(uint64_t iterations /* rdi */)
;   for each iteration: 16 dependent adds to rax
; An add takes one cycle on every x86-64 core so far: the chain is a clock of core cycles where there is no
; cycle counter. 18 instructions an iteration, no memory.
KERNEL k_add_chain, 0, 18, 0, 0, 0, 3, 0
	xor eax, eax
	LOOP_ALIGN
.loop:
%rep 16
	add rax, 1
%endrep
	dec rdi
	jnz .loop
	ret
ENDKERNEL k_add_chain
