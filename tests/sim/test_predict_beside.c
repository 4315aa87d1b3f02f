/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Passes keep their pace whatever a prediction does: here one that never ends by itself. */
#include "services.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>

#include <ibcc/prediction.h>

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)
#define PASSES  60u

static atomic_bool never_ends; /* until it is told to end */
static atomic_uint n_under_way;

int __real_ibcc_predict(const struct ibcc_prediction_in *in, struct ibcc_prediction *p);
int __wrap_ibcc_predict(const struct ibcc_prediction_in *in, struct ibcc_prediction *p);

int __wrap_ibcc_predict(const struct ibcc_prediction_in *in, struct ibcc_prediction *p)
{
	if (!never_ends)
		return __real_ibcc_predict(in, p);
	n_under_way++;
	while (in->cpu_ns(in->arg) != UINT64_MAX)
		sched_yield();
	n_under_way--;
	*p = (struct ibcc_prediction){ .why = IBCC_PREDICTION_CPU };
	return 0;
}

/* What passes come to. */
struct course {
	uint64_t ns[PASSES]; /* by the fabric's clock: when each ended, */
	uint64_t sets;       /* what was written in all, */
	uint64_t longest_ns, cut;
};

static void on_done(void *arg)
{
	(void)arg;
}

static void run(struct course *c, bool asks)
{
	struct ibcc_config config;
	struct ibcc_why why = { "" };
	struct ibcc_service *s;
	struct loop l = { 0 };
	bool asked = false;

	unlink(files_path("state.db"));
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&config);
	config.mode = IBCC_MODE_APPLY;
	config.predict_cpu_s = 10;
	s = services_open(&l, &config);
	if (asks)
		ibcc_service_on_predicted(s, on_done, NULL);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	for (unsigned int i = 0; i < PASSES; i++) {
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
		c->ns[i] = ibcc_transport_now_ns(l.tr);
		asked |= asks && s->cycle.decided &&
			 ibcc_service_predict(s, on_done, NULL) == -EINPROGRESS;
	}
	assert_int_equal(asked, asks);
	if (asks) {
		/* It is under way still, and nothing has waited for it. */
		while (!n_under_way)
			sched_yield();
		assert_int_equal(n_under_way, 1);
	}
	c->sets = s->set_mads;
	c->longest_ns = s->cycle.longest_pass_ns;
	c->cut = s->cycle.n_passes_cut;
	services_close(&l, s); /* which ends it */
	assert_int_equal(n_under_way, 0);
	loop_end(&l);
}

static void test_passes_go_on(void **state)
{
	static struct course without, with;

	(void)state;
	run(&without, false);
	assert_true(without.sets > 0);
	assert_int_equal(without.cut, 0);
	never_ends = true;
	run(&with, true);
	never_ends = false;
	assert_memory_equal(with.ns, without.ns, sizeof(with.ns));
	assert_int_equal(with.sets, without.sets);
	assert_int_equal(with.longest_ns, without.longest_ns);
	assert_int_equal(with.cut, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes_go_on),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
