/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When the daemon writes marking profiles by itself, when only for a person, and what it leaves at
 * its end, or owes: on a fabric of HDR and NDR whose subnet manager moves. Over 700 lines, since
 * all cases need this fabric and the transport below.
 */
#include "services.h"

#include "lib/state/state_db.h"

#include <infiniband/mad.h>

#include <ibcc/control_json.h>
#include <ibcc/json.h>
#include <ibcc/plan_file.h>
#include <ibcc/smp.h>
#include <ibcc/vendor_cc.h>

#define PASS_PS (1000 * IBCC_PS_PER_US)

/* This host has no port, and counts how often it is searched for one. */
static unsigned int n_searches;

bool __wrap_ibcc_umad_is_local(uint64_t port_guid);
bool __wrap_ibcc_umad_is_local(uint64_t port_guid)
{
	(void)port_guid;
	n_searches++;
	return false;
}

/* A transport that also answers for the own port, and can lose what is asked of a port's profiles.
 */
struct line {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	uint16_t lid, sm_lid;
	uint16_t then_sm_lid;         /* the subnet manager from the first Set on; 0: the same */
	uint8_t lost_gets, lost_sets; /* of the profiles of this port; 0: of none */
	uint16_t away;                /* what is for this LID is lost; 0: nothing is */
	unsigned int n_sets;
};

struct scene {
	struct loop l;
	struct line line;
	struct ibcc_config c;
	struct ibcc_service *s;
	struct ibcc_why why;
	char conf[512];
	uint8_t before[3][IBCC_CC_DATA_BYTES]; /* by port of q2 */
};

static int line_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct line *l = (struct line *)t;

	for (size_t i = 0; i < n; i++) {
		uint8_t *mad = op[i].mad;
		bool profile = mad[1] == IBCC_MAD_CLASS_CC && mad[16] == 0xff && mad[17] == 0x09;
		uint8_t lost = mad[3] == IBCC_MAD_SET ? l->lost_sets : l->lost_gets;

		l->n_sets += mad[3] == IBCC_MAD_SET;
		if (mad[3] == IBCC_MAD_SET && l->then_sm_lid)
			l->sm_lid = l->then_sm_lid;
		op[i].err = op[i].status = 0;
		if (op[i].lid == IBCC_SMP_PERMISSIVE_LID) {
			mad_set_field(mad, 64, IB_PORT_LID_F, l->lid);
			mad_set_field(mad, 64, IB_PORT_SMLID_F, l->sm_lid);
			mad_set_field(mad, 64, IB_PORT_STATE_F, 4);
		} else if ((profile && lost && mad[23] == lost) ||
			   (l->away && op[i].lid == l->away)) {
			op[i].err = -ETIMEDOUT;
		} else {
			assert_int_equal(ibcc_transport_run(l->inner, &op[i], 1), 0);
		}
	}
	t->stats = l->inner->stats;
	return 0;
}

static uint64_t line_now(struct ibcc_transport *t)
{
	return ibcc_transport_now_ns(((struct line *)t)->inner);
}

static void line_free(struct ibcc_transport *t)
{
	ibcc_transport_free(((struct line *)t)->inner);
}

static const struct ibcc_transport_ops line_ops = { .run = line_run,
						    .now_ns = line_now,
						    .free = line_free };

static uint16_t lid_of(const struct scene *x, const char *desc)
{
	const struct ibcc_topo *t = x->l.sc.topo;
	uint32_t node = ibcc_topo_find_desc(t, desc);

	return t->port[t->node[node].first_port + !ibcc_topo_is_switch(t, node)].lid;
}

/* The scenario with a profile that marks too late for its buffers. Later another server gets slow,
 * at port 2 of the same switch.
 */
static const char *late(void)
{
	static const struct {
		const char *from, *to;
	} edit[] = { { "  - {sink: n1, rate: 60 Gb/s}\n",
		       "  - {sink: n1, rate: 60 Gb/s}\n"
		       "  - {sink: n2, at_ms: 10, rate: 2 Gb/s}\n" },
		     { "buffer_bytes: 1048576", "buffer_bytes: 131072" },
		     { "{min: 100000, max: 400000, percent: 20}",
		       "{min: 1000000, max: 1040000, percent: 1}" } };
	char *text = files_read("perftest/scenarios/hdr-ndr.yaml"), *next;
	const char *path;

	for (size_t i = 0; i < sizeof(edit) / sizeof(edit[0]); i++) {
		char *at = strstr(text, edit[i].from);

		assert_non_null(at);
		*at = '\0';
		assert_true(asprintf(&next, "%s%s%s", text, edit[i].to, at + strlen(edit[i].from)) >
			    0);
		free(text);
		text = next;
	}
	path = files_write("late.yaml", text);
	free(text);
	return path;
}

