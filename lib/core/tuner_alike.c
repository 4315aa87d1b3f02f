/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Adapters that hold whatever they send, whomever it is for: a reaction by service level.
 *
 * What such an adapter sends elsewhere waits behind its own packets for the root while nobody is
 * held, and is held together with them under control: it cannot gain. Only those can who send
 * nothing to the root and wait behind its tree. Where there are none, control can only lose what
 * saw teeth leave.
 */
#include "tuner_state.h"

/* Marks alone tell who contributes, and cost nothing: so long they are waited for. */
#define PROBE_PASSES 8u

static bool holds_all(const struct ibcc_endport_cc *ep)
{
	return ep->by_block || ep->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL;
}

static bool most_hold_all(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			  const struct ibcc_settings *actual)
{
	uint32_t n = 0, alike = 0;

	for (uint32_t i = 0; i < tn->n_endports && i < actual->n; i++) {
		n += r->member[i];
		alike += r->member[i] && holds_all(&actual->ep[i]);
	}
	return 2 * alike > n;
}

uint8_t ibcc_tuner_alike_probe(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			       const struct ibcc_settings *actual)
{
	bool alike = !tn->p.probe_passes && most_hold_all(tn, r, actual);

	return alike ? PROBE_PASSES : tn->p.probe_passes;
}

/* Who waited when the root was decided on and has got no mark since. */
bool ibcc_tuner_frees_nobody(const struct ibcc_tuner *tn, const struct ibcc_tuner_root *r,
			     const struct ibcc_settings *actual)
{
	if (!r->before || !ibcc_tuner_known(tn, r) || !most_hold_all(tn, r, actual))
		return false;
	for (uint32_t i = 0; i < tn->n_endports; i++)
		if (r->before[i].wait_permille > tn->p.victim_wait_permille && !r->becn[i])
			return false;
	return true;
}
