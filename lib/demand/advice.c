/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marking profiles for DCQCN. The formulas are at the declaration. */
#include <errno.h>
#include <math.h>

#include <ibcc/advice.h>
#include <ibcc/equilibrium.h>

/* Finds the root that needs the largest share of marks. -EDOM. */
static int find_worst(const struct ibcc_advice_in *in, struct ibcc_advice *out)
{
	out->mark_share = 0;
	for (uint32_t i = 0; i < in->n_roots; i++) {
		const struct ibcc_advice_root *r = &in->root[i];
		double share = ibcc_equilibrium_mark_share(in->rp, r->mbps, in->packet_bytes, r->n);

		if (isnan(share))
			return -EDOM;
		if (share <= out->mark_share)
			continue;
		out->mark_share = share;
		out->root = i;
	}
	return 0;
}

int ibcc_advice_make(const struct ibcc_advice_in *in, struct ibcc_advice *out)
{
	double percent;
	int rc;

	*out = (struct ibcc_advice){ 0 };
	if (!in->n_roots)
		return -ENOENT;
	rc = find_worst(in, out);
	if (rc)
		return rc;
	if (in->buffer_bytes / IBCC_ADVICE_LEAST_PACKETS < in->packet_bytes)
		return -ENOSPC;
	percent = ceil(100 * IBCC_ADVICE_SWING * out->mark_share);
	if (percent > 100)
		return -ERANGE;
	out->percent = (uint32_t)percent;
	out->max_bytes = in->buffer_bytes;
	out->min_bytes = (uint32_t)(IBCC_ADVICE_MIN_SHARE * in->buffer_bytes);
	out->queue_bytes = ibcc_equilibrium_queue_bytes(out->mark_share, out->min_bytes,
							out->max_bytes, percent / 100);
	out->credit_bytes = (double)in->root[out->root].feeds * in->buffer_bytes;
	return 0;
}
