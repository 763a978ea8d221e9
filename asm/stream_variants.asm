; asm/stream_variants.asm: the streams of asm/stream.asm and asm/bandwidth.asm with other orders and lengths of their loops. On real processors they
; compete with the vector widths (bench/measure/vector_width.c). Speeds given below are for one thread, measured beside likwid-bench's kernels and
; gcc's loops.
%assign STREAM_STEP 256

; The loads of four vectors before their stores: a twentieth faster from memory on an AMD EPYC of family 25, model 17.
TRIAD_SSE2 k_triad_grouped_sse2, movapd, 6, 0, 4

; Two lines per turn, two turns an iteration: 11 % faster than four in the L2 of an Intel Xeon with AMX (162 of 146 GB/s).
%assign STREAM_TURNS 2
KERNEL k_read_short_avx, ISA_AVX, 18, 8, 0, 256, 5, 3
	STREAM_COUNT
	LOOP_ALIGN
.loop:
	lea rax, [rdi + r9]
	vmovapd ymm0, [dword rax + 0] ; a longer displacement: two lines of the uop cache a turn, not three
%assign number 1
%rep 3
	vmovapd ymm %+ number, [rax + 32 * number]
%assign number number + 1
%endrep
	STREAM_END 0
	vzeroupper
	ret
ENDKERNEL k_read_short_avx

; One line of each array per turn, four turns an iteration: in the L2 of that Xeon copies are 1.4 % faster, stores 0.2 %. k_copy_short_sse2 and
; k_triad_short_avx_fma are at the ends of the other two files, which have room for them: one more page of code would move what follows.
%assign STREAM_TURNS 4
COPY k_copy_short_avx, ISA_AVX, vmovapd, vmovapd, ymm, 32, 5, 1, 0
WRITE k_write_short_sse2, 0, movapd, xmm, 16, 7, 0, 0, STREAM_HEAD_SSE
%assign STREAM_TURNS 1
%assign STREAM_STEP 0
