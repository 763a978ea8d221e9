/* pmu/uncore/uncore_find.c: sockets, their buses, and their boxes.
 *
 * Buses: manual 331051-002, 1.6.1, with the shift by three bits per entry that its sample lacks: the position in the map of
 * the node id of a bus's UBox function is the bus's socket. A bus of devices belongs to the socket of the next higher bus
 * with that function (Linux 6.12, uncore_snbep.c, snbep_pci2phy_map_init with reverse). */
#include "pmu/uncore/uncore.h"
#include "pmu/backend/msr_guard.h"
#include "pmu/text.h"

/* In place of the builtin, for which the compiler would call a library. */
static unsigned ones(uint64_t bits) { return bit_count((uint32_t)bits) + bit_count((uint32_t)(bits >> 32)); }

#define PCI_VENDOR_INTEL 0x8086u
#define PCI_BUSES        256
#define PCI_BYTES        256 /* of a function's configuration space, which every machine reaches */
#define PCI_SEGMENTS     4  /* searched; a segment that no backend reaches ends the search */
#define MAP_ENTRIES      8
#define MAP_BITS         3

/* --- sockets ----------------------------------------------------------------------------------- */

/* The APIC id of a logical processor, and the number of its low bits that select a thread within the package: those that leaf 0xB's core level
 * spans or, without that leaf, those that hold leaf 1's number of logical processors (SDM volume 3A, 8.9). */
static enum status id_of(const struct access *a, unsigned core, uint32_t *id, unsigned *package_shift)
{
	struct cpuid_regs r;
	enum status s = a->ops->cpuid(a->self, core, 0, 0, &r);
	if (s != ST_OK)
		return s;
	if (r.eax >= 0xB) {
		unsigned shift = 0;
		bool told = false;
		for (unsigned level = 0; level < 8; level++) {
			s = a->ops->cpuid(a->self, core, 0xB, level, &r);
			if (s != ST_OK)
				return s;
			if (!(r.ecx >> 8 & 0xFF))
				break;
			shift = r.eax & 0x1F;
			told = true;
		}
		if (told) {
			*id = r.edx;
			*package_shift = shift;
			return ST_OK;
		}
	}
	s = a->ops->cpuid(a->self, core, 1, 0, &r);
	if (s != ST_OK)
		return s;
	unsigned shift = 0;
	while (r.edx >> 28 & 1 && 1u << shift < (r.ebx >> 16 & 0xFF))
		shift++;
	*id = r.ebx >> 24;
	*package_shift = shift;
	return ST_OK;
}

static enum status package_of(const struct access *a, unsigned core, uint32_t *package)
{
	unsigned shift = 0;
	uint32_t id = 0;
	const enum status s = id_of(a, core, &id, &shift);
	*package = id >> shift;
	return s;
}

/* Logical processors that share a last-level cache have the same id above the bits that number them (AMD64 manual volume 3, CPUID 0x8000001D). */
static enum status complex_of(const struct access *a, const struct cpu *cpu, unsigned core, uint32_t *complex)
{
	const struct cpu_cache *last = cpu_cache(cpu, cpu_last_level(cpu));
	unsigned shift = 0, bits = 0;
	uint32_t id = 0;
	const enum status s = id_of(a, core, &id, &shift);
	while (last && 1u << bits < last->shared_by)
		bits++;
	*complex = id >> (last && bits < shift ? bits : shift);
	return s;
}

enum status uncore_socket(const struct access *a, const struct uncore *u, unsigned core, unsigned *socket)
{
	uint32_t wanted, package;
	enum status s = package_of(a, core, &wanted);
	for (unsigned i = 0; i < u->sockets && s == ST_OK; i++) {
		s = package_of(a, u->speaker[i], &package);
		if (s == ST_OK && package == wanted) {
			*socket = i;
			return ST_OK;
		}
	}
	return s == ST_OK ? ST_MISSING : s;
}

enum status uncore_socket_of_node(const struct access *a, const struct uncore *u, unsigned node, unsigned *socket)
{
	for (unsigned i = 0; a->core_node && i < a->cores; i++)
		if (a->core_node[i] == node)
			return uncore_socket(a, u, i, socket);
	return ST_MISSING;
}

