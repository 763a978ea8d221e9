/* bench/results/settings.c: see settings.h. */
#include "bench/results/settings.h"

#include "bench/workloads/profile.h"

const char *settings_rows(const struct suite_settings *s)
{
	return s->suite && s->suite[0] ? s->suite : s->profile ? PROFILE_ROWS : "quick";
}
