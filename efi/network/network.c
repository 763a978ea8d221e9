/* efi/network/network.c: see network.h. */
#include "efi/network/network.h"

#define PATH_BYTES_MAX 4096u
#define POLL_MS        10u

static const EFI_GUID device_path = EFI_DEVICE_PATH_PROTOCOL_GUID;
static const EFI_GUID http_service = HTTP_SERVICE_GUID, tftp_service = TFTP_SERVICE_GUID, ip4_config = IP4_CONFIG_GUID;

static bool zeros(const uint8_t a[4])
{
	return (a[0] | a[1] | a[2] | a[3]) == 0;
}

static void take_path(struct origin_server *o, EFI_HANDLE handle)
{
	const uint8_t *path = handle == NULL ? NULL : uefi_protocol(handle, &device_path);
	if (path != NULL)
		origin_take_path(o, path, PATH_BYTES_MAX);
}

/* Takes the addresses that PXE received, as far as it reports them: UEFI 2.10, 24.3. */
static void take_pxe(struct origin_server *o, EFI_HANDLE handle)
{
	static const EFI_GUID pxe_guid = EFI_PXE_BASE_CODE_PROTOCOL_GUID;
	EFI_PXE_BASE_CODE_PROTOCOL *pxe = uefi_protocol(handle, &pxe_guid);
	const EFI_PXE_BASE_CODE_MODE *m = pxe != NULL ? pxe->Mode : NULL;
	if (m == NULL || !m->Started)
		return;
	o->ipv6 = o->ipv6 || m->UsingIpv6;
	if (m->UsingIpv6 || !m->DhcpAckReceived)
		return;
	const EFI_PXE_BASE_CODE_PACKET *boot = m->PxeReplyReceived ? &m->PxeReply : m->ProxyOfferReceived ? &m->ProxyOffer : &m->DhcpAck;
	origin_take_dhcp(o, m->DhcpAck.Raw, sizeof(m->DhcpAck.Raw));
	if (o->folder[0] == 0)
		origin_take_boot_file(o, boot->Raw, sizeof(boot->Raw));
}

/* The handle with the service: `handle` or one above it in its device path. */
static EFI_HANDLE with_service(EFI_HANDLE handle, const EFI_GUID *service)
{
	EFI_GUID guid = *service;
	EFI_HANDLE found = NULL;
	EFI_DEVICE_PATH *path = uefi_protocol(handle, &device_path);
	return path != NULL && uefi.boot->LocateDevicePath(&guid, &path, &found) == EFI_SUCCESS ? found : NULL;
}

/* Sets the gateway: PXE does not pass the router's address on, and HTTP would reach only its own subnet. */
static void tell_router(const struct network *n)
{
	struct ip4_config *c = n->card == NULL ? NULL : uefi_protocol(n->card, &ip4_config);
	EFI_IPv4_ADDRESS router;
	memcpy(router.Addr, n->gateway, 4);
	if (c != NULL && !zeros(n->gateway))
		(void)c->set_data(c, IP4_GATEWAY, sizeof(router), &router); /* refused under a DHCP policy; the card then gets it by DHCP */
}

void network_open(struct network *n)
{
	memset(n, 0, sizeof(*n));
	EFI_HANDLE from = uefi.loaded == NULL ? NULL : uefi.loaded->DeviceHandle;
	take_path(&n->origin, from);
	if (!n->origin.network)
		return;
	take_pxe(&n->origin, from);
	n->card = with_service(from, &http_service);
	if (n->card == NULL)
		n->card = with_service(from, &tftp_service);
	memcpy(n->station, n->origin.station, 4);
	memcpy(n->mask, n->origin.mask, 4);
	memcpy(n->gateway, n->origin.gateway, 4);
	tell_router(n);
}

/* --- a card that the application did not boot from -------------------------------------------------- */

/* Connects drivers to network cards (PCI base class 2), which a fast boot leaves without. */
static void connect_cards(void)
{
	static const EFI_GUID pci_io = EFI_PCI_IO_PROTOCOL_GUID;
	EFI_GUID guid = pci_io;
	EFI_HANDLE *handles = NULL;
	UINTN count = 0;
	if (uefi.boot->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles) != EFI_SUCCESS)
		return;
	for (UINTN i = 0; i < count; i++) {
		struct _EFI_PCI_IO_PROTOCOL *pci = uefi_protocol(handles[i], &pci_io);
		uint8_t base = 0;
		if (pci != NULL && pci->Pci.Read(pci, EfiPciIoWidthUint8, 0x0B, 1, &base) == EFI_SUCCESS && base == 2)
			uefi.boot->ConnectController(handles[i], NULL, NULL, TRUE);
	}
	uefi.boot->FreePool(handles);
}

static bool has_link(EFI_HANDLE card)
{
	static const EFI_GUID simple_network = EFI_SIMPLE_NETWORK_PROTOCOL_GUID;
	EFI_SIMPLE_NETWORK *s = uefi_protocol(card, &simple_network);
	return s == NULL || s->Mode == NULL || !s->Mode->MediaPresentSupported || s->Mode->MediaPresent;
}

