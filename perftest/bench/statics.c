/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/statics.h"

#include <string.h>

#include <ibcc/measure.h>

struct ibcc_dcqcn_profile ibcc_statics_profile(uint32_t i, uint32_t buffer_bytes)
{
	/* Thresholds in sixteenths of the buffer. */
	static const struct {
		uint8_t min, max, percent;
	} all[IBCC_STATICS] = { { 1, 4, 1 },   { 1, 64, 100 }, { 4, 64, 100 },
				{ 8, 16, 25 }, { 8, 32, 5 },   { 16, 64, 25 } };

	return (struct ibcc_dcqcn_profile){ .min = buffer_bytes / 16 * all[i].min,
					    .max = buffer_bytes / 16 * all[i].max,
					    .percent = all[i].percent };
}

static int deliver(const struct ibcc_scenario *s, double *mbps)
{
	struct ibcc_measure m;
	int rc = ibcc_measure_run(s, 0, &m, NULL);

	if (rc)
		return rc;
	*mbps = 0;
	for (uint32_t i = 0; i < m.n_flows; i++)
		*mbps += m.flow[i].throughput_mbps;
	ibcc_measure_fini(&m);
	return 0;
}

int ibcc_statics_search(struct ibcc_scenario *s)
{
	struct ibcc_dcqcn best = s->model.dcqcn, *d = &s->model.dcqcn;
	double most, mbps;
	int rc;

	/* A scenario without profiles marks on no SL. */
	memset(d->sl2profile, 1, sizeof(d->sl2profile));
	best.enabled = d->enabled = false;
	rc = deliver(s, &most);
	for (uint32_t i = 0; i < IBCC_STATICS && !rc; i++) {
		d->enabled = true;
		d->profile[0] = ibcc_statics_profile(i, s->model.buffer_bytes);
		rc = deliver(s, &mbps);
		if (rc || mbps <= most)
			continue;
		most = mbps;
		best = *d;
	}
	*d = best;
	return rc;
}
