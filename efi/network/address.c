/* efi/network/address.c: the subset of RFC 3986 that settings need: no user, no query, no IPv6 in brackets, no escapes. */
#include "efi/network/address.h"
#include "pmu/text.h"

static bool letter_or_digit(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A path without empty segments and without "." and "..". */
static bool good_path(const char *p)
{
	for (; *p != 0; p++) {
		if (*p == '/') {
			size_t n = 0;
			while (p[1 + n] == '.')
				n++;
			if (p[1] == '/' || ((n == 1 || n == 2) && (p[1 + n] == '/' || p[1 + n] == 0)))
				return false;
		} else if (!letter_or_digit(*p) && *p != '.' && *p != '_' && *p != '~' && *p != '-') {
			return false;
		}
	}
	return true;
}

enum status address_parse(struct address *a, const char *text)
{
	static const char *const schemes[] = { [SCHEME_HTTP] = "http://", [SCHEME_HTTPS] = "https://", [SCHEME_TFTP] = "tftp://" };
	uint64_t port = 0;
	uint8_t ipv4[4];
	size_t n = 0;
	unsigned i = 0;
	memset(a, 0, sizeof(*a));
	while (i < COUNT_OF(schemes) && !str_starts(text, schemes[i]))
		i++;
	if (i == COUNT_OF(schemes))
		return ST_SYNTAX;
	a->scheme = (enum scheme)i;
	const char *at = text + str_length(schemes[i]);
	for (; (letter_or_digit(*at) || *at == '.' || *at == '-') && n + 1 < sizeof(a->server); at++)
		a->server[n++] = *at;
	if (n == 0)
		return ST_SYNTAX;
	if (*at == ':') {
		const char *digits = ++at;
		while (*at >= '0' && *at <= '9')
			at++;
		if (parse_u64(digits, (size_t)(at - digits), &port) != ST_OK || port == 0 || port > 65535)
			return ST_SYNTAX;
		a->port = (uint16_t)port;
	}
	a->path = at;
	if (*at != '/' || !good_path(at) || (a->scheme == SCHEME_TFTP && address_ipv4(a->server, ipv4) != ST_OK))
		return ST_SYNTAX;
	return ST_OK;
}

enum status address_ipv4(const char *text, uint8_t out[4])
{
	for (unsigned i = 0; i < 4; i++) {
		uint64_t v;
		size_t n = 0;
		while (text[n] >= '0' && text[n] <= '9')
			n++;
		if (n == 0 || n > 3 || parse_u64(text, n, &v) != ST_OK || v > 255 || text[n] != (i < 3 ? '.' : 0))
			return ST_SYNTAX;
		out[i] = (uint8_t)v;
		text += n + 1;
	}
	return ST_OK;
}

bool address_folder(char *to, size_t capacity, const char *file, size_t n)
{
	size_t end = 0, root = 0;
	for (size_t i = 0; i < n && file[i] != 0 && file[i] != '?' && file[i] != '#'; i++) {
		if (file[i] == '/' && root < 3)
			root++; /* two slashes after the scheme, then the path's first */
		if (file[i] == '/')
			end = i + 1;
	}
	if (root < 3 || end >= capacity)
		return false;
	memcpy(to, file, end);
	to[end] = 0;
	return true;
}