unsigned uncore_instances(const struct uncore *u, const struct uncore_box *box, unsigned socket)
{
	return socket < u->sockets ? ones(u->present[socket][box - u->cpu->processor->boxes]) : 0;
}

static enum status find_sockets(const struct access *a, struct uncore *u)
{
	for (unsigned core = 0; core < a->cores && u->sockets < UNCORE_SOCKETS_MAX; core++) {
		unsigned known;
		const enum status s = uncore_socket(a, u, core, &known);
		if (s == ST_MISSING) /* otherwise it belongs to a known socket, or does not answer */
			u->speaker[u->sockets++] = (uint16_t)core;
	}
	return u->sockets ? ST_OK : ST_MISSING;
}

/* The first logical processor of each complex, in their order. */
static enum status find_complexes(const struct access *a, struct uncore *u)
{
	for (unsigned core = 0; core < a->cores; core++) {
		uint32_t own, other;
		unsigned socket, i = 0;
		enum status s = uncore_socket(a, u, core, &socket);
		if (s == ST_MISSING)
			continue;
		if (s == ST_OK)
			s = complex_of(a, u->cpu, core, &own);
		for (; s == ST_OK && i < u->complexes[socket]; i++) {
			s = complex_of(a, u->cpu, u->complex_speaker[socket][i], &other);
			if (s == ST_OK && other == own)
				break;
		}
		if (s != ST_OK)
			return s;
		if (i == u->complexes[socket] && i < UNCORE_COMPLEXES_MAX)
			u->complex_speaker[socket][u->complexes[socket]++] = (uint16_t)core;
	}
	return ST_OK;
}

/* --- buses ------------------------------------------------------------------------------------- */

static bool device_is(const struct access *a, struct pci_address at, const struct uncore_device *d, bool *answers)
{
	uint32_t id;
	at.device = d->device, at.function = d->function, at.reg = 0;
	*answers = a->ops->pci_read32(a->self, at, &id) == ST_OK;
	return *answers && id == ((uint32_t)d->id << 16 | PCI_VENDOR_INTEL);
}

/* The package of an uncore bus. */
static enum status package_of_bus(const struct access *a, const struct uncore_buses *k, struct pci_address at, uint32_t *package)
{
	uint32_t node, map;
	at.device = k->device.device, at.function = k->device.function, at.reg = (uint16_t)k->node_id;
	enum status s = a->ops->pci_read32(a->self, at, &node);
	at.reg = (uint16_t)k->node_map;
	if (s == ST_OK)
		s = a->ops->pci_read32(a->self, at, &map);
	if (s != ST_OK)
		return s;
	for (unsigned i = 0; i < MAP_ENTRIES; i++)
		if ((map >> MAP_BITS * i & ((1u << MAP_BITS) - 1)) == (node & k->node_id_mask)) {
			*package = i;
			return ST_OK;
		}
	return ST_MISSING;
}

static const struct uncore_device *io_device(const struct processor *p)
{
	for (unsigned b = 0; b < p->box_count; b++)
		if (p->boxes[b].io_bus)
			return &p->boxes[b].devices[0];
	return NULL;
}

/* Buses that each socket's register names. They are in segment 0. */
static void name_buses(const struct access *a, struct uncore *u)
{
	const struct uncore_buses *k = &u->cpu->processor->buses;
	for (unsigned socket = 0; socket < u->sockets; socket++) {
		uint64_t names;
		if (a->ops->rdmsr(a->self, u->speaker[socket], k->msr, &names) != ST_OK || !(names >> k->valid & 1))
			continue;
		for (unsigned i = 0; i < UNCORE_BUSES_MAX; i++)
			u->numbered[socket][i] = (struct uncore_bus){ 0, (uint8_t)(names >> 8 * i), true };
	}
}

