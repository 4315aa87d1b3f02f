/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From a root's parameters to marking profiles of its port (overlay_dcqcn.h). */
#include "overlay_dcqcn.h"

#include <ibcc/vendor.h>
#include <ibcc/vendor_cc.h>

/* The reaction's parameters of a root's first member that reported them. */
static const struct ibcc_dcqcn_rp *rp_of(const struct ibcc_root_parameters *r,
					 const struct ibcc_settings *actual)
{
	for (uint32_t e = 0; e < actual->n; e++)
		if (r->member[e] && actual->ep[e].rp_known)
			return &actual->ep[e].rp;
	return NULL;
}

/* What feedback makes of the share of packets that is marked at `max`. */
static uint32_t scaled(uint32_t percent, uint32_t permille)
{
	uint64_t v = (uint64_t)percent * permille / 1000;

	return v < 1 ? 1 : v > 100 ? 100 : (uint32_t)v;
}

static int make(const struct ibcc_topo *t, const struct ibcc_root_parameters *r,
		const struct ibcc_settings *actual, uint32_t switch_bytes,
		struct ibcc_advice *advice)
{
	struct ibcc_advice_root root = { .mbps = r->rate_mbps, .n = r->n, .feeds = 1 };
	uint32_t own = ibcc_vendor_port_buffer(switch_bytes, t, r->port);
	struct ibcc_advice_in in = { .rp = rp_of(r, actual),
				     .packet_bytes = r->packet_bytes,
				     .buffer_bytes = own ? own : IBCC_ADVICE_BUFFER_BYTES,
				     .n_roots = 1,
				     .root = &root };

	if (!in.rp || ibcc_advice_make(&in, advice))
		return -1;
	advice->percent = scaled(advice->percent, r->table_scale_permille);
	return 0;
}

static uint32_t in_units(uint32_t bytes, uint32_t unit)
{
	uint32_t n = bytes / unit;

	return n < IBCC_VCC_FIELD_MAX ? n : IBCC_VCC_FIELD_MAX;
}

bool ibcc_overlay_dcqcn(const struct ibcc_topo *t, const struct ibcc_root_parameters *r,
			const struct ibcc_settings *actual, struct ibcc_endport_cc *sw,
			struct ibcc_advice *advice)
{
	unsigned int num = t->port[r->port].num;
	struct ibcc_cc_profile *at = num < sw->n_profile ? &sw->profile[num] : NULL;
	uint32_t unit;

	if (!at || !at->known || !at->used || make(t, r, actual, sw->buffer_bytes, advice))
		return false;
	unit = ibcc_vcc_profile_unit(at->data);
	for (unsigned int k = 0; k < IBCC_VCC_PROFILES; k++) {
		struct ibcc_vcc_profile p = ibcc_vcc_profile_get(at->data, k);

		if (!(at->used >> k & 1))
			continue;
		p.percent = (uint8_t)advice->percent;
		if (unit) {
			p.min = in_units(advice->min_bytes, unit);
			p.max = in_units(advice->max_bytes, unit);
		}
		ibcc_vcc_profile_set(at->data, k, &p);
	}
	return true;
}
