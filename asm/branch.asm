; asm/branch.asm: predicted and mispredicted branches. Test and baseline are the same kernel over
; different contents of the buffer.

; uint64_t k_branch_conditional(const uint8_t *choices /* rdi */, uint64_t iterations /* rsi */)
;   edx = 0
;   for each iteration: ecx = edx; edx = choices[iteration]; if (ecx) rax += 1 else rax += 1, by a branch
; A choice is loaded an iteration before its branch, so that no misprediction waits for a load. Random choices mispredict every second time,
; constant ones never. With either arm an iteration has 9 instructions: the arm that is jumped to has a NOP in place of the other's jump.
KERNEL k_branch_conditional, 0, 9, 1, 0, 1, 4, 1
	xor eax, eax
	xor edx, edx
	LOOP_ALIGN
.loop:
	mov ecx, edx
	movzx edx, byte [rdi + rsi - 1]
	test ecx, ecx
	jz .zero
	add rax, 1
	nop
	jmp .join
.zero:
	add rax, 1
	nop
	nop
.join:
	LOOP_END rsi
ENDKERNEL k_branch_conditional

; uint64_t k_branch_indirect(const uint8_t *choices /* rdi */, uint64_t iterations /* rsi */)
;   next = 0
;   for each iteration: choice = next; next = choices[iteration]; jump to target choice, 0 .. 3, each of which does rax += 1
; As above, a target is known an iteration before its jump. The jumps to .join differ in the lowest four address bits, so
; that each has an entry of its own in a small target buffer. 10 instructions.
KERNEL k_branch_indirect, 0, 10, 1, 0, 1, 5, 1
	xor eax, eax
	lea rdx, [.targets]
	mov r8, rdx
	LOOP_ALIGN
.loop:
	mov rcx, r8
	movzx r8d, byte [rdi + rsi - 1]
	shl r8d, 4
	add r8, rdx
	jmp rcx
align 16, db 0xCC
.targets:
	add rax, 1
	nop
	jmp short .join
align 16, db 0xCC
	add rax, 1
	db 0x0F, 0x1F, 0x00 ; NOP of 3 bytes
	jmp short .join
align 16, db 0xCC
	add rax, 1
	db 0x0F, 0x1F, 0x44, 0x00, 0x00 ; of 5
	jmp short .join
align 16, db 0xCC
	add rax, 1
	db 0x0F, 0x1F, 0x80, 0x00, 0x00, 0x00, 0x00 ; of 7
	jmp short .join
align 16, db 0xCC
.join:
	LOOP_END rsi
ENDKERNEL k_branch_indirect

; %1 name, %2 number of NOPs between a call and the address that its routine returns to.
; uint64_t %1(uint64_t iterations /* rdi */)
;   for each iteration: call a routine that returns to .back
; If .back follows the call, the return stack predicts the return; one NOP further it does not. Uses 8
; bytes of stack beyond its own return. The lowest four address bits of call, jump and return differ: otherwise two
; of them would share an entry of a small target buffer, and each would be re-steered. 6 instructions.
%macro BRANCH_RETURN 2
KERNEL %1, 0, 6, 1, 2, 24, 4, 0
	xor eax, eax
	lea rdx, [.back]
	LOOP_ALIGN
.loop:
	UNIT
	call .routine
%rep %2
	nop
%endrep
.back:
	dec rdi
	jnz .loop
	ret
align 64, db 0xCC
	times 3 db 0xCC
.routine:
	add rax, 1
	mov [rsp], rdx
	ret
ENDKERNEL %1
%endmacro
BRANCH_RETURN k_branch_return, 1
BRANCH_RETURN k_branch_return_base, 0
