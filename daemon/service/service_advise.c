/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Advice on DCQCN that a client asked for. It is computed in the predictor's thread; what it rests
 * on is read here, by Gets: the parameters of an adapter that contributes to a root.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

/* The first adapter with NVIDIA's congestion control that sends to a root. */
static uint32_t find_sender(const struct ibcc_cycle *c)
{
	for (uint32_t r = 0; r < c->estimate.n_roots; r++)
		for (uint32_t i = 0; i < c->estimate.root[r].n_sources; i++) {
			uint32_t ep = c->topo->port[c->estimate.root[r].source[i].port].endport;

			if (ep < c->vendor.n && (c->vendor.ep[ep].cc == IBCC_VENDOR_CC_OFF ||
						 c->vendor.ep[ep].cc == IBCC_VENDOR_CC_ON))
				return ep;
		}
	return IBCC_NONE;
}

/* Reads HCARPParameters of a sender. Without an answer, b->rp stays as it is. */
static int read_rp(struct ibcc_service *s, struct ibcc_advice_basis *b)
{
	const struct ibcc_topo *t = s->cycle.topo;
	uint32_t ep = find_sender(&s->cycle);
	struct ibcc_vendor_parameters p = { 0 };
	bool *which;
	int rc;

	b->rp_port = IBCC_NONE;
	if (ep == IBCC_NONE)
		return 0;
	which = calloc(t->n_endports + 1, sizeof(*which));
	if (!which)
		return -ENOMEM;
	which[ep] = true;
	rc = ibcc_cycle_read_parameters(&s->cycle, which, &p);
	free(which);
	for (uint32_t i = 0; !rc && i < p.n; i++)
		if (p.answer[i].attr_id == IBCC_VCC_ATTR_CA_RP) {
			ibcc_vcc_rp_unpack(p.answer[i].data, &b->rp);
			b->rp_port = t->endport[ep];
		}
	ibcc_vendor_parameters_fini(&p);
	return rc;
}

/* The smallest share of a port and VL in the buffers of the roots' switches. */
static void find_buffer(const struct ibcc_cycle *c, struct ibcc_advice_basis *b)
{
	const struct ibcc_topo *t = c->topo;

	b->buffer_bytes = IBCC_ADVICE_BUFFER_BYTES;
	b->buffer_port = IBCC_NONE;
	for (uint32_t r = 0; r < c->estimate.n_roots; r++) {
		uint32_t port = c->estimate.root[r].port, ep = ibcc_topo_switch_endport(t, port);
		uint32_t own;

		if (ep >= c->vendor.n || !c->vendor.ep[ep].buffer_bytes)
			continue;
		own = ibcc_vendor_port_buffer(c->vendor.ep[ep].buffer_bytes, t, port);
		if (b->buffer_port != IBCC_NONE && own >= b->buffer_bytes)
			continue;
		b->buffer_bytes = own;
		b->buffer_port = t->endport[ep];
	}
}

int ibcc_service_advise(struct ibcc_service *s, void (*done)(void *arg), void *arg,
			struct ibcc_why *why)
{
	const struct ibcc_cycle *c = ibcc_service_cycle(s);
	struct ibcc_advice_basis b;
	json_t *what;
	int rc;

	if (!c || !c->decided)
		return ibcc_service_undecided(s, why);
	if (!(c->vendor.n_off + c->vendor.n_on + c->vendor.n_silent))
		return ibcc_why_set(why, -EOPNOTSUPP,
				    "no device reports NVIDIA's congestion control, so there is no "
				    "advice on it: \"ibcc-tune plan\" has the changes for "
				    "congestion control by Annex A10");
	/* One that waits must not read at each end of another's prediction. */
	if (ibcc_predictor_is_busy(s->predictor))
		return -EBUSY;
	rc = read_rp(s, &b);
	if (rc)
		return ibcc_why_set(
			why, rc,
			"there is no advice, since reading the parameters of an adapter "
			"failed: %s; repeat the command",
			strerror(-rc));
	find_buffer(c, &b);
	what = json_pack("{si}", "schema", IBCC_REPORT_SCHEMA);
	rc = what ? ibcc_predictor_begin_advice(s->predictor, c, &b, done, arg) : -ENOMEM;
	if (!rc)
		return ibcc_service_asked_advice(s, what);
	json_decref(what);
	return ibcc_why_set(why, rc,
			    "there is no advice, since a simulation could not be started: %s; "
			    "repeat the command",
			    strerror(-rc));
}
