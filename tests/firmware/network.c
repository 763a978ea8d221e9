/* tests/firmware/network.c: addresses in settings, device paths and DHCP answers: what is right is read, what is wrong is refused,
 * and no byte behind their end is looked at (each lies in memory of exactly its size). */
#include <stdlib.h>
#include <string.h>

#include "efi/network/origin.h"
#include "tests/firmware/parts.h"

static bool is_address(const char *text, enum scheme scheme, const char *server, unsigned port, const char *path)
{
	struct address a;
	return address_parse(&a, text) == ST_OK && a.scheme == scheme && !strcmp(a.server, server) && a.port == port && !strcmp(a.path, path);
}

static void addresses(void)
{
	static const char *const bad[] = { "", "http:", "http://", "http:///", "http://server", "ftp://server/", "http://server:/", "http://server:0/",
		"http://server:65536/", "http://user@server/", "http://server/a b/", "http://server/a?b", "http://server/../", "http://server/a/./b/",
		"http://server//", "http://server/a/..", "http://[2001:db8::1]/", "http://server/%2e%2e/", "tftp://server/", "tftp://192.0.2.256/",
		"tftp://192.0.2/", "HTTP://server/", "http://server/\x80/", "192.0.2.1/upload/" };
	struct address a;
	claim(is_address("http://192.0.2.1/", SCHEME_HTTP, "192.0.2.1", 0, "/"), "address_of_a_root");
	claim(is_address("https://lab.example:8443/up/load/", SCHEME_HTTPS, "lab.example", 8443, "/up/load/"), "address_with_a_port");
	claim(is_address("tftp://192.0.2.1/", SCHEME_TFTP, "192.0.2.1", 0, "/"), "address_of_tftp");
	claim(is_address("http://s/..a/b../.c/", SCHEME_HTTP, "s", 0, "/..a/b../.c/"), "address_points_in_names_are_no_way_up");
	unsigned refused = 0;
	for (unsigned i = 0; i < COUNT_OF(bad); i++)
		refused += address_parse(&a, bad[i]) == ST_SYNTAX;
	claim(refused == COUNT_OF(bad), "address_each_bad_one_is_refused");
	char to[32];
	claim(address_folder(to, sizeof(to), "http://a/b/c.efi", 16) && !strcmp(to, "http://a/b/"), "address_folder_of_a_file");
	claim(address_folder(to, sizeof(to), "http://a/b?c=/d", 15) && !strcmp(to, "http://a/"), "address_folder_without_its_query");
	claim(!address_folder(to, sizeof(to), "http://a", 8) && !address_folder(to, 8, "http://a/b/c.efi", 16), "address_folder_none_or_too_long");
}

/* On the heap with exactly its bytes. */
static void take_path(struct origin_server *o, const void *path, size_t bytes)
{
	uint8_t *at = malloc(bytes);
	memcpy(at, path, bytes);
	memset(o, 0, sizeof(*o));
	origin_take_path(o, at, bytes);
	free(at);
}

static void paths(void)
{
	uint8_t path[128] = { 1, 1, 6, 0, 0, 1 }; /* PCI */
	size_t n = 6;
	struct origin_server o;
	take_path(&o, path, n);
	claim(!o.network, "origin_disk_is_no_network");
	memcpy(path + n, (uint8_t[]){ 3, 11, 37, 0, 0x52, 0x54, 0, 0x12, 0x34, 0x56 }, 10);
	n += 37;
	memcpy(path + n, (uint8_t[]){ 3, 12, 27, 0, 192, 0, 2, 77, 192, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 254, 255, 255, 255, 0 }, 27);
	n += 27;
	memcpy(path + n, (uint8_t[]){ 3, 24, 19, 0 }, 4);
	memcpy(path + n + 4, "http://a/b/c.ef", 15);
	n += 19;
	memcpy(path + n, (uint8_t[]){ 0x7F, 0xFF, 4, 0 }, 4);
	n += 4;
	take_path(&o, path, n);
	claim(o.network && !o.ipv6 && o.mac[5] == 0x56 && !strcmp(o.folder, "http://a/b/"), "origin_http_folder");
	claim(o.station[3] == 77 && o.gateway[3] == 254 && o.mask[2] == 255, "origin_http_address");
	for (size_t i = 0; i < n; i++)
		take_path(&o, path, i); /* the sanitizer looks */
	path[6 + 2] = 0;
	path[6 + 3] = 0;
	take_path(&o, path, n);
	claim(!o.network, "origin_node_of_no_length_ends_the_path");
}

static void take_dhcp(struct origin_server *o, const void *packet, size_t bytes)
{
	uint8_t *at = malloc(bytes);
	memcpy(at, packet, bytes);
	memset(o, 0, sizeof(*o));
	origin_take_dhcp(o, at, bytes);
	origin_take_boot_file(o, at, bytes);
	free(at);
}

static void answers(void)
{
	uint8_t packet[300] = { 2, 1, 6 };
	struct origin_server o;
	memcpy(packet + 16, (uint8_t[]){ 192, 0, 2, 77, 192, 0, 2, 1 }, 8);
	strcpy((char *)packet + 108, "/pxe/x64/BOOTX64.EFI");
	memcpy(packet + 236, (uint8_t[]){ 99, 130, 83, 99, 0, 53, 1, 5, 1, 4, 255, 255, 255, 0, 3, 8, 192, 0, 2, 254, 192, 0, 2, 253, 54, 4, 192, 0, 2, 9, 255 }, 31);
	take_dhcp(&o, packet, sizeof(packet));
	claim(!strcmp(o.folder, "tftp://192.0.2.1/pxe/x64/"), "origin_pxe_folder");
	claim(o.station[3] == 77 && o.mask[3] == 0 && o.mask[2] == 255 && o.gateway[3] == 254, "origin_pxe_address_and_first_router");
	memset(packet + 20, 0, 4);
	take_dhcp(&o, packet, sizeof(packet));
	claim(!strcmp(o.folder, "tftp://192.0.2.9/pxe/x64/"), "origin_pxe_server_by_its_identifier");
	memcpy(packet + 266, (uint8_t[]){ 67, 10, 'a', '\\', 'b', '/', 'c', '.', 'e', 'f', 'i', 0, 255 }, 13);
	take_dhcp(&o, packet, sizeof(packet));
	claim(!strcmp(o.folder, "tftp://192.0.2.9/a/b/"), "origin_pxe_boot_file_by_option_with_backslashes");
	packet[267] = 200;
	take_dhcp(&o, packet, sizeof(packet));
	claim(!strcmp(o.folder, "tftp://192.0.2.9/pxe/x64/"), "origin_pxe_option_longer_than_the_packet");
	memset(packet + 108, 'x', 128);
	packet[266] = 255;
	take_dhcp(&o, packet, sizeof(packet));
	claim(!strcmp(o.folder, "tftp://192.0.2.9/"), "origin_pxe_boot_file_without_end");
	for (size_t i = 1; i < sizeof(packet); i++)
		take_dhcp(&o, packet, i);
	claim(true, "origin_nothing_behind_a_cut_packet_is_read");
}

void network_parts(void)
{
	addresses();
	paths();
	answers();
}
