; asm/measure_cold.asm: a wrapper whose own lines are cold in each sample.

; uint64_t k_measure_cold(struct measure_block *block /* rdi */)
;   as k_measure, but the line of the kernel's return address and those of the block up to the first counts before are flushed
;   on the way into the kernel
; For streams through memory: the longer run evicts these lines from a small last level, the shorter one does not. Uses R10, as
; kernels do; a kernel's arguments are read before the flush.
KERNEL k_measure_cold, 0, 0, 0, 0, 0, 0, 0
	MEASURE_BEGIN
	mov r10, [rbp + MB_KERNEL]
	call .cold
	MEASURE_END
.cold:
	FLUSH_WRAPPER rbp
	jmp r10
ENDKERNEL k_measure_cold
