/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What congestion control settings hold an adapter back to, whatever marks it gets: bounds that
 * are worth a warning (ibcc_throttle_find()), and settings that hold back more than the daemon
 * meant (ibcc_throttle_compare()). Figures and the sentences about them.
 */
#include <ibcc/throttle.h>

#include <stdio.h>

#include <ibcc/cct.h>

#define LEAST_SHARE 0.9 /* share of the link: a bound above it is not worth a warning */
#define MOST_STEP   2.0 /* warn if a BECN does more than this many times what is meant */

/* Lowers a bound to the rate at a table index, if that is lower. */
static void tighten(struct ibcc_throttle *b, const struct ibcc_endport_cc *ep, unsigned int sl,
		    uint16_t index, enum ibcc_throttle_cause cause)
{
	uint16_t i = index < ep->cct.limit ? index : ep->cct.limit;
	double mbps = b->of_mbps;

	if (i >= IBCC_CCT_MAX_ENTRIES)
		i = IBCC_CCT_MAX_ENTRIES - 1;
	mbps /= 1 + ibcc_cct_entry_delay_milli(ep->cct.entry[i]) / 1000.0;
	if (mbps >= b->mbps || mbps >= LEAST_SHARE * b->of_mbps)
		return;
	b->cause = cause;
	b->sl = (uint8_t)sl;
	b->index = i;
	b->mbps = mbps;
}

struct ibcc_throttle ibcc_throttle_find(const struct ibcc_topo *t, const struct ibcc_settings *s,
					uint32_t endport, bool marks)
{
	const struct ibcc_topo_port *p = &t->port[t->endport[endport]];
	struct ibcc_throttle b = { .mbps = p->rate_mbps, .of_mbps = p->rate_mbps };
	const struct ibcc_endport_cc *ep;

	if (endport >= s->n || ibcc_topo_is_switch(t, p->node))
		return b;
	ep = &s->ep[endport];
	if (ep->answer != IBCC_CC_ANSWERED)
		return b;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *e = &ep->ca.sl[sl];

		if (e->CCTI_Min)
			tighten(&b, ep, sl, e->CCTI_Min, IBCC_THROTTLE_MIN);
		if (marks && e->CCTI_Increase && !e->CCTI_Timer)
			tighten(&b, ep, sl, ep->cct.limit, IBCC_THROTTLE_TIMER);
	}
	return b;
}

bool ibcc_throttle_marks(const struct ibcc_topo *t, const struct ibcc_settings *s)
{
	for (uint32_t i = 0; i < t->n_endports && i < s->n; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[t->endport[i]].node];

		for (unsigned int k = 1; n->type == IBCC_NODE_SWITCH && k <= n->n_ports; k++)
			if (ibcc_settings_port_marks(&s->ep[i], k))
				return true;
	}
	return false;
}

/* A rate in MB/s as text. Small ones have digits behind the point. */
static const char *rate_text(double mbps, char *buf, size_t len)
{
	snprintf(buf, len, mbps < 800 ? "%.3g" : "%.0f", mbps / 8);
	return buf;
}

static const char *because(enum ibcc_throttle_cause cause)
{
	switch (cause) {
	case IBCC_THROTTLE_NONE: return "";
	case IBCC_THROTTLE_MIN: return "its CCTI_Min and table throttle each flow at all times";
	case IBCC_THROTTLE_TIMER:
		return "its CCTI_Timer is 0, so a flow that was marked once stays throttled";
	}
	return "";
}

struct ibcc_throttled ibcc_throttle_all(const struct ibcc_topo *t, const struct ibcc_settings *s)
{
	struct ibcc_throttled all = { 0 };
	bool marks = ibcc_throttle_marks(t, s);

	for (uint32_t i = 0; i < t->n_endports; i++) {
		struct ibcc_throttle b = ibcc_throttle_find(t, s, i, marks);

		if (b.cause == IBCC_THROTTLE_NONE)
			continue;
		if (!all.n++ || b.mbps < all.least.mbps) {
			all.least = b;
			all.endport = i;
		}
	}
	return all;
}

uint32_t ibcc_throttle_text(const struct ibcc_topo *t, const struct ibcc_settings *s,
			    struct ibcc_why *text)
{
	struct ibcc_throttled all = ibcc_throttle_all(t, s);
	char name[IBCC_DESC_BYTES + 16], others[64] = "", rate[32];

	text->text[0] = '\0';
	if (!all.n)
		return 0;
	ibcc_topo_port_name(t, t->endport[all.endport], name, sizeof(name));
	if (all.n > 1)
		snprintf(others, sizeof(others), "; %u adapters in total are throttled", all.n);
	ibcc_why_set(text, 0,
		     "%s cannot send faster than %s of %.0f MB/s: %s%s; if you do not want this, "
		     "\"ibcc-tune disable\" removes the settings",
		     name, rate_text(all.least.mbps, rate, sizeof(rate)), all.least.of_mbps / 8.0,
		     because(all.least.cause), others);
	return all.n;
}

