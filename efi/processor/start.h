/* efi/processor/start.h: methods of starting the other processors. Each needs less of the firmware than the one before. */
#ifndef EFI_START_H
#define EFI_START_H

enum start {
	START_AUTO, /* MP services; without them, or when they start no processor, as START_SIPI */
	START_SIPI, /* INIT and start-up messages */
	START_ONE,  /* only the boot processor */
	START_COUNT
};

#endif
