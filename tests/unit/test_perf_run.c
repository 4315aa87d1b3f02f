/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans on the double of libibverbs: what moves, what is counted, what is compared. */
#include <math.h>

#include "perftest/verbs/token.h"
#include "tests/unit/perfs.h"

#define SHORT "duration_ms: 60\nmeasure_from_ms: 10\n"

/* An octet flipped on its way is found by all that is compared. */
static void check_operation(const char *operation, bool received)
{
	struct perf p = { 0 };
	char plan[1024];

	double_reset();
	snprintf(plan, sizeof(plan),
		 SHORT
		 "verbs: {operation: %s, verify: true, message_bytes: 4096, window_messages: 8,"
		 " report_ms: 10}\n"
		 "traffic: [{name: f, from: a, to: b, queue_pairs: 2}]\n",
		 operation);
	assert_int_equal(perf_whole(&p, plan), 0);
	assert_string_equal(p.e.text, "");
	assert_true(p.result.flow[0].messages > 0);
	assert_true(p.result.flow[0].verified > 0);
	assert_int_equal(p.result.flow[0].bad, 0);
	assert_int_equal(p.result.flow[0].received > 0, received);
	assert_int_equal(p.result.flow[0].measured_bytes,
			 4096 * p.result.flow[0].measured_messages);
	assert_int_equal(p.result.flow[0].latency.n, p.result.flow[0].measured_messages);
	assert_true(p.result.n_samples >= 1);
	assert_true(p.result.window_s > 0.049 && p.result.window_s < 0.051);
	perf_forget(&p);
}

static void test_operations(void **state)
{
	(void)state;
	check_operation("write", false);
	check_operation("send", true);
	check_operation("read", false);
}

static void check_corrupt(const char *operation)
{
	struct perf p = { 0 };
	char plan[1024];

	double_reset();
	double_verbs.corrupt_nth = 1; /* of which a busy machine sends one at least */
	/* Few enough that no write comes over the one that is wrong. */
	snprintf(plan, sizeof(plan),
		 SHORT "verbs: {operation: %s, verify: true, message_bytes: 4096, "
		       "window_messages: 64}\n"
		       "traffic: [{name: f, from: a, to: b, arrivals: periodic, rate: 6 Mb/s}]\n",
		 operation);
	assert_int_equal(perf_whole(&p, plan), 0);
	assert_int_equal(p.result.flow[0].bad, 1);
	perf_forget(&p);
}

static void test_corrupt(void **state)
{
	(void)state;
	check_corrupt("write");
	check_corrupt("send");
	check_corrupt("read");
}

/* Messages with a rate: the rate alone says how many are due, however fast the host is. */
static void test_rate(void **state)
{
	struct perf p = { 0 };

	(void)state;
	assert_int_equal(perf_whole(&p, "duration_ms: 100\n"
					"verbs: {message_bytes: 1000, window_messages: 1000}\n"
					"model: {packet_bytes: 2048, header_bytes: 0}\n"
					"traffic: [{name: f, from: a, to: b, arrivals: periodic, "
					"rate: 8 Mb/s, start_ms: 20, stop_ms: 80}]\n"),
			 0);
	/* 1000 messages a second for 60 ms, the first at once. */
	assert_int_equal(p.result.flow[0].due + p.result.flow[0].missed, 60);
	perf_forget(&p);
}

/* With slow completions a window of two cannot keep up with a message each millisecond. */
static void test_behind(void **state)
{
	struct perf p = { 0 };

	(void)state;
	double_verbs.delay_ns = 50000000;
	assert_int_equal(perf_whole(&p, "duration_ms: 400\n"
					"verbs: {message_bytes: 1000, window_messages: 2}\n"
					"model: {packet_bytes: 2048, header_bytes: 0}\n"
					"traffic: [{name: f, from: a, to: b, arrivals: periodic, "
					"rate: 8 Mb/s}]\n"),
			 0);
	assert_true(p.result.flow[0].messages <= 18);
	assert_true(p.result.flow[0].missed >= 200);
	/* Latency counts from when a message was due, not from when there was room for it. */
	assert_true(ibcc_perf_hist_us(&p.result.flow[0].latency, 1) > 90000);
	perf_forget(&p);
}

