/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Events of a scenario file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/engine.h>

#include "scenario_parts.h"

/* An item of `events`: one of sink, link_rate, send_rate, send_delay, link_down, link_up
 * says what happens. */
struct event_yaml {
	double at_ms, delay_ns; /* delay -1: not given */
	const struct ibcc_yaml_node *sink, *rate, *link, *send, *later, *down, *up;
};

static int read_sink(const struct ibcc_yaml *y, const struct event_yaml *ey,
		     const struct ibcc_topo *t, struct ibcc_event_spec *ev, uint32_t *node,
		     struct ibcc_yaml_errors *e)
{
	const char *rate = ibcc_yaml_scalar(ey->rate);
	int rc = ibcc_scenario_read_node(y, ey->sink, "events.sink", t, node, e), bad = 0;

	ev->kind = IBCC_EVENT_SINK_RATE;
	if (!rc && t && ibcc_topo_is_switch(t, *node))
		rc = ibcc_yaml_want(y, e, ey->sink, "events.sink", "a host, not a switch");
	if (!ey->rate) {
		ibcc_yaml_error(y, e, ey->sink, "events.rate", "missing, want the sink's rate");
		return -EINVAL;
	}
	if (!rate || strcmp(rate, "link")) /* value 0 means the link's rate */
		bad = ibcc_scenario_read_rate(y, ey->rate, "events.rate", &ev->value, e);
	return rc ? rc : bad;
}

static int read_link(const struct ibcc_yaml *y, const struct event_yaml *ey,
		     const struct ibcc_topo *t, struct ibcc_event_spec *ev, uint32_t *node,
		     struct ibcc_yaml_errors *e)
{
	const struct {
		const struct ibcc_yaml_node *n;
		const char *path;
		enum ibcc_event_kind kind;
	} of[] = {
		{ ey->link, "events.link_rate", IBCC_EVENT_LINK_RATE },
		{ ey->send, "events.send_rate", IBCC_EVENT_SEND_RATE },
		{ ey->later, "events.send_delay", IBCC_EVENT_SEND_DELAY },
		{ ey->down, "events.link_down", IBCC_EVENT_LINK_DOWN },
		{ ey->up, "events.link_up", IBCC_EVENT_LINK_UP },
	}, *it = of;
	bool rated = ey->link || ey->send;
	int rc, bad = 0;

	while (!it->n)
		it++;
	rc = ibcc_scenario_read_port(y, it->n, it->path, t, node, &ev->port, e);
	ev->kind = it->kind;
	if (!rc && t && t->port[ibcc_topo_port_index(t, *node, ev->port)].peer == IBCC_NONE)
		rc = ibcc_yaml_want(y, e, it->n, it->path, "a port that has a link");
	if (rated && !ey->rate) {
		ibcc_yaml_error(y, e, it->n, "events.rate", "missing, want the link's rate");
		return -EINVAL;
	}
	if (ey->later && ey->delay_ns < 0) {
		ibcc_yaml_error(y, e, it->n, "events.delay_ns", "missing, want the extra delay");
		return -EINVAL;
	}
	if (ey->later)
		ev->value = (uint32_t)(ey->delay_ns * (double)IBCC_PS_PER_NS + 0.5);
	if (rated)
		bad = ibcc_scenario_read_rate(y, ey->rate, "events.rate", &ev->value, e);
	return rc ? rc : bad;
}

static int read_event(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		      void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("at_ms", DOUBLE, struct event_yaml, at_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		{ IBCC_YAML_MEMBER("sink", NODE, struct event_yaml, sink) },
		{ IBCC_YAML_MEMBER("rate", NODE, struct event_yaml, rate) },
		{ IBCC_YAML_MEMBER("link_rate", NODE, struct event_yaml, link) },
		{ IBCC_YAML_MEMBER("send_rate", NODE, struct event_yaml, send) },
		{ IBCC_YAML_MEMBER("send_delay", NODE, struct event_yaml, later) },
		{ IBCC_YAML_MEMBER("delay_ns", DOUBLE, struct event_yaml, delay_ns),
		  .max = IBCC_LINK_DELAY_MAX_PS / IBCC_PS_PER_NS },
		{ IBCC_YAML_MEMBER("link_down", NODE, struct event_yaml, down) },
		{ IBCC_YAML_MEMBER("link_up", NODE, struct event_yaml, up) },
		{ .name = NULL },
	};
	struct ibcc_scenario *s = arg;
	struct event_yaml ey = { .delay_ns = -1 };
	struct ibcc_event_spec *ev = &s->event[s->n_events];
	uint32_t node;
	int rc;

	(void)index;
	if (ibcc_yaml_read(y, n, "events", keys, &ey, e))
		return -EINVAL;
	if (!ey.sink + !ey.link + !ey.send + !ey.later + !ey.down + !ey.up != 5 ||
	    (ey.rate && !ey.sink && !ey.link && !ey.send) || (ey.delay_ns >= 0 && !ey.later)) {
		ibcc_yaml_error(y, e, n, "events",
				"want one of sink, link_rate or send_rate (with rate), send_delay "
				"(with delay_ns), link_down or link_up");
		return -EINVAL;
	}
	*ev = (struct ibcc_event_spec){ .at_ps = ibcc_scenario_ps(ey.at_ms) };
	rc = ey.sink ? read_sink(y, &ey, s->topo, ev, &node, e)
		     : read_link(y, &ey, s->topo, ev, &node, e);
	if (rc || !s->topo)
		return rc;
	ibcc_topo_node_text(s->topo, node, ev->node);
	s->n_events++;
	return 0;
}

int ibcc_scenario_read_events(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			      struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	size_t len = ibcc_yaml_length(n);

	if (ibcc_yaml_is_seq(n) && len > IBCC_SCENARIO_EVENTS_MAX) {
		ibcc_yaml_error(y, e, n, "events", "got %zu events, want at most %u", len,
				IBCC_SCENARIO_EVENTS_MAX);
		return -EINVAL;
	}
	s->event = calloc(len ? len : 1, sizeof(*s->event));
	if (!s->event)
		return -ENOMEM;
	return ibcc_yaml_each(y, n, "events", read_event, s, e);
}
