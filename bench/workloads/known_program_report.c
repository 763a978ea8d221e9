/* bench/workloads/known_program_report.c: the study as JSON and as lines below the table. Schema: results/SCHEMA.md. */
#include "bench/measure/reduce.h"
#include "bench/workloads/known_program.h"

static bool good(const struct known_program_result *s, enum known_program_part p)
{
	return s->parts[p].status == ST_OK;
}

static void json_values(struct text *t, const struct known_program_values *v)
{
	text_fmt(t, "{\"count\": %u, \"mean\": ", v->count);
	text_fixed(t, v->mean_milli, 3);
	text_fmt(t, ", \"rms\": ");
	text_fixed(t, v->rms_milli, 3);
	text_fmt(t, ", \"least\": %llu, \"most\": %llu, \"values\": [", (unsigned long long)v->least, (unsigned long long)v->most);
	for (unsigned i = 0; i < KNOWN_PROGRAM_BINS; i++)
		text_fmt(t, "%s%u", i ? ", " : "", v->bins[i]);
	text_fmt(t, "]}");
}

int64_t known_program_together_micro(const struct known_program_smt_pair *c)
{
	const struct known_program_rate *p = c->together;
	const int64_t own = p[0].uops_micro + p[1].uops_micro;

	return p[0].other_known && p[1].other_known ? (own + p[0].other_micro + p[1].other_micro) / 2 : own;
}

static void json_pace(struct text *t, const struct known_program_rate *p)
{
	text_fmt(t, "{\"uops_per_cycle\": ");
	text_fixed(t, p->uops_micro, 6);
	text_fmt(t, ", \"l1_misses_per_iteration\": ");
	text_fixed(t, p->misses_milli, 3);
	if (p->other_known) {
		text_fmt(t, ", \"other_uops_per_cycle\": ");
		text_fixed(t, p->other_micro, 6);
	}
	text_fmt(t, "}");
}

static void json_contests(struct text *t, const struct known_program_result *s)
{
	text_fmt(t, ", \"threads\": [");
	for (unsigned i = 0; i < KNOWN_PROGRAM_SMT_PAIRS && good(s, KNOWN_PROGRAM_THREADS); i++) {
		const struct known_program_smt_pair *c = &s->contests[i];

		text_fmt(t, "%s{\"name\": \"%s\", \"kernel\": \"%s\", \"alone\": ", i ? ", " : "", c->name, c->kernel);
		json_pace(t, &c->alone);
		text_fmt(t, ", \"together\": [");
		json_pace(t, &c->together[0]);
		text_fmt(t, ", ");
		json_pace(t, &c->together[1]);
		text_fmt(t, "], \"together_uops_per_cycle\": ");
		text_fixed(t, known_program_together_micro(c), 6);
		text_fmt(t, "}");
	}
	text_fmt(t, "]");
}

void known_program_json(struct text *t, const struct known_program_result *s)
{
	if (!s->ran) {
		text_fmt(t, "null");
		return;
	}
	text_fmt(t, "{\"parts\": {");
	for (unsigned p = 0; p < KNOWN_PROGRAM_PARTS; p++) {
		text_fmt(t, "%s\"%s\": {\"status\": \"%s\", \"reason\": \"", p ? ", " : "", known_program_part_name((enum known_program_part)p),
		         status_name(s->parts[p].status));
		text_json(t, s->parts[p].reason);
		text_fmt(t, "\"}");
	}
	text_fmt(t, "}, \"loops\": [");
	for (unsigned i = 0; i < s->loop_count; i++) {
		text_fmt(t, "%s{\"branch\": %u, \"trips\": ", i ? ", " : "", s->loops[i].branch);
		json_values(t, &s->loops[i].trips);
		text_fmt(t, ", \"sampled\": ");
		json_values(t, &s->loops[i].sampled);
		text_fmt(t, "}");
	}
	text_fmt(t, "], \"argument\": ");
	json_values(t, &s->argument);
	text_fmt(t, ", \"turns\": %u, \"blocks\": [", s->iterations);
	for (unsigned i = 0; i < s->block_count; i++) {
		text_fmt(t, "%s{\"start\": %u, \"executions\": %u, \"per_turn\": ", i ? ", " : "", s->blocks[i].start,
		         s->blocks[i].executions);
		text_fixed(t, s->blocks[i].per_iteration_milli, 3);
		text_fmt(t, "}");
	}
	text_fmt(t, "], \"branches\": [");
	for (unsigned i = 0; i < s->branch_count; i++)
		text_fmt(t, "%s{\"at\": %u, \"taken\": %u, \"not_taken\": %u}", i ? ", " : "", s->branches[i].at,
		         s->branches[i].taken, s->branches[i].passed);
	text_fmt(t, "], \"calls\": %u, \"call_sites\": %u, \"cycle_records\": %u, \"cycle_records_inside\": %u, "
	         "\"cycles_accounted\": ", s->calls, s->call_sites, s->cycle_records, s->cycle_records_inside);
	text_fixed(t, s->cycles_milli, 3);
	text_fmt(t, ", \"loads\": %llu, \"loads_by_source\": %llu, \"addresses\": %u, \"addresses_right\": %u, "
	         "\"read_lines\": [%llu, %llu], \"nt_lines\": [%llu, %llu], \"nt_lines_stored\": %llu",
	         (unsigned long long)s->loads, (unsigned long long)s->sources, s->addresses, s->addresses_right,
	         (unsigned long long)s->read_lines[0], (unsigned long long)s->read_lines[1], (unsigned long long)s->nt_lines[0],
	         (unsigned long long)s->nt_lines[1], (unsigned long long)s->nt_lines_stored);
	json_contests(t, s);
	text_fmt(t, "}");
}

