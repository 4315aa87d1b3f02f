/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The limit of packet hops is one for all that a prediction simulates. The twin is a fake, whose
 * replay disagrees with the counters and takes as many hops as a case says.
 */
#include <errno.h>
#include <stdlib.h>

#include "loads.h"

#include <ibcc/prediction.h>
#include <ibcc/twin.h>

static struct {
	uint64_t replay_hops;
	uint32_t n_ports;
	unsigned int n; /* twins so far */
	uint64_t most_hops[3];
} fake;

struct ibcc_twin *__wrap_ibcc_twin_new(const struct ibcc_twin_in *in, int *err);
struct ibcc_twin *__wrap_ibcc_twin_new(const struct ibcc_twin_in *in, int *err)
{
	static char twin;

	assert_true(fake.n < 3);
	fake.n_ports = in->t->n_ports;
	fake.most_hops[fake.n++] = in->most_hops;
	*err = 0;
	return (struct ibcc_twin *)&twin;
}

int __wrap_ibcc_twin_replay(struct ibcc_twin *w, struct ibcc_twin_state *out);
int __wrap_ibcc_twin_replay(struct ibcc_twin *w, struct ibcc_twin_state *out)
{
	(void)w;
	*out = (struct ibcc_twin_state){ .hops = fake.replay_hops,
					 .mbps = calloc(fake.n_ports, sizeof(*out->mbps)),
					 .wait = calloc(fake.n_ports, sizeof(*out->wait)) };
	assert_true(out->mbps && out->wait);
	return 0;
}

int __wrap_ibcc_twin_try(struct ibcc_twin *w, const struct ibcc_settings *then,
			 struct ibcc_twin_state *out);
int __wrap_ibcc_twin_try(struct ibcc_twin *w, const struct ibcc_settings *then,
			 struct ibcc_twin_state *out)
{
	(void)w;
	(void)then;
	(void)out;
	fail_msg("a plan is tried whose replay disagrees");
	return -EINVAL;
}

void __wrap_ibcc_twin_free(struct ibcc_twin *w);
void __wrap_ibcc_twin_free(struct ibcc_twin *w)
{
	(void)w;
}

/* If the first replay disagrees, a second one has what the first has left. With nothing left, it
 * has the shortest length, for which one hop stands, as 0 would be no limit.
 */
static void test_one_limit(void **state)
{
	static const struct {
		uint64_t hops, left;
	} cases[] = {
		{ 1, IBCC_PREDICTION_HOPS - 1 }, { 2000000, IBCC_PREDICTION_HOPS - 2000000 },
		{ IBCC_PREDICTION_HOPS - 1, 1 }, { IBCC_PREDICTION_HOPS, 1 },
		{ IBCC_PREDICTION_HOPS + 1, 1 },
	};
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_loads before, now;
	struct ibcc_settings none;
	struct ibcc_root root = { .port = t->port[fabric_port(t, LUSTRE_SLOW, 1)].peer,
				  .kind = IBCC_CONGESTION_OUTPUT };
	const struct ibcc_prediction_in in = { .t = t,
					       .before = &before,
					       .now = &now,
					       .n_roots = 1,
					       .root = &root,
					       .actual = &none,
					       .wanted = &none,
					       .budget_ns = UINT64_MAX / 2 };
	struct ibcc_prediction p;

	(void)state;
	assert_int_equal(ibcc_settings_init(&none, t), 0);
	loads_one_hotspot(&before, &now, t, LUSTRE_SRC1, LUSTRE_SLOW, LUSTRE_FAST);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.n = 0;
		fake.replay_hops = cases[i].hops;
		assert_int_equal(ibcc_predict(&in, &p), 0);
		assert_false(p.known);
		assert_int_equal(p.why, IBCC_PREDICTION_REPLAY);
		assert_int_equal(p.roots_why, IBCC_PREDICTION_REPLAY);
		assert_int_equal(fake.n, 2);
		assert_int_equal(fake.most_hops[0], IBCC_PREDICTION_HOPS);
		assert_int_equal(fake.most_hops[1], cases[i].left);
		ibcc_prediction_fini(&p);
	}
	ibcc_loads_fini(&before);
	ibcc_loads_fini(&now);
	ibcc_settings_fini(&none);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
