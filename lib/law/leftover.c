/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What an earlier tuner left on the fabric: it stays as long as a root may need it, then it goes.
 */
#include <ibcc/target.h>

#include <errno.h>

#include <ibcc/ledger.h>
#include <ibcc/vendor_cc.h>

/* Does a root mark by what was left there? Then it may be what holds its congestion back, from
 * which no other traffic suffers that the tuner could see.
 */
static bool is_needed(const struct ibcc_ledger *l, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, const struct ibcc_estimate *pic)
{
	for (uint32_t k = 0; k < pic->n_roots; k++) {
		uint32_t port = pic->root[k].port, sw = ibcc_topo_switch_endport(t, port);

		if (sw < l->n && l->hold[sw] == IBCC_LEDGER_LEFT &&
		    (ibcc_settings_port_marks(&actual->ep[sw], t->port[port].num) ||
		     ibcc_settings_profiles_mark(&actual->ep[sw], t->port[port].num)))
			return true;
	}
	return false;
}

static int put_back(const struct ibcc_ledger *l, uint32_t endport, struct ibcc_target *target)
{
	static const uint16_t annex[] = { IBCC_CC_ATTR_SW_SETTING, IBCC_CC_ATTR_SW_PORT_SETTING,
					  IBCC_CC_ATTR_CA_SETTING, IBCC_CC_ATTR_CCT };
	static const uint16_t profile = IBCC_VCC_ATTR_SW_PROFILE;
	bool dcqcn = target->wanted.ep[endport].mechanism == IBCC_MECHANISM_DCQCN;
	const uint16_t *attr = dcqcn ? &profile : annex;
	size_t n = dcqcn ? 1 : sizeof(annex) / sizeof(annex[0]);

	for (size_t i = 0; i < n; i++)
		if (!ibcc_target_add(target, endport, attr[i], IBCC_REASON_LEFT))
			return -ENOMEM;
	return ibcc_endport_cc_copy(&target->wanted.ep[endport], &l->base.ep[endport]);
}

int ibcc_ledger_lay(struct ibcc_ledger *l, const struct ibcc_topo *t,
		    const struct ibcc_settings *actual, const struct ibcc_estimate *pic,
		    uint32_t keep_passes, struct ibcc_target *target)
{
	uint32_t n = 0;
	bool goes;
	int rc = 0;

	if (!l->n_left)
		return 0;
	l->passes =
		is_needed(l, t, actual, pic) ? 0 : l->passes + (pic->trustworthy && !pic->partial);
	goes = l->passes >= keep_passes;
	for (uint32_t e = 0; !rc && e < l->n && e < actual->n; e++) {
		if (l->hold[e] != IBCC_LEDGER_LEFT || actual->ep[e].support != IBCC_CC_SUPPORTED)
			continue;
		n++;
		if (goes)
			rc = put_back(l, e, target);
	}
	target->decisions.n_left = n;
	target->decisions.left_goes = n && goes;
	return rc;
}
