/* bench/catalogue/row.c: rows by name, and the names of what a row says. */
#include "bench/catalogue/result.h"

const char *row_status_name(enum row_status s)
{
	static const char *const names[ROW_STATUS_COUNT] = {
		[ROW_OK] = "ok", [ROW_NOISY] = "noisy", [ROW_UNPROVEN] = "unproven",
		[ROW_UNSUPPORTED] = "unsupported", [ROW_FAULT] = "fault", [ROW_CRASHED] = "crashed",
	};
	return (unsigned)s < ROW_STATUS_COUNT ? names[s] : "?";
}

const char *row_unit_name(enum row_unit u)
{
	return u == UNIT_CYCLES ? "cycles" : u == UNIT_NS ? "ns" : u == UNIT_ENTRIES ? "entries" :
		u == UNIT_INSTRUCTIONS ? "instructions" : u == UNIT_LINES ? "lines" : "bytes/s";
}

const struct row *row_find(const char *name)
{
	for (unsigned i = 0; i < rows_count; i++)
		if (str_equal(rows[i].name, name))
			return &rows[i];
	return NULL;
}

bool row_has_value(const struct row_result *r)
{
	return r->samples > 0 && (r->status == ROW_OK || r->status == ROW_NOISY || r->status == ROW_UNPROVEN);
}
