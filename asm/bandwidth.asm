; asm/bandwidth.asm: reading, writing and copying arrays; stores to consecutive lines.
;
; uint64_t k_read_*(const double *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */,
;                   uint64_t at /* r9 */)
; uint64_t k_write_*(double *a /* rdi */, -, -, iterations, mask, at)
; uint64_t k_copy_*(double *a /* rdi */, const double *b /* rsi */, -, iterations, mask, at)
;   for each iteration, 32 elements from byte offset `at`: load a[i], or a[i] = 3.0, or a[i] = b[i];
;   at = (at + 256) & mask; return at
; Arrays, arguments and non-temporal variants as in asm/stream.asm, whose macros are used.
%assign STREAM_STEP 256

; %1 name, %2 ISA, %3 move, %4 register letter, %5 bytes of a vector, %6 fixed instructions, %7 1: VZEROUPPER at the end
%macro READ 7
%assign vectors 256 / %5
KERNEL %1, %2, vectors + 5, vectors, 0, 256, %6, 3
	LOOP_ALIGN
.loop:
	lea rax, [rdi + r9]
%assign step 0
%rep vectors
%assign number step / %5 % 8
	%3 %4 %+ number, [rax + step]
%assign step step + %5
%endrep
	STREAM_END 0
%if %7
	vzeroupper
%endif
	ret
ENDKERNEL %1
%endmacro
READ k_read_sse2, 0, movapd, xmm, 16, 3, 0
READ k_read_avx, ISA_AVX, vmovapd, ymm, 32, 4, 1
READ k_read_avx512, ISA_AVX512, vmovapd, zmm, 64, 4, 1

; %1 name, %2 ISA, %3 store, %4 register letter, %5 bytes of a vector, %6 fixed instructions, %7 1: VZEROUPPER, %8 1: SFENCE,
; %9 macro that sets vector 15
%macro WRITE 9
%assign vectors 256 / STREAM_TURNS / %5
KERNEL %1, %2, STREAM_TURNS * (vectors + 5), 0, STREAM_TURNS * vectors, 256, %6, 3
	%9
	STREAM_COUNT
	LOOP_ALIGN
.loop:
	lea rax, [rdi + r9]
%assign step 0
%rep vectors
	%3 [rax + step], %4 %+ 15
%assign step step + %5
%endrep
	STREAM_END %8
%if %7
	vzeroupper
%endif
	ret
ENDKERNEL %1
%endmacro
WRITE k_write_sse2, 0, movapd, xmm, 16, 6, 0, 0, STREAM_HEAD_SSE
WRITE k_write_nt_sse2, 0, movntpd, xmm, 16, 7, 0, 1, STREAM_HEAD_SSE
WRITE k_write_avx, ISA_AVX, vmovapd, ymm, 32, 8, 1, 0, STREAM_HEAD_AVX
WRITE k_write_nt_avx, ISA_AVX, vmovntpd, ymm, 32, 9, 1, 1, STREAM_HEAD_AVX
WRITE k_write_avx512, ISA_AVX512, vmovapd, zmm, 64, 6, 1, 0, STREAM_HEAD_AVX512
WRITE k_write_nt_avx512, ISA_AVX512, vmovntpd, zmm, 64, 7, 1, 1, STREAM_HEAD_AVX512

; %1 name, %2 ISA, %3 load, %4 store, %5 register letter, %6 bytes of a vector, %7 fixed instructions, %8 1: VZEROUPPER,
; %9 1: SFENCE
%macro COPY 9
%assign vectors 256 / STREAM_TURNS / %6
KERNEL %1, %2, STREAM_TURNS * (2 * vectors + 6), STREAM_TURNS * vectors, STREAM_TURNS * vectors, 512, %7, 3
	STREAM_COUNT
	LOOP_ALIGN
.loop:
	lea r10, [rsi + r9]
	lea rax, [rdi + r9]
%assign step 0
%rep vectors
%assign number step / %6 % 8
	%3 %5 %+ number, [r10 + step]
	%4 [rax + step], %5 %+ number
%assign step step + %6
%endrep
	STREAM_END %9
%if %8
	vzeroupper
%endif
	ret
ENDKERNEL %1
%endmacro
COPY k_copy_sse2, 0, movapd, movapd, xmm, 16, 3, 0, 0
COPY k_copy_nt_sse2, 0, movapd, movntpd, xmm, 16, 4, 0, 1
COPY k_copy_avx, ISA_AVX, vmovapd, vmovapd, ymm, 32, 4, 1, 0
COPY k_copy_nt_avx, ISA_AVX, vmovapd, vmovntpd, ymm, 32, 5, 1, 1
COPY k_copy_avx512, ISA_AVX512, vmovapd, vmovapd, zmm, 64, 4, 1, 0
COPY k_copy_nt_avx512, ISA_AVX512, vmovapd, vmovntpd, zmm, 64, 5, 1, 1

; %1 name, %2 instructions an iteration, %3 stores, %4 bytes stored, %5 fixed instructions, %6 end, %7 the stores
; uint64_t %1(void *lines /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration: store to the line at lines + at; at = (at + 64) & mask; return at
; Full-line stores fill the line, partial ones leave its last 16 bytes.
%assign STREAM_STEP 64
%macro STORE_LINES 7+
KERNEL %1, 0, %2, 0, %3, %4, %5, 3
	xorps xmm0, xmm0
	LOOP_ALIGN
.loop:
	lea rax, [rdi + r9]
	%7
	add r9, 64
	and r9, r8
	dec rcx
	jnz .loop
	%6
	mov rax, r9
	ret
ENDKERNEL %1
%endmacro
%macro STORES 2 ; %1 instruction, %2 bytes of a line
%assign step 0
%rep %2 / 16
	%1 [rax + step], xmm0
%assign step step + 16
%endrep
%endmacro
STORE_LINES k_store_line, 9, 4, 64, 4, , STORES movaps, 64
STORE_LINES k_store_nt, 9, 4, 64, 5, sfence, STORES movntps, 64
STORE_LINES k_store_nt_partial, 8, 3, 48, 5, sfence, STORES movntps, 48

; %1 name, %2 instructions an iteration, %3 1: MFENCE after the store
; uint64_t %1(void *lines /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration: store to the line at lines + at + (at & 1024 ? 64 : 0); at = (5 * at + 128) & mask; return at
; One line of each pair, each once in (mask + 1) / 128 iterations, in an order that no prefetcher predicts: a line that one brings
; is not stored to next, and is counted in addition to the stores' own lines. k_store_wait waits until each store is written.
%assign STREAM_STEP 128
%macro STORE_SCATTERED 3
KERNEL %1, 0, %2, 0, 1, 8, 3, 3
	LOOP_ALIGN
.loop:
	mov eax, r9d
	shr eax, 4
	and eax, 64
	add rax, rdi
	add rax, r9
	mov [dword rax + 0], rcx
%if %3
	mfence
%endif
	lea r9, [r9 + 4 * r9 + 128]
	and r9, r8
	dec rcx
	jnz .loop
	mov rax, r9
	ret
ENDKERNEL %1
%endmacro
STORE_SCATTERED k_store_wait, 11, 1
STORE_SCATTERED k_store_rfo, 10, 0

; One line of each array per turn: updates in the L2 are half a per cent faster (asm/stream_variants.asm).
%assign STREAM_STEP 256
%assign STREAM_TURNS 4
COPY k_copy_short_sse2, 0, movapd, movapd, xmm, 16, 4, 0, 0
%assign STREAM_TURNS 1
%assign STREAM_STEP 0
