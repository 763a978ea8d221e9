; asm/measure_sampled.asm: the wrapper of kernels whose events are sampled into the debug store.

%define MB_GATES      (MB_GATE + 8)
%define MB_SETTLE_TSC (MB_GATE + 16)
%define MB_GATE_LIST  (MB_GATE + 24) ; register, value on, value off: 24 bytes each

; %1: 8 the value on, 16 the value off; RCX: offset of the entry in the list.
%macro WRITE_GATE 1
	mov eax, [rbp + rcx + MB_GATE_LIST + %1]
	mov edx, [rbp + rcx + MB_GATE_LIST + %1 + 4]
	mov ecx, [rbp + rcx + MB_GATE_LIST]
	wrmsr
%endmacro

; Writes each register's off value, the last register first, except where the two values are equal; then waits for records in flight (SDM vol. 3, "PEBS": quiescent period).
%macro GATES_OFF 0
	SERIALISE
	mov r12, [rbp + MB_GATES]
	jmp %%test
%%next:
	dec r12
	lea rcx, [r12 + r12 * 2]
	shl rcx, 3
	mov rax, [rbp + rcx + MB_GATE_LIST + 8]
	cmp rax, [rbp + rcx + MB_GATE_LIST + 16]
	je %%test ; the register holds its sample itself
	WRITE_GATE 16
%%test:
	test r12, r12
	jnz %%next
	SERIALISE
	rdtsc
	shl rdx, 32
	or rax, rdx
	mov r12, rax
%%wait:
	rdtsc
	shl rdx, 32
	or rax, rdx
	sub rax, r12
	cmp rax, [rbp + MB_SETTLE_TSC]
	jb %%wait
%endmacro

; uint64_t k_measure_sampled(struct measure_block *block /* rdi */)
;   serialise; for each gate: MSR = on; result = kernel(argument[0..5]); serialise; for each gate, the last one first: MSR = off, if that differs from on; wait
; The debug store is mapped only while a job runs: a record that the processor writes before or after goes to an address that the
; firmware's page tables do not map. It needs ring 0; the caller has put the registers on its list of registers to restore and
; switched them off, and reads counts afterwards.
KERNEL k_measure_sampled, 0, 0, 0, 0, 0, 0, 0
	WRAPPER
	SERIALISE
	xor r12d, r12d
	jmp .test
.next:
	lea rcx, [r12 + r12 * 2]
	shl rcx, 3
	WRITE_GATE 8
	inc r12
.test:
	cmp r12, [rbp + MB_GATES]
	jb .next
	ARGUMENTS rbp, MB_ARGUMENT
	call [rbp + MB_KERNEL]
	mov [rbp + MB_RESULT], rax
	GATES_OFF
	mov rax, [rbp + MB_RESULT]
	WRAPPER_RETURN
ENDKERNEL k_measure_sampled

; uint64_t k_measure_off(struct measure_block *block /* rdi */)
;   for each gate, the last one first: MSR = off, if that differs from on; wait
; Switches off what a job of k_measure_sampled that did not end has left on.
KERNEL k_measure_off, 0, 0, 0, 0, 0, 0, 0
	WRAPPER
	GATES_OFF
	WRAPPER_RETURN
ENDKERNEL k_measure_off
