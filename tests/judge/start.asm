; tests/judge/start.asm: a multiboot program in long mode, to run kernels under QEMU's icount with nothing
; else in the machine. Memory: the program at 1 MiB; the window (pmu/access.h) on physical memory:
;   SPACE_CODE .. +1 GiB (code, control, DS, scratch)  -> 1 GiB
;   SPACE_DATA .. +1 GiB                               -> 2 GiB
; Multiboot 0.6.96, section 3.1 (header), 3.2 (machine state); SDM vol. 3, 9.8.5 (to IA-32e mode).

MAGIC equ 0x1BADB002
FLAGS equ 3

section .multiboot
align 4
	dd MAGIC, FLAGS, -(MAGIC + FLAGS)

section .bss
align 4096
top_table:     resb 4096
low_table:     resb 4096 ; 1 GiB pages of the first 512 GiB
window_table:  resb 4096
stack:         resb 65536
stack_top:

section .text
bits 32
global start
start:
	cli
	mov esp, stack_top
	mov ebp, ebx                                        ; multiboot information
	mov edi, top_table
	xor eax, eax
	mov ecx, 3 * 4096 / 4
	rep stosd
	mov dword [top_table], low_table + 3
	mov dword [top_table + 64 * 8], window_table + 3    ; 32 TiB / 512 GiB = 64
	mov dword [low_table], 0x83                         ; present, writable, 1 GiB
	mov dword [low_table + 8], 0x40000083
	mov dword [low_table + 16], 0x80000083
	mov dword [low_table + 24], 0xC0000083
	mov dword [window_table], 0x40000083
	mov dword [window_table + 64 * 8], 0x80000083       ; SPACE_DATA is 64 GiB above the base
	mov eax, cr4
	or eax, 0x620                                       ; PAE, OSFXSR, OSXMMEXCPT
	mov cr4, eax
	mov eax, top_table
	mov cr3, eax
	mov ecx, 0xC0000080                                 ; EFER: long mode enable
	rdmsr
	or eax, 0x100
	wrmsr
	mov eax, cr0
	and eax, ~4                                         ; EM off
	or eax, 0x80000002                                  ; paging, MP
	mov cr0, eax
	lgdt [descriptor]
	jmp 8:long_mode

bits 64
long_mode:
	mov ax, 16
	mov ds, ax
	mov es, ax
	mov ss, ax
	mov rsp, stack_top
	mov eax, 1
	cpuid
	bt ecx, 26                                          ; XSAVE
	jnc .go
	mov rax, cr4
	or rax, 1 << 18
	mov cr4, rax
	xor ecx, ecx
	mov eax, 7                                          ; x87, SSE, AVX state
	xor edx, edx
	xsetbv
.go:
	fninit
	extern judge_main
	mov edi, ebp
	call judge_main
.stop:
	hlt
	jmp .stop

align 8
table:
	dq 0, 0x00AF9A000000FFFF, 0x00CF92000000FFFF
descriptor:
	dw 23
	dd table
