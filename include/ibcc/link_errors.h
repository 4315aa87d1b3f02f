/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The error counters of a port's link (PortCounters, IBA vol. 1, 16.1.3.5), and how much they grew.
 *
 * These counters have 4 to 16 bits, and stop at their end. What they show says nothing about today:
 * an error may be years old. So only their growth counts, between two readings of one port.
 */
#ifndef IBCC_LINK_ERRORS_H
#define IBCC_LINK_ERRORS_H

#include <stdbool.h>
#include <stdint.h>

enum ibcc_link_error {
	IBCC_LINK_ERROR_SYMBOL,          /* SymbolErrorCounter */
	IBCC_LINK_ERROR_RECOVERY,        /* LinkErrorRecoveryCounter */
	IBCC_LINK_ERROR_DOWNED,          /* LinkDownedCounter */
	IBCC_LINK_ERROR_RCV,             /* PortRcvErrors */
	IBCC_LINK_ERROR_RCV_REMOTE,      /* PortRcvRemotePhysicalErrors */
	IBCC_LINK_ERROR_RCV_RELAY,       /* PortRcvSwitchRelayErrors */
	IBCC_LINK_ERROR_DISCARDS,        /* PortXmitDiscards */
	IBCC_LINK_ERROR_XMIT_CONSTRAINT, /* PortXmitConstraintErrors */
	IBCC_LINK_ERROR_RCV_CONSTRAINT,  /* PortRcvConstraintErrors */
	IBCC_LINK_ERROR_INTEGRITY,       /* LocalLinkIntegrityErrors */
	IBCC_LINK_ERROR_OVERRUN,         /* ExcessiveBufferOverrunErrors */
	IBCC_LINK_ERROR_VL15,            /* VL15Dropped */
};
#define IBCC_LINK_ERRORS (IBCC_LINK_ERROR_VL15 + 1u)

/* What errors are about, the most important first. */
enum ibcc_link_trouble {
	IBCC_LINK_TROUBLE_NONE,
	IBCC_LINK_TROUBLE_CABLE,    /* bits get lost on the wire */
	IBCC_LINK_TROUBLE_DISCARDS, /* the port drops packets that it cannot send */
	IBCC_LINK_TROUBLE_REFUSED,  /* it refuses packets: partitions, packet filters */
};

struct ibcc_link_errors {
	uint64_t t_ns;  /* of the last reading; 0: there is none */
	uint64_t dt_ns; /* since the reading before; 0: there is only one */
	uint16_t v[IBCC_LINK_ERRORS];
	uint16_t grown[IBCC_LINK_ERRORS]; /* in dt_ns */
};

/* Takes a reading. A counter that fell was cleared in between, and has counted from 0 on. */
void ibcc_link_errors_take(struct ibcc_link_errors *e, uint64_t t_ns,
			   const uint16_t v[IBCC_LINK_ERRORS]);

/* What is wrong by the growth of the counters at a link of this data rate, in Mb/s: the most
 * important trouble for which one of them grew too much.
 */
enum ibcc_link_trouble ibcc_link_errors_judge(const struct ibcc_link_errors *e, uint32_t link_mbps);

/* Its name in the IBA's attribute. */
const char *ibcc_link_error_name(enum ibcc_link_error error);

#endif
