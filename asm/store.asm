; asm/store.asm: stores and the loads that depend on them. Pairs of kernels with the same number of uops: the
; test, and its baseline of the same name with _base. buffer: at least two pages, 4 KiB aligned.

; uint64_t k_store_forward(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration: 8 times: *buffer = rax; rax = *buffer
; A chain through memory: cycles per pair are the store-to-load latency. 18 instructions.
KERNEL k_store_forward, 0, 18, 8, 8, 128, 3, 1
	xor eax, eax
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	mov [rdi], rax
	mov rax, [rdi]
%endrep
	LOOP_END rsi
ENDKERNEL k_store_forward

; %1 name, %2 offset of the second store.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration: 4 times: store 8 bytes at buffer; store 4 bytes at buffer + %2; rax = load 8 at buffer
; With %2 = 4 the load needs bytes of two stores, which no forwarding can serve: it waits until both
; are written. With %2 = 64 the first store forwards. 14 instructions.
%macro FORWARD_FAIL 2
KERNEL %1, 0, 14, 4, 8, 80, 3, 1
	xor eax, eax
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	mov [rdi], rax
	mov [rdi + %2], eax
	mov rax, [rdi]
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
FORWARD_FAIL k_forward_fail, 4
FORWARD_FAIL k_forward_fail_base, 64

; %1 name, %2 store, %3 unused, %4 load, %5 bytes stored and loaded an iteration.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration: 4 times: store to buffer; load from buffer, which the next store depends on
; The baseline stores exactly the bytes that are loaded. 10 instructions.
%macro FORWARD 5
KERNEL %1, 0, 10, 4, 4, %5, 4, 1
	xor eax, eax
	xorps xmm0, xmm0
	LOOP_ALIGN
.loop:
%rep 4
	UNIT
	%2
	%4
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
; %1 bytes stored, bytes loaded, and the load's offset in the store, or the store's in the load (m); %2 store, %3 the baseline's store, %4 load,
; %5 bytes an iteration, %6 the baseline's.
%macro FORWARD_PAIR 6
FORWARD k_forward_%1, {%2}, 0, {%4}, %5
FORWARD k_forward_%1_base, {%3}, 0, {%4}, %6
%endmacro
%define ST8(at) mov [rdi + at], rax
%define ST4(at) mov [rdi + at], eax
%define ST2(at) mov [rdi + at], ax
%define ST1(at) mov [rdi + at], al
FORWARD_PAIR 1_8_0, {ST1(0)}, {ST8(0)}, {mov rax, [rdi]}, 36, 64
FORWARD_PAIR 2_8_0, {ST2(0)}, {ST8(0)}, {mov rax, [rdi]}, 40, 64
FORWARD_PAIR 4_8_0, {ST4(0)}, {ST8(0)}, {mov rax, [rdi]}, 48, 64
FORWARD_PAIR 4_8_m4, {ST4(4)}, {ST8(0)}, {mov rax, [rdi]}, 48, 64
FORWARD_PAIR 8_8_4, {mov [byte rdi], rax}, {ST8(4)}, {mov rax, [rdi + 4]}, 64, 64
FORWARD_PAIR 8_4_2, {ST8(0)}, {ST4(2)}, {mov eax, [rdi + 2]}, 48, 32
FORWARD_PAIR 8_16_0, {movq [byte rdi], xmm0}, {movups [rdi], xmm0}, {movups xmm0, [rdi]}, 96, 128
FORWARD_PAIR 16_16_8, {movups [byte rdi], xmm0}, {movups [rdi + 8], xmm0}, {movups xmm0, [rdi + 8]}, 128, 128

; %1 name, %2 distance between load and store.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   p = buffer + %2; *p = p; for each iteration: 8 times: *(uint64_t *)buffer = 0; p = *p
; The loads form a chain; each follows a store. At a distance of 4096 the low twelve address bits agree, and the
; load is treated as dependent until the whole address is compared. 18 instructions.
%macro ALIAS_4K 2
KERNEL %1, 0, 18, 8, 8, 128, 6, 1
	lea rax, [rdi + %2]
	mov [rax], rax
	xor ecx, ecx
	mfence
	LOOP_ALIGN
.loop:
%rep 8
	UNIT
	mov [rdi], rcx
	mov rax, [rax]
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
ALIAS_4K k_alias_4k, 4096
ALIAS_4K k_alias_4k_base, 4096 + 64

; %1 name, %2 register whose product with zero enters the store's address.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   p = buffer + 64; *p = p; for each iteration:
;     offset = (iterations & 7) * 8 + 0 * %2, delayed by two multiplications; *(uint64_t *)(buffer + 64 + offset) = p; p = *p
; Every eighth store hits the load, so loads are never predicted to be independent: each waits for the address
; of the store before it. The address is known late, after the previous load (rax), or at once (r8). The value
; stored at p is p itself. 9 instructions.
%macro UNKNOWN_ADDRESS 2
KERNEL %1, 0, 9, 1, 1, 16, 6, 1
	lea rax, [rdi + 64]
	mov [rax], rax
	xor r8d, r8d
	mfence
	LOOP_ALIGN
.loop:
	mov ecx, esi
	and ecx, 7
	imul rdx, %2, 0
	imul rdx, rdx
	add rdx, rdi
	mov [rdx + rcx * 8 + 64], rax
	UNIT
	mov rax, [rax]
	LOOP_END rsi
ENDKERNEL %1
%endmacro
UNKNOWN_ADDRESS k_unknown_address, rax
UNKNOWN_ADDRESS k_unknown_address_base, r8

; %1 name, %2 displacement of the store.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   zero = 0; for each iteration: i = iterations & 31; *(uint64_t *)(buffer + 8 i + zero + %2) = iterations;
;     rax += *(uint64_t *)buffer; eight times: zero *= zero
; With %2 = 0 one iteration in 32 stores, once the products are computed, to the address that the next load has already read:
; the load was predicted to be independent and is repeated (a machine clear). The baseline never does that. The loop is bound by the
; chain of products: waits until the predictor is confident again, allocation and ports are hidden behind it, so that each clear
; delays the chain by exactly its own length. 15 instructions.
%macro DISAMBIGUATION 2
KERNEL %1, 0, 15, 1, 1, 16, 4, 1
	xor r10d, r10d
	xor eax, eax
	LOOP_ALIGN
.loop:
	mov ecx, esi
	and ecx, 31
	lea rcx, [rdi + rcx * 8]
	mov [rcx + r10 + %2], rsi
	add rax, [rdi]
%rep 8
	imul r10, r10
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
DISAMBIGUATION k_disambiguation_clear, 0
DISAMBIGUATION k_disambiguation_clear_base, 8

; %1 name, %2 displacement of an 8-byte load.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   *(buffer + %2) = buffer; p = buffer; for each iteration: 16 times: p = *(p + %2)
; Counted from a line's first byte, offset 56 is within the line and 60 crosses into the next; likewise 4088 and 4092
; for the page. 18 instructions.
%macro LOAD_AT 2
KERNEL %1, 0, 18, 16, 0, 128, 5, 1
	mov rax, rdi
	mov [rdi + %2], rdi
	mfence
	LOOP_ALIGN
.loop:
%rep 16
	UNIT
	mov rax, [rax + %2]
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
LOAD_AT k_split_load, 60
LOAD_AT k_split_load_base, 56
LOAD_AT k_split_page, 4092
LOAD_AT k_split_page_base, 4088

; %1 name, %2 displacement of an 8-byte load.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */, uint64_t mask /* rdx */)
;   p = 0, o = 0; for each iteration: 16 times, i: p = *(buffer + o + p + 128 * i + %2); o = (o + 2048) & mask
; The buffer holds zeros in mask + 1 bytes, a power of two; each load waits for the one before. A line is loaded again only after more other lines
; than the L1 holds: at 60 each load reads two consecutive lines, at 56 only every second line is read. 21 instructions.
%macro LOAD_PAST 2
KERNEL %1, 0, 21, 16, 0, 128, 4, 1
	xor eax, eax
	xor ecx, ecx
	LOOP_ALIGN
.loop:
	lea r8, [rdi + rcx]
%assign i 0
%rep 16
	UNIT
	mov rax, [r8 + rax + 128 * i + %2]
%assign i i + 1
%endrep
	add ecx, 2048
	and ecx, edx
	LOOP_END rsi
ENDKERNEL %1
%endmacro
LOAD_PAST k_split_load_l2, 60
LOAD_PAST k_split_load_l2_base, 56

; %1 name, %2 displacement of an 8-byte store.
; uint64_t %1(void *buffer /* rdi */, uint64_t iterations /* rsi */)
;   for each iteration: 16 times: *(uint64_t *)(buffer + %2) = iterations
; Independent stores: each costs the time that the store buffer takes to write it. 18 instructions.
%macro STORE_AT 2
KERNEL %1, 0, 18, 0, 16, 128, 2, 1
	LOOP_ALIGN
.loop:
%rep 16
	UNIT
	mov [rdi + %2], rsi
%endrep
	LOOP_END rsi
ENDKERNEL %1
%endmacro
STORE_AT k_split_store, 60
STORE_AT k_split_store_base, 56