/* Buses in descending order, so that the last uncore bus seen is the next higher one. */
static void find_buses(const struct access *a, struct uncore *u)
{
	const struct processor *p = u->cpu->processor;
	const struct uncore_device *io = io_device(p);
	bool answers = true;
	if (p->buses.msr)
		name_buses(a, u);
	if (!p->buses.device.id)
		return;
	for (unsigned segment = 0; segment < PCI_SEGMENTS; segment++) {
		unsigned above = UNCORE_SOCKETS_MAX; /* socket of the next higher uncore bus */
		for (unsigned n = PCI_BUSES; n-- > 0;) {
			const struct pci_address at = { .segment = (uint16_t)segment, .bus = (uint8_t)n };
			const struct uncore_bus here = { (uint16_t)segment, (uint8_t)n, true };
			uint32_t package, other;
			if (device_is(a, at, &p->buses.device, &answers)) {
				above = UNCORE_SOCKETS_MAX;
				if (package_of_bus(a, &p->buses, at, &package) != ST_OK)
					continue;
				for (unsigned i = 0; i < u->sockets; i++)
					if (package_of(a, u->speaker[i], &other) == ST_OK && other == package)
						above = i;
				if (above < UNCORE_SOCKETS_MAX)
					u->bus[above] = here;
			} else if (io && above < UNCORE_SOCKETS_MAX && !u->io_bus[above].known && device_is(a, at, io, &answers)) {
				u->io_bus[above] = here;
			}
			if (!answers)
				return;
		}
	}
}

/* Assigns a teller to each socket: the one on its uncore bus; tellers with discovery tables in order, to sockets in the order of their package ids. */
static void find_tellers(const struct access *a, struct uncore *u)
{
	uint32_t own[UNCORE_SOCKETS_MAX] = { 0 };
	for (unsigned i = 0; i < u->sockets; i++) {
		unsigned rank = 0;
		u->teller[i] = UNCORE_NO_TELLER;
		if (!u->places.tellers || package_of(a, u->speaker[i], &own[i]) != ST_OK)
			continue;
		for (unsigned t = 0; t < u->places.tellers; t++)
			if (u->bus[i].known && u->places.teller[t].bus == u->bus[i].bus && u->places.teller[t].segment == u->bus[i].segment)
				u->teller[i] = (uint8_t)t;
		for (unsigned k = 0; k < u->sockets; k++) {
			uint32_t other;
			rank += package_of(a, u->speaker[k], &other) == ST_OK && other < own[i];
		}
		if (u->places.tables && rank < u->places.tellers)
			u->teller[i] = (uint8_t)rank;
	}
}

/* --- boxes ------------------------------------------------------------------------------------- */

/* Cores of a socket; 0: not reported. */
static unsigned cores_of(const struct cpu *cpu)
{
	return cpu->threads_per_core ? cpu->threads_per_package / cpu->threads_per_core : 0;
}

/* Number of instances, from a register of a function on the bus or, where no register names buses, on one of the next count_bus buses. */
static enum status count_by_device(const struct access *a, const struct uncore_box *b, bool named, const struct uncore_bus *bus, unsigned *n)
{
	struct pci_address at = { .segment = bus->segment, .bus = bus->bus };
	uint32_t low, high = 0;
	bool answers = bus->known, there = bus->known && device_is(a, at, &b->count_device, &answers);
	for (unsigned i = 0; !there && !named && answers && i < b->count_bus && at.bus < UINT8_MAX; i++) {
		at.bus++;
		there = device_is(a, at, &b->count_device, &answers);
	}
	if (!there)
		return ST_MISSING;
	at.device = b->count_device.device, at.function = b->count_device.function, at.reg = (uint16_t)b->count_offset;
	enum status s = a->ops->pci_read32(a->self, at, &low);
	at.reg = (uint16_t)b->count_next;
	if (s == ST_OK && b->count_next)
		s = a->ops->pci_read32(a->self, at, &high);
	const uint64_t bits = ((uint64_t)high << 32 | low) & b->count_mask;
	const unsigned coded = b->count_ones ? ones(bits) : bits ? b->count_other : b->count_zero;
	if (s == ST_OK && coded < *n)
		*n = coded;
	return s;
}

