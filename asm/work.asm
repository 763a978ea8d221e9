; asm/work.asm: workloads of the cycle accounting without a row of their own, and the wrapper that counts them.

; uint64_t k_work_branchy(const uint8_t *choices /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration, c = choices[iteration]: sum = sum * 3 + c; sum += c odd ? 5 : 7, by a branch;
;   if (c & 2) sum ^= iteration, by another
; Both arms of each branch have the same number of instructions and no NOPs, which retire without executing. 16 instructions
; an iteration; random choices mispredict one branch an iteration on average.
KERNEL k_work_branchy, 0, 16, 1, 0, 1, 3, 1
	xor eax, eax
	LOOP_ALIGN
.loop:
	movzx ecx, byte [rdi + rsi - 1]
	lea rax, [rax + rax * 2]
	add rax, rcx
	test ecx, 1
	jz .even
	add rax, 5
	add r10, 1
	jmp .second
.even:
	add rax, 7
	add r10, 1
	add r10, 1
.second:
	test ecx, 2
	jz .plain
	xor rax, rsi
	jmp .join
.plain:
	add r10, 1
	add r10, 1
.join:
	mov r8, rax
	add r9, r8
	LOOP_END rsi
ENDKERNEL k_work_branchy

; uint64_t k_work_mixed(void *start /* rdi */, uint64_t iterations /* rsi */, uint8_t *choices /* rdx */)
;   p = start; for each iteration: p = *p; c = choices[iteration]; sum += c odd ? 5 : 7, by a branch; four
;   additions of sums; choices[iteration] = c; return p
; 17 instructions, 2 loads and 1 store an iteration. The next call continues at the returned address.
KERNEL k_work_mixed, 0, 17, 2, 1, 10, 4, 1
	mov rax, rdi
	xor r8d, r8d
	LOOP_ALIGN
.loop:
	mov rax, [rax]
	movzx ecx, byte [rdx + rsi - 1]
	add r8, rcx
	test ecx, 1
	jz .even
	add r8, 5
	add r10, 1
	jmp .join
.even:
	add r8, 7
	add r10, 1
	add r10, 1
.join:
	lea r9, [r8 + rcx]
	lea r10, [r9 + r8]
	lea r11, [r10 + r9]
	add r8, r11
	mov [rdx + rsi - 1], cl
	xor r9d, r9d
	test r9d, r9d
	LOOP_END rsi
ENDKERNEL k_work_mixed

; uint64_t k_measure_gated(struct measure_block *block /* rdi */)
;   serialise; MSR 0x38F (IA32_PERF_GLOBAL_CTRL) = gate; result = kernel(argument[0..5]); serialise; MSR 0x38F = 0
; All counters of a run count exactly the same cycles: one write starts them, one stops them. It needs ring 0;
; the caller has put the register on its list of registers to restore, stopped the counters, and reads them afterwards.
KERNEL k_measure_gated, 0, 0, 0, 0, 0, 0, 0
	WRAPPER
	SERIALISE
	mov eax, [rbp + MB_GATE]
	mov edx, [rbp + MB_GATE + 4]
	mov ecx, 0x38F
	wrmsr
	ARGUMENTS rbp, MB_ARGUMENT
	call [rbp + MB_KERNEL]
	mov [rbp + MB_RESULT], rax
	SERIALISE
	xor eax, eax
	xor edx, edx
	mov ecx, 0x38F
	wrmsr
	mov rax, [rbp + MB_RESULT]
	WRAPPER_RETURN
ENDKERNEL k_measure_gated
