/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Where the topology comes from: the plugin, or our own discovery. Discovery is repeated when
 * something indicates that the fabric has changed.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <ibcc/notice.h>
#include <ibcc/now.h>
#include <ibcc/plugin_client.h>
#include <ibcc/vendor_cc.h>

#include "daemon/service/node_map.h"
#include "daemon/service/service_impl.h"
#include "daemon/service/sm.h"

#define SECOND_NS 1000000000ull
/* A restarted OpenSM is back in less than this time. Until then the fabric counts as unchanged. */
#define PLUGIN_GRACE_NS (60 * SECOND_NS)
/* Limit of requests in a row for the gaps of the first topology, as long as they help. */
#define FIRST_QUESTIONS 8u
/* A walk that began longer ago may describe a fabric that has changed since. */
#define OLD_WALK_NS (10 * SECOND_NS)

const char *ibcc_service_source_name(enum ibcc_topo_source source)
{
	switch (source) {
	case IBCC_TOPO_FROM_NOWHERE: return "none";
	case IBCC_TOPO_FROM_PLUGIN: return "plugin";
	case IBCC_TOPO_FROM_DISCOVERY: return "discovery";
	}
	return "none";
}

/* The longest time for which a working service leaves the plugin alone: the intervals between
 * polling cycles, and a reading of all settings (<ibcc/cycle.h>: ten deadlines).
 */
static uint32_t lease_ms(const struct ibcc_config *c)
{
	uint64_t ms = 3ull * c->interval_ms + 12ull * c->pass_deadline_ms;

	return ms < IBCC_PROTO_LEASE_MAX_MS ? (uint32_t)ms : IBCC_PROTO_LEASE_MAX_MS;
}

/* Is there a plugin, and does it answer? */
static bool plugin_answers(struct ibcc_service *s, struct ibcc_why *why)
{
	uint64_t patience_ms = 3ull * s->config.interval_ms;
	int rc;

	if (patience_ms < IBCC_PLUGIN_PATIENCE_MS)
		patience_ms = IBCC_PLUGIN_PATIENCE_MS;
	if (patience_ms > IBCC_PLUGIN_SILENCE_MS)
		patience_ms = IBCC_PLUGIN_SILENCE_MS;
	ibcc_plugin_promise(s->plugin, s->listens ? lease_ms(&s->config) : 0);
	ibcc_plugin_poll(s->plugin);
	why->text[0] = '\0';
	rc = ibcc_plugin_connect(s->plugin, why);
	if (!rc && ibcc_plugin_silent_ms(s->plugin) > patience_ms)
		rc = ibcc_plugin_stopped(s->plugin, why);
	s->plugin_silent = rc == -ETIMEDOUT;
	return !rc;
}

/* With direct writing the service never asks the plugin. */
bool ibcc_service_plugin_there(struct ibcc_service *s)
{
	bool was_there = s->plugin_there;

	if (s->config.apply_via == IBCC_VIA_DIRECT)
		return false;
	s->stage = "asking the OpenSM plugin";
	s->plugin_there = plugin_answers(s, &s->plugin_why);
	if (!s->plugin_there)
		return false;
	/* An operation that failed without the plugin may work with it. */
	if (!was_there)
		s->hold = s->hold_next = 0;
	return true;
}

static int adopt_topology(struct ibcc_service *s, struct ibcc_topo *t, enum ibcc_topo_source source,
			  struct ibcc_why *why)
{
	ibcc_service_rematch_jobs(s);
	if (ibcc_cycle_set_topology(&s->cycle, t))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	s->source = source;
	return 0;
}

