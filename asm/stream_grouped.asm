; asm/stream_grouped.asm: the triad of asm/stream.asm whose loads of four vectors come before their stores. From memory that is faster by a
; twentieth on an AMD EPYC of family 25, model 17, one thread.
%assign STREAM_STEP 256
TRIAD_SSE2 k_triad_grouped_sse2, movapd, 6, 0, 4
%assign STREAM_STEP 0
