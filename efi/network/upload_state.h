/* efi/network/upload_state.h: what upload.txt beside a run on the stick says of it. */
#ifndef EFI_NETWORK_UPLOAD_STATE_H
#define EFI_NETWORK_UPLOAD_STATE_H

#include "efi/network/upload.h"

#define UPLOAD_STATE "upload.txt"

/* Writes it for the run that u->files has open; nothing without a stick. */
void upload_state_keep(const struct upload *u, bool done);

/* One file of a run; `again`: it may be there already. */
bool upload_put(struct upload *u, const char *name, const void *bytes, size_t n, bool again);

#endif