/* Takes the last walk's topology if it is better than the one in use. */
static int take_walk(struct ibcc_service *s, bool again, uint64_t from_ns, struct ibcc_why *why)
{
	struct ibcc_discovery *d = &s->discovery;
	struct ibcc_walk_gaps gaps;
	struct ibcc_why said = { "" };
	struct ibcc_topo *t;
	bool changed, better;
	int rc = 0;

	t = ibcc_discover_topo(d->walk, &rc, said.text, sizeof(said.text));
	if (!t) {
		ibcc_discovery_reset(d);
		return ibcc_why_set(why, rc,
				    "discovery of the fabric failed, so nothing is decided: %s",
				    said.text);
	}
	/* Name nodes before the comparison with the last topology. Without memory, nodes keep their
	 * own names.
	 */
	(void)ibcc_node_map_label(s->config.node_name_map, t);
	s->names_due = false;
	ibcc_walk_gaps(d->walk, &gaps);
	changed = !s->cycle.topo || !ibcc_topo_equal(s->cycle.topo, t);
	if (!again)
		ibcc_rediscovery_done(&s->again, from_ns, ibcc_now_ns(), changed);
	/* A node that comes back gets a LID and routes that the walk's old part does not have. */
	else if (gaps.n < d->n_missing && from_ns - d->walked_ns > OLD_WALK_NS)
		ibcc_rediscovery_hint(&s->again, from_ns);
	/* Settings that were read may belong to the other node with that GUID. */
	if (memcmp(&gaps.shared, &d->shared, sizeof(d->shared)))
		s->cycle.actual_known = false;
	better = ibcc_discovery_judge(d, s->cycle.topo, t, &gaps, again, said.text);
	if (!gaps.n && !gaps.n_odd) {
		ibcc_walk_free(d->walk);
		d->walk = NULL;
	}
	if (better)
		return adopt_topology(s, t, IBCC_TOPO_FROM_DISCOVERY, why);
	ibcc_topo_free(t);
	return 0;
}

/* Runs the last walk's Gets and takes the result. */
static int carry_walk(struct ibcc_service *s, bool again, struct ibcc_why *why)
{
	uint64_t from = ibcc_now_ns();
	int rc = ibcc_discover(s->transport, s->discovery.walk);

	s->discovery.asked_ns = ibcc_now_ns();
	if (!rc)
		return take_walk(s, again, from, why);
	ibcc_discovery_reset(&s->discovery);
	return ibcc_why_set(why, rc, "discovery of the fabric failed, so nothing is decided: %s",
			    strerror(-rc));
}

static int discover(struct ibcc_service *s, struct ibcc_why *why)
{
	/* The walk reads no SL to VL maps: no decision uses a VL, and they would be nine tenths of
	 * all Gets.
	 */
	const struct ibcc_walk_options o = { 0 };
	struct ibcc_walk *w = ibcc_walk_new(&o), *last = s->discovery.walk;

	if (!w || (last && ibcc_walk_follow(w, last))) {
		ibcc_walk_free(w);
		return ibcc_why_set(why, -ENOMEM, "no memory");
	}
	ibcc_walk_free(last);
	s->discovery.walk = w;
	s->discovery.walked_ns = ibcc_now_ns();
	s->n_discoveries++;
	return carry_walk(s, false, why);
}

/* Asks the silent part of the fabric once more, and nothing else. */
static int ask_gaps(struct ibcc_service *s, struct ibcc_why *why)
{
	return ibcc_walk_retry(s->discovery.walk) ? carry_walk(s, true, why) : 0;
}

void ibcc_service_deafen(struct ibcc_service *s)
{
	ibcc_notices_free(s->notices);
	s->notices = NULL;
	s->heard_then = 0;
}

/* Subscribes to traps if no plugin reports changes. */
static void listen_to_traps(struct ibcc_service *s, uint16_t sm_lid)
{
	const struct ibcc_umad_options o = { .port_guid = ibcc_umad_port_guid(s->umad) };
	bool direct = s->config.apply_via == IBCC_VIA_DIRECT;
	struct ibcc_leader_record own;
	struct ibcc_why why;

	if (s->listens && !s->notices) {
		ibcc_service_candidate(s, &own);
		if (direct) /* the status reports the holder */
			ibcc_service_lock_port(s, &why);
		s->notices = ibcc_notices_new(&o, direct ? &own : NULL, s->run_before);
	}
	if (s->notices)
		ibcc_notices_set_sm(s->notices, sm_lid);
}

static int topology_by_discovery(struct ibcc_service *s, struct ibcc_why *why)
{
	bool first = !s->cycle.topo, helps = true;
	struct ibcc_smp_port_info self;
	int rc;

	s->stage = "discovering the fabric";
	rc = ibcc_sm_check(s->transport, &self, why);
	/* Subscribe first, so that no change during the discovery is missed. */
	if (!rc)
		listen_to_traps(s, self.sm_lid);
	if (!rc)
		rc = discover(s, why);
	/* Each request recovers some of the answers that were lost at random. Silent nodes stay
	 * silent.
	 */
	for (unsigned int i = 0; !rc && first && helps && i < FIRST_QUESTIONS; i++) {
		uint32_t missing = s->discovery.n_missing;

		rc = missing ? ask_gaps(s, why) : 0;
		helps = s->discovery.n_missing < missing;
	}
	return rc;
}