/* The least rate that an endport's flows keep, Mb/s, however much they are marked: by the longest
 * delay of its table.
 */
static double least_mbps(const struct ibcc_topo *t, const struct ibcc_settings *s, uint32_t endport)
{
	const struct ibcc_endport_cc *ep = &s->ep[endport];
	double rate = t->port[t->endport[endport]].rate_mbps;
	uint32_t longest = 0;
	bool reacts = false;

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		reacts |= ep->ca.sl[sl].CCTI_Increase != 0;
	for (unsigned int i = 0; reacts && i <= ep->cct.limit && i < IBCC_CCT_MAX_ENTRIES; i++) {
		uint32_t delay = ibcc_cct_entry_delay_milli(ep->cct.entry[i]);

		longest = delay > longest ? delay : longest;
	}
	return rate / (1 + longest / 1000.0);
}

/* The effect of a BECN on a flow: by how much it raises the index, times how long that lasts. */
static double step(const struct ibcc_cc_ca_entry *e)
{
	return (double)e->CCTI_Increase * e->CCTI_Timer;
}

/* The rate in Mb/s at marks at which the meant settings would leave the link's rate, at the service
 * level where it is least (see ibcc_throttle_compare()).
 */
static double step_mbps(const struct ibcc_topo *t, const struct ibcc_settings *actual,
			const struct ibcc_settings *meant, uint32_t endport)
{
	const struct ibcc_cc_ca_setting *is = &actual->ep[endport].ca, *to = &meant->ep[endport].ca;
	double rate = t->port[t->endport[endport]].rate_mbps, least = 1;
	double floor_mbps = least_mbps(t, actual, endport);

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		double has = step(&is->sl[sl]), wants = step(&to->sl[sl]);

		if (to->Control_Map >> sl & 1 && has >= MOST_STEP * wants && has > 0)
			least = wants / has < least ? wants / has : least;
	}
	return least * rate > floor_mbps ? least * rate : floor_mbps;
}

/* Whether an endport is held back more than is meant. Fills in the rates in *x. */
static bool exceeds(const struct ibcc_topo *t, const struct ibcc_settings *actual,
		    const struct ibcc_settings *meant, uint32_t endport,
		    struct ibcc_throttle_excess *x)
{
	double rate = t->port[t->endport[endport]].rate_mbps;
	double mbps = least_mbps(t, actual, endport), meant_mbps = least_mbps(t, meant, endport);

	*x = (struct ibcc_throttle_excess){ .endport = endport, .of_mbps = (uint32_t)rate };
	x->by_step = mbps >= LEAST_SHARE * meant_mbps;
	x->mbps = x->by_step ? step_mbps(t, actual, meant, endport) : mbps;
	x->meant_mbps = x->by_step ? rate : meant_mbps;
	return x->mbps < LEAST_SHARE * x->meant_mbps;
}

struct ibcc_throttle_excess ibcc_throttle_compare(const struct ibcc_topo *t,
						  const struct ibcc_settings *actual,
						  const struct ibcc_settings *meant)
{
	struct ibcc_throttle_excess x = { 0 };

	if (!ibcc_throttle_marks(t, actual))
		return x;
	for (uint32_t i = 0; i < t->n_endports && i < actual->n && i < meant->n; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];
		struct ibcc_throttle_excess one;

		if (ibcc_topo_is_switch(t, p->node) || actual->ep[i].answer != IBCC_CC_ANSWERED)
			continue;
		if (!exceeds(t, actual, meant, i, &one))
			continue;
		one.n = x.n + 1;
		if (!x.n || one.mbps < x.mbps)
			x = one;
		x.n = one.n;
	}
	return x;
}

void ibcc_throttle_excess_text(const struct ibcc_topo *t, const struct ibcc_throttle_excess *x,
			       struct ibcc_why *text)
{
	char name[IBCC_DESC_BYTES + 16], others[64] = "", rate[32], meant[32];

	text->text[0] = '\0';
	if (!x->n || x->endport >= t->n_endports)
		return;
	ibcc_topo_port_name(t, t->endport[x->endport], name, sizeof(name));
	if (x->n > 1)
		snprintf(others, sizeof(others), "; %u adapters in total are throttled too much",
			 x->n);
	ibcc_why_set(text, 0,
		     "marks can throttle %s to %s of %.0f MB/s, but by the daemon's last decision "
		     "it would send at least %s%s: the adapter's %s is not what the daemon wrote; "
		     "\"ibcc-tune repair\" "
		     "writes that again, \"ibcc-tune disable\" removes all settings%s",
		     name, rate_text(x->mbps, rate, sizeof(rate)), x->of_mbps / 8.0,
		     rate_text(x->meant_mbps, meant, sizeof(meant)),
		     x->by_step ? " at this rate of marks" : "",
		     x->by_step ? "CCTI_Timer or CCTI_Increase" : "table or CCTI_Increase", others);
}
