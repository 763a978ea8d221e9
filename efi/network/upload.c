/* efi/network/upload.c: see upload.h. */
#include "efi/network/upload.h"
#include "efi/firmware/console.h"
#include "efi/network/upload_state.h"
#include "pmu/text.h"

#define NUMBER_MAX 9999u
#define PIECE_MAX  0x40000u /* below any server's limit */
#define WAIT_MAX_S 60u
#define CHECK_MS   100u
#define CLAIM_S    20u      /* of consecutive requests for a number; the next attempt continues there */

static uint64_t now_ms(const struct upload *u)
{
	return clock_ms(u->clock, read_tsc());
}

void upload_open(struct upload *u, const struct network *n, const struct clock *clock, struct files *files, const char *to, const char *name)
{
	struct text t;
	memset(u, 0, sizeof(*u));
	u->network = n;
	u->clock = clock;
	u->files = files;
	u->separator = str_starts(to, "tftp:") ? '-' : '/';
	u->number = 1;
	text_init(&t, u->to, sizeof(u->to));
	text_fmt(&t, "%s", to);
	if (t.length > 0 && u->to[t.length - 1] != '/')
		text_char(&t, '/');
	text_init(&t, u->run, sizeof(u->run));
	text_fmt(&t, "%s-", name);
	for (unsigned i = 0; i < ORIGIN_MAC_BYTES; i++)
		text_fmt(&t, "%02x", n->origin.mac[i]);
}

static void folder(const struct upload *u, char *to, size_t capacity)
{
	struct text t;
	text_init(&t, to, capacity);
	text_fmt(&t, "%s%s-%04u%c", u->to, u->run, u->number, u->separator);
}

static void failed(struct upload *u, const char *address, const struct transfer_answer *a)
{
	char why[ADDRESS_TEXT];
	unsigned wait = UPLOAD_EVERY_S << (u->failures < 4 ? u->failures : 4);
	transfer_reason(why, sizeof(why), a);
	u->hopeless = a->no_tls;
	u->failures++;
	u->next = now_ms(u) + (wait < WAIT_MAX_S ? wait : WAIT_MAX_S) * 1000ull;
	if (str_equal(why, u->printed))
		return;
	str_copy(u->printed, sizeof(u->printed), why);
	print("upload: %s: %s; %s\n", address, why, u->hopeless ? "nothing is sent" : "it is kept, and put again later");
}

static void succeeded(struct upload *u)
{
	if (u->printed[0] != 0)
		print("upload: %s continues, nothing is missing\n", u->dir);
	u->printed[0] = 0;
	u->failures = 0;
}

/* Claims a folder for the run: the first number under which the server accepts run.txt. Every upload begins with this file, so that two runs never
 * share a folder. A request that got no answer may have arrived: its number then keeps run.txt alone. */
static enum transfer claim(struct upload *u)
{
	char dir[UPLOAD_DIR], address[UPLOAD_DIR + UPLOAD_NAME], about[UPLOAD_DIR];
	struct transfer_answer a;
	struct text t;
	text_init(&t, about, sizeof(about));
	text_fmt(&t, "# A run of Stallmeter; its files follow.\nrun = %s\n", u->run);
	const uint64_t end = now_ms(u) + CLAIM_S * 1000;
	for (;;) {
		const size_t bytes = t.length;
		struct text to;
		folder(u, dir, sizeof(dir));
		text_init(&to, address, sizeof(address));
		text_fmt(&to, "%srun.txt", dir);
		transfer_put(u->network, address, about, bytes, &a);
		if (a.is == TRANSFER_EXISTS && u->number < NUMBER_MAX && now_ms(u) < end)
			u->number++;
		else if (a.code == 409 && u->separator == '/')
			u->separator = '-';
		else
			break;
	}
	if (a.is != TRANSFER_DONE) {
		failed(u, address, &a);
		return TRANSFER_FAILED;
	}
	str_copy(u->dir, sizeof(u->dir), dir);
	print("upload: to %s\n", u->dir);
	return TRANSFER_DONE;
}

/* Tries once to send a file. `tried`: the same bytes were sent before without an answer. */
static enum transfer put(struct upload *u, const char *name, const void *bytes, size_t n, bool tried)
{
	char address[UPLOAD_DIR + UPLOAD_NAME];
	struct transfer_answer a;
	struct text t;
	if (u->dir[0] == 0 && claim(u) != TRANSFER_DONE)
		return TRANSFER_FAILED;
	text_init(&t, address, sizeof(address));
	text_fmt(&t, "%s%s", u->dir, name);
	transfer_put(u->network, address, bytes, n, &a);
	/* A PUT is complete or absent; a broken TFTP transfer leaves part of a file, which cannot be written again. */
	if (a.is == TRANSFER_EXISTS && tried && !str_starts(address, "tftp:"))
		a.is = TRANSFER_DONE;
	if (a.is == TRANSFER_DONE)
		succeeded(u);
	else if (a.is != TRANSFER_EXISTS)
		failed(u, address, &a);
	return a.is;
}

