/* pmu/sim/memory/uncore_link.h: messages on the links between sockets. */
#ifndef SIM_UNCORE_LINK_H
#define SIM_UNCORE_LINK_H

#include "pmu/sim/memory/memory_state.h"

/* Message classes and opcodes as the match registers see them: manual 331051-002, tables 2-176 and 2-264. */
enum link_class { LINK_HOM0 = 0, LINK_HOM1 = 1, LINK_NDR = 2, LINK_SNP = 3, LINK_NCS = 4, LINK_NCB = 12, LINK_DRS = 14 };
enum {
	HOM_RDCUR = 0, HOM_RDCODE = 1, HOM_RDDATA = 2, HOM_NONSNPWR = 7, HOM_RDINVOWN = 4, HOM_INVITOE = 8, HOM_WBMTOI = 12,
	HOM1_RSPI = 0, HOM1_RSPS = 1, HOM1_RSPFWDI = 9, HOM1_RSPFWDS = 10, HOM1_RSPIWB = 13,
	DRS_DATAC = 0, DRS_DATAC_CMP = 2, DRS_WBIDATA = 4, DRS_NONSNPWRDATA = 7, DRS_NONSNPWRPTL = 11, NDR_GNT_CMP = 0, NDR_CMP = 8,
	SNP_CODE = 1, SNP_DATA = 2, SNP_INVOWN = 4, NCB_LOCK = 0, NCS_LOCK = 1
};
enum { RDS_NONE = 0, RDS_F = 1, RDS_E = 4, RDS_M = 8 }; /* state of a data response */

struct uncore_link_message {
	unsigned from, to;          /* sockets */
	unsigned from_stop, to_stop;/* of their rings */
	uint32_t line;
	enum link_class kind;
	uint8_t opcode, state;
	bool data, partial;         /* eight flits of data, ten with byte enables, after the header */
	bool direct;                /* data that goes straight to the requesting core */
	uint64_t t, sent;           /* core cycles: it reaches the queue of sending; it leaves */
};
/* Emits the message's flits, queues, credits and the rings at both ends. */
void uncore_link_send(struct memory *s, const struct uncore_link_message *g);

#endif