/* Number of instances as the socket reports it, or as the table has it if the socket reports none. */
static enum status count_of(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_box *b, unsigned *n)
{
	const struct uncore_buses *k = &u->cpu->processor->buses;
	const struct uncore_bus *bus = k->msr && b->count_bus < UNCORE_BUSES_MAX ? &u->numbered[socket][b->count_bus] : &u->bus[socket];
	unsigned told = 0;
	*n = b->instances;
	if (b->scope == UNCORE_OF_COMPLEX && u->complexes[socket] < *n)
		*n = u->complexes[socket];
	if (b->count_msr) {
		uint64_t value;
		const enum status s = a->ops->rdmsr(a->self, u->speaker[socket], b->count_msr, &value);
		if (s != ST_OK)
			return s;
		value &= b->count_mask;
		told = value > b->count_less ? (unsigned)value - b->count_less : 0;
	}
	if (b->count_cores && cores_of(u->cpu) > told)
		told = cores_of(u->cpu);
	if (b->count_msr || told) {
		*n = told < *n ? told : *n;
		return ST_OK;
	}
	return b->count_device.id ? count_by_device(a, b, k->msr != 0, bus, n) : ST_OK;
}

/* Bit i: instance i is present, as far as a window, a table or CPUID reports it; 0 if CPUID reports another number of counters than the description. */
static uint64_t told_boxes(const struct access *a, const struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	struct cpuid_regs r;
	uint64_t placed = 0;
	if (box_place_told(b)) {
		for (unsigned i = 0; i < u->places.count; i++)
			if (&u->cpu->processor->boxes[u->places.list[i].box] == b && u->places.list[i].teller == u->teller[socket])
				placed |= 1ull << u->places.list[i].instance;
		return placed;
	}
	if (!b->present_leaf)
		return UINT64_MAX;
	const uint32_t base = b->present_leaf & 0x80000000u;
	if (a->ops->cpuid(a->self, u->speaker[socket], base, 0, &r) != ST_OK || r.eax < b->present_leaf ||
	    a->ops->cpuid(a->self, u->speaker[socket], b->present_leaf, 0, &r) != ST_OK)
		return 0;
	return (r.ebx >> b->present_counters & 0x3F) == bit_count(r.ecx) * b->counters ? r.ecx : 0;
}

/* Records the first box of a type that is missing, and why. */
static void partly(struct uncore *u, unsigned type, unsigned socket, unsigned instance, const struct access *a)
{
	struct text t;
	if (u->box_partly[type][0])
		return;
	text_init(&t, u->box_partly[type], sizeof(u->box_partly[type]));
	text_fmt(&t, "%s %u of socket %u: ", u->cpu->processor->boxes[type].name, instance, socket);
	if (a && a->failure && a->failure->known)
		access_failure_text(a, &t);
	else
		text_fmt(&t, a ? "hidden or fused off" : "not there, though other sockets have it");
	u->box_lost[type] = a != NULL;
}

/* Whether counter c counts an event of the box. */
static bool counted_by(const struct uncore_box *b, unsigned c)
{
	for (unsigned i = 0; i < b->event_count; i++)
		if (b->events[i].counter_mask >> c & 1)
			return true;
	return false;
}

/* Why no box of a type can count: the register that failed, if one did. */
static void explain_absent(struct uncore *u, unsigned type, const struct access *a)
{
	const struct uncore_box *b = &u->cpu->processor->boxes[type];
	struct text t;
	text_init(&t, u->box_silent[type], sizeof(u->box_silent[type]));
	u->box_absent[type] = u->box_silent[type];
	u->box_partly[type][0] = 0;
	u->box_lost[type] = true;
	if (a->failure && a->failure->known) {
		access_failure_text(a, &t);
	} else if (b->count_device.id) {
		text_fmt(&t, "PCI function %02X.%u, which holds their number, is hidden", b->count_device.device, b->count_device.function);
	} else {
		u->box_lost[type] = false;
		u->box_absent[type] = b->type ? (u->places.why ? u->places.why : "the machine's tables have none of them") : b->space == UNCORE_PCI ? "no such function on the sockets' buses: hidden or fused off" :
			b->space == UNCORE_MMIO ? "no window in memory shows its registers" : "its registers do not answer";
	}
}

