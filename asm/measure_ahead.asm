; asm/measure_ahead.asm: runs another routine ahead of a job's wrapper.

%define MB_AHEAD          (MB_GATE + 24 + 24 * 4) ; after the list of gates
%define MB_AHEAD_ARGUMENT (MB_AHEAD + 8)
%define MB_WRAPPER        (MB_AHEAD_ARGUMENT + 6 * 8)

; uint64_t k_measure_ahead(struct measure_block *block /* rdi */)
;   ahead(ahead_argument[0..5]); return wrapper(block)
; A job begins without translations: the load of CR3 has emptied the TLBs. The routine that brings in those of its working set
; must belong to the same job.
KERNEL k_measure_ahead, 0, 0, 0, 0, 0, 0, 0
	push rdi
	mov rax, rdi
	ARGUMENTS rax, MB_AHEAD_ARGUMENT
	call [rax + MB_AHEAD]
	pop rdi
	jmp [rdi + MB_WRAPPER]
ENDKERNEL k_measure_ahead
