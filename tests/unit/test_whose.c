/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion divided between jobs: against figures worked out by hand on the Lustre fabric, and
 * against a count second by second for random jobs.
 */
#include "estimates.h"
#include "job_maps.h"

#include <ibcc/rng.h>
#include <ibcc/whose.h>

#define T0 1795918000

/* What the slow receiver's root is in a polling cycle of ten seconds. */
static const struct ibcc_root *slow_root(struct fixture *f, bool marked)
{
	traffic_lustre_off(&f->tr);
	pass(f);
	if (marked) {
		mark_at(f, LUSTRE_SW2, 1);
		for (unsigned int i = 0; i < 3; i++)
			traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	}
	pass(f);
	return at(f, fabric_port(f->t, LUSTRE_SW2, 1));
}

static void share(struct fixture *f, const struct job_map *m, const struct ibcc_root *r,
		  int64_t begin_s, int64_t end_s, struct ibcc_whose_share *out)
{
	struct ibcc_whose_hosts h;
	struct ibcc_whose_evidence e;

	assert_int_equal(ibcc_whose_hosts_find(&m->jobs, f->t, ibcc_whose_first_word, NULL, &h), 0);
	assert_int_equal(ibcc_whose_evidence_take(f->t, r, begin_s * 1000, end_s * 1000, &e), 0);
	assert_int_equal(ibcc_whose_share_out(&m->jobs, &h, f->t, &e, out), 0);
	ibcc_whose_evidence_fini(&e);
	ibcc_whose_hosts_fini(&h);
}

static void assert_words(const struct job_map *m, const struct ibcc_whose_share *s,
			 const char *want)
{
	char text[1024];

	ibcc_whose_words(&m->jobs, s, "slow (sw2 port 1)", true, text, sizeof(text));
	assert_string_equal(text, want);
}

/* Marks name three senders. The job of all three has all of the congestion, the other job suffers.
 */
static void test_marks(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4", text[256];
	struct job_map m;
	struct ibcc_whose_share s;

	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "4711", "ann", "cfd", T0 - 100, 0, "012");
	job_map_add(&m, "4712", "bob", "lammps", T0 - 50, 0, "3");
	share(f, &m, slow_root(f, true), T0, T0 + 10, &s);
	assert_int_equal(s.basis, IBCC_WHOSE_BY_MARKS);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.nobody_permille, 0);
	assert_int_equal(s.part[0].job, 0);
	assert_int_equal(s.part[0].own_permille, 1000);
	assert_int_equal(s.part[0].shared_permille, 0);
	assert_int_equal(s.part[0].n_contributors, 3);
	assert_int_equal(s.part[0].n_victims, 0);
	assert_int_equal(s.part[0].contributor_ms, 10000);
	assert_int_equal(s.part[1].job, 1);
	assert_int_equal(s.part[1].own_permille, 0);
	assert_int_equal(s.part[1].n_victims, 1);
	assert_int_equal(s.part[1].victim_ms, 10000);
	assert_int_equal(s.part[1].victim_permille,
			 traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille);
	assert_words(&m, &s,
		     "job 4711 (ann, cfd) fills slow (sw2 port 1); job 4712 (bob, lammps) is "
		     "blocked");
	ibcc_whose_words(&m.jobs, &s, "slow (sw2 port 1)", false, text, sizeof(text));
	assert_string_equal(text, "job 4711 fills slow (sw2 port 1); job 4712 is blocked");
	ibcc_whose_share_fini(&s);
}

/* Without marks each job that waits is suspected, and none suffers for sure. */
static void test_waiting(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct job_map m;
	struct ibcc_whose_share s;

	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "4711", "ann", "", T0 - 100, 0, "012");
	job_map_add(&m, "4712", "", "", T0 - 50, 0, "3");
	share(f, &m, slow_root(f, false), T0, T0 + 10, &s);
	assert_int_equal(s.basis, IBCC_WHOSE_BY_WAITING);
	assert_int_equal(s.n, 2);
	/* All four send the same. */
	assert_int_equal(s.part[0].own_permille, 750);
	assert_int_equal(s.part[1].own_permille, 250);
	assert_int_equal(s.part[1].n_victims, 0);
	assert_words(&m, &s,
		     "job 4711 (ann), job 4712 may fill slow (sw2 port 1): they wait for it, and "
		     "no mark shows which of them cause it");
	ibcc_whose_share_fini(&s);
}

