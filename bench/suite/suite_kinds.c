/* bench/suite/suite_kinds.c: see suite_kinds.h. */
#include "bench/suite/suite_kinds.h"

static bool every(const char *wanted) { return !wanted || !wanted[0] || str_equal(wanted, CORE_KIND_ALL); }

/* Adds one kind of cores of the machine, behind its guard; name NULL: the machine as it is. */
static enum status add(struct suite_kinds *k, const struct access *a, const char *name)
{
	struct suite_kind_layers *p = &k->at[k->count];
	enum status st = name ? core_kind_init(&p->layer, a, name) : ST_OK;

	if (st != ST_OK)
		return st;
	const struct access *machine = name ? &p->layer.access : a;
	st = cpu_identify(machine, &p->cpu);
	if (st != ST_OK)
		return st;
	if (machine->core_kind && str_equal(machine->core_kind, CORE_KIND_ALL)) {
		cpu_without_counters(&p->cpu);
		for (unsigned i = 0; i < k->count; i++)
			p->cpu.isa &= k->at[i].cpu.isa;
	}
	const unsigned capacity = msr_guard_capacity(machine);
	p->bytes = capacity * sizeof(*p->saved);
	p->saved = k->get(k->self, p->bytes);
	if (!p->saved)
		return ST_FULL;
	msr_guard_init(&p->guard, machine, p->cpu.processor, p->saved, capacity);
	k->run[k->count++] = (struct suite_kind){ &p->guard.access, &p->cpu };
	return ST_OK;
}

enum status suite_kinds_open(struct suite_kinds *k, const struct access *a, const char *wanted, const struct suite_settings *s,
                             const struct suite_host *host)
{
	struct core_kind_range kinds[CORE_KINDS_MAX];
	unsigned n;
	enum status st;

	memset(k, 0, sizeof(*k));
	k->get = host->get;
	k->put = host->put;
	k->self = host->self;
	if (!every(wanted))
		return add(k, a, wanted);
	/* The other processors are queried only if the first one reports a kind; elsewhere a run executes no further CPUID. */
	st = add(k, a, NULL);
	n = st == ST_OK && k->at[0].cpu.core_kind != 0 ? core_kinds(a, kinds) : 0;
	if (st != ST_OK || n < 2)
		return st;
	k->put(k->self, k->at[0].saved, k->at[0].bytes);
	k->at[0].saved = NULL;
	k->count = 0;
	for (unsigned i = 0; i < n && st == ST_OK; i++) {
		st = add(k, a, kinds[i].name);
		if (s->profile)
			return st;
	}
	return st == ST_OK ? add(k, a, CORE_KIND_ALL) : st;
}

enum status suite_kinds_check(const struct suite_kinds *k, const struct suite_settings *s, char *problem, size_t capacity)
{
	enum status st = suite_check_processor(k->run[0].cpu, s, problem, capacity);

	if (st == ST_OK && k->count > 1 && s->cores && s->cores[0] && !str_equal(s->cores, "all")) {
		str_copy(problem, capacity, "cores: numbers are those of one kind of cores: choose it");
		return ST_RANGE;
	}
	for (unsigned i = 0; i < k->count && st == ST_OK; i++)
		st = suite_check_cpuset(k->run[i].a, s, problem, capacity);
	return st;
}

bool suite_kinds_text(const struct suite_kinds *k, const struct access *a, struct text *t)
{
	struct core_kind_range kinds[CORE_KINDS_MAX];
	const unsigned n = k->count && k->run[0].cpu->core_kind != 0 ? core_kinds(a, kinds) : 0;

	for (unsigned i = 0; n > 1 && i < n; i++)
		text_fmt(t, "%s%s: cores %u to %u", i ? ", " : "", kinds[i].name, kinds[i].first, kinds[i].first + kinds[i].count - 1);
	for (unsigned i = 0; n > 1 && i < k->count; i++)
		text_fmt(t, "%s%s", i ? ", " : "; rows on ", k->run[i].a->core_kind);
	return n > 1;
}

enum status suite_kinds_restore(struct suite_kinds *k)
{
	enum status first = ST_OK;

	for (unsigned i = k->count; i-- > 0;) {
		const enum status st = msr_guard_restore(&k->at[i].guard);

		if (first == ST_OK)
			first = st;
	}
	return first;
}

void suite_kinds_close(struct suite_kinds *k)
{
	for (unsigned i = 0; k && i < SUITE_KINDS_MAX; i++)
		if (k->at[i].saved)
			k->put(k->self, k->at[i].saved, k->at[i].bytes);
	if (k)
		memset(k, 0, sizeof(*k));
}
