/* efi/firmware/exit.h: the application's exit status, for the scripts that started it.
 *
 * The last line on every console is "stallmeter: end status N"; 0 to 4 have the meaning of the host command's exit status.
 * With `end = exit` the application then writes EXIT_PORT_BASE + N to QEMU's isa-debug-exit port, and QEMU exits with (value
 * << 1) | 1: always odd and never 1, and so distinct from a shutdown or a triple fault (both 0) and from a QEMU that did not
 * start (1).
 *
 *   N  meaning                                              exit status of QEMU
 *   0  every row ended as expected                          33
 *   1  a row did not end as expected                        35
 *   2  bad configuration; nothing was run                   37
 *   3  nothing could be run, or results could not be kept   39
 *   4  the user stopped it; what was written is valid       41
 *   5  a fault that nothing recovers; the run ended         43 */
#ifndef EFI_EXIT_H
#define EFI_EXIT_H

#define EXIT_PORT      0xF4 /* -device isa-debug-exit,iobase=0xf4,iosize=0x04 */
#define EXIT_PORT_BASE 0x10

enum exit_status { EXIT_GOOD = 0, EXIT_ROWS = 1, EXIT_BAD_INPUT = 2, EXIT_BROKEN = 3, EXIT_STOPPED = 4, EXIT_PANIC = 5 };

#endif
