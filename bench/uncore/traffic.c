/* bench/uncore/traffic.c: bytes that streams moved on each channel and link, counted by the uncore.
 *
 * A channel transfers lines of 64 bytes; a link transfers data flits of 8 bytes (manual 331051-002, 2.9.5: DRS_DATA * 8), or counts a line's header
 * with its data (line_units of the box). Links count the data of whole lines only, without requests and snoops. */
#include "bench/uncore/traffic.h"

#include "bench/measure/measure.h"
#include "pmu/core/concept.h"

#define LINE_BYTES 64
#define ODD_PERMILLE 40 /* tolerance, part of the lines read or written: lines of other work */
#define LEAST_PART 8     /* 1/N of the stream's traffic is counted at least: not all channels of a machine have counters */
#define PAIRS_BYTES (TRAFFIC_SOCKETS * TRAFFIC_COUNTS * SAMPLES_MAX * sizeof(struct pair))

bool traffic_method_of(const struct processor *p, struct traffic_method *out)
{
	static const struct { const char *concept; unsigned first, instances; } kinds[] = {
		{ "channel.read", TRAFFIC_READ, TRAFFIC_CHANNELS }, { "channel.write", TRAFFIC_WRITE, TRAFFIC_CHANNELS },
		{ "link.data.received", TRAFFIC_RECEIVED, TRAFFIC_LINKS }, { "link.data.sent", TRAFFIC_SENT, TRAFFIC_LINKS } };

	memset(out, 0, sizeof(*out));
	for (unsigned k = 0; k < COUNT_OF(kinds); k++)
		for (unsigned i = 0; i < kinds[k].instances; i++)
			out->names[kinds[k].first + i] = concept_uncore(p, kinds[k].concept, i);
	out->each = !out->names[TRAFFIC_READ + 1];
	const struct uncore_box *box = NULL;
	if (out->names[TRAFFIC_RECEIVED])
		(void)uncore_event_find(p, out->names[TRAFFIC_RECEIVED], &box);
	out->line_units = (uint8_t)uncore_line_units(box);
	return out->names[TRAFFIC_READ] != NULL;
}

unsigned traffic_instances(const struct traffic_method *m, unsigned count)
{
	if (!m->each)
		return 1;
	return count < TRAFFIC_RECEIVED ? TRAFFIC_CHANNELS : TRAFFIC_LINKS;
}

int64_t traffic_bytes(const struct traffic_method *m, unsigned count, int64_t units)
{
	return count < TRAFFIC_RECEIVED ? units * LINE_BYTES : mul_div(units, LINE_BYTES, m->line_units);
}

enum status traffic_read(const struct access *a, const struct uncore *u, const struct traffic_method *m,
                         const struct uncore_slot *s, unsigned socket, unsigned count, uint64_t *values)
{
	const uint64_t present = u->present[socket][s->box - u->cpu->processor->boxes];
	const unsigned instances = traffic_instances(m, count);
	uint64_t each[UNCORE_INSTANCES_MAX];
	const enum status st = uncore_instance_values(a, u, s, socket, each);
	unsigned n = 0;

	for (unsigned i = 0; i < instances; i++)
		values[count + i] = 0;
	for (unsigned i = 0; i < UNCORE_INSTANCES_MAX && st == ST_OK; i++)
		if (present >> i & 1 && n < instances)
			values[count + (m->each ? n++ : 0)] += each[i];
	return st;
}

/* Boxes of the one shared event, or the number of boxes that have an event of their own. */
static unsigned boxes_of(const struct uncore *u, const struct traffic_method *m, unsigned socket, uint32_t counted, unsigned first, unsigned most)
{
	const struct uncore_box *box;
	unsigned n = 0;

	if (!(counted >> first & 1) || !uncore_event_find(u->cpu->processor, m->names[first], &box))
		return 0;
	if (m->each) {
		n = uncore_instances(u, box, socket);
		return n < most ? n : most;
	}
	while (n < most && m->names[first + n])
		n++;
	return n;
}

void traffic_boxes(const struct uncore *u, const struct traffic_method *m, unsigned socket, uint32_t counted, struct traffic_socket *s)
{
	s->socket = socket;
	s->channels = boxes_of(u, m, socket, counted, TRAFFIC_READ, TRAFFIC_CHANNELS);
	s->links = boxes_of(u, m, socket, counted, TRAFFIC_RECEIVED, TRAFFIC_LINKS);
	const struct uncore_box *box = NULL;
	const char *missing = m->names[TRAFFIC_READ] && uncore_event_find(u->cpu->processor, m->names[TRAFFIC_READ], &box) ? u->box_partly[box - u->cpu->processor->boxes] : "";

	str_copy(s->missing, sizeof(s->missing), s->channels ? missing : "");
}

/* --- several cores ----------------------------------------------------------------------------- */

void traffic_init(struct traffic *t, struct bench *b)
{
	memset(t, 0, sizeof(*t));
	if (!b->uncore.absent)
		t->there = traffic_method_of(b->cpu->processor, &t->method);
}