/* Whether the registers of an instance can be read; those of an absent device read as all ones. */
static bool answers_at(const struct access *a, const struct uncore *u, struct uncore_at at)
{
	const struct uncore_box *b = at.box;
	uint64_t value, ones = b->space == UNCORE_MMIO ? (b->width > 32 ? UINT64_MAX : UINT32_MAX) : 0;
	if (b->free_running) {
		for (unsigned c = 0; c < b->counters; c++)
			if (counted_by(b, c) && (uncore_read_counter(a, u, at, uncore_counter_at(u, at, c), &value) != ST_OK || (ones && value == ones)))
				return false;
		return true;
	}
	if (b->counters && (uncore_reg_read(a, u, at, uncore_select_at(u, at, 0), &value) != ST_OK || uncore_read_counter(a, u, at, uncore_counter_at(u, at, 0), &value) != ST_OK))
		return false;
	if (!b->counters && (uncore_reg_read(a, u, at, b->fixed_control, &value) != ST_OK || uncore_read_counter(a, u, at, b->fixed_counter, &value) != ST_OK))
		return false;
	return (!ones || value != ones) && (!b->box_control || uncore_reg_read(a, u, at, b->box_control, &value) == ST_OK);
}

static uint64_t find_boxes(const struct access *a, struct uncore *u, unsigned socket, const struct uncore_box *b)
{
	const unsigned type = (unsigned)(b - u->cpu->processor->boxes);
	const struct uncore_bus *bus = uncore_bus_of(u, b, socket);
	uint64_t present = 0;
	unsigned n;
	const bool fixed_window = b->space == UNCORE_MMIO && !box_place_told(b);
	if (count_of(a, u, socket, b, &n) != ST_OK || (fixed_window && msr_guard_mapped_base(a, b, &u->mapped[type]) != ST_OK))
		return 0;
	const uint64_t told = told_boxes(a, u, socket, b);
	for (unsigned i = 0; i < n && i < UNCORE_INSTANCES_MAX; i++) {
		if (!(told >> i & 1))
			continue;
		const struct uncore_at at = { b, (uint16_t)socket, (uint16_t)i, UNCORE_OWN };
		bool answers;
		if (a->failure)
			a->failure->known = false;
		if (b->space == UNCORE_PCI && !b->type) {
			if (bus->known && device_is(a, (struct pci_address){ .segment = bus->segment, .bus = bus->bus }, &b->devices[i], &answers) &&
			    (b->control < PCI_BYTES || answers_at(a, u, at)))
				present |= 1ull << i;
		} else if (answers_at(a, u, at)) {
			present |= 1ull << i;
		}
		if (!(present >> i & 1) && (b->count_msr || b->count_device.id))
			partly(u, type, socket, i, a);
	}
	return present;
}

enum status uncore_find(const struct access *a, const struct cpu *cpu, struct uncore *u)
{
	const struct processor *p = cpu->processor;
	unsigned absent = 0;
	*u = (struct uncore){ .cpu = cpu };
	if (!p->box_count) {
		u->absent = "no uncore counters are known of this processor";
		return ST_OK;
	}
	if (cpu->hypervisor && a->kind == ACCESS_HW) {
		u->absent = "a virtual machine has no uncore counters";
		return ST_OK;
	}
	if (p->box_count > UNCORE_BOXES_MAX)
		return ST_RANGE;
	enum status s = find_sockets(a, u);
	if (s != ST_OK)
		return s;
	s = find_complexes(a, u);
	if (s != ST_OK)
		return s;
	find_buses(a, u);
	s = box_place_find(a, p, &u->places);
	if (s != ST_OK)
		return s;
	find_tellers(a, u);
	for (unsigned b = 0; b < p->box_count; b++) {
		uint64_t any = 0;
		if (a->failure)
			a->failure->known = false;
		for (unsigned socket = 0; socket < u->sockets; socket++)
			any |= u->present[socket][b] = find_boxes(a, u, socket, &p->boxes[b]);
		for (unsigned socket = 0; any && socket < u->sockets; socket++)
			if (any & ~u->present[socket][b])
				partly(u, b, socket, (unsigned)__builtin_ctzll(any & ~u->present[socket][b]), NULL);
		if (any)
			continue;
		explain_absent(u, b, a);
		absent++;
	}
	if (a->failure)
		a->failure->known = false;
	if (absent == p->box_count)
		u->absent = "the uncore's registers do not answer";
	return ST_OK;
}

unsigned uncore_line_units(const struct uncore_box *box) { return box && box->line_units ? box->line_units : 8; }
