/* efi/network/address.h: addresses of servers and files as text: http://SERVER[:PORT]/FOLDER/, https://, tftp://. */
#ifndef EFI_NETWORK_ADDRESS_H
#define EFI_NETWORK_ADDRESS_H

#include "pmu/base.h"

#define ADDRESS_TEXT 256u
#define ADDRESS_EXPECTED "http://SERVER/FOLDER/, https://SERVER/FOLDER/ or tftp://A.B.C.D/, of letters, digits and ._~-"

enum scheme { SCHEME_HTTP, SCHEME_HTTPS, SCHEME_TFTP };
struct address {
	enum scheme scheme;
	char server[ADDRESS_TEXT];
	uint16_t port;              /* 0: the scheme's own */
	const char *path;           /* in the text, from its first slash on */
};

/* Parses a text that is an address and nothing else, or ST_SYNTAX. For tftp the server must be an IPv4 address, since that protocol's driver
 * resolves no names. */
MUST_CHECK enum status address_parse(struct address *a, const char *text);
/* Parses an IPv4 address in dotted decimal. */
MUST_CHECK enum status address_ipv4(const char *text, uint8_t out[4]);
/* Copies the folder of a file's address to `to`, with its slash and without a query. False: it has none, or it does not fit. */
bool address_folder(char *to, size_t capacity, const char *file, size_t n);

#endif
