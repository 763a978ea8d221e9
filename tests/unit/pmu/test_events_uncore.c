/* The tables of uncore events, filters included, judged by libpfm4 and by perfmon's tables (tests/oracle).
 *
 * Each event is looked up in libpfm4 under the name that follows from ours (A.B is pmu::A:B), with a value for each filter that it needs, or under
 * the name that its processor's reviewed-uncore*.csv gives. The codes must be equal and the filters' bits where our table has them, or the reviewed
 * list must say why not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "pmu/text.h"
#include "tables/processor.h"
#include "tests/unit/support/reviewed.h"
#include "tests/unit/support/table_find.h"

/* Bits of a select that define an event: select, umask, edge, extended, inv, threshold. */
#define MEANING 0xFFA4FFFFu

static uint64_t our_code(const struct uncore_event *e)
{
	return e->select | (uint64_t)e->umask << 8 | (uint64_t)e->extended << 21 | (uint64_t)e->cmask << 24;
}

/* A value for each filter, as libpfm4's attribute and as it must appear in libpfm4's code [1] (the box's first filter register) or
 * [2] (its second). */
static const struct { const char *filter, *attribute; uint64_t value; } asked[] = {
	{ "opc", ":OPC_DRD", 0x182 }, { "nid", ":nf=0x3", 3 }, { "state", ":STATE_M", 8 },
	{ "band0", ":ff=16", 16 }, { "band1", ":ff=16", 16 }, { "band2", ":ff=16", 16 }, { "band3", ":ff=16", 16 },
};

static void name_of(const char *pmu, const struct uncore_box *b, const struct uncore_event *e, char *out, size_t capacity)
{
	const char *dot = strchr(e->name, '.');
	size_t n = (size_t)snprintf(out, capacity, "%s::%.*s%s", pmu, dot ? (int)(dot - e->name) : (int)strlen(e->name), e->name, dot ? ":" : "");
	for (const char *c = dot ? dot + 1 : ""; *c; c++)
		out[n++] = *c == '.' ? '_' : *c;
	out[n] = 0;
	for (unsigned f = 0; f < b->filter_count; f++)
		for (unsigned i = 0; e->filters >> f & 1 && i < sizeof(asked) / sizeof(asked[0]); i++)
			if (str_equal(asked[i].filter, b->filters[f].name))
				n += (size_t)snprintf(out + n, capacity - n, "%s", asked[i].attribute);
}

static bool filters_agree(const struct uncore_box *b, const struct uncore_event *e, const uint64_t codes[3])
{
	uint64_t want[3] = { 0 };
	bool any = false;
	for (unsigned f = 0; f < b->filter_count; f++)
		for (unsigned i = 0; e->filters >> f & 1 && i < sizeof(asked) / sizeof(asked[0]); i++)
			if (str_equal(asked[i].filter, b->filters[f].name)) {
				want[b->filters[f].reg == b->filters[0].reg ? 1 : 2] |= asked[i].value << b->filters[f].low;
				any = true;
			}
	return !any || (codes[1] == want[1] && codes[2] == want[2]);
}

static void compare_box(const char *pmu, const struct uncore_box *b)
{
	for (unsigned i = 0; i < b->event_count; i++) {
		const struct uncore_event *e = &b->events[i];
		const struct review *r = reviewed_find(e->name);
		uint64_t codes[3];
		char name[512];
		name_of(pmu, b, e, name, sizeof(name));
		if (r && r->oracle[0])
			str_copy(name, sizeof(name), r->oracle);
		const bool known = reviewed_ask_libpfm(name, codes, 3);
		const bool same = (codes[0] & MEANING) == our_code(e) && filters_agree(b, e, codes);
		reviewed_judge(r, e->name, name, known, same, our_code(e), codes[0] & MEANING);
	}
}

static void test_uncore_events_of_nehalem_agree_with_libpfm4(void **state)
{
	(void)state;
	reviewed_read("nehalem-ep/reviewed-uncore");
	compare_box("nhm_unc", &processor_named("nehalem-ep")->boxes[0]);
	const struct reviewed_counts sum = reviewed_sum("nehalem-ep uncore", "libpfm4");
	reviewed_check_stale();
	assert_int_equal(sum.bad, 0);
	assert_true(sum.agree >= 130);
}

