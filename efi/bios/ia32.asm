; efi/bios/ia32.asm: \EFI\BOOT\BOOTIA32.EFI, which 32-bit firmware starts (UEFI 2.10, 3.5.1.1): prints why nothing runs, waits, and returns.
; Early Atoms and Macs with 64-bit processors have such firmware, which loads no 64-bit applications. A flat PE32 file of one section, which needs
; no relocations.

bits 32
%define BASE      0x10000
%define ALIGNMENT 0x200
%define SUBSYSTEM_APPLICATION 10
; Offsets in tables with 32-bit pointers: UEFI 2.10, 4.3, 4.4, 12.4.
%define CON_OUT       44
%define BOOT_SERVICES 60
%define OUTPUT_STRING 4
%define STALL         136
%define WAIT_US       10000000
%define EFI_UNSUPPORTED 0x80000003

org BASE

dos:	db 'MZ'
	times 0x3C - ($ - dos) db 0
	dd pe - dos
pe:	db 'PE', 0, 0
	dw 0x14C, 1              ; IA32, one section
	dd 0, 0, 0
	dw optional_end - optional
	dw 0x0102                ; executable, 32 bits; "relocations stripped" is clear, though there are none
optional:
	dw 0x10B                 ; PE32
	db 1, 0
	dd text_end - text, 0, 0
	dd start - dos, text - dos, text - dos
	dd BASE, ALIGNMENT, ALIGNMENT
	dw 0, 0, 0, 0, 0, 0
	dd 0, image_end - dos, text - dos, 0
	dw SUBSYSTEM_APPLICATION, 0
	dd 0, 0, 0, 0, 0
	dd 6                     ; directories
	times 6 dd 0, 0
optional_end:
	db '.text', 0, 0, 0
	dd text_end - text, text - dos, text_end - text, text - dos, 0, 0
	dw 0, 0
	dd 0x60000020            ; code, read, execute
	times ALIGNMENT - ($ - dos) db 0

text:
; EFI_STATUS start(image, system): cdecl
start:
	push ebx
	push esi
	mov esi, [esp + 16]      ; the system table
	call .here
.here:	pop ebx
	mov eax, [esi + CON_OUT]
	test eax, eax
	jz .wait
	lea edx, [ebx + message - .here]
	push edx
	push eax
	call [eax + OUTPUT_STRING]
	add esp, 8
.wait:	mov eax, [esi + BOOT_SERVICES]
	push dword WAIT_US
	call [eax + STALL]
	add esp, 4
	mov eax, EFI_UNSUPPORTED
	pop esi
	pop ebx
	ret
message:
	dw __utf16__('Stallmeter needs UEFI firmware of 64 bits, and this machine has one of 32. If its setup has legacy boot (CSM), '), 13, 10
	dw __utf16__('switch that on: the same stick starts there, and results go over the serial port.'), 13, 10, 0
	times (ALIGNMENT - ($ - text) % ALIGNMENT) % ALIGNMENT db 0
text_end:
image_end:
