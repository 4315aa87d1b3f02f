/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which daemon writes, of several: against an SA made up here, which is no better than OpenSM's;
 * and its records byte by byte (IBA vol. 1, 15.2.5.14).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/election.h>

#define DAEMONS 4u

static void test_bytes(void **state)
{
	static const uint8_t mask[8] = { [3] = 9, [4] = 0x80, [7] = 0x53 };
	struct ibcc_leader_record r = { .prefix = 0xfe80000000000000,
					.guid = 0x0002c90300001234,
					.lease_s = 60,
					.name = "ibcc-tuned on here",
					.since = 0x0102030405060708,
					.run = 0x1112131415161718 };
	struct ibcc_leader_record back = { 0 };
	uint8_t mad[IBCC_MAD_BYTES];

	(void)state;
	memset(mad, 0xee, sizeof(mad));
	ibcc_leader_request(mad, IBCC_MAD_SET, &r);
	assert_int_equal(mad[1], 0x03);
	assert_int_equal(mad[2], 2);
	assert_int_equal(mad[3], 0x02);
	assert_int_equal(mad[17], 0x31);
	assert_memory_equal(mad + 48, mask, sizeof(mask));
	assert_memory_equal(mad + 56, "\x02\x69\x62\x63\x63\x00\x00\x01", 8);
	assert_memory_equal(mad + 64, "\xfe\x80\0\0\0\0\0\0\0\x02\xc9\x03\0\0\x12\x34", 16);
	assert_memory_equal(mad + 80, "\0\0\0\0\0\0\0\x3c", 8); /* P_Key, reserved, lease */
	assert_string_equal((char *)mad + 104, r.name);
	assert_memory_equal(mad + 200, "\x11\x12\x13\x14\x15\x16\x17\x18", 8);
	assert_memory_equal(mad + 216, "\1\2\3\4\5\6\7\x8", 8);
	mad[3] = 0x81;
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_ONE);
	assert_true(back.prefix == r.prefix && back.guid == r.guid && back.since == r.since);
	assert_true(back.run == r.run);
	assert_int_equal(back.lease_s, 60);
	assert_string_equal(back.name, r.name);
	/* A name from another program, without an end. */
	memset(mad + 104, 7, 64);
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_ONE);
	assert_int_equal(strspn(back.name, "?"), 63);
	mad[4] = 3;
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_NONE);
	mad[4] = 4;
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_MANY);
	mad[4] = 7;
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_REFUSED);
	mad[4] = 0;
	mad[63] ^= 1;
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_REFUSED);
	ibcc_leader_request(mad, IBCC_MAD_GET, &r);
	assert_int_equal(mad[55], 1);
	assert_int_equal(mad[79], 0);
	ibcc_leader_request(mad, IBCC_MAD_SA_DELETE, &r);
	assert_int_equal(mad[3], 0x15);
	assert_int_equal(mad[55], 3);
	mad[3] = 0x95;
	assert_int_equal(ibcc_leader_read(mad, &back), IBCC_LEADER_DONE);
}

struct fabric {
	int64_t now;
	bool silent, refuses, same_port;
	struct ibcc_election e[DAEMONS];
	bool dead[DAEMONS];
	struct ibcc_leader_record record[DAEMONS]; /* guid 0: none */
	int64_t until[DAEMONS];
};

static void begin(struct fabric *w, uint32_t n)
{
	*w = (struct fabric){ .now = 1000 };
	for (uint32_t i = 0; i < DAEMONS; i++) {
		struct ibcc_leader_record own = { .guid = 0x100 + i,
						  .since = 5 * i,
						  .run = 0x9000 + i };

		snprintf(own.name, sizeof(own.name), "daemon %u", i);
		ibcc_election_init(&w->e[i], &own, 0);
		w->dead[i] = i >= n;
		if (i < n)
			ibcc_election_stand(&w->e[i], true, w->now);
	}
}

static enum ibcc_leader_answer serve(struct fabric *w, uint32_t i, uint8_t method,
				     struct ibcc_leader_record *r)
{
	uint32_t n = 0, at = w->same_port ? 0 : i;

	if (w->silent)
		return IBCC_LEADER_SILENT;
	if (w->refuses)
		return IBCC_LEADER_REFUSED;
	if (method == IBCC_MAD_SET) {
		w->record[at] = *r = w->e[i].own;
		w->until[at] = w->now + w->e[i].own.lease_s;
		return IBCC_LEADER_ONE;
	}
	if (method == IBCC_MAD_SA_DELETE) {
		w->record[at].guid = 0;
		return IBCC_LEADER_DONE;
	}
	for (uint32_t k = 0; k < DAEMONS; k++) {
		if (!w->record[k].guid || w->now > w->until[k])
			continue;
		*r = w->record[k];
		n++;
	}
	return n > 1 ? IBCC_LEADER_MANY : n ? IBCC_LEADER_ONE : IBCC_LEADER_NONE;
}

