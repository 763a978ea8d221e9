/* efi/network/http.c: GET and PUT by EFI_HTTP_PROTOCOL. Each transfer has its own child and so its own connection: a broken
 * connection leaves no state behind. */
#include "efi/network/transfer.h"
#include "pmu/text.h"

#define URL_UNITS (ADDRESS_TEXT * 2)
#define HTTP_ERROR_STATUS EFIERR(35) /* EFI_HTTP_ERROR: a status code of 400 or more */

/* The status codes in the order of EFI_HTTP_STATUS_CODE, UEFI 2.10, 29.6.4. */
static const uint16_t codes[] = {
	0, 100, 101, 200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 304, 305, 307, 400, 401, 402, 403, 404, 405, 406, 407, 408,
	409, 410, 411, 412, 413, 414, 415, 416, 417, 500, 501, 502, 503, 504, 505, 308,
};

struct exchange {
	struct network_child child;
	struct http_protocol *http;
	struct network_wait wait;
	struct http_token token;
	struct http_message message;
	size_t length;              /* of the response's body, by its Content-Length */
	bool has_length;
};

static EFI_STATUS EFIAPI poll(void *protocol)
{
	struct http_protocol *http = protocol;
	return http->poll(http);
}

static enum status wait_for(struct exchange *x)
{
	enum status s = network_wait(&x->wait, poll, x->http);
	if (s != ST_OK)
		x->http->cancel(x->http, &x->token);
	return s;
}

/* Reads Content-Length and frees the headers, which the driver allocated. */
static void take_headers(struct exchange *x)
{
	static const char name[] = "content-length";
	for (UINTN i = 0; i < x->message.headers && x->message.header != NULL; i++) {
		const char *is = (const char *)x->message.header[i].name, *value = (const char *)x->message.header[i].value;
		size_t k = 0;
		uint64_t v;
		while (name[k] != 0 && (is[k] | 0x20) == name[k])
			k++;
		if (name[k] == 0 && is[k] == 0 && parse_u64(value, str_length(value), &v) == ST_OK) {
			x->length = v;
			x->has_length = true;
		}
		uefi.boot->FreePool(x->message.header[i].name);
		uefi.boot->FreePool(x->message.header[i].value);
	}
	if (x->message.header != NULL)
		uefi.boot->FreePool(x->message.header);
	x->message.header = NULL;
	x->message.headers = 0;
}

static enum status request(struct exchange *x, const struct transfer_job *j)
{
	CHAR16 url[URL_UNITS];
	char length[24], host[ADDRESS_TEXT + 8];
	struct text t;
	text_init(&t, length, sizeof(length));
	text_fmt(&t, "%zu", j->count);
	text_init(&t, host, sizeof(host));
	text_fmt(&t, "%s", j->address->server);
	if (j->address->port != 0)
		text_fmt(&t, ":%u", j->address->port);
	uefi_ucs2(j->text, url, COUNT_OF(url));
	struct http_header put[] = { { (CHAR8 *)"Host", (CHAR8 *)host }, { (CHAR8 *)"User-Agent", (CHAR8 *)"Stallmeter" },
		{ (CHAR8 *)"Connection", (CHAR8 *)"close" }, { (CHAR8 *)"Content-Type", (CHAR8 *)"application/octet-stream" },
		{ (CHAR8 *)"Content-Length", (CHAR8 *)length },
		{ (CHAR8 *)"If-None-Match", (CHAR8 *)"*" } /* RFC 9110, 13.1.2: only if the file does not exist */ };
	struct http_request r = { .method = j->to != NULL ? HTTP_METHOD_GET : HTTP_METHOD_PUT, .url = url };
	x->message = (struct http_message){ .data.request = &r, .headers = j->to != NULL ? 3 : COUNT_OF(put), .header = put,
		.body_bytes = j->to != NULL ? 0 : j->count, .body = j->to != NULL ? NULL : (VOID *)(uintptr_t)j->bytes };
	x->token = (struct http_token){ .event = x->wait.done, .message = &x->message };
	EFI_STATUS e = x->http->request(x->http, &x->token);
	if (e != EFI_SUCCESS)
		return uefi_status(e);
	enum status s = wait_for(x);
	return s == ST_OK ? uefi_status(x->token.status) : s;
}

