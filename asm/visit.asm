; asm/visit.asm: streams that touch one word of each line: they bring arrays into the state that the streams of
; asm/stream.asm and asm/bandwidth.asm leave them in, by the fewest instructions.
;
; uint64_t k_visit_read(const void *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
; uint64_t k_visit_write(void *a /* rdi */, -, -, iterations, mask, at)
; uint64_t k_visit_copy(void *a /* rdi */, const void *b /* rsi */, -, iterations, mask, at)
; uint64_t k_visit_triad(void *a /* rdi */, const void *b /* rsi */, const void *c /* rdx */, iterations, mask, at)
;   for each iteration, the 4 lines from byte offset `at`: load a word of the line of b and of c; store 0 to a word of the
;   line of a (k_visit_read: load it); at = (at + 256) & mask; return at
%assign STREAM_STEP 256

; What is done with a line of each array.
%macro VISIT_READ 0
	mov rax, [rdi + r9 + step]
%endmacro
%macro VISIT_WRITE 0
	mov [rdi + r9 + step], r10
%endmacro
%macro VISIT_COPY 0
	mov rax, [rsi + r9 + step]
	VISIT_WRITE
%endmacro
%macro VISIT_TRIAD 0
	mov rax, [rdx + r9 + step]
	VISIT_COPY
%endmacro

; %1 name, %2 loads a line, %3 stores a line, %4 a line
%macro VISIT 4
KERNEL %1, 0, 4 * (%2 + %3) + 4, 4 * %2, 4 * %3, 32 * (%2 + %3), 4, 3
	xor r10d, r10d
	LOOP_ALIGN
.loop:
%assign step 0
%rep 4
	%4
%assign step step + 64
%endrep
	STREAM_NEXT
	mov rax, r9
	ret
ENDKERNEL %1
%endmacro
VISIT k_visit_read, 1, 0, VISIT_READ
VISIT k_visit_write, 0, 1, VISIT_WRITE
VISIT k_visit_copy, 1, 1, VISIT_COPY
VISIT k_visit_triad, 2, 1, VISIT_TRIAD

; uint64_t k_visit_flush(void *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration: CLFLUSH the 4 lines from a + at; at = (at + 256) & mask;  MFENCE; return at. 8 instructions.
; %1 name, %2 lines an iteration
%macro VISIT_FLUSH 2
KERNEL %1, 0, %2 + 4, 0, 0, 0, 4, 3
	LOOP_ALIGN
.loop:
%assign step 0
%rep %2
	clflush [rdi + r9 + step]
%assign step step + 64
%endrep
	add r9, 64 * %2
	and r9, r8
	dec rcx
	jnz .loop
	mfence
	mov rax, r9
	ret
ENDKERNEL %1
%endmacro
VISIT_FLUSH k_visit_flush, 4
%assign STREAM_STEP 0