/* Packets in the log that agrees with the counters: 30, 10 and none. */
static void test_log(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_pair pair[2];
	struct ibcc_root r = *slow_root(f, true);
	struct job_map m;
	struct ibcc_whose_share s;

	for (unsigned int i = 0; i < 2; i++)
		pair[i] = (struct ibcc_pair){ .port = r.port,
					      .src = fabric_port(f->t, LUSTRE_SRC1 + i, 1),
					      .packets = i ? 10 : 30 };
	r.log = IBCC_LOG_AGREES;
	r.pair = pair;
	r.n_pairs = 2;
	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "1", "", "", T0, 0, "0");
	job_map_add(&m, "2", "", "", T0, 0, "1");
	job_map_add(&m, "3", "", "", T0, 0, "2");
	share(f, &m, &r, T0, T0 + 10, &s);
	assert_int_equal(s.basis, IBCC_WHOSE_BY_LOG);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.part[0].own_permille, 750);
	assert_int_equal(s.part[1].own_permille, 250);
	r.log = IBCC_LOG_CONTRADICTED;
	ibcc_whose_share_fini(&s);
	share(f, &m, &r, T0, T0 + 10, &s);
	assert_int_equal(s.basis, IBCC_WHOSE_BY_MARKS);
	assert_int_equal(s.n, 3);
	ibcc_whose_share_fini(&s);
}

/* One job ends in second 4, the next begins on the same hosts in second 6: 40 %, 40 %, and 20 % of
 * nobody. Jobs that ended before or begin later have no part.
 */
static void test_part_of_an_interval(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct job_map m;
	struct ibcc_whose_share s;

	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "before", "", "", T0 - 100, T0, "012");
	job_map_add(&m, "first", "", "", T0, T0 + 4, "012");
	job_map_add(&m, "second", "", "", T0 + 6, 0, "012");
	job_map_add(&m, "later", "", "", T0 + 10, 0, "012");
	share(f, &m, slow_root(f, true), T0, T0 + 10, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.part[0].job, 1);
	assert_int_equal(s.part[0].own_permille, 400);
	assert_int_equal(s.part[0].contributor_ms, 4000);
	assert_int_equal(s.part[1].job, 2);
	assert_int_equal(s.part[1].own_permille, 400);
	assert_int_equal(s.nobody_permille, 200);
	ibcc_whose_share_fini(&s);
}

/* A job runs twice in the interval: it is one job to people. */
static void test_two_runs(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct job_map m;
	struct ibcc_whose_share s;

	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "1", "ann", "a", T0, T0 + 5, "012");
	job_map_add(&m, "1", "ann", "a", T0 + 6, 0, "013");
	share(f, &m, slow_root(f, true), T0, T0 + 10, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.part[0].own_permille, 500);
	assert_words(&m, &s, "job 1 (ann, a) fills slow (sw2 port 1)");
	ibcc_whose_share_fini(&s);
}

/* Two jobs on src1 for half of the interval: that half is shared, and the other half is the first
 * job's. src2 and src3 belong to nobody.
 */
static void test_shared(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1";
	struct job_map m;
	struct ibcc_whose_share s;

	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "1", "ann", "a", T0 - 1, 0, "0");
	job_map_add(&m, "2", "bob", "b", T0 + 5, 0, "0");
	share(f, &m, slow_root(f, true), T0, T0 + 10, &s);
	assert_int_equal(s.n, 2);
	assert_int_equal(s.part[0].own_permille, 167);
	assert_int_equal(s.part[0].shared_permille, 167);
	assert_int_equal(s.part[1].own_permille, 0);
	assert_int_equal(s.part[1].shared_permille, 167);
	assert_int_equal(s.part[1].contributor_ms, 0);
	assert_int_equal(s.part[1].shared_contributor_ms, 5000);
	assert_true(s.part[1].sent_bytes == 0);
	assert_int_equal(s.nobody_permille, 667);
	assert_words(&m, &s,
		     "job 1 (ann, a), job 2 (bob, b) on shared hosts fill slow (sw2 port 1)");
	ibcc_whose_share_fini(&s);
}

