/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How fast a whole fabric gets settings that differ by node, and whether unneeded Sets are sent. It
 * pushes the settings, pushes them again, changes one value of one node, and restores the first
 * settings. It writes to the fabric: use `ibcc-sim exec`, or hardware that is free for tests.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/apply.h>
#include <ibcc/collect.h>
#include <ibcc/now.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/lab/lab.h"
#include "perftest/lab/speed.h"

#define RETRIES 3

struct push {
	bool json;
	struct ibcc_topo *topo;
	struct ibcc_transport *tr;
	struct ibcc_settings before; /* as found */
	struct ibcc_target target;
	json_t *steps;
	bool ok;
};

static void individual_switch(struct ibcc_endport_cc *c, uint32_t i)
{
	c->sw.Threshold = (uint8_t)(1 + i % 15);
	c->sw.Marking_Rate = (uint16_t)i;
	for (uint32_t p = 1; p < c->n_element && c->sw_port_block; p++)
		c->element[p] = (struct ibcc_cc_sw_port_element){
			.Valid = true,
			.Threshold = (uint8_t)(1 + (i + p) % 15),
			.Cong_Parm_Marking_Rate = (uint16_t)(i + p),
		};
}

static void individual_adapter(struct ibcc_endport_cc *c, uint32_t i)
{
	uint32_t entries = 64u * c->info.ControlTableCap;

	c->ca.Control_Map = 0xffff;
	for (uint32_t sl = 0; sl < IBCC_CC_SLS; sl++)
		c->ca.sl[sl] = (struct ibcc_cc_ca_entry){
			.CCTI_Timer = (uint16_t)(10 + i + sl),
			.CCTI_Increase = (uint8_t)(1 + (i + sl) % 100),
			.Trigger_Threshold = 1,
		};
	if (entries > 128)
		entries = 128;
	c->cct.limit = (uint16_t)(entries ? entries - 1 : 0);
	for (uint32_t k = 1; k < entries; k++)
		c->cct.entry[k] = (uint16_t)(k + i % 1000);
}

/* Compares the fabric with the target: shows the plan, and the cost of carrying it out. */
static int step(struct push *p, const char *name, const struct ibcc_target *target,
		uint32_t *writes)
{
	struct ibcc_apply_options o = { .cc_key = 0 };
	struct ibcc_settings actual = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result r = { 0 };
	uint64_t sent;
	double s;
	int rc;

	rc = ibcc_readback_run(p->tr, p->topo, 0, &actual);
	if (!rc)
		rc = ibcc_planner_run(p->topo, &actual, target, &plan);
	if (!rc)
		rc = ibcc_result_init(&r, plan.n);
	sent = p->tr->stats.sent;
	s = ibcc_now_s();
	if (!rc)
		rc = ibcc_apply_run(p->tr, &plan, &o, &r);
	s = ibcc_now_s() - s;
	sent = p->tr->stats.sent - sent;
	if (!rc || rc == -EIO) {
		*writes = plan.n;
		json_array_append_new(p->steps,
				      json_pack("{ss si si si sI sf}", "step", name, "writes",
						(int)plan.n, "verified", (int)r.n_verified,
						"set_mads", (int)r.set_mads, "mads",
						(json_int_t)sent, "seconds", s));
		if (!p->json)
			printf("%-24s writes %6u, verified %6u, MADs %6llu, %9.4f s, %8.0f MAD/s\n",
			       name, plan.n, r.n_verified, (unsigned long long)sent, s,
			       sent ? (double)sent / s : 0);
	}
	ibcc_result_fini(&r);
	ibcc_plan_fini(&plan);
	ibcc_settings_fini(&actual);
	return rc;
}

static int want(struct push *p, uint32_t *first_adapter)
{
	int rc = ibcc_settings_copy(&p->target.wanted, &p->before);

	for (uint32_t i = 0; i < p->before.n && !rc; i++) {
		struct ibcc_endport_cc *c = &p->target.wanted.ep[i];

		if (c->support != IBCC_CC_SUPPORTED)
			continue;
		if (ibcc_topo_is_switch(p->topo, p->topo->port[p->topo->endport[i]].node)) {
			individual_switch(c, i);
			continue;
		}
		individual_adapter(c, i);
		if (*first_adapter == IBCC_NONE)
			*first_adapter = i;
	}
	return rc;
}

static int steps(struct push *p)
{
	struct ibcc_target back = { .n_reasons = 0 };
	uint32_t adapter = IBCC_NONE, all = 0, again = 0, one = 0, undo = 0, rest = 0;
	int rc = ibcc_readback_run(p->tr, p->topo, 0, &p->before);

	if (!rc)
		rc = want(p, &adapter);
	if (!rc)
		rc = step(p, "to each its own", &p->target, &all);
	if (!rc)
		rc = step(p, "the same again", &p->target, &again);
	if (!rc && adapter != IBCC_NONE) {
		p->target.wanted.ep[adapter].ca.sl[0].CCTI_Timer++;
		rc = step(p, "one value of one node", &p->target, &one);
	}
	back.wanted = p->before; /* a view */
	if (!rc)
		rc = step(p, "back", &back, &undo);
	if (!rc)
		rc = step(p, "back again", &back, &rest);
	p->ok = !rc && all && !again && one == 1 && undo == all && !rest;
	return rc;
}

static int push(struct push *p)
{
	struct ibcc_umad_options o = { .window = IBCC_SPEED_WINDOW,
				       .timeout_ms = IBCC_SPEED_TIMEOUT_MS,
				       .retries = RETRIES };
	char why[256];
	int err = 0;

	p->tr = ibcc_umad_open(&o, &err, why, sizeof(why));
	if (p->tr)
		p->topo = ibcc_discover_walk(p->tr, &err, why, sizeof(why));
	if (!p->topo) {
		ibcc_command_say("%s", why);
		return err;
	}
	return steps(p);
}

static const struct ibcc_option options[] = { IBCC_OPTION_JSON(struct push) };

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct ibcc_yaml_errors none = { 0 };
	struct push p = { .json = false };
	int first, rc;

	if (ibcc_command_read(c, argc, argv, &p, &first))
		return IBCC_EXIT_ERROR;
	p.steps = json_array();
	rc = push(&p);
	if (!rc && p.json)
		rc = ibcc_report_json(json_pack("{si si sO sb}", "schema", 1, "nodes",
						(int)p.topo->n_nodes, "steps", p.steps, "ok", p.ok),
				      false, stdout);
	json_decref(p.steps);
	ibcc_target_fini(&p.target);
	ibcc_settings_fini(&p.before);
	ibcc_transport_free(p.tr);
	ibcc_topo_free(p.topo);
	if (rc)
		return ibcc_bench_fail("push", rc, &none);
	return p.ok ? IBCC_EXIT_OK : IBCC_EXIT_ERROR;
}

const struct ibcc_command ibcc_lab_push = {
	.name = "push",
	.what = "measure changing, and restoring, the settings of all nodes",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
