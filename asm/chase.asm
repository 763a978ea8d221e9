; asm/chase.asm: dependent loads. A node is a line whose first 8 bytes hold the address of the next.

; uint64_t k_chase(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: 16 times p = *p; return p
; 16 loads, 18 instructions and 128 bytes an iteration. The next call continues at the returned address.
KERNEL k_chase, 0, 18, 16, 0, 128, 3, 1
	mov rax, rdi
	CHASE
	ret
ENDKERNEL k_chase

; uint64_t k_chase4(void **ends /* rdi */, uint64_t iterations /* rsi */)
;   p[0..3] = ends[0..3]; for each iteration: 4 times p[i] = *p[i] for i in 0..3; ends[0..3] = p[0..3]
; Four independent chains: how much of the latency overlaps. 16 loads, 18 instructions and 128
; bytes an iteration; each call also loads and stores ends[] once. Returns p[0].
KERNEL k_chase4, 0, 18, 16, 0, 128, 10, 1
	mov rax, [rdi]
	mov rcx, [rdi + 8]
	mov rdx, [rdi + 16]
	mov r8, [rdi + 24]
	LOOP_ALIGN
.loop:
%rep 4
	mov rax, [rax]
	mov rcx, [rcx]
	mov rdx, [rdx]
	mov r8, [r8]
%endrep
	dec rsi
	jnz .loop
	mov [rdi], rax
	mov [rdi + 8], rcx
	mov [rdi + 16], rdx
	mov [rdi + 24], r8
	ret
ENDKERNEL k_chase4
