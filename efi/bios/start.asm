; efi/bios/start.asm: the second stage's switch from real to 64-bit mode, and back for a BIOS call.
;
; Checks the processor, the memory below 1 MiB and the A20 line, asks the BIOS for the memory map (ACPI 6.4, 15.1: INT 15h
; E820h), builds page tables that identity-map the first 4 GiB, enters 64-bit mode (SDM vol. 3, 9.8.5) and calls loader_main.
; Every wait is bounded, every failure is one line on the screen and on COM1.
;
; Memory below 1 MiB (efi/bios/loader.h has the same numbers):
;   1000 page tables   8000 second stage   20000 the disk's buffer   28000 stack of 64-bit mode   48000 stack of real mode   4C000

%define TABLES     0x1000
%define STACK_TOP  0x48000
%define REAL_STACK 0x4000     ; its bytes, from STACK_TOP on
%define LOW_KIB    (STACK_TOP + REAL_STACK) / 1024
%define E820_MAX   128
%define SMAP       0x534D4150
%define COM1       0x3F8
%define MSR_EFER   0xC0000080
%define EFER_LME   0x100
%define EFER_NXE   0x800
%define CR0_REAL   0x00000010 ; ET, which is always set
%define CR0_LONG   0x80010033 ; PG WP NE ET MP PE
%define CR4_LONG   0x00000620 ; OSXMMEXCPT OSFXSR PAE: UEFI specification, 2.3.4
%define CODE32     0x08
%define DATA       0x10
%define CODE64     0x18
%define CODE16     0x20
%define DATA16     0x28
%define EXIT_PORT  0xF4       ; efi/firmware/exit.h
%define EXIT_CODE  0x13       ; nothing could be run

%include "efi/processor/vectors.inc"

extern loader_main, loader_exception, stage2_end, bss_end
global bios_start, bios_call, bios_registers, bios_packet, bios_drive, bios_map, bios_map_entries, bios_low_kib, exception_entries

section .low progbits alloc exec write align=16
bits 16
bios_start: ; DL: the drive
	mov [bios_drive], dl
	mov ax, 3 ; text, 80 columns, 25 lines
	int 0x10

	; CPUID exists if EFLAGS.ID can be changed (SDM vol. 1, 20.1.2), 64-bit mode if CPUID 0x80000001 EDX[29] is set.
	mov si, no_long
	pushfd
	pop eax
	mov ebx, eax
	xor eax, 1 << 21
	push eax
	popfd
	pushfd
	pop eax
	xor eax, ebx
	test eax, 1 << 21
	jz fail
	mov byte [has_cpuid], 1
	mov eax, 0x80000000
	cpuid
	cmp eax, 0x80000001
	jb fail
	mov eax, 0x80000001
	cpuid
	test edx, 1 << 29
	jz fail
	test edx, 1 << 20 ; XD; early Pentium 4 lack it
	jz .no_xd
	or dword [efer], EFER_NXE
.no_xd:

	mov si, no_low
	int 0x12
	mov [bios_low_kib], ax
	cmp ax, LOW_KIB
	jb fail
	call a20
	mov si, no_a20
	jc fail

	; The memory map. An entry of 20 bytes has no attributes: it is valid.
	xor ebx, ebx
	mov di, bios_map
.entry:
	mov dword [di + 20], 1
	mov eax, 0xE820
	mov edx, SMAP
	mov ecx, 24
	int 0x15
	jc .entries      ; some BIOSes end the list so
	cmp eax, SMAP
	jne .entries
	cmp ecx, 20
	jb .entries
	add di, 24
	inc dword [bios_map_entries]
	cmp dword [bios_map_entries], E820_MAX
	je .entries
	test ebx, ebx
	jnz .entry