static bool address_of(struct ip4_config *c, struct network *n)
{
	_Alignas(8) uint8_t at[1024];
	struct ip4_interface *info = (void *)at;
	UINTN bytes = sizeof(at);
	if (c->get_data(c, IP4_INTERFACE_INFO, &bytes, at) != EFI_SUCCESS || zeros(info->station.Addr))
		return false;
	memcpy(n->mask, info->mask.Addr, 4);
	return true;
}

static enum status try_card(struct network *n, EFI_HANDLE card)
{
	struct ip4_config *c = uefi_protocol(card, &ip4_config);
	UINT32 policy = IP4_POLICY_DHCP;
	if (c == NULL)
		return ST_UNSUPPORTED;
	if (!has_link(card))
		return ST_TIMEOUT;
	EFI_STATUS s = address_of(c, n) ? EFI_SUCCESS : c->set_data(c, IP4_POLICY, sizeof(policy), &policy);
	if (s != EFI_SUCCESS && s != EFI_ALREADY_STARTED)
		return ST_UNSUPPORTED;
	for (unsigned ms = 0; ms < NETWORK_ADDRESS_S * 1000; ms += POLL_MS) {
		if (address_of(c, n)) {
			n->card = card;
			memset(&n->origin, 0, sizeof(n->origin));
			take_path(&n->origin, card);
			memset(n->station, 0, 4); /* the firmware's default address is the one that DHCP assigned */
			return ST_OK;
		}
		uefi.boot->Stall(POLL_MS * 1000);
	}
	return ST_TIMEOUT;
}

enum status network_card(struct network *n)
{
	EFI_GUID guid = ip4_config;
	EFI_HANDLE *handles = NULL;
	UINTN count = 0;
	enum status s = ST_UNSUPPORTED;
	if (n->card != NULL)
		return ST_OK;
	if (uefi.boot->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles) != EFI_SUCCESS) {
		connect_cards();
		if (uefi.boot->LocateHandleBuffer(ByProtocol, &guid, NULL, &count, &handles) != EFI_SUCCESS)
			return ST_UNSUPPORTED;
	}
	for (UINTN i = 0; i < count && n->card == NULL; i++) {
		enum status one = try_card(n, handles[i]);
		s = one == ST_UNSUPPORTED ? s : one;
	}
	uefi.boot->FreePool(handles);
	return s;
}

/* --- children ----------------------------------------------------------------------------------------- */

enum status network_child_open(struct network_child *c, const struct network *n, const EFI_GUID *service, const EFI_GUID *protocol)
{
	memset(c, 0, sizeof(*c));
	if (n->card == NULL)
		return ST_UNSUPPORTED;
	EFI_SERVICE_BINDING *binding = uefi_protocol(n->card, service);
	if (binding == NULL)
		return ST_UNSUPPORTED;
	if (binding->CreateChild(binding, &c->handle) != EFI_SUCCESS)
		return ST_FULL;
	c->service = binding;
	c->protocol = uefi_protocol(c->handle, protocol);
	if (c->protocol != NULL)
		return ST_OK;
	network_child_close(c);
	return ST_UNSUPPORTED;
}

void network_child_close(struct network_child *c)
{
	if (c->service != NULL)
		c->service->DestroyChild(c->service, c->handle);
	memset(c, 0, sizeof(*c));
}

/* --- waiting ------------------------------------------------------------------------------------------ */

static VOID EFIAPI signalled(EFI_EVENT event, VOID *flag)
{
	(void)event;
	*(volatile bool *)flag = true;
}

enum status network_wait_open(struct network_wait *w, unsigned ms)
{
	memset(w, 0, sizeof(*w));
	if (uefi.boot->CreateEvent(EVT_NOTIFY_SIGNAL, TPL_CALLBACK, signalled, (void *)(uintptr_t)&w->signalled, &w->done) != EFI_SUCCESS)
		return ST_FULL;
	if (uefi.boot->CreateEvent(EVT_TIMER, TPL_CALLBACK, NULL, NULL, &w->late) != EFI_SUCCESS) {
		w->late = NULL;
		network_wait_close(w);
		return ST_FULL;
	}
	/* In units of 100 ns. */
	return uefi_status(uefi.boot->SetTimer(w->late, TimerRelative, (UINT64)ms * 10000));
}

enum status network_wait(struct network_wait *w, EFI_STATUS (EFIAPI *poll)(void *protocol), void *protocol)
{
	while (!w->signalled) {
		if (uefi.boot->CheckEvent(w->late) == EFI_SUCCESS)
			return ST_TIMEOUT;
		poll(protocol);
	}
	w->signalled = false;
	return ST_OK;
}

void network_wait_close(struct network_wait *w)
{
	if (w->late != NULL)
		uefi.boot->CloseEvent(w->late);
	if (w->done != NULL)
		uefi.boot->CloseEvent(w->done);
	memset(w, 0, sizeof(*w));
}
