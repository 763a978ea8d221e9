/* runner/data/fleet.h: many runs in little memory: of each only the data that are compared. Host only. */
#ifndef RUNNER_FLEET_H
#define RUNNER_FLEET_H

#include "bench/results/document.h"

/* Robust deviations from the median beyond which a value is an outlier. Of normally distributed values 2 in 1e9 are, so that a fleet of
 * equal machines yields no false alarm (1,000 machines of 200 rows: 4 in 10,000 such fleets). Values within the floor, a share of the
 * median, are never outliers: no use of a penalty needs more precision. */
#define FLEET_DEVIATIONS 6.0
#define FLEET_FLOOR      0.02
/* Standard deviation of a normal distribution over its median absolute deviation. */
#define FLEET_NORMAL     1.4826
#define FLEET_RUNS_LEAST 4u /* of a group, for a meaningful median */
#define FLEET_DRIFT_LEAST 5u /* runs of a machine */

enum fleet_by { FLEET_BY_PRODUCT, FLEET_BY_BIOS, FLEET_BY_MICROCODE };

/* Strings are interned: equal ones are the same pointer. */
struct fleet_row { const char *name, *kind, *unit; };
struct fleet_value {
	unsigned row;                  /* in fleet.rows */
	const char *status;
	bool measured;                 /* ok or noisy, with a value */
	double value, spread;          /* in the row's unit */
	double cycles, ns;             /* NAN: none */
	int64_t samples, rejected, revision;
};
struct fleet_fact { const char *key, *value; }; /* "environment.firmware_version"; sorted by the key's address */
struct fleet_run {
	const char *path, *machine;    /* its folder; PRODUCT-ID, the folder's name without the number at its end */
	const char *product, *bios, *microcode, *started, *build, *backend;
	bool simulated;
	struct fleet_value *values;
	struct fleet_fact *facts;
	unsigned value_count, fact_count, group;
};
struct fleet_group { const char *name; unsigned runs; };
/* A run whose row is an outlier, or a machine whose row drifted. */
struct fleet_finding {
	unsigned run, row;             /* for a drift the machine's latest run */
	double value, median, deviations; /* for a drift: medians of the latest third and of the first; deviations 0: the status differs */
	const char *status, *usual;    /* if the row was not measured: its status, and that of most runs of the group */
	bool drift;
};
struct fleet {
	struct fleet_run *runs;
	struct fleet_row *rows;
	struct fleet_group *groups;
	struct fleet_finding *findings;
	unsigned run_count, run_room, row_count, row_room, group_count, group_room, finding_count, finding_room, unreadable;
	void *strings, *row_names;     /* trees of tsearch(3) */
};

/* Adds every run below the folder, at most three folders deep, or the run at the path. Calls `unread` with one line for each run that cannot
 * be read; this is no error. ST_MISSING with a line in `problem`: no such folder; ST_FULL: no memory. */
MUST_CHECK enum status fleet_add(struct fleet *f, const char *path, void (*unread)(void *self, const char *line), void *self, char *problem, size_t capacity);
/* Sorts the runs by machine and time and groups them. */
MUST_CHECK enum status fleet_group_by(struct fleet *f, enum fleet_by by);
/* Fills in the findings, outliers first, by run and row. Outliers are judged against the median of the run's group, drifts within a machine. */
MUST_CHECK enum status fleet_judge(struct fleet *f);
/* A key's most frequent value in the group, the number of runs that have it, and that of all runs. "": most have no such key. */
const char *fleet_usual(const struct fleet *f, unsigned group, const char *key, unsigned *have, unsigned *of);
/* A run's value of a key; NULL: none. */
const char *fleet_fact(const struct fleet_run *r, const char *key);
const struct fleet_value *fleet_value(const struct fleet_run *r, unsigned row);
void fleet_free(struct fleet *f);

#endif
