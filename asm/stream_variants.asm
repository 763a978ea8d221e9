; asm/stream_variants.asm: the streams of asm/stream.asm and asm/bandwidth.asm with other orders and lengths of their loops. On real processors they
; compete with the vector widths (bench/measure/vector_width.c). Speeds given below are for one thread, measured beside likwid-bench's kernels and
; gcc's loops.
%assign STREAM_STEP 256

; The loads of four vectors before their stores: a twentieth faster from memory on an AMD EPYC of family 25, model 17.
TRIAD_SSE2 k_triad_grouped_sse2, movapd, 6, 0, 4

; The first halves of four lines, then their second halves: 1.7 % faster in the L2 on an Intel Xeon with AMX, since the misses begin earlier.
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

; One line of each array per turn, four turns an iteration: in the L2 of that Xeon copies are 1.4 % faster, stores 0.2 %. k_copy_short_sse2 and
; k_triad_short_avx_fma are at the ends of the other two files, which have room for them: one more page of code would move what follows.
%assign STREAM_TURNS 4
COPY k_copy_short_avx, ISA_AVX, vmovapd, vmovapd, ymm, 32, 5, 1, 0
WRITE k_write_short_sse2, 0, movapd, xmm, 16, 7, 0, 0, STREAM_HEAD_SSE
%assign STREAM_TURNS 1
%assign STREAM_STEP 0
