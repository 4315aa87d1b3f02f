/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The loop, from reading counters to writing settings, on a fabric of which some answers are lies:
 * the agents of a packet engine answer, and the input says which answers are altered and how.
 * Behind its end all are honest. The first byte: whether plans are carried out, and of how many
 * nodes ports are read in three of four turns.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdbool.h>

#include <ibcc/cycle.h>
#include <ibcc/inproc.h>
#include <ibcc/proto.h>
#include <ibcc/scenario_file.h>

#include "daemon/report/report.h"

#define SCENARIO "perftest/scenarios/lustre.yaml"
#define PASSES   10
#define PASS_PS  (40 * IBCC_PS_PER_US)

/* Until the input ends: so many answers are as they are, then one of these is done to the next. */
enum lie {
	LIE_SILENT,
	LIE_STATUS,   /* of two bytes */
	LIE_BYTES,    /* written over: where, how many, which */
	LIE_FILL,     /* where, how many, with what */
	LIE_ALWAYS,   /* this node and attribute from now on: where, four bytes */
	LIE_CLOCK,    /* ours jumps ahead, by a power of two of nanoseconds */
	LIE_PORT,     /* the port is gone */
	LIE_TOPOLOGY, /* another one, after this pass */
	N_LIES,
};

struct liar {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	const uint8_t *data;
	size_t size;
	uint8_t honest; /* so many answers still */
	uint64_t ahead_ns;
	bool replace;
	struct {
		uint16_t lid, attr;
		uint8_t at, with[4];
	} always;
};

static uint8_t next(struct liar *l)
{
	if (!l->size)
		return 0;
	l->size--;
	return *l->data++;
}

static uint16_t attr_of(const struct ibcc_mad_op *op)
{
	return (uint16_t)(op->mad[16] << 8 | op->mad[17]);
}

static void overwrite(struct liar *l, struct ibcc_mad_op *op, bool fill)
{
	size_t at = IBCC_MAD_DATA_OFFS - 40 + next(l), n = next(l) % 64u;
	uint8_t with = fill ? next(l) : 0;

	for (; n && at < IBCC_MAD_BYTES; n--, at++)
		op->mad[at] = fill ? with : next(l);
}

static void set_status(struct ibcc_mad_op *op, uint16_t status)
{
	op->status = status;
	op->err = status ? -EREMOTEIO : 0;
}

static int lie(struct liar *l, struct ibcc_mad_op *op)
{
	switch ((enum lie)(next(l) % N_LIES)) {
	case LIE_SILENT: op->err = -ETIMEDOUT; break;
	case LIE_STATUS: set_status(op, (uint16_t)(next(l) << 8 | next(l))); break;
	case LIE_BYTES: overwrite(l, op, false); break;
	case LIE_FILL: overwrite(l, op, true); break;
	case LIE_ALWAYS:
		l->always.lid = op->lid;
		l->always.attr = attr_of(op);
		l->always.at = next(l);
		for (unsigned int i = 0; i < 4; i++)
			l->always.with[i] = next(l);
		break;
	case LIE_CLOCK: l->ahead_ns += 1ull << next(l) % 48; break;
	case LIE_PORT: op->err = -EIO; return -EIO;
	case LIE_TOPOLOGY: l->replace = true; break;
	case N_LIES: break;
	}
	l->honest = next(l);
	return 0;
}

static int liar_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct liar *l = (struct liar *)t;
	int rc = ibcc_transport_run(l->inner, op, n);

	t->stats = l->inner->stats;
	for (size_t i = 0; i < n; i++) {
		if (rc)
			op[i].err = rc;
		else if (l->honest)
			l->honest--;
		else if (l->size)
			rc = lie(l, &op[i]);
		if (op[i].lid == l->always.lid && attr_of(&op[i]) == l->always.attr)
			memcpy(op[i].mad + l->always.at % (IBCC_MAD_BYTES - 4), l->always.with, 4);
		op[i].t_ns += l->ahead_ns;
	}
	return rc;
}