/* The profiles of the port at which the congestion starts. */
static void profiles(struct scene *x, unsigned int port, uint8_t *data)
{
	struct ibcc_mad_op op = { .lid = lid_of(x, "q2") };

	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, IBCC_VCC_ATTR_SW_PROFILE, port);
	assert_int_equal(ibcc_transport_run(x->line.inner, &op, 1), 0);
	assert_int_equal(op.err, 0);
	memcpy(data, op.mad + IBCC_MAD_DATA_OFFS, IBCC_CC_DATA_BYTES);
}

static void set_profiles(struct scene *x, unsigned int port, const uint8_t *data)
{
	struct ibcc_mad_op op = { .lid = lid_of(x, "q2") };

	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_VCC_ATTR_SW_PROFILE, port);
	memcpy(op.mad + IBCC_MAD_DATA_OFFS, data, IBCC_CC_DATA_BYTES);
	assert_int_equal(ibcc_transport_run(x->line.inner, &op, 1), 0);
	assert_int_equal(op.err, 0);
}

static bool is_written(struct scene *x)
{
	uint8_t now[IBCC_CC_DATA_BYTES];

	for (unsigned int port = 1; port <= 2; port++) {
		profiles(x, port, now);
		if (memcmp(now, x->before[port], sizeof(now)) != 0)
			return true;
	}
	return false;
}

static void open_service(struct scene *x)
{
	x->l.tr = &x->line.base;
	x->s = services_open(&x->l, &x->c);
	x->s->listens = true;
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, ibcc_topo_clone(x->l.sc.topo)), 0);
	assert_int_equal(ibcc_service_open_state(x->s, &x->why), 0);
}

/* A daemon at h1 with a subnet manager at `sm`; `conf` is in its vendor_opensm_conf, NULL: there is
 * none.
 */
static void open_scene(struct scene *x, const char *db, int mode, const char *sm, const char *conf)
{
	*x = (struct scene){ .line.base.ops = &line_ops };
	loop_open(&x->l, late(), &loop_hardware, NULL);
	assert_int_equal(ibcc_agents_equip(x->l.agents, &x->l.sc, NULL), 0);
	x->line.inner = x->l.tr;
	x->line.lid = lid_of(x, "h1");
	x->line.sm_lid = lid_of(x, sm);
	services_config(&x->c);
	snprintf(x->c.state_file, sizeof(x->c.state_file), "%.200s", files_path(db));
	x->c.mode = mode;
	x->c.vendor_writes = IBCC_VENDOR_WRITES_EXPERIMENTAL;
	if (conf)
		snprintf(x->c.vendor_opensm_conf, sizeof(x->c.vendor_opensm_conf), "%.200s",
			 files_write("nvidia.conf", conf));
	for (unsigned int port = 1; port <= 2; port++)
		profiles(x, port, x->before[port]);
	open_service(x);
}

static void close_scene(struct scene *x)
{
	services_close(&x->l, x->s);
	loop_end(&x->l);
}

/* The daemon is gone at once, and another one starts. */
static void restart(struct scene *x)
{
	x->s->transport = NULL;
	ibcc_service_free(x->s);
	open_service(x);
}

static void passes(struct scene *x, unsigned int n)
{
	while (n--)
		if (services_pass(&x->l, x->s, PASS_PS, &x->why))
			fail_msg("%s", x->why.text);
}

static bool reason_has(struct scene *x, const char *words)
{
	json_t *status = ibcc_service_status(x->s);
	const char *reason = json_string_value(json_object_get(status, "reason"));
	bool has = reason && strstr(reason, words);

	if (!has)
		print_message("# reason: %s\n", reason);
	json_decref(status);
	return has;
}

/* Passes until something is written; false: nothing was in 40 of them. */
static bool writes(struct scene *x)
{
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int sets = x->line.n_sets;

		passes(x, 1);
		if (x->line.n_sets > sets)
			return true;
	}
	return false;
}