static void want(struct traffic *t, unsigned socket)
{
	for (unsigned i = 0; i < t->sockets; i++)
		if (t->socket[i] == socket)
			return;
	if (t->sockets < TRAFFIC_SOCKETS)
		t->socket[t->sockets++] = socket;
}

void traffic_want_core(struct traffic *t, struct bench *b, unsigned core)
{
	unsigned socket;

	if (t->there && uncore_socket(b->a, &b->uncore, core, &socket) == ST_OK)
		want(t, socket); /* cores and nodes in no known socket are not counted */
}

void traffic_want_node(struct traffic *t, struct bench *b, unsigned node)
{
	unsigned socket;

	if (t->there && uncore_socket_of_node(b->a, &b->uncore, node, &socket) == ST_OK)
		want(t, socket);
}

static bool plan_socket(struct traffic *t, const struct bench *b, unsigned i)
{
	const char *names[TRAFFIC_COUNTS], *problem;
	const struct uncore_box *box;
	unsigned n = 0;

	t->counted[i] = 0;
	for (unsigned c = 0; c < TRAFFIC_COUNTS; c++) {
		if (!t->method.names[c] || !uncore_event_find(b->cpu->processor, t->method.names[c], &box) ||
		    !uncore_instances(&b->uncore, box, t->socket[i]))
			continue;
		t->count[i][n] = (uint8_t)c;
		names[n++] = t->method.names[c];
		t->counted[i] |= 1u << c;
	}
	return n && uncore_plan(&b->uncore, names, n, &t->plan[i], &problem) == ST_OK && t->plan[i].runs == 1;
}

void traffic_start(struct traffic *t, struct bench *b)
{
	if (!t->sockets)
		return;
	t->pairs = b->host->get(b->host->self, PAIRS_BYTES);
	if (!t->pairs)
		t->status = ST_FULL;
	for (unsigned i = 0; i < t->sockets && t->status == ST_OK; i++) {
		if (!plan_socket(t, b, i)) {
			t->status = ST_UNSUPPORTED;
			return;
		}
		t->on[i] = true;
		t->status = uncore_start(b->a, &b->uncore, &t->plan[i], 0, t->socket[i], 0); /* no occupancy: no bus lock */
	}
}

static void read_socket(struct traffic *t, const struct bench *b, unsigned i, uint64_t *values)
{
	for (unsigned s = 0; s < t->plan[i].count && t->status == ST_OK; s++)
		t->status = traffic_read(b->a, &b->uncore, &t->method, &t->plan[i].slots[s], t->socket[i], t->count[i][s], values);
}

void traffic_before(struct traffic *t, const struct bench *b)
{
	for (unsigned i = 0; i < t->sockets; i++)
		read_socket(t, b, i, t->before[i]);
}

static struct pair *pairs_of(const struct traffic *t, unsigned i, unsigned count)
{
	return &t->pairs[(i * TRAFFIC_COUNTS + count) * SAMPLES_MAX];
}

void traffic_after(struct traffic *t, const struct bench *b, unsigned keep, bool longer)
{
	for (unsigned i = 0; i < t->sockets; i++) {
		uint64_t after[TRAFFIC_COUNTS] = { 0 };

		read_socket(t, b, i, after);
		for (unsigned s = 0; s < t->plan[i].count && t->status == ST_OK; s++) {
			const unsigned first = t->count[i][s], instances = traffic_instances(&t->method, first);

			for (unsigned c = first; c < first + instances; c++) {
				const int64_t moved = (int64_t)uncore_moved(&b->uncore, &t->plan[i].slots[s], t->before[i][c], after[c]);
				struct pair *p = &pairs_of(t, i, c)[keep];

				*(longer ? &p->longer : &p->shorter) = moved;
			}
		}
	}
}

void traffic_reduce(const struct traffic *t, const struct bench *b, unsigned good, int64_t units, int64_t ticks_micro,
                    struct traffic_result *out)
{
	out->sockets = 0;
	if (t->status != ST_OK || ticks_micro <= 0)
		return;
	for (unsigned i = 0; i < t->sockets; i++) {
		struct traffic_socket *s = &out->at[i];

		traffic_boxes(&b->uncore, &t->method, t->socket[i], t->counted[i], s);
		for (unsigned n = 0; n < t->plan[i].count; n++) {
			const unsigned first = t->count[i][n], instances = traffic_instances(&t->method, first);

			for (unsigned c = first; c < first + instances; c++) {
				struct slope moved;

				if (reduce_slope(pairs_of(t, i, c), good, units, STAT_MEDIAN, &moved) != ST_OK)
					return;
				/* below 0: background traffic only */
				s->bytes[c] = mul_div(traffic_bytes(&t->method, c, moved.value_micro > 0 ? moved.value_micro : 0), (int64_t)b->a->tsc_hz, ticks_micro);
			}
		}
	}
	out->sockets = t->sockets;
}