/* Two roots of one interval. Job 1 fills both, by two runs; src4 is a victim of both, and counts
 * once. Eleven more jobs are on src4 and two on src3.
 */
static void test_sums(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_whose_adapter a[2][4];
	struct ibcc_whose_evidence e[2];
	struct ibcc_whose_share s[2];
	struct ibcc_whose_sums sums;
	struct ibcc_whose_hosts h;
	struct job_map m;

	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "1", "", "", T0 - 9, T0 + 5, "01");
	job_map_add(&m, "1", "", "", T0 + 5, 0, "01");
	job_map_add(&m, "2", "", "", T0, 0, "2");
	job_map_add(&m, "3", "", "", T0, 0, "2");
	for (char id[] = "a"; id[0] <= 'k'; id[0]++)
		job_map_add(&m, id, "", "", T0, 0, "3");
	for (int i = 0; i < 2; i++) {
		for (unsigned int k = 0; k < 4; k++)
			a[i][k] = (struct ibcc_whose_adapter){
				.node_guid = f->t->node[LUSTRE_SRC1 + k].guid,
				.port = 1,
				.weight = k < 3 && (k || !i) ? 100 : 0,
				.suffers = k == 3 || (i && !k),
				.wait_permille = 500,
			};
		e[i] = (struct ibcc_whose_evidence){ .begin_ms = T0 * 1000ll,
						     .end_ms = (T0 + 10) * 1000ll,
						     .basis = IBCC_WHOSE_BY_MARKS,
						     .n = 4,
						     .adapter = a[i] };
	}
	assert_int_equal(ibcc_whose_hosts_find(&m.jobs, f->t, ibcc_whose_first_word, NULL, &h), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ibcc_whose_share_out(&m.jobs, &h, f->t, &e[i], &s[i]), 0);
	assert_int_equal(ibcc_whose_sum_up(&m.jobs, &h, f->t, e, s, 2, &sums), 0);
	assert_int_equal(sums.n, IBCC_WHOSE_WORST);
	assert_string_equal(m.job[sums.sum[0].job].id, "1");
	/* Two of three adapters of the one root, one of two of the other. */
	assert_in_range(sums.sum[0].share_permille, 665, 668);
	assert_int_equal(sums.sum[0].n_victims, 1);
	for (uint32_t i = 1; i < sums.n; i++) {
		assert_int_equal(m.job[sums.sum[i].job].id[0], (int)('a' + i - 1));
		assert_int_equal(sums.sum[i].share_permille, 0);
		assert_int_equal(sums.sum[i].n_victims, 1);
	}
	assert_int_equal(sums.others.share_permille, 0);
	assert_int_equal(sums.others.n_victims, 1);
	assert_in_range(sums.shared_permille, 498, 502);
	assert_int_equal(sums.nobody_permille, 0);

	/* Without marks a share says nothing. */
	s[0].basis = s[1].basis = IBCC_WHOSE_BY_WAITING;
	assert_int_equal(ibcc_whose_sum_up(&m.jobs, &h, f->t, e, s, 2, &sums), 0);
	for (uint32_t i = 0; i < sums.n; i++)
		assert_int_equal(sums.sum[i].share_permille, 0);
	assert_int_equal(sums.shared_permille, 0);
	for (int i = 0; i < 2; i++)
		ibcc_whose_share_fini(&s[i]);
	ibcc_whose_hosts_fini(&h);
}

