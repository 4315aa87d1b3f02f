/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The readings of a polling cycle: counters in each pass, settings now and then. Also keeps track
 * of the nodes whose settings are missing.
 */
#include "lib/cycle/cycle_read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/state.h>
#include <ibcc/trust.h>

#include "lib/cycle/cycle_support.h"
#include "lib/cycle/profiles.h"

/* Settings that are ours, or as we want them, are read every OURS_PASSES passes: a node that lost
 * them, or was given others, should soon have them again.
 */
#define OURS_PASSES 8u
/* A node that refuses is asked again after at most this many passes; this costs no waiting. */
#define REFUSED_PASSES 8u
/* Reading all settings may take this many times as long as reading the counters. */
#define READBACK_DEADLINES 10u

/* Readings from now on end after `passes` times a pass's deadline; 0: no limit. */
static void set_deadline(struct ibcc_cycle *c, unsigned int passes)
{
	uint64_t ns = passes * c->options.pass_deadline_ns;

	c->transport->deadline_ns = ns ? ibcc_transport_now_ns(c->transport) + ns : 0;
}

int ibcc_cycle_read_parameters(struct ibcc_cycle *c, const bool *which,
			       struct ibcc_vendor_parameters *p)
{
	int rc;

	set_deadline(c, READBACK_DEADLINES);
	rc = ibcc_vendor_ask_parameters(c->transport, c->topo, c->options.cc_key, &c->vendor, which,
					p);
	set_deadline(c, 0);
	return rc;
}

/* Reads the marking profiles, and the reaction's parameters, of endports whose settings have been
 * read since they were.
 */
static int read_profiles(struct ibcc_cycle *c)
{
	bool *which = calloc(c->actual.n + 1, sizeof(*which)), any = false;
	struct ibcc_vendor_parameters p = { 0 };
	int rc = which ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < c->actual.n; i++)
		any |= which[i] = ibcc_profiles_are_unread(c, i);
	if (any)
		rc = ibcc_cycle_read_parameters(c, which, &p);
	for (uint32_t i = 0; !rc && i < p.n; i++)
		rc = ibcc_vendor_take(&c->vendor, c->topo, &p.answer[i], &c->actual);
	ibcc_vendor_parameters_fini(&p);
	free(which);
	return rc;
}

int ibcc_cycle_readback(struct ibcc_cycle *c, struct ibcc_why *why)
{
	int rc;

	set_deadline(c, READBACK_DEADLINES);
	rc = ibcc_vendor_ask(c->transport, c->topo, c->options.cc_key, &c->vendor);
	if (!rc)
		rc = ibcc_vendor_ask_algorithms(c->transport, c->topo, c->options.cc_key,
						&c->vendor);
	if (!rc)
		rc = ibcc_vendor_ask_routes(c->transport, c->topo, &c->vendor);
	if (!rc)
		rc = ibcc_readback_run(c->transport, c->topo, c->options.cc_key, &c->actual);
	set_deadline(c, 0);
	if (!rc)
		rc = read_profiles(c);
	ibcc_cycle_block_vendors(c);
	c->actual_known = !rc;
	c->actual_age = 0;
	c->read = !rc;
	c->missing_age = 0;
	c->missing_wait = 1;
	return rc ? ibcc_why_set(why, rc,
				 "reading the settings back failed, so nothing is written: %s",
				 strerror(-rc))
		  : 0;
}

static uint32_t count_missing(const struct ibcc_cycle *c, uint32_t *n_silent)
{
	uint32_t n = 0;

	*n_silent = 0;
	for (uint32_t i = 0; i < c->actual.n; i++) {
		const struct ibcc_endport_cc *ep = &c->actual.ep[i];
		bool missing = ibcc_endport_support_back(ep) == IBCC_CC_UNKNOWN &&
			       c->topo->port[c->topo->endport[i]].lid;

		n += missing;
		*n_silent += missing && ep->err != -EREMOTEIO;
	}
	return n;
}

/* Asks nodes again that did not answer. It asks soon at first, since most missing answers were
 * lost. Later it asks ever more seldom, since asking dead nodes takes time. As long as some nodes
 * answer, the others may answer as well. When ports can be read again that could not, their nodes
 * are back.
 */
