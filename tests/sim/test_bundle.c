/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A bundle of a daemon, read where there is neither daemon nor fabric: the plan is the daemon's and
 * the prediction too, to the last figure; under made-up names it is the same one of another fabric.
 */
#include "services.h"

#include <math.h>

#include <ibcc/json.h>

#include "daemon/bundle/bundle.h"
#include "daemon/tune/offline.h"

#define PASS_PS (2000 * IBCC_PS_PER_US)
#define PACED   "paced.yaml"

/* The Lustre fabric with clients that do not always have something to write. */
static const char paced[] =
	"name: paced\n"
	"title: Three writers with pauses, one victim\n"
	"seed: 1\n"
	"duration_ms: 200\n"
	"topology:\n"
	"  rate: 4x QDR\n"
	"  mtu_bytes: 2048\n"
	"  nodes:\n"
	"    - {host: [source1, source2, source3, source4]}\n"
	"    - {host: [destination0, destination1]}\n"
	"    - {switch: [leaf1, leaf2], ports: 8}\n"
	"  links:\n"
	"    - [source1, leaf1/1]\n"
	"    - [source2, leaf1/2]\n"
	"    - [source3, leaf1/3]\n"
	"    - [source4, leaf1/4]\n"
	"    - [leaf1/8, leaf2/8]\n"
	"    - [destination0, leaf2/1]\n"
	"    - [destination1, leaf2/2]\n"
	"model: {packet_bytes: 2048, buffer_bytes: 32768, hca_buffer_bytes: 32768}\n"
	"traffic:\n"
	"  - {name: write, from: [source1, source2, source3], to: destination1, kind: hot,\n"
	"     rate: 4000 Mb/s, arrivals: exponential, queue_packets: 200}\n"
	"  - {name: victim, from: source4, to: destination0, kind: victim,\n"
	"     rate: 12000 Mb/s, arrivals: exponential, queue_packets: 200}\n";

struct fixture {
	struct loop l;
	struct ibcc_service *s;
	struct tune t;
};

static void passes(struct fixture *f, unsigned int n)
{
	struct ibcc_why why = { "" };

	while (n--)
		assert_int_equal(services_pass(&f->l, f->s, PASS_PS, &why), 0);
}

/* A server that was fast slows down; a plan is there. */
static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ibcc_config c;
	uint32_t slow;

	assert_non_null(f);
	files_write(PACED, paced);
	unlink(files_path("state.db"));
	loop_open(&f->l, files_path(PACED), &loop_hardware, NULL);
	services_config(&c);
	c.mode = IBCC_MODE_OBSERVE;
	c.predict_cpu_s = 60;
	f->s = services_open(&f->l, &c);
	f->t.config = c;
	assert_int_equal(ibcc_cycle_set_topology(&f->s->cycle, ibcc_topo_clone(f->l.sc.topo)), 0);
	passes(f, 8);
	assert_int_equal(f->s->cycle.estimate.n_roots, 0);
	slow = f->l.sc.topo->node[ibcc_topo_find_desc(f->l.sc.topo, "destination1")].first_port + 1;
	assert_int_equal(ibcc_engine_set_sink_rate(f->l.engine, slow, 5600), 0);
	passes(f, 12);
	assert_int_equal(f->s->cycle.estimate.n_roots, 1);
	assert_true(f->s->cycle.plan.n > 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	services_close(&f->l, f->s);
	loop_end(&f->l);
	free(f);
	return 0;
}

static void keep(struct fixture *f, bool anonymous, const char *name)
{
	struct ibcc_why why = { "" };
	json_t *o = NULL;
	char *text;

	assert_int_equal(ibcc_service_bundle(f->s, anonymous, &o, &why), 0);
	text = ibcc_json_dump(o);
	assert_non_null(text);
	files_write(name, text);
	free(text);
	json_decref(o);
}

