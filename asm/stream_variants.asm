; asm/stream_variants.asm: the streams of asm/stream.asm and asm/bandwidth.asm with other orders and lengths of their loops. Real processors try them
; beside the vector widths (bench/measure/vector_width.c). What is said of speed is for one thread, likwid-bench's kernels and gcc's loops beside them.
%assign STREAM_STEP 256

; The loads of four vectors before their stores: from memory faster by a twentieth on an AMD EPYC of family 25, model 17.
TRIAD_SSE2 k_triad_grouped_sse2, movapd, 6, 0, 4

; The first half of each of four lines, then their second halves: in the L2 faster by 1.7 % on an Intel Xeon with AMX, as its misses begin earlier.
%macro READ_HALVES 1
KERNEL %1, ISA_AVX, 13, 8, 0, 256, 4, 3
	LOOP_ALIGN
.loop:
	lea rax, [rdi + r9]
%assign number 0
%rep 8
	vmovapd ymm %+ number, [rax + number % 4 * 64 + number / 4 * 32]
%assign number number + 1
%endrep
	STREAM_END 0
	vzeroupper
	ret
ENDKERNEL %1
%endmacro
READ_HALVES k_read_halves_avx

; A line of each array a turn, four turns an iteration: in the L2 of that Xeon copies are faster by 1.4 %, the others by up to half a per cent.
%assign STREAM_TURNS 4
COPY k_copy_short_avx, ISA_AVX, vmovapd, vmovapd, ymm, 32, 5, 1, 0
COPY k_copy_short_sse2, 0, movapd, movapd, xmm, 16, 4, 0, 0
WRITE k_write_short_sse2, 0, movapd, xmm, 16, 7, 0, 0, STREAM_HEAD_SSE
; Half an iteration a turn, and the factor's array first: what keeps up with gcc's loop where a and b are one array (daxpy).
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
%assign STREAM_STEP 0
