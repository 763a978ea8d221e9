; asm/cores.asm: kernels for measurements with several cores: bring nodes of a chase into a core's caches, load memory, share a line.

; uint64_t k_touch_chain(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: p = *p; return p
; As k_chase with one node an iteration: brings the nodes that another core visits later into the caches, clean. 3 instructions, 1 load.
KERNEL k_touch_chain, 0, 3, 1, 0, 8, 3, 1
	mov rax, rdi
	LOOP_ALIGN
.loop:
	mov rax, [rax]
	LOOP_END rsi
ENDKERNEL k_touch_chain

; uint64_t k_dirty_chain(void *start /* rdi */, uint64_t iterations /* rsi */)
;   p = start; for each iteration: next = *p; *p = next; p = next; return p
; The same, but modified, with unchanged contents. 5 instructions, 1 load, 1 store an iteration.
KERNEL k_dirty_chain, 0, 5, 1, 1, 16, 3, 1
	mov rax, rdi
	LOOP_ALIGN
.loop:
	mov rdx, [rax]
	mov [rax], rdx
	mov rax, rdx
	LOOP_END rsi
ENDKERNEL k_dirty_chain

; The chase of k_chase_stop, from first to last instruction.
%macro CHASE_STOP 0
	mov rax, rdi
	LOOP_ALIGN
.loop:
%rep 16
	UNIT
	mov rax, [rax]
	lfence
%endrep
	dec rsi
	jnz .loop
	mov [rdx], rcx
	ret
%endmacro

; uint64_t k_chase_stop(void *start /* rdi */, uint64_t iterations /* rsi */, uint64_t *flag /* rdx */, uint64_t token /* rcx */)
;   as k_chase, with LFENCE after each load, so that no load starts before the previous one has arrived; then
;   *flag = token, which stops the other cores. 34 instructions, 16 loads an iteration.
KERNEL k_chase_stop, 0, 34, 16, 0, 128, 4, 1
	CHASE_STOP
ENDKERNEL k_chase_stop

; uint64_t k_inject(const void *a /* rdi */, uint64_t token << 32 | delay /* rsi */, uint32_t *flag /* rdx */,
;                   uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   n = iterations; while (n-- && *flag != token) { load 8 bytes of each of the 4 lines from a + at; delay iterations of a
;   loop; at = (at + 256) & mask }; return the number of iterations
; An iteration of the delay loop is four dependent multiplications, 12 cycles on most cores: a long delay in few instructions.
; With a delay of 1, 17 instructions and 5 loads of 36 bytes an iteration.
%assign STREAM_STEP 256
KERNEL k_inject, 0, 17, 5, 0, 36, 7, 3
	mov r10d, esi
	shr rsi, 32
	movq xmm0, rcx
	LOOP_ALIGN
.loop:
	cmp [rdx], esi
	je .out
%assign step 0
	mov r11, [byte rdi + r9]
%rep 3
%assign step step + 64
	mov r11, [rdi + r9 + step]
%endrep
	mov r11, r10
.delay:
%rep 4
	imul rax, rax
%endrep
	dec r11
	jnz .delay
	add r9, 256
	and r9, r8
	dec rcx
	jnz .loop
.out:
	movq rax, xmm0
	sub rax, rcx
	ret
ENDKERNEL k_inject
%assign STREAM_STEP 0

; uint64_t k_share_add(uint64_t *word /* rdi */, uint64_t iterations /* rsi */, uint64_t *flag /* rdx */, uint64_t token /* rcx */)
;   for each iteration: 8 times LOCK ADD 1 to *word; then *flag = token. 10 instructions, 8 loads and stores.
KERNEL k_share_add, 0, 10, 8, 8, 128, 3, 1
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	lock add qword [rdi], 1
%endrep
	dec rsi
	jnz .loop
	mov [rdx], rcx
	ret
ENDKERNEL k_share_add

; uint64_t k_share_until(uint64_t *word /* rdi */, uint64_t iterations /* rsi */, uint64_t *flag /* rdx */, uint64_t token /* rcx */)
;   n = iterations; while (n-- && *flag != token) LOCK ADD 1 to *word; return n
; 5 instructions, 2 loads, 1 store an iteration.
KERNEL k_share_until, 0, 5, 2, 1, 24, 3, 1
	LOOP_ALIGN
.loop:
	lock add qword [rdi], 1
	cmp [rdx], rcx
	je .out
	dec rsi
	jnz .loop
.out:
	mov rax, rsi
	ret
ENDKERNEL k_share_until
