/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Each type keeps a histogram of what its readings would have the factor be at most, in bins of
 * equal ratio. The lowest bins that hold many readings, with hardly any below and few above, are
 * those of ports that sent or waited all the time.
 */
#include <ibcc/units.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/counters.h>
#include <ibcc/device.h>
#include <ibcc/link.h>

#define MAX_TYPES     64u
#define FACTOR_MAX    64.0 /* and its inverse: what is beyond is no unit, but nonsense */
#define BIN_RATIO     1.04
#define ONE           106u /* the bin that 1 is in */
#define N_BINS        213u /* from 1/64 to 64 */
#define SENT_MAX      0.75 /* of a port that sends more, too little is left to measure by */
#define WAIT_MIN      0.002
#define MANY          12.0 /* readings in the peak */
#define BELOW_SHARE   0.1  /* of those in the peak, or else of all, there may be below it */
#define ABOVE_SHARE   0.7  /* and in as many bins above it */
#define SPREAD        1.12 /* the longest wait in the peak over the shortest: alike ones differ less */
#define SAME          0.1 /* factors that differ by less are one */
#define IMPOSSIBLE    3.0 /* readings beyond 100 % that make a unit unbelievable, if they are */
#define MOSTLY        0.5 /* ... this share of all, and of several nodes */
#define FORGET_BEYOND 4096.0
#define BEYOND_COSTS  4.0 /* readings of just 100 %, which one beyond that outweighs */
#define USUAL_TICK    7   /* where nobody tells */

struct bin {
	float n;
	float least, most; /* waits, by the table */
	uint32_t node;     /* of the first reading */
	bool several;      /* nodes: one alone may lie */
};

struct unit {
	uint32_t vendor_id, rate_mbps;
	uint16_t device_id;
	bool is_switch;
	const struct ibcc_device *device;
	enum ibcc_unit_state state;
	double factor;
	double tick_bytes; /* of the port, by the table */
	double n;          /* readings in the histogram */
	double just;       /* lately of ports that came to just 100 %, and not beyond */
	struct bin bin[N_BINS];
};

struct ibcc_units {
	struct unit *unit[MAX_TYPES];
	uint32_t n;
};

struct ibcc_units *ibcc_units_new(void)
{
	return calloc(1, sizeof(struct ibcc_units));
}

void ibcc_units_free(struct ibcc_units *u)
{
	for (uint32_t i = 0; u && i < u->n; i++)
		free(u->unit[i]);
	free(u);
}

/* Does nobody tell what a node counts by? An adapter of Mellanox's that is newer than the table is
 * taken for one like the others.
 */
static bool is_unknown(const struct ibcc_device *d, uint32_t vendor_id, bool is_switch)
{
	return d ? d->wait_unit == IBCC_WAIT_UNKNOWN
		 : vendor_id == IBCC_VENDOR_MELLANOX && !is_switch;
}

static bool is_untold(const struct unit *v)
{
	return is_unknown(v->device, v->vendor_id, v->is_switch);
}

/* The unit of a port's type; NULL: there are too many, or no memory. */
static struct unit *unit_of(struct ibcc_units *u, const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];
	bool is_switch = n->type == IBCC_NODE_SWITCH;
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);
	/* What nobody tells may be a time, whatever the rate. */
	uint32_t mbps = is_unknown(d, n->vendor_id, is_switch) ? t->port[port].rate_mbps : 0;
	struct unit *v;

	for (uint32_t i = 0; i < u->n; i++) {
		v = u->unit[i];
		if (v->vendor_id == n->vendor_id && v->device_id == n->device_id &&
		    v->rate_mbps == mbps && v->is_switch == is_switch)
			return v;
	}
	v = u->n < MAX_TYPES ? calloc(1, sizeof(*v)) : NULL;
	if (!v)
		return NULL;
	v->vendor_id = n->vendor_id;
	v->device_id = n->device_id;
	v->is_switch = is_switch;
	v->rate_mbps = mbps;
	v->device = d;
	v->state = is_untold(v) ? IBCC_UNIT_UNKNOWN : IBCC_UNIT_ASSUMED;
	v->factor = 1;
	u->unit[u->n++] = v;
	return v;
}

