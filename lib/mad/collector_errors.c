/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The error counters of links. They are in PortCounters, which most ports are not asked for, and
 * errors are rare. So each port is asked once in ERROR_PASSES passes, in each pass a part of the
 * ports.
 */
#include <ibcc/pma.h>

#include "lib/mad/collector_state.h"

#define ERROR_PASSES 16u

/* The first time comes later: a collector that begins has capabilities to ask for, and what it
 * reads first decides about settings.
 */
uint64_t ibcc_errors_first(const struct ibcc_collector *c, uint32_t port)
{
	return c->pass + 2 * ERROR_PASSES + port % ERROR_PASSES;
}

void ibcc_errors_plan(const struct ibcc_collector *c, struct ibcc_port_state *p)
{
	/* A turn over some ports alone is to be quick. */
	p->errors_asked = !c->only && c->pass >= p->errors_due;
	/* Also if there will be no answer: a port that gives none is not asked in each pass. */
	if (p->errors_asked)
		p->errors_due = c->pass + ERROR_PASSES;
}

void ibcc_errors_take(struct ibcc_port_state *p, const uint8_t *mad)
{
	struct ibcc_pma_counters c;

	ibcc_pma_counters_unpack(mad, &c);
	p->errors[IBCC_LINK_ERROR_SYMBOL] = c.SymbolErrorCounter;
	p->errors[IBCC_LINK_ERROR_RECOVERY] = c.LinkErrorRecoveryCounter;
	p->errors[IBCC_LINK_ERROR_DOWNED] = c.LinkDownedCounter;
	p->errors[IBCC_LINK_ERROR_RCV] = c.PortRcvErrors;
	p->errors[IBCC_LINK_ERROR_RCV_REMOTE] = c.PortRcvRemotePhysicalErrors;
	p->errors[IBCC_LINK_ERROR_RCV_RELAY] = c.PortRcvSwitchRelayErrors;
	p->errors[IBCC_LINK_ERROR_DISCARDS] = c.PortXmitDiscards;
	p->errors[IBCC_LINK_ERROR_XMIT_CONSTRAINT] = c.PortXmitConstraintErrors;
	p->errors[IBCC_LINK_ERROR_RCV_CONSTRAINT] = c.PortRcvConstraintErrors;
	p->errors[IBCC_LINK_ERROR_INTEGRITY] = c.LocalLinkIntegrityErrors;
	p->errors[IBCC_LINK_ERROR_OVERRUN] = c.ExcessiveBufferOverrunErrors;
	p->errors[IBCC_LINK_ERROR_VL15] = c.VL15Dropped;
	p->errors_got = true;
}