static bool second_word(void *arg, const char *desc, char name[IBCC_DESC_BYTES])
{
	const char *blank = strchr(desc, ' ');

	(void)arg;
	if (blank)
		snprintf(name, IBCC_DESC_BYTES, "%s", blank + 1);
	return blank;
}

/* A host with two adapters; names that no adapter has; a name from another part of the text. */
static void test_hosts(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "a0 a1 a2 a3 a4 a5 a6 a7 a8 n1 src4 sw1";
	struct ibcc_whose_hosts h;
	struct job_map m;
	const uint32_t src1 = f->t->port[fabric_port(f->t, LUSTRE_SRC1, 1)].endport;
	const uint32_t src2 = f->t->port[fabric_port(f->t, LUSTRE_SRC2, 1)].endport;

	snprintf(f->t->node[LUSTRE_SRC1].desc, IBCC_DESC_BYTES, "n1 mlx5_0");
	snprintf(f->t->node[LUSTRE_SRC2].desc, IBCC_DESC_BYTES, "  n1\tmlx5_1");
	f->t->node[LUSTRE_SRC3].desc[0] = '\0';
	job_map_init(&m, hosts, T0, 30);
	job_map_add(&m, "1", "", "", T0, 0, "9");
	job_map_add(&m, "2", "", "", T0, 0, "0189:");
	assert_int_equal(ibcc_whose_hosts_find(&m.jobs, f->t, ibcc_whose_first_word, NULL, &h), 0);
	assert_int_equal(h.host[src1], 9);
	assert_int_equal(h.host[src2], 9);
	assert_int_equal(h.n_adapters, 3);
	/* A switch is no host, even by this name. */
	assert_int_equal(h.n_unmatched, 10);
	for (uint32_t i = 0; i < IBCC_WHOSE_NAMED; i++)
		assert_int_equal(h.unmatched[i], i);
	assert_int_equal(h.first[10] - h.first[9], 2);
	assert_int_equal(h.job[h.first[9]], 0);
	assert_int_equal(h.job[h.first[9] + 1], 1);
	assert_int_equal(h.first[11] - h.first[10], 1);
	assert_int_equal(h.first[12], m.jobs.n_on);
	ibcc_whose_hosts_fini(&h);
	snprintf(f->t->node[LUSTRE_SRC1].desc, IBCC_DESC_BYTES, "HCA src4");
	assert_int_equal(ibcc_whose_hosts_find(&m.jobs, f->t, second_word, NULL, &h), 0);
	assert_int_equal(h.host[src1], 10);
	assert_int_equal(h.n_adapters, 1);
	ibcc_whose_hosts_fini(&h);
}

static void test_old_maps(void **state)
{
	const struct ibcc_jobs m = { .made_s = T0, .period_s = 30 };

	(void)state;
	assert_false(ibcc_whose_is_old(&m, T0 + 60));
	assert_true(ibcc_whose_is_old(&m, T0 + 61));
	assert_false(ibcc_whose_is_old(&m, T0 - 60));
	assert_true(ibcc_whose_is_old(&m, T0 - 61));
}

/* A long name is cut between characters. */
static void test_labels(void **state)
{
	struct ibcc_job j = { .id = "4711", .user = "a\"<b>" };
	char label[IBCC_WHOSE_LABEL_BYTES];

	(void)state;
	assert_string_equal(ibcc_whose_label(&j, label), "job 4711 (a\"<b>)");
	j = (struct ibcc_job){ .id = "1" };
	assert_string_equal(ibcc_whose_label(&j, label), "job 1");
	for (unsigned int i = 0; i + 3 < sizeof(j.name); i += 3)
		memcpy(j.name + i, "\xe2\x82\xac", 3);
	assert_string_equal(ibcc_whose_label(&j, label),
			    "job 1 (\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
			    "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac"
			    "\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac)");
	memset(&j, 'x', sizeof(j));
	j.id[sizeof(j.id) - 1] = j.user[sizeof(j.user) - 1] = j.name[sizeof(j.name) - 1] = '\0';
	assert_true(strlen(ibcc_whose_label(&j, label)) < sizeof(label));
}

