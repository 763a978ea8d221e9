; asm/blob.asm: all kernels and the measuring wrapper, assembled as one piece. A new file of kernels
; needs one more KERNEL_FILE here.
%include "asm/kernel.inc"

section .kernel_meta
global kernel_table
kernel_table:
section .kernels
global kernel_code
kernel_code:

; Each file begins at a multiple of 512 bytes, so that a change in one seldom moves the kernels of the others.
%macro KERNEL_FILE 1
section .kernels
align 512, db 0xCC
%include %1
%endmacro
KERNEL_FILE "asm/measure.asm"
KERNEL_FILE "asm/basic.asm"
KERNEL_FILE "asm/chase.asm"
KERNEL_FILE "asm/cache_state.asm"
KERNEL_FILE "asm/stream.asm"
KERNEL_FILE "asm/store.asm"
KERNEL_FILE "asm/branch.asm"
KERNEL_FILE "asm/arith.asm"
KERNEL_FILE "asm/sync.asm"
KERNEL_FILE "asm/frontend.asm"
KERNEL_FILE "asm/study.asm"
KERNEL_FILE "asm/cores.asm"
KERNEL_FILE "asm/bandwidth.asm"
KERNEL_FILE "asm/work.asm"
KERNEL_FILE "asm/core_misc.asm"
KERNEL_FILE "asm/measure_lbr.asm"
KERNEL_FILE "asm/warm.asm"
KERNEL_FILE "asm/flush_wrapper.asm"
KERNEL_FILE "asm/flush.asm"
KERNEL_FILE "asm/cold_code.asm"
KERNEL_FILE "asm/cold_cores.asm"
KERNEL_FILE "asm/measure_cold.asm"
KERNEL_FILE "asm/measure_sampled.asm"
KERNEL_FILE "asm/measure_ahead.asm"
KERNEL_FILE "asm/stream_variants.asm"

section .kernels
global kernel_code_end
kernel_code_end:
section .kernel_meta
global kernel_table_end
kernel_table_end:

; Without it the linker makes the stack executable.
section .note.GNU-stack noalloc noexec nowrite progbits
