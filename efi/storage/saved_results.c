/* efi/storage/saved_results.c: see saved_results.h. */
#include "efi/storage/saved_results.h"
#include "bench/suite/suite.h"

#define FIRST_BYTES 0x40000u

void saved_results_append(struct saved_results_text *t, const void *bytes, size_t n)
{
	if (t->lost)
		return;
	if (n > t->pages_bytes - t->bytes) {
		size_t more = t->pages_bytes != 0 ? t->pages_bytes * 2 : FIRST_BYTES;
		while (more - t->bytes < n)
			more *= 2;
		char *at = pages_get(more);
		if (at == NULL) {
			t->lost = true;
			return;
		}
		if (t->at != NULL) {
			memcpy(at, t->at, t->bytes);
			pages_put(t->at, t->pages_bytes);
		}
		t->at = at;
		t->pages_bytes = more;
	}
	memcpy(t->at + t->bytes, bytes, n);
	t->bytes += n;
}

void saved_results_write(struct saved_results_text *t, const void *bytes, size_t n)
{
	t->bytes = 0;
	saved_results_append(t, bytes, n);
}

bool saved_results_open(struct saved_results *k)
{
	if (k->document.count > 1)
		return true;
	if (k->results.lost || k->results.bytes == 0)
		return false;
	uint32_t most = document_nodes_most(k->results.at, k->results.bytes);
	k->node_bytes = most * sizeof(struct doc_node);
	k->string_bytes = document_strings_most(k->results.at, k->results.bytes);
	struct doc_node *nodes = pages_get(k->node_bytes);
	char *strings = pages_get(k->string_bytes);
	bool good = nodes != NULL && strings != NULL;
	if (good) {
		document_init(&k->document, nodes, most, strings, k->string_bytes);
		good = document_parse(&k->document, k->results.at, k->results.bytes) == ST_OK;
	}
	if (good)
		return true;
	if (strings != NULL)
		pages_put(strings, k->string_bytes);
	if (nodes != NULL)
		pages_put(nodes, k->node_bytes);
	memset(&k->document, 0, sizeof(k->document));
	return false;
}

static void put_text(struct saved_results_text *t)
{
	if (t->at != NULL)
		pages_put(t->at, t->pages_bytes);
	memset(t, 0, sizeof(*t));
}

void saved_results_put(struct saved_results *k)
{
	if (k->document.nodes != NULL) {
		pages_put(k->document.strings, k->string_bytes);
		pages_put(k->document.nodes, k->node_bytes);
	}
	put_text(&k->journal);
	put_text(&k->machine);
	put_text(&k->results);
	memset(k, 0, sizeof(*k));
}

static enum status save_write(void *self, const char *name, const void *bytes, size_t n)
{
	return files_write(self, name, bytes, n);
}

static void *save_get(void *self, size_t bytes)
{
	(void)self;
	return pages_get(bytes);
}

static void save_put(void *self, void *at, size_t bytes)
{
	(void)self;
	pages_put(at, bytes);
}

enum status saved_results_save(struct saved_results *k, struct files *files, const char *prefix)
{
	struct suite_host host = { .self = files, .write = save_write, .get = save_get, .put = save_put };
	enum status s;
	if (k->journal.lost || k->journal.bytes == 0)
		return ST_MISSING;
	files_close(files); /* the medium may have been replaced, and a failed one is tried again */
	if ((s = files_open(files)) != ST_OK)
		return s;
	if ((s = files_begin_run(files, prefix)) != ST_OK)
		return s;
	if ((s = files_append(files, k->journal.at, k->journal.bytes)) != ST_OK)
		return s;
	if (!k->machine.lost && k->machine.bytes != 0)
		s = files_write(files, "machine.txt", k->machine.at, k->machine.bytes);
	return s != ST_OK ? s : suite_rebuild(k->journal.at, k->journal.bytes, &host);
}