/* A person applies, as soon as there is something to write. */
static void apply_within(struct scene *x, uint32_t confirm_s)
{
	const struct ibcc_request r = { .who = "test",
					.skip_unsupported = true,
					.confirm_s = confirm_s };

	for (unsigned int i = 0;; i++) {
		unsigned int sets = x->line.n_sets;

		assert_true(i < 50);
		assert_int_equal(
			ibcc_engine_run(x->l.engine, ibcc_engine_now_ps(x->l.engine) + PASS_PS), 0);
		x->s->again.last_ns = ibcc_now_ns();
		if (ibcc_service_pass(x->s, &r, &x->why))
			fail_msg("%s", x->why.text);
		if (x->line.n_sets > sets)
			return;
	}
}

static void apply(struct scene *x)
{
	apply_within(x, 0);
}

/* The subnet manager is here, and its configuration leaves profiles alone. */
static void test_unattended(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "here.db", IBCC_MODE_APPLY, "h1", "mlnx_congestion_control 0\n");
	assert_true(writes(&x));
	assert_true(is_written(&x));
	close_scene(&x);
}

/* May the daemon write by itself now? */
static bool may_write(struct scene *x)
{
	passes(x, 1);
	return !x->s->cycle.veto.text[0];
}

/* Another subnet manager is master: what is there stays, and the daemon writes nothing by itself,
 * until that one is back or a person has looked at the new one.
 */
static void test_sm_moves(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "moves.db", IBCC_MODE_APPLY, "h1", "mlnx_congestion_control 0\n");
	passes(&x, 1);
	x.line.sm_lid = lid_of(&x, "n4");
	assert_false(writes(&x));
	assert_true(reason_has(&x, "the subnet manager is on \"n4\""));
	x.line.sm_lid = lid_of(&x, "h1");
	assert_true(writes(&x));

	x.line.sm_lid = lid_of(&x, "n4");
	assert_false(writes(&x));
	assert_true(is_written(&x));
	close_scene(&x);

	open_scene(&x, "moved.db", IBCC_MODE_APPLY, "n4", "mlnx_congestion_control 0\n");
	assert_false(writes(&x));
	apply(&x);
	assert_true(may_write(&x));
	restart(&x);
	assert_true(may_write(&x));
	x.line.sm_lid = lid_of(&x, "n3");
	assert_false(may_write(&x));
	assert_true(reason_has(&x, "the subnet manager is on \"n3\""));
	x.line.sm_lid = 4711; /* of no node that we know */
	assert_false(may_write(&x));
	x.line.sm_lid = lid_of(&x, "n4");
	assert_true(may_write(&x));
	close_scene(&x);
}

/* A host is searched for the subnet manager's port when that is another one, not in each pass. */
static void test_sm_is_searched_once(void **state)
{
	struct scene x;

	(void)state;
	n_searches = 0;
	open_scene(&x, "searched.db", IBCC_MODE_APPLY, "n4", "mlnx_congestion_control 0\n");
	passes(&x, 10);
	assert_int_equal(n_searches, 1);
	x.line.sm_lid = lid_of(&x, "n3");
	passes(&x, 10);
	assert_int_equal(n_searches, 2);
	/* Adapters can have moved from host to host. */
	x.s->n_discoveries++;
	passes(&x, 10);
	assert_int_equal(n_searches, 3);
	close_scene(&x);
}

/* Another subnet manager becomes master while an apply writes. The person has looked at the one
 * before.
 */
static void test_sm_moves_in_apply(void **state)
{
	struct scene x;

	(void)state;
	open_scene(&x, "within.db", IBCC_MODE_APPLY, "n4", "mlnx_congestion_control 0\n");
	x.line.then_sm_lid = lid_of(&x, "n3");
	apply(&x);
	assert_int_equal(x.line.sm_lid, x.line.then_sm_lid);
	x.line.then_sm_lid = 0;
	assert_false(may_write(&x));
	assert_true(reason_has(&x, "the subnet manager is on \"n3\""));
	x.line.sm_lid = lid_of(&x, "n4");
	assert_true(may_write(&x));
	close_scene(&x);
}

static bool has_consent(struct scene *x)
{
	char *noted = ibcc_state_note(x->s->state, "nvidia_sm");
	bool has = noted;

	free(noted);
	return has;
}

/* What is on trial is a consent only when it is confirmed, and then to the subnet manager of the
 * apply.
 */