.entries:
	mov si, no_map
	cmp dword [bios_map_entries], 0
	je fail

	; Page tables: 1000 level 4, 2000 level 3, 3000 to 6FFF level 2 of four GiB.
	cli
	mov di, TABLES
	mov cx, 0x6000 / 4
	xor eax, eax
	rep stosd
	mov dword [TABLES], TABLES + 0x1003
	mov eax, TABLES + 0x2003
	mov di, TABLES + 0x1000
	mov cx, 4
.level3:
	mov [di], eax
	add eax, 0x1000
	add di, 8
	loop .level3
	mov eax, 0x83
	mov di, TABLES + 0x2000
	mov cx, 2048
.level2:
	mov [di], eax
	add eax, 1 << 21
	add di, 8
	loop .level2
	; go_long "returns" to the address that this points to
	mov dword [saved_stack], first_stack
	jmp go_long

; Enables the A20 line. CF clear: it is on.
a20:
	call a20_on
	jnc .end
	mov ax, 0x2401
	int 0x15
	call a20_on
	jnc .end
	in al, 0x92       ; PS/2's system control port A: bit 1 A20, bit 0 reset
	or al, 2
	and al, 0xFE
	out 0x92, al
	call a20_wait
	jnc .end
	call keyboard_free
	mov al, 0xD1      ; 8042: write the output port
	out 0x64, al
	call keyboard_free
	mov al, 0xDF
	out 0x60, al
	call keyboard_free
	call a20_wait
.end:
	ret
keyboard_free:
	mov ecx, 100000
.again:
	in al, 0x64
	test al, 2
	jz .end
	dec ecx
	jnz .again
.end:
	ret
a20_wait:
	mov cx, 1000
.again:
	call a20_on
	jnc .end
	out 0x80, al      ; about a microsecond
	loop .again
	stc
.end:
	ret
a20_on: ; CF set: the address 1 MiB higher is the same word
	push es
	mov ax, 0xFFFF
	mov es, ax
	mov ax, [a20_word]
	inc ax
	mov [a20_word], ax
	cmp [es:a20_word + 16], ax
	jne .on
	inc ax
	mov [a20_word], ax
	cmp [es:a20_word + 16], ax
	jne .on
	pop es
	stc
	ret
.on:
	pop es
	clc
	ret

fail: ; SI: zero-terminated text
	lodsb
	test al, al
	jz .stop
	push ax
	mov ah, 0x0E
	mov bx, 7
	int 0x10
	mov dx, COM1 + 5
	xor cx, cx
.wait:
	in al, dx
	test al, 0x20
	loopz .wait
	pop ax
	mov dx, COM1
	out dx, al
	jmp fail
.stop:
	cmp byte [has_cpuid], 0
	je .halt
	mov eax, 1
	cpuid
	test ecx, ecx     ; a hypervisor: QEMU's isa-debug-exit
	jns .halt
	mov al, EXIT_CODE
	out EXIT_PORT, al
.halt:
	hlt
	jmp .halt

; Entered in real mode with interrupts off; returns in 64-bit mode on the stack [saved_stack].
go_long:
	o32 lgdt [gdt_pointer]
	mov eax, cr0
	or al, 1
	mov cr0, eax
	jmp dword CODE32:.protected
bits 32
.protected:
	mov ax, DATA
	mov ds, ax
	mov es, ax
	mov ss, ax
	mov eax, CR4_LONG
	mov cr4, eax
	mov eax, TABLES
	mov cr3, eax
	mov ecx, MSR_EFER
	rdmsr
	or eax, [efer]
	wrmsr
	mov eax, CR0_LONG
	mov cr0, eax
	jmp CODE64:.long
bits 64
.long:
	mov ax, DATA
	mov ds, ax
	mov es, ax
	mov ss, ax
	xor eax, eax
	mov fs, ax
	mov gs, ax
	mov esp, [saved_stack]
	ret

; Entered once: clears .bss for the C code.
first:
	mov esp, STACK_TOP
	fninit
	mov edi, stage2_end
	mov ecx, bss_end
	sub ecx, edi
	xor eax, eax
	rep stosb
	call loader_main
