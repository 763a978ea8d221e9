/* tests/unit/support/fingerprint.c: see fingerprint.h. */
#include "tests/unit/support/fingerprint.h"

#include "bench/catalogue/kernel.h"
#include "bench/curves/curve.h"
#include "bench/curves/skid.h"
#include "bench/curves/sweep2d.h"

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const uint8_t *)bytes)[i]) * 0x100000001B3ull; /* FNV-1a */
	return hash;
}

static uint64_t mix_name(uint64_t hash, enum row_field field, unsigned value)
{
	const char *name = row_value_name(field, value);

	return name ? mix(hash, name, str_length(name) + 1) : hash;
}

static uint64_t mix_kernel(uint64_t hash, const char *name)
{
	hash = mix(hash, name, str_length(name));
	for (const struct kernel *k = kernel_table; k < kernel_table_end; k++)
		if (str_equal(k->name, name))
			hash = mix(hash, kernel_code + k->offset, k->bytes);
	return hash;
}

/* Hashes the parameters of a curve and the code of some of its points. */
static uint64_t mix_curve(uint64_t hash, const struct row *r)
{
	static const uint8_t points[] = { 1, 2, 7, 33 };
	const struct row_curve *c = r->curve;
	const uint64_t more[] = { c->most, c->both };
	uint8_t code[CURVE_CODE_BYTES];

	hash = mix_name(mix_name(mix_name(hash, FIELD_CURVE, c->what), FIELD_FILLER, c->filler), FIELD_VALUE, c->value);
	hash = mix(hash, more, sizeof(more));
	for (unsigned i = 0; i < COUNT_OF(points); i++)
		hash = mix(hash, code, curve_code(c, points[i], 64, code));
	return mix_kernel(mix_kernel(hash, "k_flush"), "k_touch");
}

uint64_t fingerprint_row(const struct row *r)
{
	const struct { enum row_field field; unsigned value; } names[] = {
		{ FIELD_KIND, r->kind }, { FIELD_UNIT, r->unit }, { FIELD_TARGET, r->target }, { FIELD_ORDER, r->order }, { FIELD_PREPARE, r->prepare },
		{ FIELD_BASELINE, r->baseline }, { FIELD_STATISTIC, r->statistic }, { FIELD_PREFETCH, r->prefetch } };
	const uint64_t numbers[] = { r->page_bytes, r->node, r->window };
	uint64_t hash = mix_kernel(0xCBF29CE484222325ull, "k_measure");

	if ((r->order == ORDER_MULTICORE || r->order == ORDER_NODES) && (r->prepare == PREPARE_FLUSH || r->target == TARGET_L3))
		hash = mix_kernel(hash, "k_measure_cold");
	for (unsigned i = 0; i < COUNT_OF(names); i++)
		hash = mix_name(hash, names[i].field, names[i].value);
	hash = mix(hash, numbers, sizeof(numbers));
	for (const char *const *k = r->kernels; *k; k++)
		hash = mix_kernel(hash, *k);
	if (r->pair) {
		const uint64_t more[] = { r->pair->bytes, r->pair->events, r->pair->iterations, r->pair->counted };

		hash = mix_name(mix_name(hash, FIELD_FILL, r->pair->fill), FIELD_FILL, r->pair->base_fill);
		hash = mix_name(mix_name(hash, FIELD_CODE, r->pair->code), FIELD_CODE, r->pair->base_code);
		hash = mix(hash, more, sizeof(more));
		if (r->pair->ahead)
			hash = mix(hash, "ahead", sizeof("ahead"));
		if (r->pair->beyond_l1)
			hash = mix(hash, "beyond_l1", sizeof("beyond_l1"));
		if (r->pair->base)
			hash = mix_kernel(hash, r->pair->base);
	}
	if (r->curve)
		hash = mix_curve(hash, r);
	if (r->order == ORDER_GATHER) {
		uint8_t code[GATHER_CODE_BYTES];

		hash = mix_kernel(mix(hash, code, sweep2d_gather_code(128, 8, code)), "k_flush");
	}
	if (r->order == ORDER_SKID_PRECISE || r->order == ORDER_SKID_INTERRUPT || r->order == ORDER_SKID_ADDRESSES) {
		uint8_t code[SKID_CODE_BYTES];
		uint32_t load;

		hash = mix(hash, code, skid_code(code, &load));
	}
	if (r->prepare == PREPARE_EXCLUSIVE || r->prepare == PREPARE_SHARED)
		hash = mix_kernel(hash, "k_touch_chain");
	if (r->prepare == PREPARE_MODIFIED)
		hash = mix_kernel(hash, "k_dirty_chain");
	if (r->order == ORDER_MULTICORE || r->order == ORDER_NODES || (r->order == ORDER_STREAMS && r->target == TARGET_DRAM && r->prepare != PREPARE_FLUSH))
		hash = mix_kernel(hash, "k_warm_flush");
	else if ((r->prepare == PREPARE_FLUSH && r->order == ORDER_STREAMS) || (r->target == TARGET_DRAM && (r->curve || r->order == ORDER_LOADED || r->order == ORDER_LINE || r->order == ORDER_GATHER)))
		hash = mix_kernel(hash, "k_flush");
	else if ((r->prepare == PREPARE_FLUSH && r->order != ORDER_GATHER) || r->prepare == PREPARE_EXCLUSIVE || r->prepare == PREPARE_MODIFIED || r->prepare == PREPARE_SHARED)
		hash = mix_kernel(hash, "k_flush_chain");
	if ((r->order == ORDER_STREAMS || r->order == ORDER_MULTICORE || r->order == ORDER_NODES) && r->prepare != PREPARE_FLUSH)
		for (const char *const *k = r->kernels; *k; k++)
			hash = mix_kernel(hash, window_warm_kernel(r, kernel_find(*k)));
	if (r->order == ORDER_LOADED || r->order == ORDER_LINE)
		hash = mix_kernel(hash, r->order == ORDER_LOADED ? "k_inject" : "k_share_until");
	for (const struct row_proof_set *set = r->proofs; set && set->proofs[0].concept; set++) {
		if (set->without_l3)
			hash = mix(hash, "without_l3", sizeof("without_l3"));
		if (set->victim_l3)
			hash = mix(hash, "victim_l3", sizeof("victim_l3"));
		for (unsigned i = 0; i < ROW_PROOFS_MAX && set->proofs[i].concept; i++) {
			const struct row_proof *p = &set->proofs[i];
			const int64_t bounds[] = { p->low_milli, p->high_milli };

			hash = mix_name(mix(mix(hash, p->concept, str_length(p->concept) + 1), bounds, sizeof(bounds)), FIELD_PER, p->per);
		}
	}
	return hash;
}