static void test_consent_on_trial(void **state)
{
	const struct ibcc_request r = { .who = "test" };

	(void)state;
	for (unsigned int confirms = 0; confirms < 2; confirms++) {
		json_t *out = NULL;
		struct scene x;

		open_scene(&x, confirms ? "kept.db" : "canceled.db", IBCC_MODE_APPLY, "n4",
			   "mlnx_congestion_control 0\n");
		apply_within(&x, 600);
		assert_false(has_consent(&x));
		x.line.sm_lid = lid_of(&x, "n3");
		passes(&x, 1);
		assert_int_equal(confirms ? ibcc_service_confirm(x.s, &r, &out, &x.why)
					  : ibcc_service_cancel_trial(x.s, &r, &out, &x.why),
				 0);
		json_decref(out);
		assert_int_equal(has_consent(&x), confirms);
		if (confirms) {
			assert_false(may_write(&x));
			x.line.sm_lid = lid_of(&x, "n4");
			assert_true(may_write(&x));
		}
		close_scene(&x);
	}
}

/* A person has consented to a plan where no configuration could be read: there is no further step.
 */
static void test_consent_is_for_the_plan(void **state)
{
	static const int modes[] = { IBCC_MODE_OBSERVE, IBCC_MODE_APPLY };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		uint8_t data[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
		struct scene x;
		unsigned int sets;

		open_scene(&x, i ? "plan1.db" : "plan0.db", modes[i], "n4", NULL);
		apply(&x);
		sets = x.line.n_sets;
		profiles(&x, 1, data);
		passes(&x, 60);
		assert_int_equal(x.line.n_sets, sets);
		profiles(&x, 1, now);
		assert_memory_equal(now, data, sizeof(now));
		assert_int_equal(x.s->refinement.stage, IBCC_REFINE_ENDED);
		assert_non_null(strstr(x.s->refinement.text.text, "could not check"));
		/* Nor does it become a consent for all that comes. */
		assert_true(modes[i] == IBCC_MODE_OBSERVE || !may_write(&x));
		close_scene(&x);
	}
}

static void assert_said(const struct scene *x, const char *words)
{
	if (!strstr(x->why.text, words))
		fail_msg("%s", x->why.text);
}

/* A plan as a client has it. */
struct shown {
	struct ibcc_plan plan;
	struct ibcc_control control;
	struct ibcc_request r;
};

/* Shows a person the plan, as soon as there is one. */
static void show_plan(struct scene *x, struct shown *p)
{
	json_t *o = NULL;

	*p = (struct shown){ .r = { .who = "test", .skip_unsupported = true } };
	for (unsigned int i = 0; !x->s->cycle.plan.n; i++) {
		assert_true(i < 50);
		passes(x, 1);
	}
	assert_int_equal(ibcc_service_plan(x->s, true, &o, &x->why), 0);
	o = ibcc_json_unfold(o);
	if (ibcc_plan_file_read(json_object_get(o, "data"), &p->plan, &x->why))
		fail_msg("%s", x->why.text);
	assert_int_equal(ibcc_control_read(json_object_get(o, "control"), &p->control, &x->why), 0);
	p->r.shown = ibcc_service_read_warned(json_object_get(o, "unchecked_sm"), &p->r.warned_sm);
	assert_true(p->r.shown);
	json_decref(o);
}

static int apply_shown(struct scene *x, const struct shown *p)
{
	json_t *out = NULL;
	int rc = ibcc_service_apply_plan(x->s, &p->plan, &p->control, &p->r, &out, &x->why);

	json_decref(out);
	return rc;
}

/* Looks at the plan as the client of a plan's file does; returns the number of warnings. */
static size_t look_again(struct scene *x, struct shown *p)
{
	json_t *o = NULL;
	size_t n;

	p->r.shown = false;
	assert_int_equal(ibcc_service_look_at_plan(x->s, &p->plan, &p->control, &p->r, &o, &x->why),
			 0);
	p->r.shown = ibcc_service_read_warned(json_object_get(o, "unchecked_sm"), &p->r.warned_sm);
	assert_true(p->r.shown);
	n = json_array_size(json_object_get(o, "warnings"));
	json_decref(o);
	return n;
}

/* Another subnet manager becomes master between the plan that a person was shown and the apply. The
 * person has not looked at that one.
 */
static void test_sm_moves_before_apply(void **state)
{
	static const char *const first[] = { "n4", "h1" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct shown p;
		struct scene x;

		open_scene(&x, i ? "checked.db" : "warned.db", IBCC_MODE_OBSERVE, first[i],
			   "mlnx_congestion_control 0\n");
		show_plan(&x, &p);
		x.line.n_sets = 0;
		x.line.sm_lid = lid_of(&x, "n3");
		assert_int_equal(apply_shown(&x, &p), -ESTALE);
		assert_said(&x, i ? "the plan did not warn of it"
				  : "another subnet manager is master since the plan was shown");
		assert_said(&x, "\"n3\"");
		assert_int_equal(x.line.n_sets, 0);
		assert_false(has_consent(&x));
		/* Shown again, it may be written. */
		assert_int_equal(look_again(&x, &p), 1);
		x.line.sm_lid = lid_of(&x, first[i]);
		assert_int_equal(apply_shown(&x, &p), i ? 0 : -ESTALE);
		x.line.sm_lid = lid_of(&x, "n3");
		assert_int_equal(i ? 0 : apply_shown(&x, &p), 0);
		assert_true(x.line.n_sets > 0);
		assert_int_equal(has_consent(&x), !i);
		ibcc_control_fini(&p.control);
		ibcc_plan_fini(&p.plan);
		close_scene(&x);
	}
}