int ibcc_service_missed(const struct ibcc_service *s, int rc, struct ibcc_why *why)
{
	if (rc || !s->discovery.text.text[0])
		return rc;
	return ibcc_why_set(why, -EHOSTUNREACH,
			    "discovery of the fabric is %s, so the nodes that it missed were not "
			    "changed: repeat this when it is complete",
			    s->discovery.text.text);
}

/* Another subnet manager may have written settings while it was master. */
static void look_at_sm(struct ibcc_service *s)
{
	uint32_t state = ibcc_plugin_state(s->plugin)->sm_state;

	if (state != s->sm_state && state == IBCC_SM_MASTER)
		s->cycle.actual_known = false;
	s->sm_state = state;
}

/* Counts ports with a link that carries no traffic yet; these are not read. Either the subnet
 * manager is working on them, or discovery ran in between. Nothing reports when they are up.
 */
static uint32_t half_up(const struct ibcc_topo *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_ports; i++)
		n += t->port[i].num && t->port[i].peer != IBCC_NONE && t->port[i].state != 4;
	return n;
}

/* Looks for indications that the fabric has changed. */
static void look_for_hints(struct ibcc_service *s, uint64_t now)
{
	const struct ibcc_snapshot *seen = &s->cycle.snapshot;
	uint32_t lids = (uint32_t)ibcc_umad_lid(s->umad) << 16 | ibcc_umad_sm_lid(s->umad);
	struct ibcc_notices_state n = { 0 };

	if (s->notices)
		ibcc_notices_look(s->notices, &n);
	if (n.n_traps + n.n_gaps != s->heard_then || (s->lids && lids != s->lids))
		ibcc_rediscovery_hint(&s->again, now);
	s->heard_then = n.n_traps + n.n_gaps;
	s->lids = lids;
	/* Settings changed by another program may be those of another node, at a LID that has
	 * moved.
	 */
	if (s->cycle.audited && s->cycle.audit.n_drift_nodes > s->drifted)
		ibcc_rediscovery_hint(&s->again, now);
	if (s->cycle.audited)
		s->drifted = s->cycle.audit.n_drift_nodes;
	/* Nodes that did not answer the last walk are asked again anyway. */
	if (!ibcc_discovery_has_doubtful_gaps(&s->discovery))
		ibcc_rediscovery_unread(
			&s->again, seen->n_stale + seen->n_unreachable + half_up(s->cycle.topo),
			now);
}

/* No trap reports a LID that has moved. */
int ibcc_service_execute(struct ibcc_service *s, struct ibcc_execution execution,
			 struct ibcc_plan *plan, struct ibcc_result *res, struct ibcc_why *why)
{
	int rc;

	/* The last gate for a plan from outside, whatever was checked before. */
	if (!execution.back && !s->cycle.options.profiles && ibcc_service_has_profile(plan))
		return ibcc_why_set(why, -EPERM,
				    "nothing is written: the plan changes marking profiles, and "
				    "vendor_writes is never");
	execution.applier = s->applier;
	execution.state = s->state;
	execution.topo = s->cycle.topo;
	execution.has = &s->cycle.actual;
	rc = plan->n ? ibcc_execute_plan(&execution, plan, res, why) : ibcc_result_init(res, 0);
	ibcc_service_await_effect(s);
	return rc;
}

void ibcc_service_wrote(struct ibcc_service *s, const struct ibcc_result *res)
{
	bool moved = false;

	s->set_mads += res->set_mads;
	if (ibcc_result_may_have_written(res))
		ibcc_predictor_wrote(s->predictor);
	for (uint32_t i = 0; i < res->n; i++)
		moved |= res->change[i].err == IBCC_CHANGE_MOVED;
	if (moved && s->source == IBCC_TOPO_FROM_DISCOVERY)
		ibcc_rediscovery_hint(&s->again, ibcc_now_ns());
}

/* Returns the LID of the port with a GUID, 0 if it has none. */
static uint16_t lid_of(const struct ibcc_topo *t, uint64_t port_guid)
{
	for (uint32_t i = 0; i < t->n_endports; i++)
		if (t->port[t->endport[i]].guid == port_guid)
			return t->port[t->endport[i]].lid;
	return 0;
}

