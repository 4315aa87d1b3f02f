/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Anything as a support bundle: refused with a reason, or a fabric that can be predicted for. */
#include <jansson.h>

#include "daemon/bundle/bundle.h"
#include "daemon/report/report.h"
#include "tests/fuzz/fuzz.h"

/* Simulated milliseconds of one input. */
#define MOST_MS 2u
/* Larger ones take long, and tell nothing more. */
#define MOST_PORTS 512u

static uint64_t a_second_each(void *arg)
{
	return ++*(uint64_t *)arg * 1000000000u;
}

static void predict(struct ibcc_evidence *e)
{
	uint64_t asked = 0;
	struct ibcc_prediction p;
	json_t *o;

	e->in.cpu_ns = a_second_each;
	e->in.arg = &asked;
	e->in.budget_ns = (MOST_MS + 1) * 1000000000u;
	if (ibcc_predict(&e->in, &p))
		return;
	o = ibcc_report_prediction(e->topo, &e->in, &p);
	FUZZ_CHECK(json_is_object(o));
	json_decref(o);
	ibcc_prediction_fini(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *o = json_loadb((const char *)data, size, 0, NULL), *again;
	struct ibcc_why why = { "" };
	struct ibcc_bundle b;

	if (!o)
		return 0;
	if (ibcc_bundle_read(o, o, &b, &why)) {
		FUZZ_CHECK(why.text[0] != '\0');
	} else if (b.e.topo->n_ports <= MOST_PORTS) {
		/* What was read is written as it was understood. */
		again = ibcc_evidence_write(&b.e);
		FUZZ_CHECK(json_is_object(again));
		json_decref(again);
		predict(&b.e);
	}
	ibcc_bundle_fini(&b);
	json_decref(o);
	return 0;
}
