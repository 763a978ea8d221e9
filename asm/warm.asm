; asm/warm.asm: streams that touch one word of each line: they bring arrays into the state in which the streams of
; asm/stream.asm and asm/bandwidth.asm leave them, in few instructions.
;
; uint64_t k_warm_read(const void *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
; uint64_t k_warm_write(void *a /* rdi */, -, -, iterations, mask, at)
; uint64_t k_warm_copy(void *a /* rdi */, const void *b /* rsi */, -, iterations, mask, at)
; uint64_t k_warm_triad(void *a /* rdi */, const void *b /* rsi */, const void *c /* rdx */, iterations, mask, at)
;   for each iteration, the 16 lines from byte offset `at`: load a word of the line of b and of c; store 0 to a word of the
;   line of a (k_warm_read: load it); at = (at + 1024) & mask; return at
; Arrays as in asm/stream.asm, of at least 1024 bytes; `at` is a multiple of 1024.
%assign STREAM_STEP 1024

; The access to a line of each array.
%macro WARM_READ 0
	mov rax, [rdi + r9 + step]
%endmacro
%macro WARM_WRITE 0
	mov [rdi + r9 + step], r10
%endmacro
%macro WARM_COPY 0
	mov rax, [rsi + r9 + step]
	WARM_WRITE
%endmacro
%macro WARM_TRIAD 0
	mov rax, [rdx + r9 + step]
	WARM_COPY
%endmacro

; %1 name, %2 loads per line, %3 stores per line, %4 macro of these accesses
%macro WARM 4
KERNEL %1, 0, 16 * (%2 + %3) + 4, 16 * %2, 16 * %3, 128 * (%2 + %3), 4, 3
	xor r10d, r10d
	LOOP_ALIGN
.loop:
%assign step 0
%rep 16
	%4
%assign step step + 64
%endrep
	STREAM_NEXT
	mov rax, r9
	ret
ENDKERNEL %1
%endmacro
WARM k_warm_read, 1, 0, WARM_READ
WARM k_warm_write, 0, 1, WARM_WRITE
WARM k_warm_copy, 1, 1, WARM_COPY
WARM k_warm_triad, 2, 1, WARM_TRIAD

%assign STREAM_STEP 0