/* Random jobs on three hosts with a weight each, counted second by second. */
static void one_draw(struct fixture *f, uint64_t seed)
{
	uint64_t rng = seed;
	char hosts[] = "src1 src2 src3";
	static const uint32_t weight[] = { 200, 100, 700 };
	double own[JOB_MAP_JOBS] = { 0 }, shared[JOB_MAP_JOBS] = { 0 }, nobody = 0;
	struct ibcc_whose_adapter a[3];
	struct ibcc_whose_evidence e = { .begin_ms = T0 * 1000ll,
					 .end_ms = (T0 + 20) * 1000ll,
					 .basis = IBCC_WHOSE_BY_MARKS,
					 .n = 3,
					 .adapter = a };
	struct ibcc_whose_hosts h;
	struct ibcc_whose_share s;
	struct job_map m;
	uint32_t n, with = 0;

	n = ibcc_rng_below(&rng, 12);
	job_map_init(&m, hosts, T0 + 20, 30);
	for (uint32_t i = 0; i < n; i++) {
		static const char *const on[] = { "0", "1", "2", "01", "02", "12", "012" };
		int64_t start = T0 - 10 + ibcc_rng_below(&rng, 40);
		int64_t ran = ibcc_rng_below(&rng, 15);
		char id[16];

		snprintf(id, sizeof(id), "%u", i);
		job_map_add(&m, id, "", "", start, ran ? start + ran : 0,
			    on[ibcc_rng_below(&rng, 7)]);
	}
	for (uint32_t k = 0; k < 3; k++)
		a[k] = (struct ibcc_whose_adapter){
			.node_guid = f->t->node[LUSTRE_SRC1 + k].guid,
			.port = 1,
			.weight = weight[k],
		};
	for (uint32_t k = 0; k < 3; k++)
		for (int64_t at = T0; at < T0 + 20; at++) {
			uint32_t who[JOB_MAP_JOBS], running = 0;

			for (uint32_t i = 0; i < n; i++)
				for (uint32_t x = 0; x < m.job[i].n_hosts; x++)
					if (m.on[m.job[i].first + x] == k &&
					    m.job[i].start_s <= at &&
					    (!m.job[i].end_s || m.job[i].end_s > at))
						who[running++] = i;
			for (uint32_t x = 0; x < running; x++)
				(running > 1 ? shared : own)[who[x]] += weight[k] / 20.0;
			nobody += running ? 0 : weight[k] / 20.0;
		}
	assert_int_equal(ibcc_whose_hosts_find(&m.jobs, f->t, ibcc_whose_first_word, NULL, &h), 0);
	assert_int_equal(ibcc_whose_share_out(&m.jobs, &h, f->t, &e, &s), 0);
	for (uint32_t i = 0; i < n; i++)
		with += own[i] + shared[i] > 0;
	assert_int_equal(s.n, with);
	for (uint32_t i = 0; i < s.n; i++) {
		const struct ibcc_whose_part *p = &s.part[i];

		assert_true(fabs(p->own_permille - own[p->job]) <= 0.501);
		assert_true(fabs(p->shared_permille - shared[p->job]) <= 0.501);
		assert_true(!i || s.part[i - 1].own_permille + s.part[i - 1].shared_permille >=
					  p->own_permille + p->shared_permille);
	}
	assert_true(fabs(s.nobody_permille - nobody) <= 0.501);
	ibcc_whose_share_fini(&s);
	ibcc_whose_hosts_fini(&h);
}

static void test_random_jobs(void **state)
{
	for (uint64_t seed = 1; seed <= 2000; seed++)
		one_draw(*state, seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LUSTRE(test_marks),
		LUSTRE(test_waiting),
		LUSTRE(test_log),
		LUSTRE(test_part_of_an_interval),
		LUSTRE(test_two_runs),
		LUSTRE(test_shared),
		LUSTRE(test_sums),
		LUSTRE(test_hosts),
		cmocka_unit_test(test_old_maps),
		cmocka_unit_test(test_labels),
		LUSTRE(test_random_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
