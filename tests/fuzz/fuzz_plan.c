/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan with anything in it: told, turned round, carried out on a simulated fabric and taken back.
 * A change is five bytes (node, attribute, modifier, port, block size) and runs of old and new
 * data.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdbool.h>

#include <ibcc/apply.h>
#include <ibcc/inproc.h>
#include <ibcc/json.h>
#include <ibcc/proto.h>
#include <ibcc/scenario_file.h>
#include <ibcc/settings_json.h>

#define SCENARIO    "perftest/scenarios/lustre.yaml"
#define MAX_CHANGES 12u

struct input {
	const uint8_t *data;
	size_t size;
};

static uint8_t take(struct input *in)
{
	if (!in->size)
		return 0;
	in->size--;
	return *in->data++;
}

/* Runs: a length of up to 127 bytes with the value that follows, or (128 and more) with so many
 * bytes of their own; 0 ends.
 */
static void take_data(struct input *in, uint8_t data[IBCC_CC_DATA_BYTES])
{
	unsigned int at = 0;
	uint8_t n;

	while (at < IBCC_CC_DATA_BYTES && (n = take(in))) {
		uint8_t same = n < 128 ? take(in) : 0;

		for (unsigned int i = n & 127; i && at < IBCC_CC_DATA_BYTES; i--)
			data[at++] = n < 128 ? same : take(in);
	}
}

static void take_change(struct input *in, const struct ibcc_topo *t, struct ibcc_change *c)
{
	static const uint16_t attrs[] = { IBCC_CC_ATTR_KEY_INFO, IBCC_CC_ATTR_SW_SETTING,
					  IBCC_CC_ATTR_SW_PORT_SETTING, IBCC_CC_ATTR_CA_SETTING,
					  IBCC_CC_ATTR_CCT };
	const struct ibcc_topo_port *p = &t->port[t->endport[take(in) % t->n_endports]];
	uint8_t attr = take(in);

	*c = (struct ibcc_change){
		.node_guid = t->node[p->node].guid,
		.lid = p->lid,
		.attr_id = attr < 0xf0 ? attrs[attr % 5] : attr,
		.attr_mod = take(in),
		.port = take(in),
		.port_block = take(in),
		.reason = "fuzz",
	};
	take_data(in, c->old_data);
	take_data(in, c->new_data);
}

/* How a change is told. */
static void tell(const struct ibcc_change *c)
{
	json_t *list = json_array();
	char *text;

	FUZZ_CHECK(list && !ibcc_json_change(list, c, "node", "verified"));
	text = ibcc_json_dump(list);
	FUZZ_CHECK(text);
	free(text);
	json_decref(list);
	ibcc_plan_verify(c->attr_id, c->attr_mod, c->new_data, c->old_data);
}

/* What came as bytes leaves as the same. */
static void send_on(struct ibcc_plan *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		uint8_t wire[4096];
		struct ibcc_change c;
		size_t len = ibcc_proto_change_encode(&p->change[i], wire);

		if (ibcc_proto_change_decode(wire, len, &c))
			continue; /* it may not be written */
		FUZZ_CHECK(ibcc_plan_verify(c.attr_id, c.attr_mod, c.new_data, c.new_data));
		FUZZ_CHECK(!memcmp(c.new_data, p->change[i].new_data, sizeof(c.new_data)));
		p->change[n++] = c;
	}
	p->n = n;
}

static void carry_out(struct ibcc_transport *t, const struct ibcc_plan *p)
{
	const struct ibcc_apply_options o = { 0 };
	struct ibcc_result r = { 0 };
	int rc;

	FUZZ_CHECK(!ibcc_result_init(&r, p->n));
	rc = ibcc_apply_run(t, p, &o, &r);
	FUZZ_CHECK(rc == 0 || rc == -EIO);
	FUZZ_CHECK((rc == 0) == (r.n_verified == p->n));
	for (uint32_t i = 0; i < r.n; i++)
		FUZZ_CHECK(r.change[i].outcome != IBCC_OUTCOME_PENDING);
	ibcc_result_fini(&r);
}

static void use(const struct ibcc_scenario *sc, struct ibcc_plan *p)
{
	struct ibcc_plan back = { 0 }, again = { 0 };
	struct ibcc_transport *t;
	char why[200];
	int err = 0;

	for (uint32_t i = 0; i < p->n; i++)
		tell(&p->change[i]);
	FUZZ_CHECK(!ibcc_plan_reverse(p, &back) && !ibcc_plan_reverse(&back, &again));
	FUZZ_CHECK(again.n == p->n);
	if (p->n)
		FUZZ_CHECK(!memcmp(again.change, p->change, p->n * sizeof(*p->change)));
	ibcc_plan_fini(&again);
	send_on(p);
	t = ibcc_inproc_open(sc, NULL, &err, NULL);
	FUZZ_CHECK(t);
	carry_out(t, p);
	ibcc_engine_run(ibcc_inproc_engine(t), 20 * IBCC_PS_PER_US);
	send_on(&back);
	carry_out(t, &back);
	ibcc_engine_run(ibcc_inproc_engine(t), 40 * IBCC_PS_PER_US);
	FUZZ_CHECK(!ibcc_engine_check(ibcc_inproc_engine(t), why, sizeof(why)));
	ibcc_transport_free(t);
	ibcc_plan_fini(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ibcc_scenario sc;
	struct input in = { data, size };
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_plan p = { 0 };
	struct ibcc_change c;

	if (!sc.topo)
		FUZZ_CHECK(ibcc_scenario_load(SCENARIO, &sc, &errors) == 0);
	while (in.size && p.n < MAX_CHANGES) {
		take_change(&in, sc.topo, &c);
		FUZZ_CHECK(!ibcc_plan_append(&p, &c));
	}
	use(&sc, &p);
	ibcc_plan_fini(&p);
	return 0;
}
