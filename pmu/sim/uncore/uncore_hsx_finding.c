/* pmu/sim/uncore/uncore_hsx_finding.c: findings about Haswell-EP's uncore, with the names of box, counter and event. */
#include "pmu/sim/uncore/uncore_hsx_state.h"
#include "pmu/text.h"

void hsx_finding(const struct access_to *a, enum finding_kind kind, uint64_t value, const char *why)
{
	const struct sim_finding one = { .kind = kind, .address = a ? a->address : 0, .value = value, .why = why };
	sim_finding_add(a ? a->f : NULL, &one);
}

void hsx_finding_of_box(const struct access_to *a, enum finding_kind kind, const struct box *b, uint64_t value, const char *why, const char *cite)
{
	struct sim_finding one = { .kind = kind, .address = a ? a->address : 0, .value = value, .why = why, .cite = cite };
	sim_finding_where(&one, hsx_kind_name((enum hsx_kind)b->kind), b->instance);
	sim_finding_add(a ? a->f : NULL, &one);
}

/* 0: on a mesh where a table or a window gives the addresses. */
static uint32_t select_address(const struct box *b, unsigned n)
{
	if (b->told)
		return 0;
	switch ((enum hsx_kind)b->kind) {
	case HSX_CBO: return 0xE01 + 0x10u * b->instance + n;
	case HSX_SBO: return 0x721 + 10u * b->instance + n;
	case HSX_PCU: return 0x711 + n;
	case HSX_UBOX: return n == HSX_FIXED ? 0x703 : 0x705 + n;
	case HSX_CHA: return 0xE01 + 0x10u * b->instance + n;
	case HSX_IIO: return 0xA48 + 0x20u * b->instance + n;
	case HSX_TRAFFIC: return 0xA5B + 0x20u * b->instance + n;
	case HSX_M2M: case HSX_UPI: return b->pci | hsx_mesh_select((enum hsx_kind)b->kind, n);
	default: return b->pci | (n == HSX_FIXED ? 0xF0 : 0xD8 + 4 * n);
	}
}

struct sim_finding hsx_finding_of(const struct access_to *a, const struct box *b, unsigned n, uint64_t select)
{
	struct text t;
	struct sim_finding one = { .value = select, .address = a->address, .clash = select_address(b, n) };
	if (one.clash == a->address)
		one.clash = 0;
	const struct uncore_row *row = n != HSX_FIXED ? hsx_row(b->map, (enum hsx_kind)b->kind, select) : NULL;
	one.event = row ? row->name : "";
	text_init(&t, one.where, sizeof(one.where));
	text_fmt(&t, n == HSX_FIXED ? "%s %u fixed counter" : "%s %u counter %u", hsx_kind_name((enum hsx_kind)b->kind), b->instance, n);
	return one;
}

void hsx_finding_of_counter(const struct access_to *a, enum finding_kind kind, const struct box *b, unsigned n, const char *why, const char *cite)
{
	struct sim_finding one = hsx_finding_of(a, b, n, (uint64_t)b->counter[n].select_high << 32 | b->counter[n].select);
	one.kind = kind;
	one.why = why;
	one.cite = cite;
	sim_finding_add(a->f, &one);
}
