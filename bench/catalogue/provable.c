/* bench/catalogue/provable.c: see provable.h. */
#include "bench/catalogue/provable.h"

#include "pmu/core/concept.h"

/* Concepts with the same expression cannot have different counts: an L2 that is the last level proves no hit of an L3. */
static bool contradicts(const struct row_proof_set *set, unsigned i, const struct processor *p)
{
	for (unsigned k = 0; k < i; k++)
		if (str_equal(concept_find(p, set->proofs[k].concept)->text, concept_find(p, set->proofs[i].concept)->text) &&
		    (set->proofs[k].low_milli > set->proofs[i].high_milli || set->proofs[i].low_milli > set->proofs[k].high_milli))
			return true;
	return false;
}

static bool set_provable(const struct row_proof_set *set, const struct processor *p)
{
	if (set->one_socket || (set->without_l3 && concept_counted(p, "load.hit.l3")))
		return false;
	for (unsigned i = 0; i < ROW_PROOFS_MAX && set->proofs[i].concept; i++) {
		const struct expression *x = concept_find(p, set->proofs[i].concept);

		if (!x || !expression_proves(x, set->proofs[i].low_milli, set->proofs[i].high_milli) || contradicts(set, i, p))
			return false;
	}
	return true;
}

bool row_provable(const struct row *r, const struct processor *p)
{
	const struct expression *instructions = concept_counted(p, "instructions");

	if (!r->proofs)
		return instructions && instructions->exactness == EXACTNESS_EXACT;
	for (const struct row_proof_set *set = r->proofs; set->proofs[0].concept; set++)
		if (set_provable(set, p))
			return true;
	return false;
}

/* Rows that most sockets do not have: they need several sockets, or several L3 caches in one. */
static bool of_several(const struct row *r)
{
	return r->node != NODE_OWN || r->target == TARGET_OTHER_SOCKET || r->target == TARGET_OTHER_COMPLEX || r->target == TARGET_OTHER_DIE || r->order == ORDER_NODES;
}

struct provable_share provable_share(const struct processor *p)
{
	struct provable_share sum = { 0, 0 };

	for (unsigned i = 0; i < rows_count; i++)
		if (rows[i].suites & SUITE_FULL && !of_several(&rows[i])) {
			sum.rows++;
			sum.proved += row_provable(&rows[i], p);
		}
	return sum;
}
