/* tests/expect/expect_ports.c: what an iteration of a loop keeps the ports busy for, from the text of a machine file.
 *
 * What can only go to some ports takes at least as long as these have work together (Hall's theorem): of all sets of ports
 * that are those of some of the classes, the busiest. */
#include "tests/expect/expect_ports.h"
#include "tests/expect/expect_core.h"

#define USES_MOST 8u

int64_t ports_turn_milli(struct machine_text *t, const struct port_use *uses)
{
	unsigned masks[USES_MOST], n = 0;
	int64_t most = 0;

	for (; uses[n].class && n < USES_MOST; n++)
		masks[n] = cost_of(t, uses[n].class).mask;
	for (unsigned some = 1; some < 1u << n; some++) {
		unsigned ports = 0, count = 0;
		int64_t cycles = 0;

		for (unsigned i = 0; i < n; i++)
			ports |= some >> i & 1 ? masks[i] : 0;
		for (unsigned i = 0; i < n; i++)
			cycles += masks[i] && !(masks[i] & ~ports) ? uses[i].cycles : 0;
		for (unsigned p = ports; p; p &= p - 1)
			count++;
		if (count && 1000 * cycles / count > most)
			most = 1000 * cycles / count;
	}
	return most;
}