bool upload_put(struct upload *u, const char *name, const void *bytes, size_t n, bool again)
{
	return put(u, name, bytes, n, again) == TRANSFER_DONE;
}

/* Sends a piece of the journal that consists of complete lines. */
static enum transfer put_piece(struct upload *u)
{
	char name[UPLOAD_NAME];
	struct text t;
	const bool tried = u->piece_end != 0;
	if (!tried) {
		u->piece_end = u->journal_bytes;
		if (u->piece_end - u->sent > PIECE_MAX) {
			u->piece_end = u->sent + PIECE_MAX;
			while (u->piece_end > u->sent + 1 && u->journal[u->piece_end - 1] != '\n')
				u->piece_end--;
		}
	}
	text_init(&t, name, sizeof(name));
	text_fmt(&t, "journal-%08zu", u->sent);
	if (u->piece_again != 0)
		text_fmt(&t, "-%u", u->piece_again + 1);
	text_fmt(&t, ".jsonl");
	enum transfer r = put(u, name, u->journal + u->sent, u->piece_end - u->sent, tried);
	if (r == TRANSFER_EXISTS) { /* from an earlier boot, which did not record its length */
		u->piece_again++;
		u->piece_end = 0;
		u->conflict = u->conflict || u->piece_again > 9;
	}
	if (r == TRANSFER_DONE) {
		u->sent = u->piece_end;
		u->piece_end = 0;
		u->piece_again = 0;
		upload_state_save(u, UPLOAD_BEGUN);
	}
	return r;
}

/* Sends the queued files in order, until one fails. */
static enum transfer put_files(struct upload *u)
{
	while (u->count > 0) {
		struct upload_file *f = &u->file[0];
		enum transfer r = put(u, f->name, f->at, f->bytes, f->tried);
		f->tried = f->tried || r == TRANSFER_FAILED || r == TRANSFER_REFUSED;
		if (r == TRANSFER_EXISTS) {
			print("upload: %s%s: the server has another file of this name\n", u->dir, f->name);
			u->conflict = true;
		} else if (r != TRANSFER_DONE) {
			return r;
		}
		pages_put(f->at, f->bytes);
		u->count--;
		memmove(f, f + 1, u->count * sizeof(*f));
	}
	return TRANSFER_DONE;
}

static bool waiting(const struct upload *u)
{
	return u->hopeless || now_ms(u) < u->next;
}

/* Sends everything that is due, until a transfer fails. */
static void put_all(struct upload *u)
{
	enum transfer r = TRANSFER_DONE;
	while (u->sent < u->journal_bytes && !u->conflict && (r == TRANSFER_DONE || r == TRANSFER_EXISTS))
		r = put_piece(u);
	if (r == TRANSFER_DONE || u->conflict)
		(void)put_files(u);
	if (u->failures == 0)
		u->next = now_ms(u) + UPLOAD_EVERY_S * 1000;
}

void upload_journal(struct upload *u, const char *journal, size_t bytes)
{
	u->journal = journal;
	u->journal_bytes = bytes;
	u->sent = u->sent < bytes ? u->sent : bytes;
	if (!waiting(u))
		put_all(u);
}

void upload_file(struct upload *u, const char *name, const void *bytes, size_t n)
{
	char *at = u->count < UPLOAD_FILES ? pages_get(n + 1) : NULL;
	if (at == NULL) {
		print("upload: %s: no memory to keep it\n", name);
		u->lost = true;
		return;
	}
	struct upload_file *f = &u->file[u->count++];
	str_copy(f->name, sizeof(f->name), name);
	memcpy(at, bytes, n);
	f->at = at;
	f->bytes = n;
	f->tried = u->resumed;
}

static bool all_there(const struct upload *u)
{
	return u->count == 0 && u->sent == u->journal_bytes && !u->lost && !u->conflict;
}

enum status upload_finish(struct upload *u, void (*feed)(const void *self), const void *self)
{
	const uint64_t end = now_ms(u) + UPLOAD_END_S * 1000ull;
	bool stopped = false;
	u->next = 0;
	u->failures = 0;
	for (;;) {
		feed(self);
		put_all(u);
		if (u->hopeless || (u->count == 0 && (u->sent == u->journal_bytes || u->conflict)))
			break;
		while (waiting(u) && now_ms(u) < end && !stopped) {
			uefi.boot->Stall(CHECK_MS * 1000);
			stopped = console_stop_pressed();
		}
		if (stopped || now_ms(u) >= end)
			break;
	}
	if (all_there(u)) {
		upload_state_save(u, UPLOAD_DONE);
		print("uploaded: %s\n", u->dir);
		return ST_OK;
	}
	print("upload: not there: %zu bytes of the journal, %u files%s\n", u->journal_bytes - u->sent, u->count,
	      u->files->run != NULL ? "; they are on the stick, and a later boot of it sends them" : "; the serial line has the journal");
	return u->conflict ? ST_REFUSED : ST_IO;
}

void upload_close(struct upload *u)
{
	while (u->count > 0) {
		u->count--;
		pages_put(u->file[u->count].at, u->file[u->count].bytes);
	}
	memset(u, 0, sizeof(*u));
}
