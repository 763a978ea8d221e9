; asm/blob.asm: all kernels and the measuring wrapper, assembled as one piece. A new file of kernels
; needs one more %include here.
%include "asm/kernel.inc"

section .kernel_meta
global kernel_table
kernel_table:
section .kernels
global kernel_code
kernel_code:

%include "asm/measure.asm"
%include "asm/basic.asm"
%include "asm/chase.asm"
%include "asm/cache_state.asm"
%include "asm/stream.asm"
%include "asm/store.asm"
%include "asm/branch.asm"
%include "asm/arith.asm"
%include "asm/sync.asm"
%include "asm/frontend.asm"
%include "asm/study.asm"
%include "asm/cores.asm"
%include "asm/bandwidth.asm"
%include "asm/work.asm"
%include "asm/core_misc.asm"
%include "asm/measure_lbr.asm"
%include "asm/warm.asm"
%include "asm/flush_wrapper.asm"
%include "asm/flush.asm"
%include "asm/cold_code.asm"
%include "asm/cold_cores.asm"
%include "asm/measure_cold.asm"
%include "asm/measure_sampled.asm"
%include "asm/measure_ahead.asm"

section .kernels
global kernel_code_end
kernel_code_end:
section .kernel_meta
global kernel_table_end
kernel_table_end:

; Without it the linker makes the stack executable.
section .note.GNU-stack noalloc noexec nowrite progbits
