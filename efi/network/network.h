/* efi/network/network.h: the network card that is used, and waiting for its drivers. */
#ifndef EFI_NETWORK_NETWORK_H
#define EFI_NETWORK_NETWORK_H

#include "efi/network/origin.h"
#include "efi/network/protocols.h"

struct network {
	struct origin_server origin;
	EFI_HANDLE card;               /* has the services; NULL: none was found yet */
	uint8_t station[4], mask[4], gateway[4]; /* what a child is configured with; a station of zeros: the firmware's default */
};

/* Where the application was loaded from, and the card that it came through. */
void network_open(struct network *n);
/* A card with a link and an address, if the application did not come through one: asks the firmware for DHCP, at most
 * NETWORK_ADDRESS_S seconds a card. ST_UNSUPPORTED: no card has a driver; ST_TIMEOUT: none got an address. */
#define NETWORK_ADDRESS_S 10u
MUST_CHECK enum status network_card(struct network *n);

/* A child of a service of the card, with its protocol. network_child_close ends it, including all transfers in progress. */
struct network_child { EFI_SERVICE_BINDING *service; EFI_HANDLE handle; void *protocol; };
MUST_CHECK enum status network_child_open(struct network_child *c, const struct network *n, const EFI_GUID *service, const EFI_GUID *protocol);
void network_child_close(struct network_child *c);

/* An event that a driver signals, and the time that it has for that. network_wait calls `poll` until one of them is over:
 * ST_OK signalled, ST_TIMEOUT. */
struct network_wait { EFI_EVENT done, late; volatile bool signalled; };
MUST_CHECK enum status network_wait_open(struct network_wait *w, unsigned ms);
MUST_CHECK enum status network_wait(struct network_wait *w, EFI_STATUS (EFIAPI *poll)(void *protocol), void *protocol);
void network_wait_close(struct network_wait *w);

#endif