static uint32_t n_writers(const struct fabric *w)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < DAEMONS; i++)
		n += !w->dead[i] && !ibcc_election_may_write(&w->e[i], w->now, NULL);
	return n;
}

/* Each second all ask what is due, first all questions, then all answers: the worst order. */
static void run(struct fabric *w, unsigned int seconds)
{
	while (seconds--) {
		enum ibcc_leader_answer a[DAEMONS];
		struct ibcc_leader_record r[DAEMONS] = { 0 };
		uint8_t due[DAEMONS];

		w->now++;
		for (uint32_t i = 0; i < DAEMONS; i++) {
			due[i] = w->dead[i] ? 0 : ibcc_election_due(&w->e[i], w->now);
			if (due[i])
				a[i] = serve(w, i, due[i], &r[i]);
		}
		for (uint32_t i = 0; i < DAEMONS; i++)
			if (due[i])
				ibcc_election_answer(&w->e[i], w->now, a[i], &r[i]);
		assert_true(n_writers(w) <= 1 || w->refuses);
	}
}

static uint32_t leader(const struct fabric *w)
{
	for (uint32_t i = 0; i < DAEMONS; i++)
		if (!w->dead[i] && w->e[i].state == IBCC_ELECTION_LEADS)
			return i;
	return DAEMONS;
}

static void test_one(void **state)
{
	struct ibcc_why why = { "" };
	struct fabric w;

	(void)state;
	begin(&w, 1);
	assert_int_equal(ibcc_election_may_write(&w.e[0], w.now, &why), -EAGAIN);
	run(&w, 5);
	assert_int_equal(leader(&w), 0);
	assert_int_equal(ibcc_election_may_write(&w.e[0], w.now, &why), 0);
	assert_string_equal(why.text, "");
	for (int i = 0; i < 300; i++) {
		run(&w, 1);
		assert_int_equal(leader(&w), 0);
		assert_true(w.until[0] - w.now > IBCC_LEADER_LEASE_S / 2);
	}
	ibcc_election_stand(&w.e[0], false, w.now);
	run(&w, 20);
	assert_int_equal(w.record[0].guid, 0);
	assert_int_equal(w.e[0].state, IBCC_ELECTION_VACANT);
}

/* All at once: one is left before long, for any of them. */
static void test_race(void **state)
{
	struct ibcc_why why;
	struct fabric w;

	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++) {
		begin(&w, DAEMONS);
		for (uint32_t i = 0; i < DAEMONS; i++)
			w.e[i].own.guid = 0x0002c90300000000 + 7919 * seed + 2 * i;
		run(&w, 90);
		assert_int_equal(n_writers(&w), 1);
		for (uint32_t i = 0; i < DAEMONS; i++) {
			if (i == leader(&w))
				continue;
			assert_int_equal(ibcc_election_may_write(&w.e[i], w.now, &why), -EPERM);
			assert_non_null(strstr(why.text, "another daemon leads: \"daemon "));
		}
	}
}

static void test_takeover(void **state)
{
	struct fabric w;
	uint32_t first;

	(void)state;
	begin(&w, 2);
	run(&w, 60);
	first = leader(&w);
	w.dead[first] = true;
	run(&w, 20);
	assert_int_equal(leader(&w), DAEMONS); /* its lease has not ended */
	run(&w, 60);
	assert_int_equal(leader(&w), 1 - first);
	/* The first is back, and finds another. */
	w.dead[first] = false;
	ibcc_election_init(&w.e[first], &w.e[first].own, 0);
	ibcc_election_stand(&w.e[first], true, w.now);
	run(&w, 60);
	assert_int_equal(leader(&w), 1 - first);
}

/* Of an SA that forgets all: the leader goes on. */
static void test_new_sa(void **state)
{
	struct fabric w;
	uint32_t first;

	(void)state;
	begin(&w, 3);
	run(&w, 60);
	first = leader(&w);
	for (int i = 0; i < 20; i++) {
		memset(w.record, 0, sizeof(w.record));
		for (uint32_t k = 0; k < 3; k++)
			ibcc_election_new_sa(&w.e[k], w.now);
		run(&w, 7 + (unsigned int)i);
		assert_true(n_writers(&w) <= 1);
	}
	run(&w, 60);
	assert_int_equal(n_writers(&w), 1);
	assert_true(first < 3);
}

