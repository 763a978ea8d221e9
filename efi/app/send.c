/* efi/app/send.c: see send.h. */
#include "efi/app/send.h"
#include "efi/firmware/console.h"

static void feed(const void *watchdog)
{
	watchdog_feed(watchdog);
}

void send_begin(struct run *r)
{
	r->upload_on = false;
	if (r->config->upload[0] == 0)
		return;
	enum status s = network_card(r->network);
	if (s != ST_OK) {
		print("upload: %s; nothing is sent\n", s == ST_TIMEOUT ? "no network card has a link and gets an address by DHCP" :
		      "the firmware has no network driver for a card of this machine");
		return;
	}
	upload_open(&r->upload, r->network, r->clock, r->files, r->config->upload, r->directory);
	r->upload_on = true;
	upload_resume(&r->upload);
	upload_earlier(&r->upload, feed, r->watchdog);
}

void send_journal(struct run *r, const struct saved_results_text *journal)
{
	if (r->upload_on && !journal->lost)
		upload_journal(&r->upload, journal->at, journal->bytes);
}

void send_file(struct run *r, const char *name, const void *bytes, size_t n)
{
	if (r->upload_on)
		upload_file(&r->upload, name, bytes, n);
}

enum status send_end(struct run *r, char *to, size_t capacity)
{
	str_copy(to, capacity, "");
	if (!r->upload_on)
		return r->config->upload[0] == 0 ? ST_OK : ST_IO;
	enum status s = upload_finish(&r->upload, feed, r->watchdog);
	str_copy(to, capacity, r->upload.dir);
	upload_close(&r->upload);
	r->upload_on = false;
	return s;
}

enum status send_alone(struct run *r, const char *name, const void *bytes, size_t n)
{
	char to[UPLOAD_DIR];
	if (r->config->upload[0] == 0)
		return ST_MISSING;
	send_begin(r);
	send_file(r, name, bytes, n);
	return send_end(r, to, sizeof(to));
}
