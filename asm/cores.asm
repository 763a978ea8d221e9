; asm/cores.asm: what another core does to the nodes of a chase before they are measured.

; uint64_t k_touch_chain(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: p = *p; return p
; As k_chase, a node an iteration: what another core visits later is brought in, clean. 3 instructions, 1 load.
KERNEL k_touch_chain, 0, 3, 1, 0, 8, 3, 1
	mov rax, rdi
	LOOP_ALIGN
.loop:
	mov rax, [rax]
	dec rsi
	jnz .loop
	ret
ENDKERNEL k_touch_chain

; uint64_t k_dirty_chain(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: next = *p; *p = next; p = next; return p
; The same, modified, contents as they were. 5 instructions, 1 load, 1 store an iteration.
KERNEL k_dirty_chain, 0, 5, 1, 1, 16, 3, 1
	mov rax, rdi
	LOOP_ALIGN
.loop:
	mov rdx, [rax]
	mov [rax], rdx
	mov rax, rdx
	dec rsi
	jnz .loop
	ret
ENDKERNEL k_dirty_chain