/* By the table and PortSamplesControl alone; 0: nothing to go by. */
static uint64_t table_ps(struct unit *v, const struct ibcc_topo_port *p, int tick)
{
	uint64_t ps;

	if (tick < 0)
		tick = ibcc_device_default_tick(v->device);
	if (tick < 0 && is_untold(v))
		tick = USUAL_TICK;
	if (tick < 0)
		return 0;
	ps = ibcc_device_tick_ps(v->device, p->rate_mbps, p->lanes, (uint8_t)tick);
	v->tick_bytes = (double)ps * p->rate_mbps / 8e6;
	return ps;
}

uint64_t ibcc_units_tick_ps(struct ibcc_units *u, const struct ibcc_topo *t, uint32_t port,
			    int tick)
{
	struct unit *v = t->port[port].rate_mbps ? unit_of(u, t, port) : NULL;

	if (!v || v->state == IBCC_UNIT_UNKNOWN)
		return 0;
	return (uint64_t)llround((double)table_ps(v, &t->port[port], tick) * v->factor);
}

/* Below what a unit can be that is right: 8 % less; and up to what ports are hardly ever idle. */
#define IMPOSSIBLE_END (ONE - 2)
#define BUSY_END       (ONE + 2)

static void add_reading(struct unit *v, uint32_t node, double bound, double wait)
{
	struct bin *b;
	double at = (log(bound) + log(FACTOR_MAX)) / log(BIN_RATIO);

	if (at < 0 || at >= N_BINS)
		return;
	if (at < IMPOSSIBLE_END)
		v->just = fmax(v->just - BEYOND_COSTS, 0);
	else if (at < BUSY_END)
		v->just++;
	b = &v->bin[(unsigned int)at];
	if (b->n < 0.5f) {
		*b = (struct bin){ .least = (float)wait, .most = (float)wait, .node = node };
	}
	b->n++;
	b->least = (float)fmin(b->least, wait);
	b->most = (float)fmax(b->most, wait);
	b->several |= b->node != node;
	v->n++;
	for (unsigned int i = 0; v->n > FORGET_BEYOND && i < N_BINS; i++)
		v->bin[i].n /= 2;
	if (v->n > FORGET_BEYOND)
		v->n /= 2;
}

void ibcc_units_look(struct ibcc_units *u, const struct ibcc_topo *t, uint32_t port, int tick,
		     const struct ibcc_delta *d)
{
	const struct ibcc_topo_port *p = &t->port[port];
	struct unit *v = p->rate_mbps ? unit_of(u, t, port) : NULL;
	double sent, wait;

	if (!v || !ibcc_delta_exact(d, IBCC_CTR_XMIT_DATA) ||
	    !ibcc_delta_exact(d, IBCC_CTR_XMIT_WAIT))
		return;
	sent = (double)ibcc_delta_xmit_mbps(d) / p->rate_mbps;
	wait = (double)d->v[IBCC_CTR_XMIT_WAIT] * (double)table_ps(v, p, tick) /
	       ((double)d->dt_ns * 1000);
	if (sent <= SENT_MAX && wait >= WAIT_MIN)
		add_reading(v, p->node, (1 - sent) / wait, wait);
}

/* Readings in bins of [from, to). */
static double sum(const struct unit *v, unsigned int from, unsigned int to)
{
	double n = 0;

	for (unsigned int i = from; i < to && i < N_BINS; i++)
		n += v->bin[i].n;
	return n;
}

/* The factor that a peak of two bins stands for; 0: it is none. */
static double peak_at(const struct unit *v, unsigned int i)
{
	const struct bin *a = &v->bin[i], *b = &v->bin[i + 1];
	double n = (double)a->n + (double)b->n;
	double least = a->n > 0 && b->n > 0 ? fmin(a->least, b->least)
					    : (double)(a->n > 0 ? a->least : b->least);

	if (n < MANY || sum(v, 0, i) > n * BELOW_SHARE || sum(v, i + 2, i + 4) > n * ABOVE_SHARE)
		return 0;
	if (!(a->several || b->several || (a->n > 0 && b->n > 0 && a->node != b->node)))
		return 0;
	/* Ports that are idle alike could be taken for such that wait in a longer unit. Where they
	 * send and wait more or less together, they leave the two bins before they differ so much.
	 */
	if (i > ONE && fmax(a->most, b->most) < least * SPREAD)
		return 0;
	return pow(BIN_RATIO, i + 0.5 + (double)b->n / n) / FACTOR_MAX;
}

