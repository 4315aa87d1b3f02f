/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The three ways of carrying out a plan (applier.h): not at all (dry run), by a port of this
 * host, by OpenSM's plugin. Each has a check before a plan (ready) and the run itself.
 */
#include <ibcc/applier.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/apply.h>
#include <ibcc/keyring.h>
#include <ibcc/mad.h>
#include <ibcc/plugin_client.h>
#include <ibcc/text.h>

struct own_port {
	struct ibcc_applier base;
	struct ibcc_transport *transport; /* NULL: the null applier */
	uint64_t cc_key;
	bool prove_lids;
	struct ibcc_set_budget budget;
};

struct by_plugin {
	struct ibcc_applier base;
	struct ibcc_plugin *plugin;
	uint64_t cc_key;
	const struct ibcc_keyring *keyring;
};

/* The null applier runs the same checks as the real one, so that both judge a plan alike. */
static int own_port_run(struct ibcc_applier *a, const struct ibcc_plan *plan, struct ibcc_result *r,
			struct ibcc_why *why)
{
	struct own_port *o = (struct own_port *)a;
	struct ibcc_why left_out = { "" };
	struct ibcc_apply_options opt = { .cc_key = o->cc_key,
					  .dry = !o->transport,
					  .prove_lids = o->prove_lids,
					  .bounds = &a->bounds,
					  .budget = &o->budget,
					  .left_out = &left_out };
	int rc = ibcc_apply_run(o->transport, plan, &opt, r);

	if (rc == -EIO && left_out.text[0])
		return ibcc_why_set(why, rc, "some nodes are left out: %s", left_out.text);
	if (rc == -EIO)
		return ibcc_why_set(why, rc, "%u of %u change%s did not take effect", r->n_failed,
				    r->n, ibcc_text_plural(r->n, "", "s"));
	if (rc)
		return ibcc_why_set(why, rc,
				    "the plan was not applied completely: it was canceled, or this "
				    "host has no memory");
	return 0;
}

static int own_port_ready(struct ibcc_applier *a, struct ibcc_why *why)
{
	(void)a;
	(void)why;
	return 0;
}

/* The plugin would refuse as well, but only after the plan has been stored and sent. */
static int by_plugin_ready(struct ibcc_applier *a, struct ibcc_why *why)
{
	struct by_plugin *b = (struct by_plugin *)a;
	const struct ibcc_proto_state *s;
	int rc;

	ibcc_plugin_poll(b->plugin);
	rc = ibcc_plugin_connect(b->plugin, why);
	if (!rc && ibcc_plugin_silent_ms(b->plugin) > IBCC_PLUGIN_PATIENCE_MS)
		rc = ibcc_plugin_stopped(b->plugin, why);
	if (rc)
		return rc;
	s = ibcc_plugin_state(b->plugin);
	if (s->own_cc)
		return ibcc_why_set(why, -EPERM, "%s", ibcc_proto_own_cc_text(s->own_cc));
	if (s->sm_state != IBCC_SM_MASTER)
		return ibcc_why_set(why, -EPERM,
				    "the subnet manager here is %s and may not write: the MASTER "
				    "does, with its own daemon",
				    ibcc_proto_sm_state_name(s->sm_state));
	return 0;
}

static int by_plugin_run(struct ibcc_applier *a, const struct ibcc_plan *plan,
			 struct ibcc_result *r, struct ibcc_why *why)
{
	struct by_plugin *b = (struct by_plugin *)a;

	struct ibcc_plan keyed = { .generation = plan->generation, .back = plan->back };
	int rc = 0;

	if (!b->keyring)
		return ibcc_plugin_apply(b->plugin, plan, b->cc_key, r, why);
	for (uint32_t i = 0; i < plan->n && !rc; i++) {
		rc = ibcc_plan_append(&keyed, &plan->change[i]);
		if (!rc && !keyed.change[i].cc_key)
			keyed.change[i].cc_key =
				ibcc_keyring_cc_key(b->keyring, plan->change[i].lid);
	}
	rc = rc ? ibcc_why_set(why, rc, "no memory")
		: ibcc_plugin_apply(b->plugin, &keyed, b->cc_key, r, why);
	if (keyed.change)
		explicit_bzero(keyed.change, keyed.n * sizeof(*keyed.change));
	ibcc_plan_fini(&keyed);
	return rc;
}

static void own_port_free(struct ibcc_applier *a)
{
	ibcc_set_budget_fini(&((struct own_port *)a)->budget);
	free(a);
}

static void by_plugin_free(struct ibcc_applier *a)
{
	free(a);
}

static const struct ibcc_applier_ops own_port_ops = { own_port_ready, own_port_run, own_port_free };
static const struct ibcc_applier_ops by_plugin_ops = { by_plugin_ready, by_plugin_run,
						       by_plugin_free };

static const struct ibcc_bounds unbounded = { .max_delay = IBCC_CCT_MAX_MULT,
					      .max_timer = UINT16_MAX };

void ibcc_applier_set_bounds(struct ibcc_applier *a, const struct ibcc_bounds *bounds)
{
	a->bounds = *bounds;
}

void ibcc_applier_set_keyring(struct ibcc_applier *a, const struct ibcc_keyring *k)
{
	if (a->ops == &by_plugin_ops)
		((struct by_plugin *)a)->keyring = k;
}

struct ibcc_applier *ibcc_applier_null_new(void)
{
	struct own_port *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->base = (struct ibcc_applier){ &own_port_ops, "none", false, unbounded };
	return &o->base;
}

struct ibcc_applier *ibcc_applier_direct_new(struct ibcc_transport *t, uint64_t cc_key,
					     bool prove_lids)
{
	struct own_port *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->base = (struct ibcc_applier){ &own_port_ops, "direct", true, unbounded };
	o->transport = t;
	o->cc_key = cc_key;
	o->prove_lids = prove_lids;
	return &o->base;
}

struct ibcc_applier *ibcc_applier_plugin_new(struct ibcc_plugin *p, uint64_t cc_key)
{
	struct by_plugin *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->base = (struct ibcc_applier){ &by_plugin_ops, "plugin", true, unbounded };
	b->plugin = p;
	b->cc_key = cc_key;
	return &b->base;
}
