/* efi/network/served.c: see served.h. */
#include "efi/network/served.h"
#include "efi/firmware/console.h"
#include "pmu/text.h"

#define ASKED_TIMES 3u /* the server has just sent the application; a lost packet must not cost the run */

static void uuid_name(struct text *t, const uint8_t u[16])
{
	/* The first three fields are little-endian. */
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
	for (unsigned i = 0; i < 16; i++)
		text_fmt(t, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", u[order[i]]);
}

/* All zeros: no UUID; all ones: not set yet (DSP0134 7.2.1). */
static bool uuid_set(const uint8_t u[16])
{
	bool set = false;
	for (unsigned i = 1; i < 16; i++)
		set = set || u[i] != u[0];
	return set || (u[0] != 0 && u[0] != 0xFF);
}

static bool ask(struct served *s, const struct network *n)
{
	struct transfer_answer a;
	for (unsigned i = 0; i < ASKED_TIMES; i++) {
		transfer_get(n, s->name, s->text, SERVED_BYTES_MAX, &a);
		if (a.is != TRANSFER_FAILED)
			break;
	}
	if (a.is == TRANSFER_DONE) {
		s->bytes = a.bytes;
		return true;
	}
	if (a.is != TRANSFER_MISSING) {
		char why[100];
		struct text t;
		transfer_reason(why, sizeof(why), &a);
		text_init(&t, s->problem, sizeof(s->problem));
		text_fmt(&t, "%s: cannot be read (%s); expected a text of at most %u bytes", s->name, why, SERVED_BYTES_MAX);
	}
	return false;
}

void served_get(struct served *s, const struct network *n, const uint8_t uuid[16])
{
	struct text t;
	memset(s, 0, sizeof(*s));
	if (!n->origin.network)
		return;
	if (n->origin.folder[0] == 0) {
		print("network: %s; no settings from there\n", n->origin.ipv6 ? "started over IPv6, and only IPv4 is used here" :
		      "the firmware does not name the boot server");
		return;
	}
	s->text = pages_get(SERVED_BYTES_MAX + 1);
	if (s->text == NULL)
		return;
	for (unsigned way = uuid_set(uuid) ? 0 : 1; way < 3; way++) {
		text_init(&t, s->name, sizeof(s->name));
		text_fmt(&t, "%sstallmeter", n->origin.folder);
		if (way == 0) {
			text_char(&t, '-');
			uuid_name(&t, uuid);
		}
		for (unsigned i = 0; way == 1 && i < ORIGIN_MAC_BYTES; i++)
			text_fmt(&t, "-%02x", n->origin.mac[i]);
		text_fmt(&t, ".ini");
		if (ask(s, n)) {
			print("settings: %s\n", s->name);
			return;
		}
		if (s->problem[0] != 0)
			break;
	}
	if (s->problem[0] == 0)
		print("settings: %s has none for this machine\n", n->origin.folder);
	served_put(s);
}

void served_put(struct served *s)
{
	pages_put(s->text, SERVED_BYTES_MAX + 1);
	s->text = NULL;
}