/* One that stands no more takes its record away at another SA, too, and sets none there. */
static void test_new_sa_after_all(void **state)
{
	struct fabric w;

	(void)state;
	begin(&w, 1);
	run(&w, 60);
	assert_int_equal(w.e[0].state, IBCC_ELECTION_LEADS);
	ibcc_election_stand(&w.e[0], false, w.now);
	ibcc_election_new_sa(&w.e[0], w.now);
	assert_int_equal(ibcc_election_due(&w.e[0], w.now), IBCC_MAD_SA_DELETE);
	run(&w, 120);
	assert_int_not_equal(w.e[0].state, IBCC_ELECTION_LEADS);
}

static void test_silence(void **state)
{
	struct ibcc_why why;
	struct fabric w;

	(void)state;
	begin(&w, 1);
	run(&w, 10);
	w.silent = true;
	run(&w, 10);
	assert_int_equal(n_writers(&w), 1);
	run(&w, 30);
	assert_int_equal(ibcc_election_may_write(&w.e[0], w.now, &why), -EHOSTUNREACH);
	assert_non_null(strstr(why.text, "does not answer"));
	assert_non_null(strstr(why.text, "sminfo"));
	/* It answers again: asked within a second, and one to settle. */
	w.silent = false;
	run(&w, 1 + IBCC_LEADER_SETTLE_S + 1);
	assert_int_equal(n_writers(&w), 1);
	/* No request is made any more, whatever the reason. */
	assert_int_equal(ibcc_election_may_write(&w.e[0], w.now + 31, &why), -EHOSTUNREACH);
}

/* It is advisory: without it no daemon is kept from writing, but warned. */
static void test_refused(void **state)
{
	struct ibcc_why why;
	struct fabric w;

	(void)state;
	begin(&w, 1);
	w.refuses = true;
	run(&w, 20);
	assert_int_equal(ibcc_election_may_write(&w.e[0], w.now, &why), -EAGAIN);
	run(&w, 20);
	assert_int_equal(ibcc_election_may_write(&w.e[0], w.now, &why), 0);
	assert_non_null(strstr(why.text, "it is not known whether"));
	w.refuses = false;
	run(&w, 70);
	assert_int_equal(leader(&w), 0);
}

/* OpenSM refuses for some seconds while a sweep has lost the requester's port: the leader stays,
 * and no other daemon writes.
 */
static void test_refused_for_a_while(void **state)
{
	struct fabric w;
	uint32_t first;

	(void)state;
	begin(&w, DAEMONS);
	run(&w, 90);
	first = leader(&w);
	assert_true(first < DAEMONS);
	for (unsigned int s = 1; s < 25; s++) {
		w.refuses = true;
		for (unsigned int i = 0; i < s; i++) {
			run(&w, 1);
			assert_int_equal(n_writers(&w), 1);
		}
		w.refuses = false;
		run(&w, 20);
		assert_int_equal(leader(&w), first);
	}
}

/* The record of the run before is no other's, whatever subnet the port has been told of since. */
static void test_earlier_run(void **state)
{
	struct fabric w;

	(void)state;
	begin(&w, 1);
	w.record[0] = w.e[0].own;
	w.record[0].run = w.e[0].before = 0x4711;
	w.record[0].prefix = 0xfe80000000000000;
	w.until[0] = w.now + 60;
	ibcc_election_stand(&w.e[0], false, w.now);
	run(&w, 20);
	assert_int_equal(w.e[0].state, IBCC_ELECTION_VACANT);
	ibcc_election_stand(&w.e[0], true, w.now);
	run(&w, 5);
	assert_int_equal(w.e[0].state, IBCC_ELECTION_LEADS);
	assert_true(w.record[0].prefix == 0xfe80000000000000); /* renewed, not a second one */
	assert_true(w.record[0].run == 0x9000);
}

/* Two daemons at one port, whose record with the SA is one and the same: one leads at any time, and
 * its record ends before the other one does.
 */
static void test_same_port(void **state)
{
	struct ibcc_why why;
	struct fabric w;
	uint32_t first;

	(void)state;
	begin(&w, 2);
	w.same_port = true;
	for (uint32_t i = 0; i < 2; i++)
		w.e[i].own.guid = 0x100;
	run(&w, 200);
	first = leader(&w);
	assert_true(first < 2);
	assert_int_equal(ibcc_election_may_write(&w.e[1 - first], w.now, &why), -EPERM);
	assert_non_null(strstr(why.text, "the port of this daemon, too"));
	run(&w, 600);
	assert_int_equal(leader(&w), first);
	w.dead[first] = true;
	run(&w, 30);
	assert_int_equal(leader(&w), DAEMONS); /* its lease has not ended */
	run(&w, 60);
	assert_int_equal(leader(&w), 1 - first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_race),
		cmocka_unit_test(test_takeover),
		cmocka_unit_test(test_new_sa),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_for_a_while),
		cmocka_unit_test(test_earlier_run),
		cmocka_unit_test(test_same_port),
		cmocka_unit_test(test_new_sa_after_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
