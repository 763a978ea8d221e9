; asm/stream.asm: loops over arrays: triad with regular and with non-temporal stores.
;
; uint64_t k_triad_*(double *a /* rdi */, const double *b /* rsi */, const double *c /* rdx */,
;                    uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration: 32 elements: a[i] = b[i] + 3.0 * c[i], i from byte offset `at`;
;   at = (at + 256) & mask; return at
; Arrays are a power of two of bytes, at least 256, mask = bytes - 1, aligned to 64 bytes: the loop wraps around
; without a second loop, and the next call continues where this one ended.
; An iteration moves 256 bytes of each array used, in one turn of the loop or in STREAM_TURNS turns (asm/stream_variants.asm).
; Pointers are computed once per turn, since indexed operands cost an extra uop on some cores (Sandy Bridge to Haswell).
; Non-temporal variants end with SFENCE; their stores come in groups of whole lines, after the loads of the group, so that
; few write-combining buffers are open at a time.

%assign STREAM_STEP 256
%assign STREAM_TURNS 1 ; turns of the loop in an iteration
%define STREAM_FACTOR 0x4008000000000000 ; 3.0, the factor of STREAM's triad

; Parts of every loop below: the constant in vector 15; the pointers of the iteration in r10, r11, rax; the step to the next iteration; the result.
%macro STREAM_HEAD_SSE 0
	mov rax, STREAM_FACTOR
	movq xmm15, rax
	unpcklpd xmm15, xmm15
%endmacro
%macro STREAM_HEAD_AVX 0
	mov rax, STREAM_FACTOR
	vmovq xmm15, rax
	vunpcklpd xmm15, xmm15, xmm15
	vinsertf128 ymm15, ymm15, xmm15, 1
%endmacro
%macro STREAM_HEAD_AVX512 0
	mov rax, STREAM_FACTOR
	vpbroadcastq zmm15, rax
%endmacro
; Before the loop: rcx counts turns, not iterations.
%macro STREAM_COUNT 0
%if STREAM_TURNS > 1
	imul rcx, rcx, STREAM_TURNS
%endif
%endmacro
%macro STREAM_LOOP 0
	LOOP_ALIGN
.loop:
	lea r10, [rsi + r9]
	lea r11, [rdx + r9]
	lea rax, [rdi + r9]
%endmacro
%macro STREAM_NEXT 0
	add r9, STREAM_STEP / STREAM_TURNS
	and r9, r8
	dec rcx
	jnz .loop
%endmacro
; %1 1: SFENCE at the end
%macro STREAM_END 1
	STREAM_NEXT
%if %1
	sfence
%endif
	mov rax, r9
%endmacro

; --- triad ---------------------------------------------------------------------------------------
; The loads of the first vector have a displacement of four bytes, which moves the jump at the loop's end (asm/kernel.inc).
%macro OFFSET_SIZE 0
%if step + vector
%define offset_size
%else
%define offset_size dword
%endif
%endmacro
; The stores of a group. %1 store instruction, %2 register letter, %3 bytes of a vector, %4 vectors
%macro GROUP_STORE 4
%assign vector 0
%rep %4
	%1 [rax + step + %3 * vector], %2 %+ vector
%assign vector vector + 1
%endrep
%endmacro
; The body in VEX encoding, 256 bytes of each array in groups. %1 store instruction, %2 register letter, %3 bytes of a vector,
; %4 vectors a group
%macro TRIAD_VEX 4
%assign step 0
%rep 256 / (%3 * %4)
%assign vector 0
%rep %4
	OFFSET_SIZE
	vmulpd %2 %+ vector, %2 %+ 15, [offset_size r11 + step + %3 * vector]
	vaddpd %2 %+ vector, %2 %+ vector, [offset_size r10 + step + %3 * vector]
%assign vector vector + 1
%endrep
	GROUP_STORE %1, %2, %3, %4
%assign step step + %3 * %4
%endrep
%endmacro
; The same with product and sum in one instruction, and a load as a separate one: as many instructions. %1 register letter, %2 bytes of a vector
%macro TRIAD_FMA 2
%assign step 0
%rep 256 / %2
%assign vector 0
	OFFSET_SIZE
	vmovapd %1 %+ 0, [offset_size r10 + step]
	vfmadd231pd %1 %+ 0, %1 %+ 15, [offset_size r11 + step]
	GROUP_STORE vmovapd, %1, %2, 1
%assign step step + %2
%endrep
%endmacro
; %1 name, %2 store instruction, %3 fixed instructions, %4 1: SFENCE at the end, %5 vectors a group
%macro TRIAD_SSE2 5
KERNEL %1, 0, 71, 32, 16, 768, %3, 3
	STREAM_HEAD_SSE
	STREAM_LOOP
%assign step 0
%rep 16 / %5
%assign vector 0
%rep %5
	OFFSET_SIZE
	movapd xmm %+ vector, [offset_size r11 + step + 16 * vector]
	mulpd xmm %+ vector, xmm15
	addpd xmm %+ vector, [offset_size r10 + step + 16 * vector]
%assign vector vector + 1
%endrep
	GROUP_STORE %2, xmm, 16, %5
%assign step step + 16 * %5
%endrep
	STREAM_END %4
	ret
ENDKERNEL %1
%endmacro
TRIAD_SSE2 k_triad_sse2, movapd, 6, 0, 1
TRIAD_SSE2 k_triad_nt_sse2, movntpd, 7, 1, 8

%macro TRIAD_AVX 5
KERNEL %1, ISA_AVX, 31, 16, 8, 768, %3, 3
	STREAM_HEAD_AVX
	STREAM_LOOP
	TRIAD_VEX %2, ymm, 32, %5
	STREAM_END %4
	vzeroupper
	ret
ENDKERNEL %1
%endmacro
TRIAD_AVX k_triad_avx, vmovapd, 8, 0, 1
TRIAD_AVX k_triad_nt_avx, vmovntpd, 9, 1, 8

KERNEL k_triad_avx_fma, ISA_AVX | ISA_FMA, 31, 16, 8, 768, 8, 3
	STREAM_HEAD_AVX
	STREAM_LOOP
	TRIAD_FMA ymm, 32
	STREAM_END 0
	vzeroupper
	ret
ENDKERNEL k_triad_avx_fma

%macro TRIAD_AVX512 5
KERNEL %1, ISA_AVX512, 19, 8, 4, 768, %3, 3
	STREAM_HEAD_AVX512
	STREAM_LOOP
	TRIAD_VEX %2, zmm, 64, %5
	STREAM_END %4
	vzeroupper
	ret
ENDKERNEL %1
%endmacro
TRIAD_AVX512 k_triad_avx512, vmovapd, 6, 0, 1
TRIAD_AVX512 k_triad_nt_avx512, vmovntpd, 7, 1, 4

KERNEL k_triad_avx512_fma, ISA_AVX512, 19, 8, 4, 768, 6, 3
	STREAM_HEAD_AVX512
	STREAM_LOOP
	TRIAD_FMA zmm, 64
	STREAM_END 0
	vzeroupper
	ret
ENDKERNEL k_triad_avx512_fma

; Half an iteration per turn, and the factor's array loaded first: as fast as gcc's loop where a and b are one array (daxpy).
%assign STREAM_TURNS 2
KERNEL k_triad_short_avx_fma, ISA_AVX | ISA_FMA, 38, 16, 8, 768, 9, 3
	STREAM_HEAD_AVX
	STREAM_COUNT
	STREAM_LOOP
%assign step 0
%rep 4
	vmovapd ymm0, [r11 + step]
	vfmadd213pd ymm0, ymm15, [r10 + step]
	vmovapd [rax + step], ymm0
%assign step step + 32
%endrep
	STREAM_END 0
	vzeroupper
	ret
ENDKERNEL k_triad_short_avx_fma
%assign STREAM_TURNS 1

; uint64_t k_read_long_avx512(const double *a /* rdi */, -, -, uint64_t iterations /* rcx */, uint64_t mask /* r8 */, uint64_t at /* r9 */)
;   for each iteration, 32 elements from byte offset `at`: load a[i]; at = (at + 256) & mask; return at
; Two iterations per turn, the first of an odd number from the middle. Turns wait only for one addition, to rcx = bytes left, negative: the loops of
; asm/bandwidth.asm wait for two operations, and read at most 128 bytes a cycle. With 14 uops a turn, 8 a cycle are enough for four loads of 64 bytes.
; Displacements of four bytes leave 8 uops in the first 64 bytes, a line of Golden Cove's uop cache, and 6 in the next.
KERNEL k_read_long_avx512, ISA_AVX512, 7, 4, 0, 256, 12, 3
	shl rcx, 8
	add r9, rcx
	neg rcx
	mov eax, ecx
	and rcx, -512
	test eax, 256
	jnz .second
	LOOP_ALIGN
.loop:
	lea rax, [dword r9 + rcx + 0]
	and rax, r8
%assign step 0
%rep 4
	vmovapd zmm %+ step, [dword rdi + rax + 64 * step]
%assign step step + 1
%endrep
.second:
	lea rax, [r9 + rcx + 256]
	and rax, r8
%rep 4
	vmovapd zmm %+ step, [rdi + rax + 64 * (step - 4)]
%assign step step + 1
%endrep
	add rcx, 512
	jnz .loop
	mov rax, r9
	and rax, r8
	vzeroupper
	ret
ENDKERNEL k_read_long_avx512
%assign STREAM_STEP 0
