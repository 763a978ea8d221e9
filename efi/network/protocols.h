/* efi/network/protocols.h: network protocols of the UEFI specification 2.10 that GNU-EFI does not declare:
 * HTTP (29.6), TFTP (30.3), the addresses of a network card (28.5), TLS (28.10, only its presence). Members that are not
 * called are untyped pointers. */
#ifndef EFI_NETWORK_PROTOCOLS_H
#define EFI_NETWORK_PROTOCOLS_H

#include "efi/firmware/uefi.h"

/* --- HTTP: 29.6.1 the service binding, 29.6.2 ff. the protocol ------------------------------------------------------ */
#define HTTP_SERVICE_GUID { 0xbdc8e6af, 0xd9bc, 0x4379, { 0xa7, 0x2a, 0xe0, 0xc4, 0xe7, 0x5d, 0xae, 0x1c } }
#define HTTP_GUID         { 0x7a59b29b, 0x910b, 0x4171, { 0x82, 0x42, 0xa8, 0x5a, 0x0d, 0xf2, 0x5b, 0x5b } }

enum http_version { HTTP_VERSION_1_0, HTTP_VERSION_1_1 };
enum http_method { HTTP_METHOD_GET = 0, HTTP_METHOD_PUT = 6 };

struct http_access4 {
	BOOLEAN use_default;
	EFI_IPv4_ADDRESS station, mask;
	UINT16 port;
};
struct http_config {
	UINT32 version;
	UINT32 timeout_ms;
	BOOLEAN ipv6;
	struct http_access4 *access4;
};
struct http_request { UINT32 method; CHAR16 *url; };
struct http_response { UINT32 status; }; /* index in the list of 29.6.4, not the HTTP status code */
struct http_header { CHAR8 *name, *value; };
struct http_message {
	union { struct http_request *request; struct http_response *response; } data;
	UINTN headers;
	struct http_header *header;      /* of a response: the caller frees it, and each name and value, by FreePool */
	UINTN body_bytes;
	VOID *body;
};
struct http_token { EFI_EVENT event; EFI_STATUS status; struct http_message *message; };
struct http_protocol {
	VOID *get_mode_data;
	EFI_STATUS (EFIAPI *configure)(struct http_protocol *self, struct http_config *config);
	EFI_STATUS (EFIAPI *request)(struct http_protocol *self, struct http_token *token);
	EFI_STATUS (EFIAPI *cancel)(struct http_protocol *self, struct http_token *token);
	EFI_STATUS (EFIAPI *response)(struct http_protocol *self, struct http_token *token);
	EFI_STATUS (EFIAPI *poll)(struct http_protocol *self);
};

/* --- TFTP: 30.3 ------------------------------------------------------------------------------------------------------ */
#define TFTP_SERVICE_GUID { 0x2fe800be, 0x8f01, 0x4aa6, { 0x94, 0x6b, 0xd7, 0x13, 0x88, 0xe1, 0x83, 0x3f } }
#define TFTP_GUID         { 0x78247c57, 0x63db, 0x4708, { 0x99, 0xc2, 0xa8, 0xb4, 0xa9, 0xa6, 0x1f, 0x6b } }

struct tftp_config {
	BOOLEAN use_default;
	EFI_IPv4_ADDRESS station, mask;
	UINT16 local_port;
	EFI_IPv4_ADDRESS gateway, server;
	UINT16 server_port, tries, timeout_s;
};
struct tftp_option { CHAR8 *name, *value; };
struct tftp_protocol;
struct tftp_token {
	EFI_STATUS status;
	EFI_EVENT event;
	VOID *override;
	CHAR8 *file, *mode;
	UINT32 options;
	struct tftp_option *option;
	UINT64 bytes;
	VOID *buffer;
	VOID *context;
	EFI_STATUS (EFIAPI *check_packet)(struct tftp_protocol *self, struct tftp_token *token, UINT16 bytes, const uint8_t *packet);
	VOID *timeout_callback, *packet_needed;
};
struct tftp_protocol {
	VOID *get_mode_data;
	EFI_STATUS (EFIAPI *configure)(struct tftp_protocol *self, struct tftp_config *config);
	VOID *get_info, *parse_options;
	EFI_STATUS (EFIAPI *read_file)(struct tftp_protocol *self, struct tftp_token *token);
	EFI_STATUS (EFIAPI *write_file)(struct tftp_protocol *self, struct tftp_token *token);
	VOID *read_directory;
	EFI_STATUS (EFIAPI *poll)(struct tftp_protocol *self);
};

/* --- a card's addresses: 28.5 ------------------------------------------------------------------------------------------ */
#define IP4_CONFIG_GUID { 0x5b446ed1, 0xe30b, 0x4faa, { 0x87, 0x1a, 0x36, 0x54, 0xec, 0xa3, 0x60, 0x80 } }
enum ip4_config_type { IP4_INTERFACE_INFO, IP4_POLICY, IP4_MANUAL_ADDRESS, IP4_GATEWAY, IP4_DNS_SERVER };
enum ip4_policy { IP4_POLICY_STATIC, IP4_POLICY_DHCP };
struct ip4_interface {
	CHAR16 name[32];
	UINT8 type;
	UINT32 hardware_bytes;
	EFI_MAC_ADDRESS hardware;
	EFI_IPv4_ADDRESS station, mask;
	UINT32 route_bytes;
	VOID *routes;
};
struct ip4_config {
	EFI_STATUS (EFIAPI *set_data)(struct ip4_config *self, UINT32 type, UINTN bytes, VOID *data);
	EFI_STATUS (EFIAPI *get_data)(struct ip4_config *self, UINT32 type, UINTN *bytes, VOID *data);
	VOID *register_notify, *unregister_notify;
};

/* --- TLS: 28.10.1, the service binding ---------------------------------------------------------------------------------- */
#define TLS_SERVICE_GUID { 0x952cb795, 0xff36, 0x48cf, { 0xa2, 0x49, 0x4d, 0xf4, 0x86, 0xd6, 0xab, 0x8d } }

#endif