/* Receives the response and, for a GET, its body. That of a PUT is not read: EDK II would wait for it even if its length is 0. */
static enum status response(struct exchange *x, const struct transfer_job *j, struct transfer_answer *out)
{
	struct http_response r = { .status = 0 };
	x->message = (struct http_message){ .data.response = &r, .body = j->to, .body_bytes = j->to != NULL ? j->count : 0 };
	x->token = (struct http_token){ .event = x->wait.done, .message = &x->message };
	EFI_STATUS e = x->http->response(x->http, &x->token);
	enum status s = e == EFI_SUCCESS ? wait_for(x) : uefi_status(e);
	if (s != ST_OK)
		return s;
	take_headers(x);
	if (x->token.status != EFI_SUCCESS && x->token.status != HTTP_ERROR_STATUS)
		return uefi_status(x->token.status);
	out->code = r.status < COUNT_OF(codes) ? codes[r.status] : 0;
	if (j->to == NULL || out->code != 200)
		return ST_OK;
	if (!x->has_length || x->length > j->count)
		return ST_FULL;
	out->bytes = x->message.body_bytes;
	while (out->bytes < x->length) {
		x->message = (struct http_message){ .body = j->to + out->bytes, .body_bytes = x->length - out->bytes };
		x->token = (struct http_token){ .event = x->wait.done, .message = &x->message };
		e = x->http->response(x->http, &x->token);
		s = e == EFI_SUCCESS ? wait_for(x) : uefi_status(e);
		if (s != ST_OK || x->token.status != EFI_SUCCESS || x->message.body_bytes == 0)
			return s != ST_OK ? s : ST_IO;
		out->bytes += x->message.body_bytes;
	}
	return ST_OK;
}

static bool tls_there(void)
{
	EFI_GUID guid = TLS_SERVICE_GUID;
	return uefi_locate(&guid) != NULL;
}

void transfer_http(const struct network *n, const struct transfer_job *j, struct transfer_answer *out)
{
	static const EFI_GUID service = HTTP_SERVICE_GUID, protocol = HTTP_GUID;
	struct http_access4 access = { .use_default = (n->station[0] | n->station[1] | n->station[2] | n->station[3]) == 0 };
	struct http_config config = { .version = HTTP_VERSION_1_1, .timeout_ms = TRANSFER_S * 1000, .access4 = &access };
	struct exchange x = { .length = 0 };
	unsigned code = 0;
	if (j->address->scheme == SCHEME_HTTPS && !tls_there()) {
		out->no_tls = true;
		out->status = ST_UNSUPPORTED;
		return;
	}
	memcpy(access.station.Addr, n->station, 4);
	memcpy(access.mask.Addr, n->mask, 4);
	out->status = network_child_open(&x.child, n, &service, &protocol);
	if (out->status != ST_OK)
		return;
	x.http = x.child.protocol;
	out->status = network_wait_open(&x.wait, (TRANSFER_S + (unsigned)(j->to != NULL ? 0 : j->count / TRANSFER_BYTES_S)) * 1000);
	if (out->status == ST_OK)
		out->status = uefi_status(x.http->configure(x.http, &config));
	if (out->status == ST_OK)
		out->status = request(&x, j);
	if (out->status == ST_OK)
		out->status = response(&x, j, out);
	network_child_close(&x.child); /* before its event is closed */
	network_wait_close(&x.wait);
	code = out->code;
	if (out->status != ST_OK)
		out->code = 0;
	else if (code >= 200 && code < 300)
		out->is = TRANSFER_DONE;
	else
		out->is = code == 412 ? TRANSFER_EXISTS : code == 404 ? TRANSFER_MISSING : TRANSFER_REFUSED;
}