/* The subnet manager stays the same. The note of the consent for it, for which the plan had no
 * warning, is gone at the apply.
 */
static void test_consent_lost_before_apply(void **state)
{
	struct shown p;
	struct scene x;

	(void)state;
	open_scene(&x, "lost-consent.db", IBCC_MODE_OBSERVE, "n4", "mlnx_congestion_control 0\n");
	passes(&x, 1);
	ibcc_service_consent_to_sm(
		x.s, x.s->cycle.topo->port[ibcc_topo_port_of_lid(x.s->cycle.topo, lid_of(&x, "n4"))]
			     .guid);
	show_plan(&x, &p);
	assert_int_equal(sqlite3_exec(x.s->state->db, "DELETE FROM note WHERE key = 'nvidia_sm'",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	x.line.n_sets = 0;
	assert_int_equal(apply_shown(&x, &p), -ESTALE);
	assert_said(&x, "the subnet manager could not be checked now");
	assert_null(strstr(x.why.text, "another subnet manager"));
	assert_int_equal(x.line.n_sets, 0);
	ibcc_control_fini(&p.control);
	ibcc_plan_fini(&p.plan);
	close_scene(&x);
}

static int end_profiles(struct scene *x)
{
	json_t *out = NULL;
	int rc = ibcc_service_end_profiles(x->s, &out, &x->why);

	json_decref(out);
	return rc;
}

/* A scene in which the daemon has written port 1 of q2 and is about to end. */
static void open_end(struct scene *x, const char *db)
{
	open_scene(x, db, IBCC_MODE_APPLY, "h1", "mlnx_congestion_control 0\n");
	assert_true(writes(x));
	x->s->config.mode = x->c.mode = IBCC_MODE_OBSERVE;
}

static void percent_is(struct scene *x, unsigned int port, uint8_t percent, uint8_t *data)
{
	struct ibcc_vcc_profile p;

	profiles(x, port, data);
	p = ibcc_vcc_profile_get(data, 0);
	p.percent = percent;
	ibcc_vcc_profile_set(data, 0, &p);
	set_profiles(x, port, data);
}

/* The end of the daemon writes nothing over what it cannot read. The next one makes up for it, but
 * not over what another program has written meanwhile.
 */
static void test_end_unread(void **state)
{
	uint8_t theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct scene x;

	(void)state;
	open_end(&x, "unread.db");
	x.line.lost_gets = 1;
	assert_int_not_equal(end_profiles(&x), 0);
	assert_said(&x, "profiles of 1 port, the first at node");
	assert_said(&x, "shows what is owed");
	assert_true(is_written(&x));
	restart(&x);
	passes(&x, 2);
	assert_int_equal(x.s->debts.list.n, 1);
	assert_true(is_written(&x));
	x.line.lost_gets = 0;
	passes(&x, 60);
	assert_int_equal(x.s->debts.list.n, 0);
	assert_false(is_written(&x));
	close_scene(&x);

	open_end(&x, "unread2.db");
	x.line.lost_gets = 1;
	percent_is(&x, 1, 33, theirs);
	assert_int_not_equal(end_profiles(&x), 0);
	restart(&x);
	x.line.lost_gets = 0;
	passes(&x, 60);
	profiles(&x, 1, now);
	assert_memory_equal(now, theirs, sizeof(now));
	close_scene(&x);
}

static bool owed_says(struct scene *x, const char *words)
{
	json_t *status = ibcc_service_status(x->s);
	const char *text =
		json_string_value(json_object_get(json_object_get(status, "owed"), "text"));
	bool says = text && strstr(text, words);

	if (!says)
		print_message("# owed: %s\n", text ? text : "nothing");
	json_decref(status);
	return says;
}

static bool is_well(struct scene *x)
{
	enum ibcc_trouble none =
		ibcc_service_trouble(x->s, IBCC_TROUBLE_OWED, IBCC_TROUBLE_OWED, &x->why);

	return none == IBCC_TROUBLE_NONE;
}

/* Counts passes with news of debts. */
static unsigned int count_news(struct scene *x, unsigned int n)
{
	struct ibcc_why news;
	unsigned int count = 0;

	while (n--) {
		passes(x, 1);
		if (ibcc_service_debt_news(x->s, &news))
			count += strstr(news.text, "are another program's now, and stay") != NULL;
	}
	return count;
}

/* A switch is away when its profiles are to be restored, and another program writes to it before it
 * is back. That is said once, and what the program has written stays until it gives our values
 * back, or a person asks for the earlier ones.
 */
static void test_overwritten(void **state)
{
	uint8_t ours[IBCC_CC_DATA_BYTES], theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	const struct ibcc_request r = { .who = "test" };

	(void)state;
	for (unsigned int asks = 0; asks < 2; asks++) {
		struct ibcc_metrics_service m;
		json_t *out = NULL;
		int64_t newest;
		struct scene x;

		open_end(&x, asks ? "theirs-asks.db" : "theirs.db");
		profiles(&x, 1, ours);
		x.line.lost_gets = 1;
		assert_int_not_equal(end_profiles(&x), 0);
		percent_is(&x, 1, 33, theirs);
		restart(&x);
		x.line.lost_gets = 0;
		assert_int_equal(count_news(&x, 3), 1);
		newest = ibcc_state_newest(x.s->state);
		x.line.n_sets = 0;
		assert_int_equal(count_news(&x, 150), 0);
		assert_int_equal(ibcc_state_newest(x.s->state), newest);
		assert_int_equal(x.line.n_sets, 0);
		profiles(&x, 1, now);
		assert_memory_equal(now, theirs, sizeof(now));
		assert_int_equal(x.s->debts.list.n, 1);
		assert_true(owed_says(&x, "\"ibcc-tune rollback\" restores the earlier ones"));
		assert_true(is_well(&x));
		ibcc_service_metrics(x.s, &m);
		assert_int_equal(m.owed_overwritten, 1);
		assert_int_equal(m.owed_present + m.owed_away, 0);

		if (asks)
			assert_int_equal(ibcc_service_rollback(x.s, 0, &r, &out, &x.why), 0);
		else
			set_profiles(&x, 1, ours);
		json_decref(out);
		passes(&x, 12);
		assert_int_equal(x.s->debts.list.n, 0);
		profiles(&x, 1, now);
		assert_memory_equal(now, x.before[1], sizeof(now));
		close_scene(&x);
	}
}

/* The daemon also writes port 2 of q2. */
static void write_port_2(struct scene *x)
{
	struct ibcc_execution apply = { .txn = { .who = "test", .action = "apply" } };
	struct ibcc_change c = { .attr_id = IBCC_VCC_ATTR_SW_PROFILE, .attr_mod = 2 };
	struct ibcc_result res = { 0 };
	struct ibcc_vcc_profile p;
	struct ibcc_plan plan = { 0 };

	c.node_guid = x->l.sc.topo->node[ibcc_topo_find_desc(x->l.sc.topo, "q2")].guid;
	c.lid = lid_of(x, "q2");
	profiles(x, 2, c.old_data);
	memcpy(c.new_data, c.old_data, sizeof(c.new_data));
	p = ibcc_vcc_profile_get(c.new_data, 0);
	p.percent = 44;
	ibcc_vcc_profile_set(c.new_data, 0, &p);
	assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	if (ibcc_service_execute(x->s, apply, &plan, &res, &x->why))
		fail_msg("%s", x->why.text);
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
}

/* Of a switch with two ports to restore one is another program's, or has a value in the state file
 * that no port may be given. The other one is restored, once.
 */
static void test_one_port(void **state)
{
	uint8_t theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];

	(void)state;
	for (unsigned int bad = 0; bad < 2; bad++) {
		struct scene x;
		int64_t newest;

		open_end(&x, bad ? "bad.db" : "one.db");
		write_port_2(&x);
		x.line.away = lid_of(&x, "q2");
		assert_int_not_equal(end_profiles(&x), 0);
		x.line.away = 0;
		if (bad) /* a percent of 255 */
			assert_int_equal(
				sqlite3_exec(
					x.s->state->db,
					"UPDATE change AS c SET old = CAST(substr(old, 1, 8) ||"
					" x'ffffffff' || substr(old, 13) AS BLOB)"
					" WHERE attr_mod = 1 AND attr_id = 65289;"
					"UPDATE change AS c SET sum = " IBCC_STATE_CHANGE_SUM(
						"c.outcome"),
					NULL, NULL, NULL),
				SQLITE_OK);
		else
			percent_is(&x, 1, 33, theirs);
		restart(&x);
		passes(&x, 4);
		profiles(&x, 2, now);
		assert_memory_equal(now, x.before[2], sizeof(now));
		assert_int_equal(x.s->debts.list.n, 1);
		newest = ibcc_state_newest(x.s->state);
		x.line.n_sets = 0;
		passes(&x, 80);
		assert_int_equal(x.line.n_sets, 0);
		assert_int_equal(ibcc_state_newest(x.s->state), newest);
		assert_int_equal(x.s->debts.list.n, 1);
		assert_true(owed_says(&x, bad ? "beyond the bounds" : "written since"));
		assert_int_equal(is_well(&x), !bad);
		close_scene(&x);
	}
}

/* Both ports of a switch are another program's. An answer that is lost is no change of that
 * program's, nor is the silence of the switch: nothing is tried, said or degraded. What the program
 * gives back at one port is restored, while the other port is not read.
 */
static void test_lost_at_rest(void **state)
{
	uint8_t ours[IBCC_CC_DATA_BYTES], theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct ibcc_debt away = { .node_guid = 0x77, .port = 1 };
	struct scene x;
	int64_t newest;

	(void)state;
	open_end(&x, "rest.db");
	write_port_2(&x);
	profiles(&x, 1, ours);
	x.line.away = lid_of(&x, "q2");
	assert_int_not_equal(end_profiles(&x), 0);
	x.line.away = 0;
	percent_is(&x, 1, 33, theirs);
	percent_is(&x, 2, 35, theirs);
	restart(&x);
	assert_int_equal(count_news(&x, 10), 1);
	newest = ibcc_state_newest(x.s->state);
	x.line.n_sets = 0;
	for (unsigned int i = 0; i < 12; i++) {
		x.s->cycle.actual_known = false;
		x.line.lost_gets = i % 3 == 1 ? 2 : 0;
		assert_int_equal(count_news(&x, 1), 0);
		assert_true(is_well(&x));
		assert_true(owed_says(&x, "written since"));
	}
	assert_int_equal(ibcc_state_newest(x.s->state), newest);
	assert_int_equal(x.line.n_sets, 0);

	x.line.lost_gets = 2;
	set_profiles(&x, 1, ours);
	x.s->cycle.actual_known = false;
	assert_int_equal(count_news(&x, 3), 0);
	profiles(&x, 1, now);
	assert_memory_equal(now, x.before[1], sizeof(now));
	profiles(&x, 2, now);
	assert_memory_equal(now, theirs, sizeof(now));
	assert_int_equal(x.s->debts.list.n, 1);
	assert_true(is_well(&x));
	assert_int_equal(x.s->debts.next_wait, 0);

	x.line.away = lid_of(&x, "q2");
	for (unsigned int i = 0; i < 4; i++) {
		x.s->cycle.actual_known = false;
		assert_int_equal(count_news(&x, 1), 0);
		assert_true(is_well(&x));
		assert_true(owed_says(&x, "written since"));
	}

	away.txn = x.s->debts.list.debt[0].txn;
	assert_int_equal(ibcc_state_owe(x.s->state, &away), 0);
	passes(&x, 1);
	assert_true(owed_says(&x, " (rollback) was not done in full at 2 nodes: "));
	close_scene(&x);
}

/* The switch is not on the fabric, and a Set gets lost: this is said, and owed. */
static void test_end_unreached(void **state)
{
	struct scene x;
	uint32_t port0;

	(void)state;
	open_end(&x, "gone.db");
	port0 = x.s->cycle.topo->node[ibcc_topo_find_desc(x.s->cycle.topo, "q2")].first_port;
	x.s->cycle.topo->port[port0].lid = 0;
	assert_int_equal(end_profiles(&x), -EHOSTUNREACH);
	assert_said(&x, "not on the fabric");
	assert_int_equal(x.s->debts.list.n, 1);
	restart(&x);
	passes(&x, 3);
	assert_int_equal(x.s->debts.list.n, 0);
	assert_false(is_written(&x));
	close_scene(&x);

	open_end(&x, "lost.db");
	x.line.lost_sets = 1;
	assert_int_equal(end_profiles(&x), -EIO);
	assert_int_equal(x.s->debts.list.n, 1);
	restart(&x);
	passes(&x, 3);
	assert_int_equal(x.s->debts.list.n, 1);
	x.line.lost_sets = 0;
	passes(&x, 60);
	assert_false(is_written(&x));
	assert_int_equal(x.s->debts.list.n, 0);
	close_scene(&x);
}

/* The fabric cannot be reached when the daemon ends: its time is over, or its port is gone. The
 * next daemon makes up for it. Without a topology only the person can.
 */
static void test_end_unprepared(void **state)
{
	struct scene x;

	(void)state;
	open_end(&x, "canceled2.db");
	x.s->canceled = true;
	assert_int_equal(end_profiles(&x), -ECANCELED);
	assert_said(&x, "profiles of 1 port, the first at node");
	assert_said(&x, "were not restored: canceled; ibcc-tuned restores them");
	assert_int_equal(x.s->debts.list.n, 1);
	restart(&x);
	passes(&x, 3);
	assert_int_equal(x.s->debts.list.n, 0);
	assert_false(is_written(&x));
	close_scene(&x);

	open_end(&x, "noport.db");
	x.s->transport = NULL;
	ibcc_service_drop(x.s);
	x.s->canceled = true;
	assert_int_equal(end_profiles(&x), -ECANCELED);
	assert_said(&x, "run \"ibcc-tune rollback\" when the switches answer");
	restart(&x);
	assert_int_equal(x.s->debts.list.n, 0);
	assert_true(is_written(&x));
	close_scene(&x);
}

/* What another program has written is its choice: it stays, and nothing is owed. */
static void test_end_other(void **state)
{
	uint8_t theirs[IBCC_CC_DATA_BYTES], now[IBCC_CC_DATA_BYTES];
	struct scene x;

	(void)state;
	open_end(&x, "other.db");
	percent_is(&x, 1, 33, theirs);
	assert_int_equal(end_profiles(&x), -EBUSY);
	assert_said(&x, "profiles of 1 port stay");
	assert_int_equal(x.s->debts.list.n, 0);
	profiles(&x, 1, now);
	assert_memory_equal(now, theirs, sizeof(now));
	/* A value that is back already is no other program's. */
	set_profiles(&x, 1, x.before[1]);
	assert_int_equal(end_profiles(&x), 0);
	assert_false(is_written(&x));
	close_scene(&x);
}

/* However a plan comes to the last gate, it has no profile unless the configuration allows it. */
static void test_gate(void **state)
{
	const struct ibcc_request r = { .who = "test" };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_change c = { .attr_id = IBCC_VCC_ATTR_SW_PROFILE, .attr_mod = 2 };
	struct ibcc_execution forward = { .txn = { .who = "test", .action = "apply" } };
	json_t *out = NULL;
	unsigned int sets;
	struct scene x;

	(void)state;
	open_end(&x, "gate.db");
	c.node_guid = x.l.sc.topo->node[ibcc_topo_find_desc(x.l.sc.topo, "q2")].guid;
	c.lid = lid_of(&x, "q2");
	profiles(&x, 2, c.old_data);
	memcpy(c.new_data, c.old_data, sizeof(c.new_data));
	c.new_data[8] ^= 1;
	assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	x.s->config.vendor_writes = IBCC_VENDOR_WRITES_NEVER;
	passes(&x, 1);
	sets = x.line.n_sets;
	assert_int_equal(ibcc_service_execute(x.s, forward, &plan, &res, &x.why), -EPERM);
	assert_said(&x, "vendor_writes");
	ibcc_result_fini(&res);
	assert_int_equal(x.line.n_sets, sets);
	/* The way back is open. */
	assert_int_equal(ibcc_service_rollback(x.s, 0, &r, &out, &x.why), 0);
	json_decref(out);
	assert_false(is_written(&x));
	ibcc_plan_fini(&plan);
	close_scene(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unattended),
		cmocka_unit_test(test_sm_moves),
		cmocka_unit_test(test_sm_is_searched_once),
		cmocka_unit_test(test_sm_moves_in_apply),
		cmocka_unit_test(test_sm_moves_before_apply),
		cmocka_unit_test(test_consent_lost_before_apply),
		cmocka_unit_test(test_consent_on_trial),
		cmocka_unit_test(test_consent_is_for_the_plan),
		cmocka_unit_test(test_end_unread),
		cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_one_port),
		cmocka_unit_test(test_lost_at_rest),
		cmocka_unit_test(test_end_unreached),
		cmocka_unit_test(test_end_unprepared),
		cmocka_unit_test(test_end_other),
		cmocka_unit_test(test_gate),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
