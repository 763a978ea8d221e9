; asm/sync.asm: locked operations, fences.

; %1 name, %2 the addition, locked or not.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration: 8 times: add 1 to 8 bytes of the buffer
; At displacement 60 they span two lines. 10 instructions.
%macro ADD_MEMORY 2+
KERNEL %1, 0, 10, 8, 8, 128, 2, 1
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	%2
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
ADD_MEMORY k_lock_add, lock add qword [rdi], 1
ADD_MEMORY k_lock_add_base, add qword [rdi], 1
ADD_MEMORY k_split_lock, lock add qword [rdi + 60], 1
ADD_MEMORY k_split_lock_base, add qword [rdi + 60], 1

; %1 name, %2 instruction: 8 an iteration, with only the loop in flight. 10 instructions.
; uint64_t %1(uint64_t iterations /* rdi */)
%macro REPEAT_8 2
KERNEL %1, 0, 10, 0, 0, 0, 2, 0
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	%2
%endrep
	LOOP_END rdi
ENDKERNEL %1
%endmacro
REPEAT_8 k_mfence, mfence
REPEAT_8 k_lfence, lfence
REPEAT_8 k_sfence, sfence
REPEAT_8 k_pause, pause
REPEAT_8 k_nop, nop
