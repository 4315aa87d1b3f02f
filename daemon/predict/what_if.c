/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Puts a user's values into a copy of the wanted settings (what_if.h). They apply to the ports
 * where congestion starts, and to the adapters that are or would be throttled.
 */
#include "daemon/predict/what_if.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/law.h>

enum key { TIMER, INCREASE, TABLE_END, THRESHOLD, MARKING_RATE, N_KEYS };

static const struct {
	const char *name;
	double max;
	bool whole, at_roots;
} keys[N_KEYS] = {
	[TIMER] = { "ccti_timer", UINT16_MAX, true, false },
	[INCREASE] = { "ccti_increase", UINT8_MAX, true, false },
	[TABLE_END] = { "table_end", IBCC_CCT_MAX_MULT / 8.0, false, false },
	[THRESHOLD] = { "threshold", 15, true, true },
	[MARKING_RATE] = { "marking_rate", UINT16_MAX, true, true },
};

struct values {
	bool has[N_KEYS];
	double v[N_KEYS];
};

static int find_key(const char *name)
{
	for (int k = 0; k < N_KEYS; k++)
		if (!strcmp(keys[k].name, name))
			return k;
	return -1;
}

static void complain(struct ibcc_why *why, const char *name, int k)
{
	char text[sizeof(why->text)];

	if (k < 0)
		snprintf(text, sizeof(text),
			 "%s: want one of ccti_timer, ccti_increase, table_end, threshold, "
			 "marking_rate",
			 name);
	else
		snprintf(text, sizeof(text), "%s: want a %snumber from 0 to %g", name,
			 keys[k].whole ? "whole " : "", keys[k].max);
	if (why->text[0])
		snprintf(why->text + strlen(why->text), sizeof(why->text) - strlen(why->text),
			 "; %s", text);
	else
		snprintf(why->text, sizeof(why->text), "%s", text);
}

static int read_values(const json_t *set, struct values *out, struct ibcc_why *why)
{
	const char *name;
	json_t *v;
	int rc = 0;

	*out = (struct values){ { false }, { 0 } };
	why->text[0] = '\0';
	if (!json_object_size(set))
		return ibcc_why_set(why, -EINVAL, "set: want at least one KEY=VALUE");
	json_object_foreach ((json_t *)set, name, v) {
		int k = find_key(name);
		double x = json_number_value(v);

		if (k < 0 || !json_is_number(v) || !(x >= 0 && x <= keys[k].max) ||
		    (keys[k].whole && x != floor(x))) {
			complain(why, name, k);
			rc = -EINVAL;
			continue;
		}
		out->has[k] = true;
		out->v[k] = x;
	}
	return rc;
}

static int set_adapter(struct ibcc_endport_cc *ep, const struct values *v)
{
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		if (v->has[TIMER])
			ep->ca.sl[sl].CCTI_Timer = (uint16_t)v->v[TIMER];
		if (v->has[INCREASE])
			ep->ca.sl[sl].CCTI_Increase = (uint8_t)v->v[INCREASE];
	}
	if (!v->has[TABLE_END])
		return 0;
	return ibcc_law_table(64u * ep->info.ControlTableCap,
			      (uint32_t)lround(1000 * v->v[TABLE_END]), &ep->cct);
}

static void set_root(const struct ibcc_topo *t, uint32_t port, struct ibcc_settings *s,
		     const struct values *v)
{
	uint32_t endport = ibcc_topo_switch_endport(t, port), peer = t->port[port].peer;
	unsigned int num = t->port[port].num;
	struct ibcc_endport_cc *ep = &s->ep[endport];
	struct ibcc_cc_sw_port_element el = ibcc_settings_effective(ep, num);

	if (ep->support != IBCC_CC_SUPPORTED)
		return;
	if (v->has[THRESHOLD])
		el.Threshold = (uint8_t)v->v[THRESHOLD] & 15;
	if (v->has[MARKING_RATE])
		el.Cong_Parm_Marking_Rate = (uint16_t)v->v[MARKING_RATE];
	if (num < ep->n_element) {
		el.Valid = true;
		ep->element[num] = el;
	} else {
		ep->sw.Threshold = el.Threshold;
		ep->sw.Marking_Rate = el.Cong_Parm_Marking_Rate;
	}
	/* A port to a slow receiver marks only with its bit in the Victim_Mask. */
	if (peer != IBCC_NONE && !ibcc_topo_is_switch(t, t->port[peer].node))
		ibcc_cc_mask_assign(&ep->sw.Victim_Mask, num, true);
}

int ibcc_what_if(const struct ibcc_topo *t, const struct ibcc_root *root, uint32_t n_roots,
		 const struct ibcc_settings *wanted, const json_t *set, struct ibcc_settings *out,
		 struct ibcc_why *why)
{
	struct values v;
	int rc = read_values(set, &v, why);

	if (!rc)
		rc = ibcc_settings_copy(out, wanted);
	if (rc)
		return rc == -ENOMEM ? ibcc_why_set(why, rc, "no memory") : rc;
	/* Include the adapters that the plan throttles and those of this polling cycle: a cycle may
	 * miss some.
	 */
	for (uint32_t i = 0; i < out->n && !rc; i++)
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node) &&
		    ibcc_settings_are_on(&wanted->ep[i]))
			rc = set_adapter(&out->ep[i], &v);
	for (uint32_t r = 0; r < n_roots && !rc; r++) {
		if (v.has[THRESHOLD] || v.has[MARKING_RATE])
			set_root(t, root[r].port, out, &v);
		for (uint32_t i = 0; i < root[r].n_sources && !rc; i++) {
			uint32_t ep = t->port[root[r].source[i].port].endport;

			if (out->ep[ep].support == IBCC_CC_SUPPORTED)
				rc = set_adapter(&out->ep[ep], &v);
		}
	}
	if (rc)
		ibcc_settings_fini(out);
	return rc ? ibcc_why_set(why, rc,
				 "table_end: no table can end there: try a value nearer to the "
				 "present one (ibcc-tune show)")
		  : 0;
}
