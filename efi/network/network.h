/* efi/network/network.h: selects a network card, opens its services, and waits for its drivers. */
#ifndef EFI_NETWORK_NETWORK_H
#define EFI_NETWORK_NETWORK_H

#include "efi/network/origin.h"
#include "efi/network/protocols.h"

struct network {
	struct origin_server origin;
	EFI_HANDLE card;               /* has the services; NULL: none found yet */
	uint8_t station[4], mask[4], gateway[4]; /* configuration of children; a station of zeros: the firmware's default */
};

/* Determines where the application was loaded from and, if over a network, through which card. */
void network_open(struct network *n);
/* Selects a card with a link and an address unless the application was loaded through one: requests DHCP of the firmware and waits at most
 * NETWORK_ADDRESS_S seconds per card. ST_UNSUPPORTED: no card has a driver; ST_TIMEOUT: none got an address. */
#define NETWORK_ADDRESS_S 10u
MUST_CHECK enum status network_card(struct network *n);

/* A child of one of the card's services, with its protocol. network_child_close destroys it and ends all transfers in progress. */
struct network_child { EFI_SERVICE_BINDING *service; EFI_HANDLE handle; void *protocol; };
MUST_CHECK enum status network_child_open(struct network_child *c, const struct network *n, const EFI_GUID *service, const EFI_GUID *protocol);
void network_child_close(struct network_child *c);

/* An event that a driver signals, and a timer that limits the wait. network_wait calls `poll` until the event is signalled (ST_OK) or the
 * timer expires (ST_TIMEOUT). */
struct network_wait { EFI_EVENT done, late; volatile bool signalled; };
MUST_CHECK enum status network_wait_open(struct network_wait *w, unsigned ms);
MUST_CHECK enum status network_wait(struct network_wait *w, EFI_STATUS (EFIAPI *poll)(void *protocol), void *protocol);
void network_wait_close(struct network_wait *w);

#endif