static void test_many(void **state)
{
	static const char *const plans[] = {
		SHORT "verbs: {message_bytes: 256}\ntraffic: [{name: f, from: all, to: all}]\n",
		SHORT "verbs: {operation: send, completions: polling}\n"
		      "traffic: [{name: hot, kind: hot, from: [b, c], to: a}, "
		      "{name: victim, kind: victim, from: d, to: c}]\n",
		SHORT
		"verbs: {operation: send}\n"
		"traffic: [{name: f, from: all, to: a, message_bytes: 100, window_messages: 3, "
		"on_ms: 5, off_ms: 5}]\n",
		SHORT "verbs: {operation: send, message_bytes: 1, window_messages: 1}\n"
		      "traffic: [{name: f, from: a, to: all}]\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		struct perf p = { 0 };

		double_reset();
		assert_int_equal(perf_whole(&p, plans[i]), 0);
		for (uint32_t k = 0; k < p.s.n_flows; k++) {
			assert_true(p.result.flow[k].messages > 0);
			if (p.s.flow[k].operation == IBCC_VERBS_SEND)
				assert_true(p.result.flow[k].received >= p.result.flow[k].messages);
		}
		perf_forget(&p);
	}
}

static void test_ethernet(void **state)
{
	struct perf p = { 0 };

	(void)state;
	double_verbs.ethernet = true;
	assert_int_equal(perf_whole(&p, SHORT "traffic: [{from: a, to: b}]\n"), 0);
	perf_forget(&p);
}

/* By librdmacm, all to all: each connection finds its queue pair. */
static void test_cm(void **state)
{
	struct perf p = { 0 };

	(void)state;
	assert_int_equal(perf_whole(&p, SHORT "verbs: {connect: cm, operation: send, verify: true, "
					      "message_bytes: 256, queue_pairs: 2}\n"
					      "traffic: [{name: f, from: all, to: all}]\n"),
			 0);
	for (uint32_t k = 0; k < 4; k++) {
		assert_true(p.result.flow[k].verified > 0);
		assert_int_equal(p.result.flow[k].bad, 0);
	}
	perf_forget(&p);
}

/* How long a sender waits, however it was connected. */
static void test_patience(void **state)
{
	struct perf p = { 0 };

	(void)state;
	assert_int_equal(perf_whole(&p, SHORT "traffic: [{from: a, to: b}]\n"), 0);
	assert_int_equal(double_verbs.ack_timeout, 16);
	assert_int_equal(double_verbs.retries, 7);
	perf_forget(&p);
	double_reset();
	assert_int_equal(perf_whole(&p, SHORT "verbs: {ack_timeout: 14, retries: 3}\n"
					      "traffic: [{from: a, to: b}]\n"),
			 0);
	assert_int_equal(double_verbs.ack_timeout, 14);
	assert_int_equal(double_verbs.retries, 3);
	perf_forget(&p);
	double_reset();
	assert_int_equal(perf_whole(&p, SHORT "verbs: {ack_timeout: 14, connect: cm}\n"
					      "traffic: [{from: a, to: b}]\n"),
			 0);
	assert_int_equal(double_verbs.ack_timeout, 14);
	perf_forget(&p);
}

/* Two runs over the same connections. */
static void test_again(void **state)
{
	struct perf p = { 0 };

	(void)state;
	perf_start(&p, SHORT "verbs: {operation: send}\ntraffic: [{from: a, to: b}]\n");
	assert_int_equal(perf_run(&p, NULL), 0);
	ibcc_perf_result_fini(&p.result);
	assert_int_equal(ibcc_perf_run_once(&p.hosts, -1, NULL, NULL, &p.result, &p.e), 0);
	assert_true(p.result.flow[0].messages > 0);
	perf_end(&p);
	assert_int_equal(double_verbs.live, 0);
}

