; asm/measure_lbr.asm: the wrapper of kernels whose branches are recorded.

; uint64_t k_measure_recorded(struct measure_block *block /* rdi */)
;   result = kernel(argument[0..5]); MSR gate bits 63:32 = gate bits 31:0
; The write freezes the last-branch records: without it the branches back to the driver would push them out. It needs ring 0;
; the caller has started recording by the same register, which is on its list of registers to restore.
KERNEL k_measure_recorded, 0, 0, 0, 0, 0, 0, 0
	WRAPPER
	ARGUMENTS rbp, MB_ARGUMENT
	call [rbp + MB_KERNEL]
	mov [rbp + MB_RESULT], rax
	mov eax, [rbp + MB_GATE]
	xor edx, edx
	mov ecx, [rbp + MB_GATE + 4]
	wrmsr
	mov rax, [rbp + MB_RESULT]
	WRAPPER_RETURN
ENDKERNEL k_measure_recorded
