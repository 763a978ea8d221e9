/* efi/network/served.h: the settings that the server has for this machine. */
#ifndef EFI_NETWORK_SERVED_H
#define EFI_NETWORK_SERVED_H

#include "efi/network/transfer.h"

#define SERVED_BYTES_MAX 0x10000u

struct served {
	char name[ADDRESS_TEXT + 64];   /* its whole address */
	char *text;                     /* NULL: the server has none */
	size_t bytes;
	char problem[ADDRESS_TEXT + 200]; /* why the request failed, one line; "" if it did not */
};

/* Requests from the folder of the loaded file stallmeter-UUID.ini (SMBIOS's, as DSP0134 7.2.1 prints it, lower case), then
 * stallmeter-MAC.ini (of the card, two digits a byte with dashes), then stallmeter.ini; the first that is there is taken. */
void served_get(struct served *s, const struct network *n, const uint8_t uuid[16]);
void served_put(struct served *s);

#endif