static void test_token(void **state)
{
	struct perf p = { .token = "correct horse" };

	(void)state;
	perf_start(&p, SHORT "traffic: [{from: a, to: b}]\n");
	assert_int_equal(perf_run(&p, "correct horse"), 0);
	perf_end(&p);
	perf_start(&p, SHORT "traffic: [{from: a, to: b}]\n");
	assert_int_not_equal(perf_run(&p, "correct hors"), 0);
	assert_non_null(strstr(p.e.text, "the token of this host is another one"));
	perf_end(&p);
	perf_start(&p, SHORT "traffic: [{from: a, to: b}]\n");
	assert_int_not_equal(perf_run(&p, NULL), 0);
	assert_non_null(strstr(p.e.text, "this host wants a token"));
	perf_end(&p);
}

/* What is sent in place of the token: another thing each time, never the token, and nothing for a
 * salt that a user might choose. The last is what openssl passwd -6 makes.
 */
static void test_proof(void **state)
{
	static const char *const bad[] = { "",
					   "ab",
					   "$1$abcdefgh",
					   "$6$",
					   "$6$short",
					   "$6$rounds=999999999$abcdefghijklmnop",
					   "$6$abcdefghijklmno$",
					   "$6$abcdefghijklmnopq" };
	char salt[2][IBCC_PERF_PROOF_BYTES], proof[3][IBCC_PERF_PROOF_BYTES];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ibcc_perf_token_salt(salt[i]), 0);
		assert_int_equal(ibcc_perf_token_prove("correct horse", salt[i], proof[i]), 0);
		assert_null(strstr(proof[i], "correct"));
	}
	assert_string_not_equal(salt[0], salt[1]);
	assert_string_not_equal(proof[0], proof[1]);
	assert_int_equal(ibcc_perf_token_prove("correct horse", salt[0], proof[2]), 0);
	assert_true(ibcc_perf_token_is(proof[0], proof[2]));
	assert_false(ibcc_perf_token_is(proof[0], proof[1]));
	assert_false(ibcc_perf_token_is(proof[0], ""));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(ibcc_perf_token_prove("correct horse", bad[i], proof[2]), -EPROTO);
	assert_int_equal(ibcc_perf_token_prove("Hello world!", "$6$saltstringsaltst", proof[2]), 0);
	assert_string_equal(proof[2], "$6$saltstringsaltst$e.3mR68CqZEpesEX1HlFZT6sEanSOjM/"
				      "b5UoDyDo00a8syek2cJldMjrbtKP86.FJvzluVR7nc3DNzelAwTxj.");
}

/* What a plan wants and verbs cannot do is said before any host is asked. */
static void test_impossible(void **state)
{
	static const struct {
		const char *plan, *error;
	} t[] = {
		{ "verbs: {operation: read}\ntraffic: [{name: f, from: a, to: all}]\n",
		  "flow f: to: all is not possible with operation read: name one host that reads" },
		{ "topology: {nodes: [{host: [a, b, c, d, x]}, {switch: s, ports: 5}], links: [[a, "
		  "s/1], [b, s/2], [c, s/3], [d, s/4], [x, s/5]]}\n"
		  "traffic: [{name: f, from: a, to: x}]\n",
		  "flow f: x is not one of the plan's hosts: add it there" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		struct perf p = { 0 };
		char plan[1024];

		snprintf(plan, sizeof(plan), SHORT "%s", t[i].plan);
		assert_int_not_equal(perf_whole(&p, plan), 0);
		assert_string_equal(p.e.text, t[i].error);
		perf_forget(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_operations, perf_setup),
		cmocka_unit_test_setup(test_corrupt, perf_setup),
		cmocka_unit_test_setup(test_rate, perf_setup),
		cmocka_unit_test_setup(test_behind, perf_setup),
		cmocka_unit_test_setup(test_many, perf_setup),
		cmocka_unit_test_setup(test_ethernet, perf_setup),
		cmocka_unit_test_setup(test_cm, perf_setup),
		cmocka_unit_test_setup(test_patience, perf_setup),
		cmocka_unit_test_setup(test_again, perf_setup),
		cmocka_unit_test_setup(test_token, perf_setup),
		cmocka_unit_test(test_proof),
		cmocka_unit_test_setup(test_impossible, perf_setup),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