/* Uops per cycle of a kernel alone and of both threads running it, and L1 misses per iteration of each. */
static void contest_line(struct text *t, const struct known_program_smt_pair *c)
{
	const int64_t both = known_program_together_micro(c);

	text_fmt(t, "%s ", c->name);
	text_fixed(t, (c->alone.uops_micro + 500) / 1000, 3);
	text_fmt(t, " uops/cycle alone, ");
	text_fixed(t, (both + 500) / 1000, 3);
	text_fmt(t, " by both together (");
	text_fixed(t, c->alone.uops_micro > 0 ? mul_div(both, 1000, c->alone.uops_micro) : 0, 3);
	text_fmt(t, " times), L1 misses ");
	text_fixed(t, c->alone.misses_milli, 3);
	text_fmt(t, ", ");
	text_fixed(t, c->together[0].misses_milli, 3);
	text_fmt(t, " + ");
	text_fixed(t, c->together[1].misses_milli, 3);
	text_fmt(t, " an iteration");
}

static void part_line(struct text *t, const struct known_program_result *s, enum known_program_part p)
{
	text_fmt(t, "  %-16s ", known_program_part_name(p));
	switch (p) {
	case KNOWN_PROGRAM_TRIPS:
		for (unsigned i = 0; i < s->loop_count; i++) {
			text_fmt(t, "%smean ", i ? ", " : "");
			text_fixed(t, s->loops[i].trips.mean_milli, 3);
			text_fmt(t, ", RMS ");
			text_fixed(t, s->loops[i].trips.rms_milli, 3);
			text_fmt(t, " (%llu to %llu, %u invocations; ", (unsigned long long)s->loops[i].trips.least,
			         (unsigned long long)s->loops[i].trips.most, s->loops[i].trips.count);
			text_fixed(t, s->loops[i].sampled.mean_milli, 3);
			text_fmt(t, " by %u samples, weighted by 1/trips)", s->loops[i].sampled.count);
		}
		break;
	case KNOWN_PROGRAM_ARGUMENTS:
		text_fmt(t, "mean ");
		text_fixed(t, s->argument.mean_milli, 3);
		text_fmt(t, " (%llu to %llu, %u records)", (unsigned long long)s->argument.least,
		         (unsigned long long)s->argument.most, s->argument.count);
		break;
	case KNOWN_PROGRAM_ADDRESSES:
		text_fmt(t, "%u from registers, %u where the value lies", s->addresses, s->addresses_right);
		break;
	case KNOWN_PROGRAM_TRAFFIC:
		text_fmt(t, "lines read %llu + %llu, stored non-temporally %llu + %llu of %llu (this node + others)",
		         (unsigned long long)s->read_lines[0], (unsigned long long)s->read_lines[1], (unsigned long long)s->nt_lines[0],
		         (unsigned long long)s->nt_lines[1], (unsigned long long)s->nt_lines_stored);
		break;
	case KNOWN_PROGRAM_BLOCKS_PART:
		text_fmt(t, "%u blocks and %u branches in %u iterations of the loop", s->block_count, s->branch_count, s->iterations);
		break;
	case KNOWN_PROGRAM_CALLS:
		text_fmt(t, "%u calls from %u place%s", s->calls, s->call_sites, s->call_sites == 1 ? "" : "s");
		break;
	case KNOWN_PROGRAM_CYCLES:
		text_fmt(t, "%u records stand for ", s->cycle_records);
		text_fixed(t, s->cycles_milli, 3);
		text_fmt(t, " of the cycles");
		break;
	case KNOWN_PROGRAM_THREADS:
		for (unsigned i = 0; i < KNOWN_PROGRAM_SMT_PAIRS; i++) {
			text_fmt(t, "%s", i ? "; " : "");
			contest_line(t, &s->contests[i]);
		}
		break;
	default:
		text_fmt(t, "%llu loads, %llu by source", (unsigned long long)s->loads, (unsigned long long)s->sources);
	}
	text_fmt(t, "\n");
}

void known_program_lines(struct text *t, const struct known_program_result *s)
{
	if (!s->ran)
		return;
	text_fmt(t, "precise sampling and last-branch records of k_study:\n");
	for (unsigned p = 0; p < KNOWN_PROGRAM_PARTS; p++)
		if (good(s, (enum known_program_part)p))
			part_line(t, s, (enum known_program_part)p);
		else
			text_fmt(t, "  %-16s %s: %s\n", known_program_part_name((enum known_program_part)p), status_name(s->parts[p].status),
			         s->parts[p].reason);
}