static int read_missing(struct ibcc_cycle *c, struct ibcc_why *why)
{
	uint32_t silent, unread = c->snapshot.n_stale + c->snapshot.n_unreachable;
	uint32_t before = count_missing(c, &silent);
	uint16_t most = silent ? IBCC_READBACK_PASSES : REFUSED_PASSES;
	bool back = unread < c->n_unread;
	int rc;

	c->n_unread = unread;
	if (back)
		c->missing_wait = 1;
	if (++c->missing_age < c->missing_wait || !before)
		return 0;
	c->missing_age = 0;
	c->missing_wait = c->missing_wait < most / 2 ? c->missing_wait * 2 : most;
	set_deadline(c, 1);
	rc = ibcc_readback_missing(c->transport, c->topo, c->options.cc_key, &c->actual);
	set_deadline(c, 0);
	if (!rc)
		rc = read_profiles(c);
	ibcc_cycle_block_vendors(c);
	if (count_missing(c, &silent) < before)
		c->missing_wait = 1;
	return rc ? ibcc_why_set(why, rc,
				 "reading the settings back failed, so nothing is written: %s",
				 strerror(-rc))
		  : 0;
}

/* Reads our settings. If another program writes to a node or the node restarts, its settings show
 * that long before the traffic does.
 */
static int read_ours(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	const struct ibcc_book *book;
	bool *which;
	int rc;

	if (!act->state || c->actual_age % OURS_PASSES)
		return 0;
	which = calloc(c->topo->n_endports + 1, sizeof(*which));
	if (!which)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	rc = ibcc_state_book(act->state, &book, why);
	/* Settings that were right before our first write are in no book. */
	if (!rc &&
	    ibcc_ledger_ours(act->applier->writes ? &c->ledger : NULL, book, c->topo, which)) {
		set_deadline(c, 1);
		rc = ibcc_readback_some(c->transport, c->topo, c->options.cc_key, which,
					&c->actual);
		set_deadline(c, 0);
		if (!rc)
			rc = read_profiles(c);
		ibcc_cycle_block_vendors(c);
		c->read = !rc;
		if (rc)
			ibcc_why_set(why, rc,
				     "reading the settings back failed, so nothing is written: %s",
				     strerror(-rc));
	}
	free(which);
	return rc;
}

/* A pass of the collector. It learns the cost of a MAD on this fabric from passes without time-outs
 * or retries.
 */
static int timed_pass(struct ibcc_cycle *c)
{
	const struct ibcc_transport_stats *now = &c->transport->stats;
	struct ibcc_transport_stats before = *now;
	uint64_t from = ibcc_transport_now_ns(c->transport), took, sent;
	int rc;

	ibcc_collector_confine(c->collector, c->fast ? c->focus.port : NULL);
	rc = ibcc_collector_pass(c->collector, c->transport, c->topo, &c->snapshot,
				 c->options.cc_key, c->actual_known ? &c->actual : NULL);
	ibcc_collector_confine(c->collector, NULL);
	took = ibcc_transport_now_ns(c->transport) - from;
	if (!rc) {
		c->pass_ns = took;
		if (took > c->longest_pass_ns)
			c->longest_pass_ns = took;
		c->n_passes_cut +=
			c->options.pass_deadline_ns && took >= c->options.pass_deadline_ns;
	}
	sent = now->sent - before.sent;
	if (rc || !sent || now->timed_out != before.timed_out || now->retried != before.retried)
		return rc;
	c->mad_ns = c->mad_ns ? (7 * c->mad_ns + took / sent) / 8 : took / sent;
	return 0;
}

int ibcc_cycle_observe(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why)
{
	uint32_t n_cleared;
	int rc;

	c->read = false;
	rc = timed_pass(c);
	if (!rc)
		ibcc_trust_judge(c->topo, &c->snapshot);
	/* Other programs may read these counters, so they are cleared only if the options allow it.
	 */
	if (!rc && act->applier->writes && c->options.clear_counters)
		rc = ibcc_collector_clear_full(c->collector, c->transport, c->topo, &c->snapshot,
					       &n_cleared);
	if (rc)
		return ibcc_why_set(why, rc,
				    "reading the port counters failed, so nothing is decided: %s",
				    strerror(-rc));
	if (c->fast)
		return 0;
	if (!c->actual_known || ++c->actual_age >= c->options.readback_passes)
		rc = ibcc_cycle_readback(c, why);
	else if (!(rc = read_ours(c, act, why)))
		rc = read_missing(c, why);
	if (rc)
		return rc;
	rc = ibcc_vendor_count(c->transport, c->topo, c->options.cc_key,
			       ibcc_profiles_are_settings(c), &c->snapshot, &c->vendor);
	return rc ? ibcc_why_set(why, rc,
				 "reading NVIDIA's statistics failed, so nothing is decided: %s",
				 strerror(-rc))
		  : 0;
}