/* Do ports send and wait for longer than there is time? */
static bool is_impossible(const struct unit *v)
{
	double n = sum(v, 0, IMPOSSIBLE_END);
	uint32_t node = IBCC_NONE;
	bool several = false;

	for (unsigned int i = 0; i < IMPOSSIBLE_END; i++) {
		const struct bin *b = &v->bin[i];

		if (b->n < 0.5f)
			continue;
		several |= b->several || (node != IBCC_NONE && node != b->node);
		node = b->node;
	}
	return several && n >= IMPOSSIBLE && n >= v->n * MOSTLY;
}

/* Of a unit that the table tells: it was the intervals that were wrong for a while, not the ports.
 * Either there were few such, or busy ports have come to 100 % by now as often as shows a unit.
 */
static bool is_possible_again(const struct unit *v)
{
	return v->state == IBCC_UNIT_UNKNOWN && !is_untold(v) &&
	       (sum(v, 0, IMPOSSIBLE_END) <= v->n * BELOW_SHARE || v->just >= MANY);
}

static void believe_again(struct unit *v)
{
	v->state = IBCC_UNIT_ASSUMED;
	v->n -= sum(v, 0, IMPOSSIBLE_END);
	memset(v->bin, 0, IMPOSSIBLE_END * sizeof(*v->bin));
}

static bool conclude(struct unit *v)
{
	double found = 0, was = v->factor;
	enum ibcc_unit_state before = v->state;
	unsigned int i;

	for (i = 0; i + 1 < N_BINS && found <= 0; i++)
		found = peak_at(v, i);
	if (found > 0 && fabs(found - 1) <= SAME) {
		v->state = IBCC_UNIT_CONFIRMED;
		v->factor = 1;
	} else if (found > 0 &&
		   (v->state != IBCC_UNIT_CALIBRATED || fabs(found / v->factor - 1) > SAME)) {
		v->state = IBCC_UNIT_CALIBRATED;
		v->factor = found;
	} else if (found <= 0 && v->state != IBCC_UNIT_CALIBRATED &&
		   v->state != IBCC_UNIT_UNKNOWN && is_impossible(v)) {
		v->state = IBCC_UNIT_UNKNOWN;
		v->just = 0;
	} else if (found <= 0 && is_possible_again(v)) {
		believe_again(v);
	}
	return v->state != before || v->factor < was || v->factor > was;
}

bool ibcc_units_conclude(struct ibcc_units *u)
{
	bool changed = false;

	for (uint32_t i = 0; i < u->n; i++)
		changed |= conclude(u->unit[i]);
	return changed;
}

bool ibcc_units_say(const struct ibcc_units *u, uint32_t i, char *buf, size_t len)
{
	const struct unit *v = i < u->n ? u->unit[i] : NULL;
	char name[64], rate[24] = "";

	buf[0] = '\0';
	if (!v)
		return false;
	if (v->device && v->device->kind != IBCC_DEVICE_HCA &&
	    v->device->kind != IBCC_DEVICE_SWITCH)
		return true; /* nobody asks what those wait */
	if (v->rate_mbps)
		snprintf(rate, sizeof(rate), " at %u Mb/s", v->rate_mbps);
	if (v->device)
		snprintf(name, sizeof(name), "%s%s", v->device->name, rate);
	else
		snprintf(name, sizeof(name), "%s %04x:%04x%s",
			 v->is_switch ? "switches" : "adapters", v->vendor_id, v->device_id, rate);
	switch (v->state) {
	case IBCC_UNIT_ASSUMED:
	case IBCC_UNIT_CONFIRMED: break;
	case IBCC_UNIT_UNKNOWN:
		snprintf(buf, len,
			 "PortXmitWait of %s is not used: its unit is not known yet "
			 "(%.0f readings)",
			 name, v->n);
		break;
	case IBCC_UNIT_CALIBRATED:
		snprintf(buf, len,
			 "PortXmitWait of %s: a tick is about %.0f bytes, measured (%.0f were "
			 "assumed)",
			 name, v->tick_bytes * v->factor, v->tick_bytes);
		break;
	}
	return true;
}
