/* bench/workloads/profile_options.c: the options after a profile or a list of events: ",lbr=KIND+KIND" and ",records=N". */
#include "bench/workloads/profile.h"
#include "pmu/core/lbr.h"

#define PERIOD_MOST 0x7FFFFFFFu /* limit of pebs_start */

/* One kind of branch by its name in MSR_LBR_SELECT, or "all". */
static bool take_kind(const char *name, size_t n, uint32_t *kept)
{
	if (n == 3 && !memcmp(name, "all", n)) {
		*kept = LBR_FILTER_ALL;
		return true;
	}
	for (unsigned bit = 2; lbr_filter_name(bit); bit++)
		if (str_length(lbr_filter_name(bit)) == n && !memcmp(name, lbr_filter_name(bit), n)) {
			*kept |= 1u << bit;
			return true;
		}
	return false;
}

/* The last-branch filter that keeps only these kinds, in ring 0, where the kernels run. */
static enum status take_filter(const char *kinds, uint16_t *select, struct text *problem)
{
	uint32_t kept = 0;

	for (const char *at = kinds;; at++) {
		size_t n = 0;

		for (; at[n] && at[n] != '+'; n++)
			;
		if (!take_kind(at, n, &kept)) {
			text_fmt(problem, "lbr=\"%.*s\": expected all or, joined by +,", (int)n, at);
			for (unsigned bit = 2; lbr_filter_name(bit); bit++)
				text_fmt(problem, " %s", lbr_filter_name(bit));
			return ST_SYNTAX;
		}
		at += n;
		if (!*at)
			break;
	}
	*select = (uint16_t)((LBR_FILTER_ALL & ~kept & ~(uint32_t)LBR_CPL_EQ_0) | LBR_CPL_NEQ_0);
	return ST_OK;
}

static enum status take_period(const char *digits, uint32_t *period, struct text *problem)
{
	uint64_t n = 0;
	const char *at = digits;

	for (; *at >= '0' && *at <= '9' && n <= PERIOD_MOST; at++)
		n = 10 * n + (uint64_t)(*at - '0');
	if (at == digits || *at || !n || n > PERIOD_MOST) {
		text_fmt(problem, "records=\"%s\": expected how many events lie between two records, 1 to %u", digits, PERIOD_MOST);
		return ST_SYNTAX;
	}
	*period = (uint32_t)n;
	return ST_OK;
}

/* Cuts the last element off the list if it begins with `key`; *value: what follows that. */
static bool cut(char *list, const char *key, const char **value)
{
	const size_t n = str_length(list), length = str_length(key);
	size_t at = n;

	while (at > 0 && list[at - 1] != ',')
		at--;
	if (n - at < length || memcmp(list + at, key, length))
		return false;
	*value = list + at + length;
	list[at ? at - 1 : 0] = 0;
	return true;
}

enum status profile_options_cut(char *list, struct profile_plan *out, struct text *problem)
{
	const char *value;
	enum status st = ST_OK;

	for (bool more = true; more && st == ST_OK;) {
		more = false;
		if (cut(list, "lbr=", &value)) {
			more = true;
			st = take_filter(value, &out->lbr_select, problem);
		} else if (cut(list, "records=", &value)) {
			more = true;
			st = take_period(value, &out->period, problem);
		}
	}
	return st;
}
