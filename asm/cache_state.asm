; asm/cache_state.asm: kernels that bring lines into a state: cached, modified, flushed.
; Only kernels prepare cache state, never C code, so it is the same in every backend.

; uint64_t k_touch(const void *from /* rdi */, uint64_t iterations /* rsi */, uint64_t step /* rdx */)
;   for each iteration: load 8 bytes at from; from += step
; Brings one line per step into the caches, clean. 4 instructions, 1 load an iteration. Returns the last word read.
KERNEL k_touch, 0, 4, 1, 0, 8, 2, 1
	LOOP_ALIGN
.loop:
	mov rax, [rdi]
	add rdi, rdx
	LOOP_END rsi
ENDKERNEL k_touch

; uint64_t k_flush(const void *from /* rdi */, uint64_t iterations /* rsi */, uint64_t step /* rdx */)
;   for each iteration: CLFLUSH the line at from; from += step;  MFENCE
; 4 instructions an iteration. CLFLUSH is ordered by MFENCE (SDM vol. 2, CLFLUSH). Returns the end.
KERNEL k_flush, 0, 4, 0, 0, 0, 4, 1
	LOOP_ALIGN
.loop:
	clflush [rdi]
	add rdi, rdx
	dec rsi
	jnz .loop
	mfence
	mov rax, rdi
	ret
ENDKERNEL k_flush

; uint64_t k_flush_chain(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: next = *p; CLFLUSH p; p = next;  MFENCE; return p
; Flushes the nodes that a k_chase of iterations / 16 iterations will visit, and leaves their pages in the
; TLB. 5 instructions, 1 load an iteration.
KERNEL k_flush_chain, 0, 5, 1, 0, 8, 4, 1
	mov rax, rdi
	LOOP_ALIGN
.loop:
	mov rdx, [rax]
	clflush [rax]
	mov rax, rdx
	dec rsi
	jnz .loop
	mfence
	ret
ENDKERNEL k_flush_chain