static void test_uncore_events_of_haswell_ep_agree_with_libpfm4(void **state)
{
	(void)state;
	static const struct { const char *box, *pmu; } pmus[] = {
		{ "ubox", "hswep_unc_ubo" }, { "cbo", "hswep_unc_cbo0" }, { "sbo", "hswep_unc_sbo0" }, { "pcu", "hswep_unc_pcu" },
		{ "ha", "hswep_unc_ha0" }, { "imc", "hswep_unc_imc0" }, { "irp", "hswep_unc_irp" }, { "qpi", "hswep_unc_qpi0" },
		{ "r2pcie", "hswep_unc_r2pcie" }, { "r3qpi", "hswep_unc_r3qpi0" },
	};
	const struct processor *p = processor_named("haswell-ep");
	unsigned codes = 0;
	reviewed_read("haswell-ep/reviewed-uncore");
	for (unsigned n = 0; n < p->box_count; n++) {
		bool found = false;
		for (unsigned i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++)
			if (str_equal(pmus[i].box, p->boxes[n].name)) {
				compare_box(pmus[i].pmu, &p->boxes[n]);
				found = true;
			}
		assert_true(found);
		codes += p->boxes[n].code_count;
	}
	const struct reviewed_counts sum = reviewed_sum("haswell-ep uncore", "libpfm4");
	reviewed_check_stale();
	assert_int_equal(codes, 311); /* the manual's tables "Ordered By Code" */
	assert_int_equal(sum.bad, 0);
	assert_true(sum.agree >= 1000);
}

/* --- perfmon ----------------------------------------------------------------------------------- */

struct row { char unit[16], name[96], filter[96]; unsigned code, umask, extended, counters; };

static unsigned read_perfmon(struct row *rows, unsigned most)
{
	char line[256];
	unsigned n = 0;
	FILE *f = fopen("tests/oracle/haswellx_uncore.csv", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		struct row r = { 0 };
		line[strcspn(line, "\n")] = 0;
		if (line[0] == '#' || !strncmp(line, "unit,", 5))
			continue;
		assert_true(sscanf(line, "%15[^,],%95[^,],%x,%x,%x,%x,%95s", r.unit, r.name, &r.code, &r.umask, &r.extended, &r.counters, r.filter) >= 6);
		assert_true(n < most);
		rows[n++] = r;
	}
	fclose(f);
	return n;
}

/* Whether perfmon's text names the filter, by perfmon's term for it. */
static bool filter_named(const char *text, const char *filter)
{
	static const struct { const char *filter, *word; } words[] = {
		{ "opc", "CBoFilter1[28:20]" }, { "nid", "CBoFilter1[15:0]" }, { "state", "CBoFilter0[" }, { "address", "HA_AddrMatch0" },
		{ "addresshigh", "HA_AddrMatch1[13:0]" }, { "opcode", "HA_OpcodeMatch[5:0]" }, { "band0", "PCUFilter[7:0]" },
		{ "band1", "PCUFilter[15:8]" }, { "band2", "PCUFilter[23:16]" }, { "band3", "PCUFilter[31:24]" }, { "match", "QPIMatch0" },
		{ "match1", "QPIMatch1" }, { "mask", "QPIMask0" }, { "mask1", "QPIMask1" },
	};
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (str_equal(words[i].filter, filter))
			return strstr(text, words[i].word);
	return false;
}

static void test_uncore_events_of_haswell_ep_agree_with_perfmon(void **state)
{
	(void)state;
	static struct row rows[1400];
	const unsigned n = read_perfmon(rows, 1400);
	const struct processor *p = processor_named("haswell-ep");
	reviewed_read("haswell-ep/reviewed-uncore-perfmon");
	for (unsigned b = 0; b < p->box_count; b++)
		for (unsigned i = 0; i < p->boxes[b].event_count; i++) {
			const struct uncore_event *e = &p->boxes[b].events[i];
			const struct review *r = reviewed_find(e->name);
			const struct row *row = NULL;
			for (unsigned k = 0; k < n && !row; k++)
				if (str_equal(rows[k].name, r && r->oracle[0] ? r->oracle : e->name))
					row = &rows[k];
			const uint64_t theirs = row ? row->code | (uint64_t)row->umask << 8 | (uint64_t)row->extended << 21 : 0;
			bool same = row && theirs == our_code(e) && row->counters == e->counter_mask;
			for (unsigned f = 0; same && f < p->boxes[b].filter_count; f++)
				same = filter_named(row->filter, p->boxes[b].filters[f].name) == (e->filters >> f & 1);
			reviewed_judge(r, e->name, row ? row->name : "", row, same, our_code(e), theirs);
		}
	const struct reviewed_counts sum = reviewed_sum("haswell-ep uncore", "perfmon");
	reviewed_check_stale();
	assert_int_equal(sum.bad, 0);
	assert_true(sum.agree >= 1000);
}

