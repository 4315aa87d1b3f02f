/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a plan may be carried out on this fabric (precheck.h). No node may refuse our key, and
 * the nodes that the plan needs, or all nodes, must have congestion control. Also has the sentences
 * that say why a node is not used.
 */
#include <ibcc/precheck.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/device.h>
#include <ibcc/mad.h>
#include <ibcc/text.h>

const char *ibcc_precheck_reason(const struct ibcc_endport_cc *ep)
{
	switch (ep->support) {
	case IBCC_CC_SUPPORTED: return NULL;
	case IBCC_CC_UNSUPPORTED: return "has no congestion control";
	case IBCC_CC_KEY_REFUSED: return "does not accept this CC_Key: see key_dir or cc_key_file";
	case IBCC_CC_VENDOR_ON: return "has NVIDIA's own congestion control on";
	case IBCC_CC_VENDOR_SILENT:
		return "does not say whether NVIDIA's own congestion control is on";
	case IBCC_CC_FOREIGN:
		return "has settings that another program wrote: \"ibcc-tune repair\" or "
		       "\"apply\" overwrites them";
	case IBCC_CC_LOG_ONLY: return ibcc_device_facts(IBCC_GENERATION_EDR)->refusal;
	case IBCC_CC_NO_EFFECT: return "accepts settings, but they have no effect";
	case IBCC_CC_UNKNOWN:
		if (ep->told && ep->err == -EREMOTEIO && ep->status & IBCC_MAD_STATUS_REFUSED)
			return "refuses congestion control requests for now";
		if (ep->err == -ETIMEDOUT)
			return "answers other requests but no congestion control requests: it "
			       "probably has another CC_Key (key_dir, cc_key_file)";
		return ep->err ? "does not answer congestion control requests"
			       : "has not been asked yet about congestion control";
	}
	return "is in a state that ibcc-tune does not know";
}

static bool has_refused(const struct ibcc_endport_cc *ep)
{
	return ep->support == IBCC_CC_UNKNOWN && ep->told && ep->err == -EREMOTEIO;
}

uint32_t ibcc_precheck_refusals(const struct ibcc_topo *t, const struct ibcc_settings *s,
				struct ibcc_why *text)
{
	uint32_t n = 0, first = 0;
	char name[IBCC_DESC_BYTES + 16];

	text->text[0] = '\0';
	for (uint32_t i = 0; i < t->n_endports && i < s->n; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];

		if (p->lid && ibcc_device_takes_part(t, p->node) && has_refused(&s->ep[i]) && !n++)
			first = i;
	}
	if (!n)
		return 0;
	ibcc_topo_port_name(t, t->endport[first], name, sizeof(name));
	ibcc_why_set(text, 0,
		     "%u node%s answer%s congestion control requests with errors now (the first: "
		     "%s): %s settings are not known, and nothing is written there; the daemon "
		     "asks again; if this lasts, look at the firmware",
		     n, ibcc_text_plural(n, "", "s"), ibcc_text_plural(n, "s", ""), name,
		     ibcc_text_plural(n, "its", "their"));
	return n;
}

static void need_port(const struct ibcc_topo *t, bool *needed, uint32_t port)
{
	uint32_t node = t->port[port].node;

	/* A switch answers at its port 0, whichever of its ports the question is about. */
	if (ibcc_topo_is_switch(t, node))
		port = t->node[node].first_port;
	if (t->port[port].endport != IBCC_NONE)
		needed[t->port[port].endport] = true;
}

static int refuse(int err, const struct ibcc_topo *t, const struct ibcc_settings *s, uint32_t first,
		  uint32_t n, struct ibcc_why *why)
{
	char name[IBCC_DESC_BYTES + 16], others[32] = "";

	if (n > 1)
		snprintf(others, sizeof(others), " (and %u more)", n - 1);
	ibcc_topo_port_name(t, t->endport[first], name, sizeof(name));
	return ibcc_why_set(why, err, "%s %s%s", name, ibcc_precheck_reason(&s->ep[first]), others);
}

int ibcc_precheck_run(enum ibcc_precheck gate, const struct ibcc_topo *t,
		      const struct ibcc_settings *s, const struct ibcc_estimate *e,
		      const struct ibcc_target *target, struct ibcc_why *why)
{
	uint32_t n_key = 0, n_lacking = 0, first_key = 0, first_lacking = 0, i, r, k;
	bool *needed = calloc(t->n_endports ? t->n_endports : 1, sizeof(*needed));

	if (!needed)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	for (r = 0; r < e->n_roots; r++) {
		need_port(t, needed, e->root[r].port);
		for (k = 0; k < e->root[r].n_sources; k++)
			if (e->root[r].source[k].role != IBCC_ROLE_VICTIM)
				need_port(t, needed, e->root[r].source[k].port);
	}
	for (i = 0; i < target->n_without; i++)
		needed[target->without[i]] = true;
	for (i = t->n_endports; i-- > 0;) {
		const struct ibcc_endport_cc *ep = &s->ep[i];

		if (!t->port[t->endport[i]].lid || ep->support == IBCC_CC_SUPPORTED ||
		    !ibcc_device_takes_part(t, t->port[t->endport[i]].node))
			continue;
		if (ep->support == IBCC_CC_KEY_REFUSED) {
			n_key++;
			first_key = i;
		} else if (gate == IBCC_PRECHECK_ALL_NODES || needed[i]) {
			n_lacking++;
			first_lacking = i;
		}
	}
	free(needed);
	if (n_key)
		return refuse(-EACCES, t, s, first_key, n_key, why);
	if (n_lacking)
		return refuse(-EOPNOTSUPP, t, s, first_lacking, n_lacking, why);
	return 0;
}
