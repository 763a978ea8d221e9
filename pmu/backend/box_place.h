/* pmu/backend/box_place.h: locates the registers of uncore boxes that the machine enumerates: by a function's window, or by a discovery table.
 *
 * The description of a box selects one of the two (window, type), and has its registers' offsets and writable bits. A teller is the function that
 * holds the location; each socket has one. The driver and the guard search independently, by the same rules; both only read. */
#ifndef PMU_BOX_PLACE_H
#define PMU_BOX_PLACE_H

#include "pmu/access.h"
#include "tables/processor.h"

#define BOX_PLACES_MAX   640 /* of all sockets */
#define BOX_TELLERS_MAX  8
#define BOX_INSTANCES    64  /* of a type in a socket */

/* base: the address that offsets are relative to; in configuration space its bits are segment 30:28, bus 27:20, device 19:15, function 14:12,
 * register 11:0. control, counter: offsets of the first select and counter; counters: their number, or 0: all as described. */
struct box_place { uint64_t base; uint8_t box, teller, instance, control, counter, counters, width; };
struct box_places {
	struct pci_address teller[BOX_TELLERS_MAX];
	uint8_t tellers;
	bool tables;          /* the tellers have discovery tables */
	uint16_t count;
	uint16_t unknown;     /* units of a table that match no described box */
	uint16_t refused;     /* units whose entry contradicts the description, or for which there is no room */
	const char *why;      /* why the first of these was refused; NULL: none was */
	struct box_place list[BOX_PLACES_MAX];
};

/* Whether the machine itself locates the box. */
bool box_place_told(const struct uncore_box *b);
/* Finds all such boxes of a processor. ST_OK also if there are none. */
MUST_CHECK enum status box_place_find(const struct access *a, const struct processor *p, struct box_places *out);
/* NULL: it was not found. */
const struct box_place *box_place_of(const struct box_places *l, unsigned box, unsigned teller, unsigned instance);
/* Offset of a select and of a counter from a place's base. */
uint32_t box_place_select(const struct box_place *at, const struct uncore_box *b, unsigned c);
uint32_t box_place_counter(const struct box_place *at, const struct uncore_box *b, unsigned c);
/* Encodes an address of configuration space as a place's base, and decodes it. */
uint64_t box_place_encoded(struct pci_address at);
struct pci_address box_place_decoded(uint64_t base, uint32_t offset);

/* box_table.c: reads the discovery table that a capability of the function names, and adds its units. True: there is a usable table. */
bool box_table_read(const struct access *a, const struct processor *p, struct pci_address function, struct box_places *out);

#endif
