/* efi/network/origin.h: the server that the application was loaded from, if over a network. */
#ifndef EFI_NETWORK_ORIGIN_H
#define EFI_NETWORK_ORIGIN_H

#include "efi/network/address.h"

#define ORIGIN_MAC_BYTES 6u

struct origin_server {
	bool network;                  /* the device path has a network card */
	bool ipv6;                     /* the application was loaded over IPv6 */
	uint8_t mac[ORIGIN_MAC_BYTES];
	char folder[ADDRESS_TEXT];     /* of the loaded file: "http://192.0.2.1/boot/"; "" if unknown */
	uint8_t station[4], mask[4], gateway[4]; /* as assigned by the server; zeros: unknown */
};

/* Evaluates a device path: UEFI 2.10, 10.3.4: MAC (.11), IPv4 (.12), IPv6 (.13), URI (.22). `bytes` bounds it. */
void origin_take_path(struct origin_server *o, const uint8_t *path, size_t bytes);
/* Takes the address and gateway of a DHCP answer (RFC 2131 with the options of RFC 2132) of `bytes` bytes from its first field,
 * op, on. */
void origin_take_dhcp(struct origin_server *o, const uint8_t *packet, size_t bytes);
/* Takes the boot file from the answer that names it, which may come from another server than the address. */
void origin_take_boot_file(struct origin_server *o, const uint8_t *packet, size_t bytes);

#endif
