/* tests/expect/expect_ports.c: the time that ports need for an iteration of a loop, from the text of a machine file.
 *
 * Uops that only certain ports execute need at least their port cycles divided by the number of these ports (Hall's theorem).
 * The bound is the largest such quotient of all sets of ports that are the union of some classes' ports. */
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