static json_t *ask(struct fixture *f, const char *command, const json_t *args, const char *cache,
		   const char *counters)
{
	char path[2][512];
	struct ibcc_why why = { "" };
	bool anonymous;
	json_t *o = NULL;

	snprintf(path[0], sizeof(path[0]), "%s", cache ? files_path(cache) : "");
	snprintf(path[1], sizeof(path[1]), "%s", counters ? files_path(counters) : "");
	f->t.cache = cache ? path[0] : NULL;
	f->t.counters = counters ? path[1] : NULL;
	if (tune_do_offline(&f->t, command, args, &o, &anonymous, &why))
		fail_msg("%s", why.text);
	assert_non_null(o);
	return o;
}

/* What differs from one run to the next. */
static json_t *without_times(json_t *o)
{
	json_t *p = json_object_get(o, "prediction");

	json_object_del(p, "cpu_ms");
	json_object_del(p, "baseline_age_s");
	json_object_del(o, "age_ms");
	json_object_del(o, "made");
	return o;
}

static void assert_same(json_t *a, json_t *b)
{
	if (!json_equal(without_times(a), without_times(b)))
		fail_msg("%s\nis not\n%s", json_dumps(a, 0), json_dumps(b, 0));
	json_decref(a);
	json_decref(b);
}

static json_t *live(struct fixture *f, const json_t *set)
{
	struct ibcc_why why = { "" };
	json_t *o = NULL;
	int rc = set ? ibcc_service_what_if(f->s, set, NULL, NULL, &why)
		     : ibcc_service_predict(f->s, NULL, NULL);

	if (rc == -EINPROGRESS)
		assert_int_equal(ibcc_service_predicted(f->s, false, &o, &why), 0);
	else
		assert_int_equal(ibcc_service_plan(f->s, false, &o, &why), 0);
	return ibcc_json_unfold(o);
}

static void test_the_same(void **state)
{
	struct fixture *f = *state;
	json_t *args = json_pack("{s{sf}}", "set", "ccti_increase", 0.0), *o;

	keep(f, false, "true.json");
	o = live(f, NULL);
	assert_true(json_is_true(json_object_get(json_object_get(o, "prediction"), "known")));
	assert_true(json_array_size(json_object_get(o, "changes")) > 0);
	assert_same(json_incref(o), ask(f, "plan", NULL, "true.json", "true.json"));
	assert_same(json_incref(o), ask(f, "plan", NULL, "true.json", NULL));
	assert_same(o, ask(f, "plan", NULL, NULL, "true.json"));
	assert_same(live(f, json_object_get(args, "set")),
		    ask(f, "what-if", args, "true.json", NULL));
	json_decref(args);
}

/* Counters of later under the fabric of before. */
static void test_two_files(void **state)
{
	struct fixture *f = *state;

	keep(f, false, "before.json");
	passes(f, 3);
	keep(f, false, "true.json");
	assert_same(live(f, NULL), ask(f, "plan", NULL, "before.json", "true.json"));
}

static double member(const json_t *o, const char *what, const char *key)
{
	return json_number_value(
		json_object_get(json_object_get(json_object_get(o, "prediction"), what), key));
}