/* --- processors whose events come from the vendor's list ------------------------------------------ */

/* libpfm4's codes of our event, under the first of its PMU's name prefixes with which it knows the event; false: it knows none. */
static bool ask_as(const char *pmu, const char *const *prefixes, const struct uncore_box *b, const struct uncore_event *e, uint64_t codes[3])
{
	const char *rest = strchr(e->name + 4, '_'); /* after UNC_BOX */
	for (unsigned i = 0; rest && i < 3 && prefixes[i]; i++) {
		char full[256], name[512];
		struct uncore_event other = *e;
		snprintf(full, sizeof(full), "%s%s", prefixes[i], rest + 1);
		other.name = full;
		name_of(pmu, b, &other, name, sizeof(name));
		if (reviewed_ask_libpfm(name, codes, 3))
			return true;
	}
	return false;
}

/* Where libpfm4 knows an event by its name, codes and filters are equal, or the processor's list says why not. */
static void test_uncore_events_of_other_servers_agree_with_libpfm4(void **state)
{
	(void)state;
	static const struct { const char *processor, *box, *pmu, *prefixes[3]; } pmus[] = {
		{ "sandy-bridge-ep", "ubox", "snbep_unc_ubo", { "UNC_U_" } }, { "sandy-bridge-ep", "cbo", "snbep_unc_cbo0", { "UNC_C_" } },
		{ "sandy-bridge-ep", "pcu", "snbep_unc_pcu", { "UNC_P_" } }, { "sandy-bridge-ep", "ha", "snbep_unc_ha", { "UNC_H_" } },
		{ "sandy-bridge-ep", "imc", "snbep_unc_imc0", { "UNC_M_" } }, { "sandy-bridge-ep", "qpi", "snbep_unc_qpi0", { "UNC_Q_" } },
		{ "sandy-bridge-ep", "r2pcie", "snbep_unc_r2pcie", { "UNC_R2_" } }, { "sandy-bridge-ep", "r3qpi", "snbep_unc_r3qpi0", { "UNC_R3_" } },
		{ "ivy-bridge-ep", "ubox", "ivbep_unc_ubo", { "UNC_U_" } }, { "ivy-bridge-ep", "cbo", "ivbep_unc_cbo0", { "UNC_C_" } },
		{ "ivy-bridge-ep", "pcu", "ivbep_unc_pcu", { "UNC_P_" } }, { "ivy-bridge-ep", "ha", "ivbep_unc_ha0", { "UNC_H_" } },
		{ "ivy-bridge-ep", "imc", "ivbep_unc_imc0", { "UNC_M_" } }, { "ivy-bridge-ep", "qpi", "ivbep_unc_qpi0", { "UNC_Q_" } },
		{ "ivy-bridge-ep", "r2pcie", "ivbep_unc_r2pcie", { "UNC_R2_" } }, { "ivy-bridge-ep", "r3qpi", "ivbep_unc_r3qpi0", { "UNC_R3_" } },
		{ "broadwell-ep", "ubox", "bdx_unc_ubo", { "UNC_U_" } }, { "broadwell-ep", "cbo", "bdx_unc_cbo0", { "UNC_C_" } },
		{ "broadwell-ep", "sbo", "bdx_unc_sbo0", { "UNC_S_" } }, { "broadwell-ep", "pcu", "bdx_unc_pcu", { "UNC_P_" } },
		{ "broadwell-ep", "ha", "bdx_unc_ha0", { "UNC_H_" } }, { "broadwell-ep", "imc", "bdx_unc_imc0", { "UNC_M_" } },
		{ "broadwell-ep", "irp", "bdx_unc_irp", { "UNC_I_" } }, { "broadwell-ep", "qpi", "bdx_unc_qpi0", { "UNC_Q_" } },
		{ "broadwell-ep", "r2pcie", "bdx_unc_r2pcie", { "UNC_R2_" } }, { "broadwell-ep", "r3qpi", "bdx_unc_r3qpi0", { "UNC_R3_" } },
		{ "broadwell-de", "ubox", "bdx_unc_ubo", { "UNC_U_" } }, { "broadwell-de", "cbo", "bdx_unc_cbo0", { "UNC_C_" } },
		{ "broadwell-de", "pcu", "bdx_unc_pcu", { "UNC_P_" } }, { "broadwell-de", "ha", "bdx_unc_ha0", { "UNC_H_" } },
		{ "broadwell-de", "imc", "bdx_unc_imc0", { "UNC_M_" } }, { "broadwell-de", "irp", "bdx_unc_irp", { "UNC_I_" } },
		{ "broadwell-de", "r2pcie", "bdx_unc_r2pcie", { "UNC_R2_" } },
		{ "skylake-sp", "ubox", "skx_unc_ubo", { "UNC_U_" } }, { "skylake-sp", "cha", "skx_unc_cha0", { "UNC_C_", "UNC_H_", "UNC_CHA_" } },
		{ "skylake-sp", "pcu", "skx_unc_pcu", { "UNC_P_" } }, { "skylake-sp", "imc", "skx_unc_imc0", { "UNC_M_" } },
		{ "skylake-sp", "m2m", "skx_unc_m2m0", { "UNC_M2_", "UNC_M2M_" } }, { "skylake-sp", "upi", "skx_unc_upi0", { "UNC_UPI_" } },
		{ "skylake-sp", "m3upi", "skx_unc_m3upi0", { "UNC_M3_", "UNC_M3UPI_" } }, { "skylake-sp", "irp", "skx_unc_irp", { "UNC_I_" } },
		{ "skylake-sp", "iio", "skx_unc_iio0", { "UNC_IO_", "UNC_IIO_" } },
	};
	static const struct { const char *processor; unsigned least; } known[] = { { "sandy-bridge-ep", 380 }, { "ivy-bridge-ep", 780 }, { "broadwell-ep", 1100 }, { "broadwell-de", 780 }, { "skylake-sp", 2250 } };
	unsigned bad = 0;
	for (unsigned k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
		const struct processor *p = processor_named(known[k].processor);
		char list[64];
		unsigned agree = 0, differ = 0, unknown = 0;
		snprintf(list, sizeof(list), "%s/reviewed-uncore", known[k].processor);
		reviewed_read(list);
		for (unsigned n = 0; n < sizeof(pmus) / sizeof(pmus[0]); n++)
			for (unsigned b = 0; str_equal(pmus[n].processor, known[k].processor) && b < p->box_count; b++)
				for (unsigned i = 0; str_equal(pmus[n].box, p->boxes[b].name) && i < p->boxes[b].event_count; i++) {
					const struct uncore_event *e = &p->boxes[b].events[i];
					uint64_t codes[3];
					if (e->fixed || e->high || !ask_as(pmus[n].pmu, pmus[n].prefixes, &p->boxes[b], e, codes)) {
						unknown++;
					} else if ((codes[0] & MEANING) == our_code(e) && filters_agree(&p->boxes[b], e, codes)) {
						agree++;
					} else if (reviewed_find(e->name)) {
						differ++;
					} else {
						print_message("# not explained: %s %s: %08llx, libpfm4 has %08llx\n", known[k].processor, e->name, (unsigned long long)our_code(e),
						              (unsigned long long)(codes[0] & MEANING));
						bad++;
					}
				}
		print_message("# %s: %u agree, %u differ (reviewed), %u unknown to libpfm4 by their name\n", known[k].processor, agree, differ, unknown);
		reviewed_check_stale();
		assert_true(agree >= known[k].least);
	}
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uncore_events_of_nehalem_agree_with_libpfm4),
		cmocka_unit_test(test_uncore_events_of_haswell_ep_agree_with_libpfm4),
		cmocka_unit_test(test_uncore_events_of_haswell_ep_agree_with_perfmon),
		cmocka_unit_test(test_uncore_events_of_other_servers_agree_with_libpfm4),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
