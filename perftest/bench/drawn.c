/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/drawn.h"

#include "perftest/bench/draw.h"

int ibcc_drawn_static(const struct ibcc_scenario *s, double *share)
{
	struct ibcc_measure m;
	int rc = ibcc_measure_run(s, 0, &m, NULL);

	if (rc)
		return rc;
	*share = ibcc_draw_share(&m);
	ibcc_measure_fini(&m);
	return 0;
}

int ibcc_drawn_live(const struct ibcc_scenario *s, double *share, struct ibcc_live_result *r)
{
	struct ibcc_live_options o;
	struct ibcc_measure m;
	int rc;

	ibcc_live_defaults(&o);
	rc = ibcc_live_run(s, &o, 0, &m, r);
	if (rc)
		return rc;
	*share = ibcc_draw_share(&m);
	ibcc_measure_fini(&m);
	return 0;
}