/* The same fabric in another order: other packets are drawn, so that figures differ a little. */
static void test_under_made_up_names(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->l.sc.topo;
	json_t *o = live(f, NULL), *p;
	char *text;
	FILE *in;
	size_t n;

	keep(f, true, "made-up.json");
	p = ask(f, "plan", NULL, "made-up.json", NULL);
	assert_int_equal(json_array_size(json_object_get(o, "roots")),
			 json_array_size(json_object_get(p, "roots")));
	assert_int_equal(json_array_size(json_object_get(o, "changes")),
			 json_array_size(json_object_get(p, "changes")));
	assert_int_equal(json_integer_value(json_object_get(o, "unchanged")),
			 json_integer_value(json_object_get(p, "unchanged")));
	assert_string_equal(json_string_value(json_object_get(p, "summary")), "");
	for (unsigned int i = 0; i < 2; i++) {
		const char *what = i ? "victims" : "total";

		assert_true(member(p, what, "now_mbps") > 0);
		assert_true(fabs(member(p, what, "now_mbps") / member(o, what, "now_mbps") - 1) <
			    0.02);
		assert_true(
			fabs(member(p, what, "expected_mbps") / member(o, what, "expected_mbps") -
			     1) < 0.05);
	}
	json_decref(o);
	json_decref(p);

	text = calloc(1, 1 << 20);
	assert_non_null(text);
	in = fopen(files_path("made-up.json"), "r");
	assert_non_null(in);
	n = fread(text, 1, (1 << 20) - 1, in);
	fclose(in);
	assert_in_range(n, 1000, (1 << 20) - 2);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		char guid[32];

		snprintf(guid, sizeof(guid), "%016llx", (unsigned long long)t->node[i].guid);
		assert_null(strstr(text, guid));
		assert_null(strstr(text, t->node[i].desc));
	}
	free(text);
}

/* Nothing in a file is trusted: what is missing, or of another kind, is told, and where. */
static void test_damaged(void **state)
{
	static const struct {
		const char *path[3], *value, *says;
	} damages[] = {
		{ { "format" }, "\"ibcc-tune bundle 7\"", "not a bundle of this release" },
		{ { "plan" }, "null", "no plan in it" },
		{ { "nodes" }, "[]", "nodes: want a list" },
		{ { "nodes", "0", "ports" }, "[]", "nodes[0]: want" },
		{ { "nodes", "0", "node_guid" }, "7", "nodes[0]: want" },
		{ { "nodes", "6", "lft" }, "\"0\"", "nodes[6]: lft: want two" },
		{ { "nodes", "0", "lft" }, "\"00\"", "nodes[0]: lft: this is not a switch" },
		{ { "settings" }, "7", "settings: want a list" },
		{ { "settings", "0", "lid" }, "4711", "settings[0]: lid" },
		{ { "settings", "0", "CongestionControlTable" }, "{}", "settings[0]: a setting" },
		{ { "evidence", "moved" }, "-1", "evidence: want age_s" },
		{ { "evidence", "cannot" }, "\"x\"", "evidence: cannot" },
		{ { "evidence", "loads" }, "[[0,1,1,1e300,0]]", "evidence: loads: entry 0" },
		{ { "evidence", "loads" }, "[[99,1,1,1,0]]", "evidence: loads: entry 0" },
		{ { "evidence", "roots" }, "[{}]", "evidence: roots: entry 0" },
		{ { "evidence", "writes" }, "[{}]", "data[0].node_guid" },
	};
	struct fixture *f = *state;
	struct ibcc_why why = { "" };
	json_t *whole = NULL;

	assert_int_equal(ibcc_service_bundle(f->s, false, &whole, &why), 0);
	whole = ibcc_json_unfold(whole);
	for (size_t i = 0; i < sizeof(damages) / sizeof(*damages); i++) {
		json_t *o = json_deep_copy(whole), *at = o;
		const char *last = damages[i].path[0];
		struct ibcc_bundle b;

		for (unsigned int k = 0; k < 2 && damages[i].path[k + 1]; k++) {
			at = json_is_array(at) ? json_array_get(at, (size_t)atoi(last))
					       : json_object_get(at, last);
			last = damages[i].path[k + 1];
		}
		assert_int_equal(
			json_object_set_new(at, last,
					    json_loads(damages[i].value, JSON_DECODE_ANY, NULL)),
			0);
		assert_int_equal(ibcc_bundle_read(o, o, &b, &why), -EINVAL);
		if (!strstr(why.text, damages[i].says))
			fail_msg("%s: %s", damages[i].says, why.text);
		ibcc_bundle_fini(&b);
		json_decref(o);
	}
	json_decref(whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_under_made_up_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damaged, setup, teardown),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
