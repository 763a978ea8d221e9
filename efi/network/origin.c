/* efi/network/origin.c: parses device paths and DHCP answers. Lengths come from firmware and network: each is checked against the bytes
 * available. */
#include "efi/network/origin.h"
#include "pmu/text.h"

#define MESSAGING 3
enum { NODE_MAC = 11, NODE_IPV4 = 12, NODE_IPV6 = 13, NODE_URI = 24 };
#define NODE_END 0x7F
#define DHCP_SERVER   20u /* siaddr */
#define DHCP_YOU      16u /* yiaddr */
#define DHCP_FILE     108u
#define DHCP_FILE_MAX 128u
#define DHCP_OPTIONS  240u
enum { OPTION_PAD = 0, OPTION_MASK = 1, OPTION_ROUTER = 3, OPTION_OVERLOAD = 52, OPTION_SERVER = 54, OPTION_BOOT_FILE = 67, OPTION_END = 255 };

void origin_take_path(struct origin_server *o, const uint8_t *path, size_t bytes)
{
	for (size_t at = 0; at + 4 <= bytes && path[at] != NODE_END;) {
		const uint8_t *node = path + at;
		size_t n = node[2] | (size_t)node[3] << 8;
		if (n < 4 || n > bytes - at)
			return;
		at += n;
		if (node[0] != MESSAGING)
			continue;
		if (node[1] == NODE_MAC && n >= 4 + ORIGIN_MAC_BYTES) {
			o->network = true;
			memcpy(o->mac, node + 4, ORIGIN_MAC_BYTES);
		} else if (node[1] == NODE_IPV4 && n >= 27) {
			memcpy(o->station, node + 4, 4);
			memcpy(o->gateway, node + 19, 4);
			memcpy(o->mask, node + 23, 4);
		} else if (node[1] == NODE_IPV6) {
			o->ipv6 = true;
		} else if (node[1] == NODE_URI && n > 4) {
			(void)address_folder(o->folder, sizeof(o->folder), (const char *)node + 4, n - 4);
		}
	}
}

/* An option's bytes, NULL if it is absent or shorter than `least`. */
static const uint8_t *option(const uint8_t *packet, size_t bytes, uint8_t code, size_t least, size_t *length)
{
	for (size_t at = DHCP_OPTIONS; at < bytes && packet[at] != OPTION_END;) {
		if (packet[at] == OPTION_PAD) {
			at++;
			continue;
		}
		if (at + 2 > bytes || packet[at + 1] > bytes - at - 2)
			return NULL;
		*length = packet[at + 1];
		if (packet[at] == code)
			return *length >= least ? packet + at + 2 : NULL;
		at += 2 + *length;
	}
	return NULL;
}

static void boot_file(struct origin_server *o, const uint8_t *packet, size_t bytes)
{
	char all[ADDRESS_TEXT + DHCP_FILE_MAX * 2];
	struct text t;
	size_t n;
	const uint8_t *server = packet + DHCP_SERVER, *name = packet + DHCP_FILE, *v;
	size_t length = DHCP_FILE_MAX;
	if ((server[0] | server[1] | server[2] | server[3]) == 0 && (v = option(packet, bytes, OPTION_SERVER, 4, &n)) != NULL)
		server = v;
	if ((v = option(packet, bytes, OPTION_BOOT_FILE, 1, &n)) != NULL) {
		name = v;
		length = n;
	} else if ((v = option(packet, bytes, OPTION_OVERLOAD, 1, &n)) != NULL && (v[0] & 1) != 0) {
		return; /* the field holds options instead */
	}
	text_init(&t, all, sizeof(all));
	text_fmt(&t, "tftp://%u.%u.%u.%u/", server[0], server[1], server[2], server[3]);
	for (size_t i = 0; i < length && name[i] != 0; i++)
		if (i != 0 || name[i] != '/')
			text_char(&t, name[i] == '\\' ? '/' : (char)name[i]);
	(void)address_folder(o->folder, sizeof(o->folder), all, t.length);
}

void origin_take_boot_file(struct origin_server *o, const uint8_t *packet, size_t bytes)
{
	if (bytes >= DHCP_OPTIONS)
		boot_file(o, packet, bytes);
}

void origin_take_dhcp(struct origin_server *o, const uint8_t *packet, size_t bytes)
{
	const uint8_t *v;
	size_t n;
	if (bytes < DHCP_OPTIONS)
		return;
	memcpy(o->station, packet + DHCP_YOU, 4);
	if ((v = option(packet, bytes, OPTION_MASK, 4, &n)) != NULL)
		memcpy(o->mask, v, 4);
	if ((v = option(packet, bytes, OPTION_ROUTER, 4, &n)) != NULL)
		memcpy(o->gateway, v, 4);
}
