; asm/basic.asm: the simplest kernels: nothing, a chain of adds, a chain of products.

; uint64_t k_empty(void): returns 0. The baseline of everything.
KERNEL k_empty, 0, 0, 0, 0, 0, 2, 0
	xor eax, eax
	ret
ENDKERNEL k_empty

; uint64_t k_add_chain(uint64_t iterations /* rdi */)
;   for each iteration: 16 times rax += rcx, each waiting for the one before
; An add of two registers takes one cycle on every x86-64 core so far: the chain is a clock of core cycles where
; there is no cycle counter. An add of a constant would not do: from Golden Cove on rename folds six of them into
; a cycle (InstLatx64: ADD r64,imm8 0.17, ADD r64,r64 1.0). 18 instructions an iteration, no memory.
KERNEL k_add_chain, 0, 18, 0, 0, 0, 4, 0
	xor eax, eax
	mov ecx, 1
	LOOP_ALIGN
.loop:
%rep 16
	add rax, rcx
%endrep
	LOOP_END rdi
ENDKERNEL k_add_chain

; uint64_t k_imul_chain(uint64_t iterations /* rdi */)
;   for each iteration: 16 times eax *= ecx, each waiting for the one before
; The second clock: no rename unit executes a product, and IMUL r32,r32 takes three cycles on nearly all cores (tables/FORMAT.md, imul_cycles).
; 18 instructions an iteration, no memory.
KERNEL k_imul_chain, 0, 18, 0, 0, 0, 4, 0
	mov eax, 3
	mov ecx, 3
	LOOP_ALIGN
.loop:
%rep 16
	imul eax, ecx
%endrep
	LOOP_END rdi
ENDKERNEL k_imul_chain
