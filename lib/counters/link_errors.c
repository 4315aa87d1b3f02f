/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Growth of a port's error counters, and what it is about (link_errors.h). */
#include <ibcc/link_errors.h>

#include <stdbool.h>
#include <string.h>

struct counter {
	const char *name;
	enum ibcc_link_trouble trouble;
	uint16_t least; /* growth between two readings that is too much */
	bool by_bits;   /* beyond that, the link may damage as many bits as the IBA allows */
};

/* The IBA allows a link one wrong bit in 10^12 (vol. 2), each of which may damage a symbol and
 * a packet. At 4x EDR these are 6 a minute. Ten more are what ibqueryerrors(8) begins to report.
 * The other counters of a cable count events that should not occur at all.
 *
 * Three counters say nothing about the link. A switch counts PortRcvSwitchRelayErrors for multicast
 * packets, since it does not send them back to where they come from. A port counts
 * PortRcvRemotePhysicalErrors for packets that another link damaged. VL15 has no flow control, so a
 * sweep of the subnet manager may overrun it.
 */
#define BITS_A_ERROR 1e12

static const struct counter counters[IBCC_LINK_ERRORS] = {
	[IBCC_LINK_ERROR_SYMBOL] = { "SymbolErrorCounter", IBCC_LINK_TROUBLE_CABLE, 10, true },
	[IBCC_LINK_ERROR_RECOVERY] = { "LinkErrorRecoveryCounter", IBCC_LINK_TROUBLE_CABLE, 1,
				       false },
	[IBCC_LINK_ERROR_DOWNED] = { "LinkDownedCounter", IBCC_LINK_TROUBLE_CABLE, 1, false },
	[IBCC_LINK_ERROR_RCV] = { "PortRcvErrors", IBCC_LINK_TROUBLE_CABLE, 10, true },
	[IBCC_LINK_ERROR_RCV_REMOTE] = { "PortRcvRemotePhysicalErrors", IBCC_LINK_TROUBLE_NONE, 0,
					 false },
	[IBCC_LINK_ERROR_RCV_RELAY] = { "PortRcvSwitchRelayErrors", IBCC_LINK_TROUBLE_NONE, 0,
					false },
	[IBCC_LINK_ERROR_DISCARDS] = { "PortXmitDiscards", IBCC_LINK_TROUBLE_DISCARDS, 10, false },
	[IBCC_LINK_ERROR_XMIT_CONSTRAINT] = { "PortXmitConstraintErrors", IBCC_LINK_TROUBLE_REFUSED,
					      10, false },
	[IBCC_LINK_ERROR_RCV_CONSTRAINT] = { "PortRcvConstraintErrors", IBCC_LINK_TROUBLE_REFUSED,
					     10, false },
	[IBCC_LINK_ERROR_INTEGRITY] = { "LocalLinkIntegrityErrors", IBCC_LINK_TROUBLE_CABLE, 1,
					false },
	[IBCC_LINK_ERROR_OVERRUN] = { "ExcessiveBufferOverrunErrors", IBCC_LINK_TROUBLE_CABLE, 1,
				      false },
	[IBCC_LINK_ERROR_VL15] = { "VL15Dropped", IBCC_LINK_TROUBLE_NONE, 0, false },
};

void ibcc_link_errors_take(struct ibcc_link_errors *e, uint64_t t_ns,
			   const uint16_t v[IBCC_LINK_ERRORS])
{
	e->dt_ns = e->t_ns && t_ns > e->t_ns ? t_ns - e->t_ns : 0;
	for (unsigned int i = 0; i < IBCC_LINK_ERRORS; i++)
		e->grown[i] = e->dt_ns ? (uint16_t)(v[i] >= e->v[i] ? v[i] - e->v[i] : v[i]) : 0;
	e->t_ns = t_ns;
	memcpy(e->v, v, sizeof(e->v));
}

enum ibcc_link_trouble ibcc_link_errors_judge(const struct ibcc_link_errors *e, uint32_t link_mbps)
{
	/* Mb/s times ns are thousandths of a bit. */
	double allowed = (double)link_mbps * (double)e->dt_ns / 1000 / BITS_A_ERROR;
	enum ibcc_link_trouble worst = IBCC_LINK_TROUBLE_NONE;

	for (unsigned int i = 0; i < IBCC_LINK_ERRORS; i++) {
		const struct counter *c = &counters[i];
		double least = c->by_bits ? c->least + allowed : c->least;

		if (c->trouble != IBCC_LINK_TROUBLE_NONE && e->grown[i] >= least &&
		    (worst == IBCC_LINK_TROUBLE_NONE || c->trouble < worst))
			worst = c->trouble;
	}
	return worst;
}

const char *ibcc_link_error_name(enum ibcc_link_error error)
{
	return counters[error].name;
}
