/* tests/metal/guest.c: see guest.h. Without 57-bit addresses. */
#include "tests/metal/guest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/metal/stub.h"

#define PRESENT    1ull
#define LARGE      (1ull << 7)
#define NO_EXECUTE (1ull << 63)
#define ADDRESS    0x000FFFFFFFFFF000ull

void guest_open(struct guest *g, const char *prefix, unsigned nodes, uint64_t mib, uint64_t node_bytes)
{
	*g = (struct guest){ .nodes = nodes, .bytes = mib / nodes << 20, .node_bytes = node_bytes };
	if (nodes > GUEST_NODES_MAX)
		die("%u nodes: at most %u", nodes, GUEST_NODES_MAX);
	for (unsigned i = 0; i < nodes; i++) {
		char path[512];
		snprintf(path, sizeof(path), "%s.%u", prefix, i);
		int fd = open(path, O_RDWR);
		g->memory[i] = fd < 0 ? MAP_FAILED : mmap(NULL, g->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		if (g->memory[i] == MAP_FAILED)
			die("%s: %s", path, strerror(errno));
		close(fd);
	}
}

void *guest_physical(const struct guest *g, uint64_t pa, uint64_t bytes)
{
	const uint64_t node = pa / g->bytes, at = pa % g->bytes;
	return node < g->nodes && at + bytes <= g->bytes ? g->memory[node] + at : NULL;
}

bool guest_page(void *guest, uint64_t va, struct sim_page *out)
{
	const struct guest *g = guest;
	uint64_t table = g->cr3 & ADDRESS, forbidden = 0;
	for (unsigned level = 4; level > 0; level--) {
		const unsigned shift = 12 + 9 * (level - 1);
		const uint64_t *e = guest_physical(g, table + (va >> shift & 511) * 8, 8);
		if (!e || !(*e & PRESENT))
			return false;
		forbidden |= *e & NO_EXECUTE;
		if (level > 1 && !(*e & LARGE)) {
			table = *e & ADDRESS;
			continue;
		}
		const uint64_t bytes = 1ull << shift, pa = *e & ADDRESS & ~(bytes - 1);
		void *host = guest_physical(g, pa, bytes);
		if (level == 4 || !host)
			return false;
		*out = (struct sim_page){ .va = va & ~(bytes - 1), .page_bytes = bytes, .host = host, .executable = !(g->nx && forbidden),
		                          .pa = pa / g->bytes * g->node_bytes + pa % g->bytes };
		return true;
	}
	return false;
}
