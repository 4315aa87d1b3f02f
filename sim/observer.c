/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the fabric's state from ibsim again and again (observer.h). Each pass is a walk
 * (ibcc/walk.h) with up to WINDOW Gets under way. A pass follows soon after a change, once no
 * more changes come for a while, and otherwise every PERIOD_US.
 */
#include "sim/observer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include <ibcc/mad.h>
#include <ibcc/smp.h>
#include <ibcc/walk.h>

#define WINDOW     64
#define SETTLE_US  30000u    /* shortest time without further changes before reading again */
#define SETTLE_MAX 10u       /* after this many SETTLE_US, changes or not, read */
#define PERIOD_US  30000000u /* for changes that were not noticed */

struct get {
	TAILQ_ENTRY(get) link;
	struct ibcc_observer *o;
	struct ibcc_walk_get get;
};

struct ibcc_observer {
	sd_event *ev;
	struct ibcc_upstream *u;
	struct ibcc_upstream_slot *slot;
	bool with_sl2vl;
	ibcc_observer_found *found;
	void *arg;
	sd_event_source *timer;
	uint64_t dirty_since_us;
	uint64_t began_us, settle_us;
	bool dirty, failed;
	unsigned int in_flight;
	TAILQ_HEAD(, get) busy;
	struct ibcc_walk *walk; /* NULL between passes */
};

/* Starts the next pass after a delay, whenever it was scheduled before. */
static void schedule(struct ibcc_observer *o, uint64_t delay_us)
{
	uint64_t now = 0;

	sd_event_now(o->ev, CLOCK_MONOTONIC, &now);
	sd_event_source_set_time(o->timer, now + delay_us);
	sd_event_source_set_enabled(o->timer, SD_EVENT_ONESHOT);
}

static void pass_end(struct ibcc_observer *o)
{
	struct ibcc_topo *t = o->failed ? NULL : ibcc_walk_topo(o->walk);
	uint64_t now = 0;

	/* A pass takes ibsim's time from a subnet manager that is at work. So the longer a pass
	 * takes, the longer it waits for changes to end.
	 */
	sd_event_now(o->ev, CLOCK_MONOTONIC, &now);
	o->settle_us = (now - o->began_us) / 2;
	if (o->settle_us < SETTLE_US)
		o->settle_us = SETTLE_US;
	ibcc_walk_free(o->walk);
	o->walk = NULL;
	schedule(o, o->dirty ? o->settle_us : PERIOD_US);
	/* Without ibsim, even the first node has not answered: there is no topology then. */
	if (t && t->n_nodes)
		o->found(o->arg, t);
	else
		ibcc_topo_free(t);
}

static void pump(struct ibcc_observer *o);

static void on_answer(void *arg, struct ibcc_wire_mad *m)
{
	struct get *g = arg;
	struct ibcc_observer *o = g->o;
	struct ibcc_mad_header h;
	bool refused;

	TAILQ_REMOVE(&o->busy, g, link);
	o->in_flight--;
	ibcc_mad_header_unpack(m->mad, &h);
	refused = m->status || h.status;
	/* If a port went down meanwhile, the next pass sees it as down. */
	o->dirty |= refused;
	if (ibcc_walk_answer(o->walk, &g->get, refused ? NULL : m->mad))
		o->failed = true;
	free(g);
	pump(o);
}

/* Sends the walk's next Get; false if there is nothing to send for now. */
static bool send_next(struct ibcc_observer *o)
{
	struct ibcc_wire_mad m = { .dlid = IBCC_SMP_PERMISSIVE_LID,
				   .slid = IBCC_SMP_PERMISSIVE_LID };
	struct get *g = calloc(1, sizeof(*g));
	int more = g ? ibcc_walk_next(o->walk, &g->get) : -ENOMEM;

	if (more > 0) {
		ibcc_walk_request(&g->get, m.mad);
		g->o = o;
		TAILQ_INSERT_TAIL(&o->busy, g, link);
		o->in_flight++;
		if (!ibcc_upstream_send(o->slot, &m, on_answer, g))
			return true;
		TAILQ_REMOVE(&o->busy, g, link);
		o->in_flight--;
		more = -EIO;
	}
	o->failed |= more < 0;
	free(g);
	return false;
}

/* Keeps the window full, and ends the pass when nothing is under way any more. */
static void pump(struct ibcc_observer *o)
{
	while (!o->failed && o->in_flight < WINDOW && send_next(o))
		;
	if (!o->in_flight)
		pass_end(o);
}

static int on_timer(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ibcc_observer *o = arg;
	const struct ibcc_walk_options options = { .sl2vl = o->with_sl2vl, .leave_by_all = true };

	(void)src;
	(void)usec;
	if (o->walk)
		return 0;
	o->walk = ibcc_walk_new(&options);
	if (!o->walk) {
		schedule(o, PERIOD_US);
		return 0;
	}
	o->dirty = o->failed = false;
	o->dirty_since_us = 0;
	sd_event_now(o->ev, CLOCK_MONOTONIC, &o->began_us);
	pump(o);
	return 0;
}

bool ibcc_observer_is_stale(const struct ibcc_observer *o)
{
	return o->dirty || o->walk;
}

void ibcc_observer_dirty(struct ibcc_observer *o)
{
	uint64_t now = 0;

	sd_event_now(o->ev, CLOCK_MONOTONIC, &now);
	if (!o->dirty_since_us)
		o->dirty_since_us = now;
	o->dirty = true;
	if (!o->walk && o->slot && now - o->dirty_since_us < SETTLE_MAX * o->settle_us)
		schedule(o, o->settle_us);
}

static void on_attached(void *arg, struct ibcc_upstream_slot *s)
{
	struct ibcc_observer *o = arg;

	o->slot = s;
	if (s)
		schedule(o, 0);
	else
		o->found(o->arg, NULL);
}

struct ibcc_observer *ibcc_observer_new(sd_event *ev, struct ibcc_upstream *u, bool sl2vl,
					ibcc_observer_found *found, void *arg, int *err)
{
	struct ibcc_observer *o = calloc(1, sizeof(*o));
	int r = -ENOMEM;

	if (!o)
		goto out;
	TAILQ_INIT(&o->busy);
	o->settle_us = SETTLE_US;
	o->ev = ev;
	o->u = u;
	o->with_sl2vl = sl2vl;
	o->found = found;
	o->arg = arg;
	r = sd_event_add_time(ev, &o->timer, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_timer, o);
	if (r >= 0)
		r = sd_event_source_set_enabled(o->timer, SD_EVENT_OFF);
	if (r >= 0)
		r = ibcc_upstream_attach(u, "", on_attached, o);
out:
	if (r < 0) {
		*err = r;
		ibcc_observer_free(o);
		return NULL;
	}
	return o;
}

void ibcc_observer_free(struct ibcc_observer *o)
{
	struct get *g;

	if (!o)
		return;
	ibcc_upstream_cancel(o->u, o);
	while ((g = TAILQ_FIRST(&o->busy))) {
		ibcc_upstream_cancel(o->u, g);
		TAILQ_REMOVE(&o->busy, g, link);
		free(g);
	}
	sd_event_source_disable_unref(o->timer);
	if (o->slot)
		ibcc_upstream_release(o->slot);
	ibcc_walk_free(o->walk);
	free(o);
}
