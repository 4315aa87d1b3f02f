/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Learns the unit of PortXmitWait of each type of device: a factor to what the device table
 * assumes.
 *
 * A port cannot send and wait for longer than an interval lasts. So each reading of a port bounds
 * the factor from above:
 *
 * 	factor <= (1 - share of the time that it sent) / (waits by the table)
 *
 * Each type keeps a histogram of these bounds, in bins of equal ratio. Ports that were always
 * busy (they sent or waited all the time) form a peak at the true factor. The lowest peak of many
 * readings, with hardly any below it and few directly above it, is taken as the factor
 * (peak_at(), conclude()).
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
#define FACTOR_MAX    64.0 /* factors above it, or below its inverse, are no units */
#define BIN_RATIO     1.04
#define ONE           106u /* the bin that 1 is in */
#define N_BINS        213u /* from 1/64 to 64 */
#define SENT_MAX      0.75 /* a port that sends a larger share leaves too little to measure */
#define WAIT_MIN      0.002
#define MANY          12.0 /* readings that make a peak */
#define BELOW_SHARE   0.1  /* readings below a peak, as a share of those in it, at most */
#define ABOVE_SHARE   0.7  /* the same for readings in the two bins above a peak */
#define SPREAD        1.12 /* longest over shortest wait in a peak, at least: else ports are alike */
#define SAME          0.1  /* factors that differ by less are equal */
#define IMPOSSIBLE    3.0  /* readings of more than 100 % that make a unit unbelievable, */
#define MOSTLY        0.5  /* if they are this share of all, from several nodes */
#define FORGET_BEYOND 4096.0 /* readings; beyond, all bins are halved */
#define BEYOND_COSTS  4.0    /* readings of just 100 % that one above it outweighs */
#define USUAL_TICK    7      /* of devices that do not report one */

struct bin {
	float n;
	float least, most; /* waits by the table, as shares of the time */
	uint32_t node;     /* node of the first reading */
	bool several;      /* readings of several nodes: a single node may count wrongly */
};

/* The unit of one type of device, for unknown ones at one link rate. */
struct unit {
	uint32_t vendor_id, rate_mbps;
	uint16_t device_id;
	bool is_switch;
	const struct ibcc_device *device;
	enum ibcc_unit_state state;
	double factor;
	double tick_bytes; /* bytes of the port's rate in a tick, by the table */
	double n;          /* readings in the histogram */
	double just;       /* recent readings of just 100 %, less those of more */
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

/* Whether the unit of a device is not documented. An adapter of Mellanox's that the table does not
 * have is taken for one like its newer ones, whose unit is not.
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
	/* An undocumented unit may be a time instead of bytes: so it is learned for each rate. */
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

/* The unit in ps by the device table and PortSamplesControl:Tick alone; 0: it is not known. */
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

/* Bins below IMPOSSIBLE_END mean that the unit is wrong by 8 % or more; bins from there to BUSY_END
 * are readings of ports that were hardly idle.
 */
#define IMPOSSIBLE_END (ONE - 2)
#define BUSY_END       (ONE + 2)

/* Adds a reading's bound to the histogram. Above FORGET_BEYOND readings all bins are halved, so
 * that old readings fade.
 */
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

/* How many readings are in the bins [from, to). */
static double sum(const struct unit *v, unsigned int from, unsigned int to)
{
	double n = 0;

	for (unsigned int i = from; i < to && i < N_BINS; i++)
		n += v->bin[i].n;
	return n;
}

/* The factor of a peak at bins i and i + 1; 0: there is no peak. */
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
	/* Ports that are idle in the same way look like ports that wait in a longer unit. But such
	 * ports differ less in their waits than SPREAD as long as they stay in two bins.
	 */
	if (i > ONE && fmax(a->most, b->most) < least * SPREAD)
		return 0;
	return pow(BIN_RATIO, i + 0.5 + (double)b->n / n) / FACTOR_MAX;
}

/* Whether ports of several nodes mostly send and wait for longer than there is time. */
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

/* Whether a unit of the table that was given up may be right again: the intervals were wrong for a
 * while, not the ports. Either few readings are impossible by now, or busy ports come to just 100 %
 * often enough.
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

/* Looks for a peak in a type's histogram and updates its state. Returns whether that changed. */
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
		return true; /* waits of virtual and aggregation nodes are not used */
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