static uint64_t liar_now_ns(struct ibcc_transport *t)
{
	struct liar *l = (struct liar *)t;

	return ibcc_transport_now_ns(l->inner) + l->ahead_ns;
}

static const struct ibcc_transport_ops liar_ops = { .run = liar_run, .now_ns = liar_now_ns };

/* Whatever it was told, what the loop wants written makes sense to the writer. */
static void check_plan(const struct ibcc_cycle *c)
{
	uint8_t wire[4096];
	struct ibcc_change again;

	for (uint32_t i = 0; i < c->plan.n; i++) {
		size_t len = ibcc_proto_change_encode(&c->plan.change[i], wire);

		FUZZ_CHECK(ibcc_proto_change_decode(wire, len, &again) == 0);
	}
}

static void check_reports(const struct ibcc_cycle *c)
{
	json_t *o = c->decided ? ibcc_report_plan(c, "fuzz") : ibcc_report_fabric(c, "fuzz");
	char *text = json_dumps(o, JSON_COMPACT);

	FUZZ_CHECK(text); /* a number that is none, a text that is no UTF-8 */
	free(text);
	json_decref(o);
}

/* The same fabric with one more or less link at work. */
static void replace(struct ibcc_cycle *c)
{
	struct ibcc_topo *t = ibcc_topo_clone(c->topo);
	uint32_t i;

	FUZZ_CHECK(t);
	t->generation++;
	for (i = 0; i < t->n_ports && t->port[i].peer == IBCC_NONE; i++)
		;
	FUZZ_CHECK(i < t->n_ports);
	t->port[i].state = t->port[i].state == 4 ? 1 : 4;
	FUZZ_CHECK(ibcc_cycle_set_topology(c, t) == 0);
}

static void turn(struct liar *l, struct ibcc_cycle *c, struct ibcc_applier *a, bool fast)
{
	const struct ibcc_act act = { .applier = a,
				      .fast = fast,
				      .who = "fuzz",
				      .action = "tune",
				      .gate = IBCC_PRECHECK_NODES_OF_TREE };
	struct ibcc_engine *e = ibcc_inproc_engine(l->inner);
	struct ibcc_why why = { "" };
	int rc;

	FUZZ_CHECK(ibcc_engine_run(e, ibcc_engine_now_ps(e) + PASS_PS) == 0);
	rc = ibcc_cycle_run(c, &act, &why);
	FUZZ_CHECK(rc == 0 || (rc == -EIO && why.text[0]));
	FUZZ_CHECK(!c->act_err || c->blocked.text[0]);
	check_plan(c);
	if (l->replace)
		replace(c);
	l->replace = false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct ibcc_scenario sc;
	struct ibcc_cycle_options o = { .pass_deadline_ns = 0 };
	struct liar l = { .base.ops = &liar_ops, .data = data, .size = size };
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_applier *a;
	struct ibcc_cycle c;
	uint8_t first = next(&l);
	int err = 0;

	if (!sc.topo)
		FUZZ_CHECK(ibcc_scenario_load(SCENARIO, &sc, &errors) == 0);
	l.inner = ibcc_inproc_open(&sc, NULL, &err, NULL);
	FUZZ_CHECK(l.inner);
	ibcc_estimator_defaults(&o.estimator);
	ibcc_tuner_defaults(&o.tuner);
	o.focus_nodes = first / 2 % 8;
	FUZZ_CHECK(ibcc_cycle_init(&c, &o, &l.base) == 0);
	FUZZ_CHECK(ibcc_cycle_set_topology(&c, ibcc_topo_clone(sc.topo)) == 0);
	a = first % 2 ? ibcc_applier_direct_new(&l.base, 0, false) : ibcc_applier_null_new();
	FUZZ_CHECK(a);
	l.honest = next(&l);
	for (int i = 0; i < PASSES; i++)
		turn(&l, &c, a, i % 4 != 3);
	check_reports(&c);
	ibcc_cycle_fini(&c);
	ibcc_applier_free(a);
	ibcc_transport_free(l.inner);
	return 0;
}
