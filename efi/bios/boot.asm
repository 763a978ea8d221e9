; efi/bios/boot.asm: the boot code of the image for a PC BIOS: the first 440 bytes of block 0, in front of the protective MBR's
; disk signature and partition table (UEFI specification, 5.2.1 and 5.2.3), and the second stage with its header, which lies
; in the image's BIOS boot partition. nasm puts both into one file; runner/image.sh splits it.
;
; The BIOS loads this block at 0000:7C00 and enters it in real mode with DL = the drive. Blocks are read by number: INT 13h AH=41h
; and 42h (T13 EDD-3, 8.1 and 8.2). The second stage's checksum is that of POSIX cksum: CRC 0x04C11DB7 over the bytes and their number.
; A failure is one line on the screen and on COM1. Nothing is written to the disk.
; Needs: STAGE2 (file), STAGE2_BYTES, STAGE2_CRC from the command line.

%define LOAD      0x8000     ; efi/bios/bios.lds; 64 KiB from here
%define LBA       64         ; runner/image.sh: first block of the BIOS boot partition
%define READS     2
%define BLOCKS    64         ; of each read: 32 KiB, which crosses no 64-KiB boundary
%define MAGIC     0x32424D53 ; "SMB2"
%define HEADER    16
%define COM1      0x3F8

bits 16
org 0x7C00
	cli
	cld
	xor ax, ax
	mov ds, ax
	mov es, ax
	mov ss, ax
	mov sp, 0x7C00
	jmp 0:start
start:
	sti
	push dx
	; 115200 8N1, no interrupts, FIFO on (16550 data sheet)
	mov si, uart
	mov cx, (uart_end - uart) / 2
	mov dx, COM1
.uart:
	lodsw
	mov dl, al
	mov al, ah
	out dx, al
	loop .uart
	pop dx

	mov ah, 0x41
	mov bx, 0x55AA
	int 0x13
	mov si, no_blocks
	jc fail
	cmp bx, 0xAA55
	jne fail
	test cl, 1 ; extended disk access functions
	jz fail

	mov bx, READS
.read:
	mov bp, 3  ; a drive may have to spin up
.again:
	mov word [packet + 2], BLOCKS ; a BIOS may have stored the number of blocks read
	mov si, packet
	mov ah, 0x42
	int 0x13
	jnc .have
	xor ah, ah ; reset the drive
	int 0x13
	dec bp
	jnz .again
	mov si, no_read
	jmp fail
.have:
	add word [packet + 6], BLOCKS * 512 / 16
	add word [packet + 8], BLOCKS
	dec bx
	jnz .read

	push dx
	mov si, damaged
	cmp dword [LOAD], MAGIC
	jne fail
	mov ecx, [LOAD + 4]
	cmp ecx, READS * BLOCKS * 512 - HEADER
	ja fail
	jecxz fail
	mov di, (LOAD + HEADER) / 16
	mov ds, di
	xor si, si
	xor edx, edx
	mov ebp, ecx
.byte:
	lodsb
	call crc
	dec ecx
	jnz .byte
.length:
	mov eax, ebp
	call crc
	shr ebp, 8
	jnz .length
	xor ax, ax
	mov ds, ax
	not edx
	mov si, damaged
	cmp edx, [LOAD + 8]
	jne fail
	pop dx
	jmp 0:LOAD + HEADER

; EDX: the CRC, AL: the next byte
crc:
	shl eax, 24
	xor edx, eax
	mov al, 8
.bit:
	shl edx, 1
	jnc .next
	xor edx, 0x04C11DB7
.next:
	dec al
	jnz .bit
	ret

fail:
	push si
	mov si, name
	call print
	pop si
	call print
	mov si, rest
	call print
.stop:
	hlt
	jmp .stop

; SI: zero-terminated text
print:
	lodsb
	test al, al
	jz .end
	push ax
	mov ah, 0x0E
	mov bx, 7
	int 0x10
	mov dx, COM1 + 5
	xor cx, cx ; 65536 tries: a dead line must not hang the boot
.wait:
	in al, dx
	test al, 0x20
	loopz .wait
	pop ax
	mov dl, COM1 & 0xFF
	out dx, al
	jmp print
.end:
	ret

; EDD-3, 8.2: size, reserved, blocks, offset, segment, first block
packet:
	db 16, 0
	dw BLOCKS
	dw 0, LOAD / 16
	dq LBA
uart:
	db 0xF9, 0x00, 0xFB, 0x80, 0xF8, 0x01, 0xF9, 0x00, 0xFB, 0x03, 0xFA, 0x07, 0xFC, 0x03
uart_end:
no_blocks: db "the BIOS has no INT 13h AH=42h", 0
no_read:   db "the drive cannot be read", 0
damaged:   db "the second stage is missing or damaged", 0
name:      db "Stallmeter: ", 0
rest:      db "; nothing started", 13, 10, 0

%if $ - $$ > 440
%error the boot sector is longer than 440 bytes
%endif
	times 512 - ($ - $$) db 0
header:
	dd MAGIC, STAGE2_BYTES, STAGE2_CRC, 0
	incbin STAGE2
%if $ - header > READS * BLOCKS * 512
%error the second stage is longer than the boot sector reads
%endif
