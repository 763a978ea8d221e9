/* efi/network/upload_state.h: the state of an upload in upload.txt, in the run's directory on the stick. */
#ifndef EFI_NETWORK_UPLOAD_STATE_H
#define EFI_NETWORK_UPLOAD_STATE_H

#include "efi/network/upload.h"

#define UPLOAD_STATE "upload.txt"

enum upload_progress { UPLOAD_BEGUN, UPLOAD_DONE };
/* Writes it for the run that u->files has open; no effect without a stick. */
void upload_state_save(const struct upload *u, enum upload_progress progress);

/* Sends a file of a run; `again`: the server may already have it. */
bool upload_put(struct upload *u, const char *name, const void *bytes, size_t n, bool again);

#endif