/* Does the port report the LID, subnet and subnet manager that the plugin reports? */
static int check_fabric(struct ibcc_service *s, const struct ibcc_topo *t, struct ibcc_why *why)
{
	const struct ibcc_proto_state *p = ibcc_plugin_state(s->plugin);
	uint16_t lid = p ? lid_of(t, p->port_guid) : 0;
	struct ibcc_smp_port_info self;
	int rc;

	/* Before its first sweep it would be a fabric without nodes, at which all is well. */
	if (!lid)
		return ibcc_why_set(why, -EXDEV,
				    "the plugin's OpenSM knows no LID of its own port yet: its "
				    "first sweep has not ended, or its port is down; repeat this "
				    "when its log has SUBNET UP");
	rc = ibcc_sm_check(s->transport, &self, why);
	if (!rc && self.gid_prefix != p->subnet_prefix)
		return ibcc_why_set(why, -EXDEV,
				    "the port's subnet prefix is 0x%016" PRIx64
				    ", but the plugin's OpenSM has 0x%016" PRIx64
				    ": it is of another fabric (see plugin_socket), or has not "
				    "settled yet",
				    self.gid_prefix, p->subnet_prefix);
	/* Two fabrics with default settings may have the same subnet prefix and LIDs. */
	if (!rc && self.lid == lid && ibcc_umad_port_guid(s->umad) != p->port_guid)
		return ibcc_why_set(
			why, -EXDEV,
			"the port has GUID 0x%016" PRIx64
			", but the plugin's OpenSM is at port 0x%016" PRIx64
			" with the same LID: it is of another fabric (see plugin_socket)",
			ibcc_umad_port_guid(s->umad), p->port_guid);
	if (rc || (self.lid == lid && (p->sm_state != IBCC_SM_MASTER || self.sm_lid == lid)))
		return rc;
	return ibcc_why_set(
		why, -EXDEV,
		"the port has LID %u and its subnet manager is at LID %u, but the plugin's "
		"OpenSM has LID %u: it is of another fabric (see plugin_socket), or has not "
		"settled yet",
		self.lid, self.sm_lid, lid);
}

static int topology_by_plugin(struct ibcc_service *s, struct ibcc_why *why)
{
	struct ibcc_topo *t;
	int rc = 0;

	s->plugin_ns = ibcc_now_ns();
	look_at_sm(s);
	if (s->source == IBCC_TOPO_FROM_PLUGIN && !s->names_due &&
	    s->cycle.topo->generation == ibcc_plugin_state(s->plugin)->generation)
		return 0;
	t = ibcc_plugin_topology(s->plugin, &rc, why);
	s->cycle.actual_known = false; /* another SM process, or another fabric */
	ibcc_discovery_reset(&s->discovery);
	s->again = (struct ibcc_rediscovery){ 0 };
	ibcc_service_deafen(s);
	if (t)
		rc = check_fabric(s, t, why);
	if (t && !rc) {
		ibcc_topo_leave_planes(t);
		/* Without memory the virtual nodes are unknown; another call will soon report that.
		 */
		(void)ibcc_topo_find_virtual(t);
		(void)ibcc_topo_find_gaps(t);
		(void)ibcc_node_map_label(s->config.node_name_map, t);
		s->names_due = false;
		return adopt_topology(s, t, IBCC_TOPO_FROM_PLUGIN, why);
	}
	ibcc_topo_free(t);
	return rc;
}

/* A port without a cable sees itself alone, and nothing reports when that is over: no trap arrives
 * without a fabric, and the port keeps its LID. A walk costs no more than the port itself.
 */
static bool is_alone(const struct ibcc_topo *t)
{
	return t->n_nodes == 1;
}

static bool gaps_are_due(const struct ibcc_service *s, uint64_t now)
{
	const struct ibcc_discovery *d = &s->discovery;

	return d->walk && d->n_missing && now - d->asked_ns >= ibcc_discovery_wait_ns(d);
}

int ibcc_service_refresh_topology(struct ibcc_service *s, bool plugin, struct ibcc_why *why)
{
	uint64_t now = ibcc_now_ns();

	if (plugin)
		return topology_by_plugin(s, why);
	if (s->source == IBCC_TOPO_FROM_PLUGIN && s->config.apply_via != IBCC_VIA_DIRECT &&
	    now - s->plugin_ns < PLUGIN_GRACE_NS)
		return 0;
	if (s->cycle.topo && s->source == IBCC_TOPO_FROM_DISCOVERY)
		look_for_hints(s, now);
	if (s->names_due)
		ibcc_rediscovery_hint(&s->again, now);
	if (!s->cycle.topo ||
	    ibcc_rediscovery_is_due(&s->again,
				    ibcc_discovery_is_odd(&s->discovery) || is_alone(s->cycle.topo),
				    now))
		return topology_by_discovery(s, why);
	return gaps_are_due(s, now) ? ask_gaps(s, why) : 0;
}