.halt:
	hlt
	jmp .halt

; void bios_call(number edi): calls this interrupt in real mode with bios_registers; they hold its AX and FLAGS afterwards.
bios_call:
	push rbx
	push rbp
	push r12
	push r13
	push r14
	push r15
	pushfq
	cli
	sidt [saved_idt]
	mov [bios_interrupt + 1], dil
	push qword .back
	mov [saved_stack], rsp
	push qword CODE32
	push qword .compatible
	o64 retf
.back:
	lidt [saved_idt]
	popfq
	pop r15
	pop r14
	pop r13
	pop r12
	pop rbp
	pop rbx
	ret
bits 32
.compatible:
	mov eax, cr0
	and eax, 0x7FFFFFFF
	mov cr0, eax
	mov ecx, MSR_EFER
	rdmsr
	and eax, ~EFER_LME
	wrmsr
	xor eax, eax
	mov cr4, eax
	jmp CODE16:.sixteen
bits 16
.sixteen:
	mov ax, DATA16
	mov ds, ax
	mov es, ax
	mov fs, ax
	mov gs, ax
	mov ss, ax
	mov eax, CR0_REAL
	mov cr0, eax
	jmp 0:.real
.real:
	xor ax, ax
	mov ds, ax
	mov es, ax
	mov fs, ax
	mov gs, ax
	mov ax, STACK_TOP / 16
	mov ss, ax
	mov sp, REAL_STACK
	lidt [real_idt]
	mov ax, [bios_registers]
	mov bx, [bios_registers + 2]
	mov cx, [bios_registers + 4]
	mov dx, [bios_registers + 6]
	mov si, [bios_registers + 8]
	mov di, [bios_registers + 10]
	mov es, [bios_registers + 12]
	sti
bios_interrupt:
	int 0xFF
	cli
	cld
	push ax
	pushf
	xor ax, ax
	mov ds, ax
	mov es, ax
	pop word [bios_registers + 14]
	pop word [bios_registers]
	jmp go_long

; Exceptions of the second stage, and of the application while its own IDT is not loaded.
bits 64
align 16
exception_entries:
	VECTOR_ENTRIES 32, exception_common
exception_common:
	cld
	mov rdi, rsp ; [vector][error][rip][cs][rflags][rsp][ss]
	and rsp, -16
	call loader_exception
.halt:
	cli
	hlt
	jmp .halt

align 16
gdt:
	dq 0
	dq 0x00CF9A000000FFFF
	dq 0x00CF92000000FFFF
	dq 0x00AF9A000000FFFF
	dq 0x00009A000000FFFF
	dq 0x000092000000FFFF
gdt_end:
gdt_pointer:
	dw gdt_end - gdt - 1
	dd gdt
	dd 0
real_idt:
	dw 0x3FF
	dd 0
align 8
first_stack: dq first
saved_stack: dq 0
efer:        dd EFER_LME
saved_idt:   times 10 db 0
a20_word:    dw 0
has_cpuid:   db 0
bios_drive:  db 0
align 8
bios_registers: times 8 dw 0 ; AX BX CX DX SI DI ES FLAGS
bios_packet: times 16 db 0
bios_map_entries: dd 0
bios_low_kib: dw 0
no_long: db "Stallmeter: this processor has no 64-bit mode; nothing was started", 13, 10, 0
no_low:  db "Stallmeter: too little memory below 1 MiB; nothing was started", 13, 10, 0
no_a20:  db "Stallmeter: the A20 line cannot be switched on; nothing was started", 13, 10, 0
no_map:  db "Stallmeter: this BIOS gives no memory map (INT 15h E820h); nothing was started", 13, 10, 0
align 8
bios_map: times E820_MAX * 24 db 0

section .note.GNU-stack noalloc noexec nowrite progbits
