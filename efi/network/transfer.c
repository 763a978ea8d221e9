/* efi/network/transfer.c: chooses the protocol and explains failures. */
#include "efi/network/transfer.h"
#include "pmu/text.h"

static void transfer_start(const struct network *n, struct transfer_job *j, struct transfer_answer *out)
{
	struct address a;
	memset(out, 0, sizeof(*out));
	out->is = TRANSFER_FAILED;
	out->status = address_parse(&a, j->text);
	if (out->status != ST_OK)
		return;
	j->address = &a;
	if (a.scheme == SCHEME_TFTP)
		transfer_tftp(n, j, out);
	else
		transfer_http(n, j, out);
}

void transfer_get(const struct network *n, const char *address, char *to, size_t most, struct transfer_answer *out)
{
	struct transfer_job j = { .text = address, .to = to, .count = most };
	transfer_start(n, &j, out);
}

void transfer_put(const struct network *n, const char *address, const void *bytes, size_t count, struct transfer_answer *out)
{
	struct transfer_job j = { .text = address, .bytes = bytes, .count = count };
	transfer_start(n, &j, out);
}

void transfer_reason(char *to, size_t capacity, const struct transfer_answer *a)
{
	struct text t;
	text_init(&t, to, capacity);
	if (a->no_tls)
		text_fmt(&t, "this firmware has no TLS: give an http address");
	else if (a->code != 0)
		text_fmt(&t, "the server says %u", a->code);
	else if (a->status == ST_TIMEOUT)
		text_fmt(&t, "no answer");
	else if (a->status == ST_UNSUPPORTED)
		text_fmt(&t, "the firmware has no driver for this");
	else if (a->status == ST_FULL)
		text_fmt(&t, "too long, or no memory");
	else
		text_fmt(&t, "no connection, or it broke (%s)", status_name(a->status));
}
