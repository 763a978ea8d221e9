/* efi/network/served.h: this machine's settings from the boot server. */
#ifndef EFI_NETWORK_SERVED_H
#define EFI_NETWORK_SERVED_H

#include "efi/network/transfer.h"

#define SERVED_BYTES_MAX 0x10000u

struct served {
	char name[ADDRESS_TEXT + 64];   /* the file's full address */
	char *text;                     /* NULL: the server has none */
	size_t bytes;
	char problem[ADDRESS_TEXT + 200]; /* why the request failed, one line; "" if it succeeded */
};

/* Requests, in the folder of the loaded file, stallmeter-UUID.ini (SMBIOS's, as DSP0134 7.2.1 prints it, lower case), then
 * stallmeter-MAC.ini (of the card, two digits per byte with dashes), then stallmeter.ini; takes the first that exists. */
void served_get(struct served *s, const struct network *n, const uint8_t uuid[16]);
/* Frees the text; the name stays valid. */
void served_put(struct served *s);

#endif