void traffic_stop(struct traffic *t, const struct bench *b)
{
	for (unsigned i = 0; i < t->sockets; i++) {
		const enum status st = t->on[i] ? uncore_stop(b->a, &b->uncore, &t->plan[i], 0, t->socket[i]) : ST_OK;

		t->on[i] = false;
		t->status = t->status == ST_OK ? st : t->status;
	}
	if (t->pairs)
		b->host->put(b->host->self, t->pairs, PAIRS_BYTES);
	t->pairs = NULL;
}

/* --- judgement --------------------------------------------------------------------------------- */

/* Each loaded array is read, and the stored one is written; it is read too unless the kernel's stores bypass the caches. */
void traffic_judge(const struct kernel *k, struct row_result *out)
{
	const struct row *r = out->row;
	const int64_t arrays = k->step_bytes ? k->data_bytes / k->step_bytes : 0, stored = k->stores > 0, loaded = str_glob("*_nt*", k->name) ? arrays - stored : arrays;
	int64_t read = 0, written = 0;
	struct text reason;

	if (out->status != ROW_OK || r->kind != KIND_THROUGHPUT || r->target != TARGET_DRAM || !arrays || !out->traffic.sockets)
		return;
	for (unsigned i = 0; i < out->traffic.sockets; i++) {
		const struct traffic_socket *s = &out->traffic.at[i];

		if (!s->channels)
			return;
		for (unsigned c = 0; c < s->channels; c++) {
			read += s->bytes[TRAFFIC_READ + c];
			written += s->bytes[TRAFFIC_WRITE + c];
		}
	}
	const int64_t array = out->value_milli / 1000 / arrays, a = read * stored, b = written * loaded, all = read + written, more = a > b ? a : b, allowed = (more > all ? more : all) / 1000 * ODD_PERMILLE;

	if (a - b <= allowed && b - a <= allowed && read >= array * loaded / LEAST_PART && written >= array * stored / LEAST_PART)
		return;
	out->status = ROW_UNPROVEN;
	text_init(&reason, out->reason, sizeof(out->reason));
	text_fmt(&reason, "the channels of memory read ");
	text_fixed(&reason, read / 1000000, 3);
	text_fmt(&reason, " and wrote ");
	text_fixed(&reason, written / 1000000, 3);
	text_fmt(&reason, " GB/s, unlike %u arrays read and %u written", (unsigned)loaded, (unsigned)stored);
}

/* --- output ------------------------------------------------------------------------------------ */

enum list { CHANNELS, LINKS };

static void list_json(struct text *t, const struct traffic_result *r, enum list list)
{
	static const char *const keys[2][3] = { { "channel", "read", "write" }, { "link", "received", "sent" } };
	const unsigned in = list == LINKS ? TRAFFIC_RECEIVED : TRAFFIC_READ, out = list == LINKS ? TRAFFIC_SENT : TRAFFIC_WRITE;
	bool open = false;

	for (unsigned i = 0; i < r->sockets; i++) {
		const struct traffic_socket *s = &r->at[i];

		for (unsigned c = 0; c < (list == LINKS ? s->links : s->channels); c++) {
			text_fmt(t, "%s{\"socket\": %u, \"%s\": %u, \"%s\": %lld, \"%s\": %lld}", open ? ", " : "[", s->socket, keys[list][0], c,
			         keys[list][1], (long long)s->bytes[in + c], keys[list][2], (long long)s->bytes[out + c]);
			open = true;
		}
	}
	text_fmt(t, open ? "]" : "null");
}

void traffic_channels_json(struct text *t, const struct traffic_result *r) { list_json(t, r, CHANNELS); }
void traffic_links_json(struct text *t, const struct traffic_result *r) { list_json(t, r, LINKS); }

static void table_bytes(struct text *t, const char *what, const int64_t *bytes, unsigned n)
{
	text_fmt(t, "%s", what);
	for (unsigned i = 0; i < n; i++) {
		text_char(t, ' ');
		text_fixed(t, bytes[i] / 1000000, 3);
	}
}

void traffic_table_lines(struct text *t, const struct traffic_result *r)
{
	for (unsigned i = 0; i < r->sockets; i++) {
		const struct traffic_socket *s = &r->at[i];

		if (s->channels) {
			text_fmt(t, "  channels of memory, socket %u", s->socket);
			table_bytes(t, ": read", &s->bytes[TRAFFIC_READ], s->channels);
			table_bytes(t, ", written", &s->bytes[TRAFFIC_WRITE], s->channels);
			text_fmt(t, " GB/s%s%s\n", s->missing[0] ? ", without " : "", s->missing);
		}
		if (s->links) {
			text_fmt(t, "  links, socket %u", s->socket);
			table_bytes(t, ": data received", &s->bytes[TRAFFIC_RECEIVED], s->links);
			table_bytes(t, ", sent", &s->bytes[TRAFFIC_SENT], s->links);
			text_fmt(t, " GB/s\n");
		}
	}
}
