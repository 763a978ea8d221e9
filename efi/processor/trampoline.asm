; efi/processor/trampoline.asm: the first code of a processor after INIT and a start-up message: real mode, CS the page that the message
; names, IP 0 (SDM vol. 3, 8.4.4). efi/processor/ap_start.c copies these bytes to the start of a page below 1 MiB and fills in the
; parameters after them. Enters 64-bit mode through protected mode (SDM vol. 3, 9.8.5) and jumps to ENTRY.

; struct ap_start_parameters, efi/processor/ap_start.c, at this offset in the page
%define P       0x400
%define TICKET  P + 0
%define CR3     P + 4
%define CR4     P + 8
%define EFER    P + 12
%define GDT     P + 16
%define FAR32   P + 24
%define FAR64   P + 32
%define STACK   P + 40
%define ENTRY   P + 48
%define ARG     P + 56
%define GDT64   P + 64
%define IDT64   P + 80
%define CS64    P + 96
%define SS64    P + 98
%define CR4_64  P + 104

%define MSR_EFER  0xC0000080
%define CR0_PE    0x00000011 ; ET is always set; CD and NW clear: caches on
%define CR0_LONG  0x80010033 ; PG WP NE ET MP PE
%define MXCSR_PRESET 0x1F80

section .text
global trampoline, trampoline_protected, trampoline_long, trampoline_end

bits 16
align 16
trampoline:
	cli
	cld
	mov ax, cs
	mov ds, ax
	xor ebx, ebx
	mov bx, ax
	shl ebx, 4               ; the page's address
	; One ticket per processor: a late one must not use another's stack.
	xor eax, eax
	xchg [TICKET], eax
	test eax, eax
	jz .late
	o32 lgdt [GDT]
	mov eax, CR0_PE
	mov cr0, eax
	jmp dword far [FAR32]
.late:
	hlt
	jmp .late

bits 32
trampoline_protected:
	mov ax, 16
	mov ds, ax
	mov es, ax
	mov ss, ax
	mov eax, [ebx + CR4]
	mov cr4, eax
	mov eax, [ebx + CR3]
	mov cr3, eax
	mov ecx, MSR_EFER
	mov eax, [ebx + EFER]
	xor edx, edx
	wrmsr
	mov eax, CR0_LONG
	mov cr0, eax
	jmp dword far [ebx + FAR64]

bits 64
trampoline_long:
	mov ebx, ebx
	mov rax, [rbx + CR4_64]
	mov cr4, rax
	lgdt [rbx + GDT64]
	lidt [rbx + IDT64]
	mov ax, [rbx + SS64]
	mov ss, ax
	mov ds, ax
	mov es, ax
	xor eax, eax
	mov fs, ax
	mov gs, ax
	mov rsp, [rbx + STACK]
	and rsp, -16
	fninit
	push MXCSR_PRESET
	ldmxcsr [rsp]
	mov rdi, [rbx + ARG]
	movzx eax, word [rbx + CS64]
	mov rcx, [rbx + ENTRY]
	mov qword [rsp], 0       ; return address: the routine never returns
	push rax
	push rcx
	o64 retf
trampoline_end:

section .note.GNU-stack noalloc noexec nowrite progbits
