; asm/measure_lbr.asm: the wrapper of kernels whose branches are recorded.

; uint64_t k_measure_recorded(struct measure_block *block /* rdi */)
;   result = kernel(argument[0..5]); MSR 0x1D9 (IA32_DEBUGCTL) = gate
; The write freezes the last-branch records: without it the way back to the driver would push them out. It needs ring 0;
; the caller has started recording by the same register, which is on its list of registers to restore.
KERNEL k_measure_recorded, 0, 0, 0, 0, 0, 0, 0
	push rbx
	push rbp
	push r12
	mov rbp, rdi
	mov rdi, [rbp + MB_ARGUMENT]
	mov rsi, [rbp + MB_ARGUMENT + 8]
	mov rdx, [rbp + MB_ARGUMENT + 16]
	mov rcx, [rbp + MB_ARGUMENT + 24]
	mov r8,  [rbp + MB_ARGUMENT + 32]
	mov r9,  [rbp + MB_ARGUMENT + 40]
	call [rbp + MB_KERNEL]
	mov [rbp + MB_RESULT], rax
	mov eax, [rbp + MB_GATE]
	mov edx, [rbp + MB_GATE + 4]
	mov ecx, 0x1D9
	wrmsr
	mov rax, [rbp + MB_RESULT]
	pop r12
	pop rbp
	pop rbx
	ret
ENDKERNEL k_measure_recorded
