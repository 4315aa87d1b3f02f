/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's end of the plugin's socket, against a plugin that a thread plays: good, refusing,
 * broken, silent.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fabrics.h"

#include "files.h"
#include "plans.h"

#include <ibcc/plugin_client.h>
#include <ibcc/version.h>

/* What the plugin of a test does with a connection after WELCOME. */
typedef void (*script)(int fd);

static struct {
	int listener;
	pthread_t thread;
	script script;
	const char *release; /* of the plugin */
	enum { WELCOME, REFUSE, FULL, GARBAGE, OLD_VERSION, HANG_UP } greeting;
	struct ibcc_topo *topo;
	unsigned int connections;
	atomic_bool goes_on;
} server;

static uint8_t server_buf[IBCC_PROTO_MAX_BYTES];

static void put(int fd, enum ibcc_proto_type type, uint32_t seq, const void *p, size_t n)
{
	int rc;

	while ((rc = ibcc_proto_send(fd, type, seq, p, n)) == -EAGAIN)
		usleep(1000);
	(void)rc; /* the client may be gone, as some tests want it */
}

/* The next message of the client; false when it is gone. */
static bool get(int fd, struct ibcc_proto_header *h, const void **p)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	int rc;

	while ((rc = ibcc_proto_recv(fd, server_buf, h, p)) == -EAGAIN)
		poll(&pfd, 1, 1000);
	return rc == 0;
}

static struct ibcc_proto_state state_of(uint64_t generation)
{
	struct ibcc_proto_state s = { .sm_state = IBCC_SM_MASTER, .generation = generation };

	snprintf(s.opensm_version, sizeof(s.opensm_version), "OpenSM 3.3.23");
	snprintf(s.plugin_version, sizeof(s.plugin_version), "%s", server.release);
	return s;
}

static void put_refusal(int fd, enum ibcc_proto_type type, uint32_t seq, uint32_t refusal,
			const char *text)
{
	struct ibcc_proto_error e = { .refusal = refusal, .err = -EPERM };

	snprintf(e.text, sizeof(e.text), "%s", text);
	put(fd, type, seq, &e, sizeof(e));
}

static void greet(int fd)
{
	struct ibcc_proto_state s = state_of(5);
	struct ibcc_proto_header h, bad;
	const void *p;

	if (server.greeting == FULL) { /* before it has heard anything */
		put_refusal(fd, IBCC_PROTO_ERROR, 0, IBCC_REFUSAL_BUSY, "16 clients already");
		return;
	}
	if (!get(fd, &h, &p))
		return;
	switch (server.greeting) {
	case FULL: break;
	case WELCOME:
		put(fd, IBCC_PROTO_WELCOME, h.seq, &s, sizeof(s));
		server.script(fd);
		break;
	case REFUSE:
		put_refusal(fd, IBCC_PROTO_ERROR, h.seq, IBCC_REFUSAL_BUSY, "come back later");
		break;
	case GARBAGE: put(fd, IBCC_PROTO_WELCOME, h.seq, &s, 7); break;
	case OLD_VERSION:
		bad = (struct ibcc_proto_header){ IBCC_PROTO_MAGIC, 99, IBCC_PROTO_WELCOME, h.seq,
						  0 };
		(void)!send(fd, &bad, sizeof(bad), MSG_NOSIGNAL);
		break;
	case HANG_UP: break;
	}
}

static void *serve(void *arg)
{
	(void)arg;
	for (;;) {
		int fd = accept4(server.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return NULL;
		server.connections++;
		greet(fd);
		close(fd);
	}
}

static struct ibcc_plugin *start(script s)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct ibcc_plugin *p;

	memset(&server, 0, sizeof(server));
	server.script = s;
	server.release = IBCC_VERSION;
	server.topo = fabric_lustre();
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.100s", files_path("opensm.sock"));
	unlink(sa.sun_path);
	server.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listener, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(server.listener, 4), 0);
	assert_int_equal(pthread_create(&server.thread, NULL, serve, NULL), 0);
	p = ibcc_plugin_new(sa.sun_path);
	assert_non_null(p);
	return p;
}

static void end(struct ibcc_plugin *p)
{
	ibcc_plugin_free(p);
	shutdown(server.listener, SHUT_RDWR);
	pthread_join(server.thread, NULL);
	close(server.listener);
	ibcc_topo_free(server.topo);
}

static void silent(int fd)
{
	struct ibcc_proto_header h;
	const void *p;

	while (get(fd, &h, &p))
		;
}

static void test_greetings(void **state)
{
	static const struct {
		int greeting, want;
		const char *word;
	} cases[] = {
		{ REFUSE, -EPERM, "come back later" },
		{ GARBAGE, -EPROTO, "protocol" },
		{ OLD_VERSION, -EPROTONOSUPPORT,
		  "protocol version 99, this program speaks 7: install both" },
		{ HANG_UP, -ENOTCONN, "broke" },
	};
	struct ibcc_plugin *p = start(silent);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_why why = { "" };

		server.greeting = cases[i].greeting;
		assert_int_equal(ibcc_plugin_connect(p, &why), cases[i].want);
		assert_non_null(strstr(why.text, cases[i].word));
		assert_null(ibcc_plugin_state(p));
	}
	/* Whether HELLO comes before or after the plugin has hung up. */
	server.greeting = FULL;
	for (int i = 0; i < 100; i++) {
		struct ibcc_why why = { "" };

		assert_int_equal(ibcc_plugin_connect(p, &why), -EPERM);
		assert_non_null(strstr(why.text, "16 clients already"));
	}
	/* The next try is a new connection, and works. */
	server.greeting = WELCOME;
	assert_int_equal(ibcc_plugin_connect(p, NULL), 0);
	assert_int_equal(ibcc_plugin_state(p)->generation, 5);
	assert_int_equal(server.connections, 105);
	end(p);
}

/* Both speak the same protocol, yet one was not installed of them. */
static void test_other_release(void **state)
{
	struct ibcc_plugin *p = start(silent);
	struct ibcc_why why = { "" };

	(void)state;
	assert_false(ibcc_plugin_is_other_release(p, &why));
	assert_int_equal(ibcc_plugin_connect(p, NULL), 0);
	assert_false(ibcc_plugin_is_other_release(p, &why));
	end(p);
	p = start(silent);
	server.release = "0.0.7";
	assert_int_equal(ibcc_plugin_connect(p, NULL), 0);
	assert_true(ibcc_plugin_is_other_release(p, &why));
	assert_non_null(strstr(why.text, "of release 0.0.7, the daemon of " IBCC_VERSION ":"));
	end(p);
}

static void topology(int fd)
{
	static uint8_t buf[IBCC_PROTO_MAX_BYTES];
	struct ibcc_proto_state s = state_of(7);
	struct ibcc_proto_header h;
	const void *p;

	if (!get(fd, &h, &p) || h.type != IBCC_PROTO_TOPO_GET)
		return;
	for (uint32_t i = 0; i < server.topo->n_nodes; i++) {
		int64_t n = ibcc_proto_node_encode(server.topo, i, buf);

		put(fd, IBCC_PROTO_TOPO_NODE, h.seq, buf, (size_t)n);
		if (i == 3) { /* news in between */
			struct ibcc_proto_state news = state_of(8);

			put(fd, IBCC_PROTO_STATE, 0, &news, sizeof(news));
		}
	}
	put(fd, IBCC_PROTO_TOPO_END, h.seq, &s, sizeof(s));
	silent(fd);
}

static void test_topology(void **state)
{
	struct ibcc_plugin *p = start(topology);
	struct ibcc_why why = { "" };
	struct ibcc_topo *t;
	int err = 0;

	(void)state;
	t = ibcc_plugin_topology(p, &err, &why);
	if (!t)
		fail_msg("%s", why.text);
	assert_true(ibcc_topo_equal(t, server.topo));
	assert_int_equal(t->generation, 7);
	/* There is a newer one already: a client that compares will ask again. */
	assert_int_equal(ibcc_plugin_state(p)->generation, 8);
	ibcc_topo_free(t);
	end(p);
}

static void half_a_topology(int fd)
{
	struct ibcc_proto_header h;
	const void *p;

	if (get(fd, &h, &p))
		put(fd, IBCC_PROTO_TOPO_NODE, h.seq, "nonsense", 8);
}

static void test_bad_topology(void **state)
{
	struct ibcc_plugin *p = start(half_a_topology);
	int err = 0;

	(void)state;
	assert_null(ibcc_plugin_topology(p, &err, NULL));
	assert_int_equal(err, -EPROTO);
	assert_null(ibcc_plugin_state(p));
	end(p);
}

/* Takes a whole plan in; the number of changes, 0 if the client is gone. */
static uint32_t take_plan(int fd, uint32_t *seq)
{
	struct ibcc_proto_header h;
	struct ibcc_change c;
	const void *p;
	uint32_t n = 0;

	while (get(fd, &h, &p) && h.type != IBCC_PROTO_PLAN_COMMIT) {
		if (h.type != IBCC_PROTO_CHANGE)
			continue;
		assert_int_equal(ibcc_proto_change_decode(p, h.length, &c), 0);
		n++;
	}
	*seq = h.seq;
	return n;
}

static void results(int fd, uint32_t seq, uint32_t n, uint32_t bad)
{
	struct ibcc_proto_error e = { .set_mads = n };

	for (uint32_t i = 0; i < n; i++) {
		struct ibcc_proto_result r = { .index = i, .outcome = IBCC_OUTCOME_VERIFIED };

		if (i == bad) {
			r.outcome = IBCC_OUTCOME_FAILED;
			r.err = -ETIMEDOUT;
		}
		put(fd, IBCC_PROTO_RESULT, seq, &r, sizeof(r));
	}
	put(fd, IBCC_PROTO_PLAN_END, seq, &e, sizeof(e));
	silent(fd);
}

static void does_it(int fd)
{
	uint32_t seq, n = take_plan(fd, &seq);

	results(fd, seq, n, UINT32_MAX);
}

static void does_half(int fd)
{
	uint32_t seq, n = take_plan(fd, &seq);

	results(fd, seq, n, 1);
}

static void says_no(int fd)
{
	uint32_t seq;

	take_plan(fd, &seq);
	put_refusal(fd, IBCC_PROTO_PLAN_END, seq, IBCC_REFUSAL_TWO_WRITERS, "as you know");
	silent(fd);
}

/* The topology changed when the first change had been made. */
static void stops_midway(int fd)
{
	struct ibcc_proto_result r = { .outcome = IBCC_OUTCOME_VERIFIED };
	struct ibcc_proto_error e = { .refusal = IBCC_REFUSAL_STALE, .set_mads = 1 };
	uint32_t seq, n = take_plan(fd, &seq);

	for (r.index = 0; r.index < n; r.index++) {
		put(fd, IBCC_PROTO_RESULT, seq, &r, sizeof(r));
		r.outcome = IBCC_OUTCOME_PENDING;
	}
	snprintf(e.text, sizeof(e.text), "stopped on the way");
	put(fd, IBCC_PROTO_PLAN_END, seq, &e, sizeof(e));
	silent(fd);
}

static void goes_away(int fd)
{
	struct ibcc_proto_result r = { .outcome = IBCC_OUTCOME_VERIFIED };
	uint32_t seq;

	take_plan(fd, &seq);
	put(fd, IBCC_PROTO_RESULT, seq, &r, sizeof(r));
}

static void names_no_change(int fd)
{
	struct ibcc_proto_result r = { .index = 1000, .outcome = IBCC_OUTCOME_VERIFIED };
	uint32_t seq;

	take_plan(fd, &seq);
	put(fd, IBCC_PROTO_RESULT, seq, &r, sizeof(r));
	silent(fd);
}

static void test_plans(void **state)
{
	static const struct {
		script script;
		int want;
		uint32_t verified, failed, set_mads;
		const char *word;
	} cases[] = {
		{ does_it, 0, 3, 0, 3, "" },
		{ does_half, -EIO, 2, 1, 3, "1 of 3" },
		{ says_no, -EPERM, 0, 0, 0, "as you know" },
		{ stops_midway, -ECANCELED, 1, 0, 1, "stopped on the way" },
		{ goes_away, -ENOTCONN, 0, 0, 0, "broke" },
		{ names_no_change, -EPROTO, 0, 0, 0, "protocol" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_plugin *p = start(cases[i].script);
		struct ibcc_plan plan = { 0 };
		struct ibcc_result r;
		struct ibcc_why why = { "" };

		for (uint8_t k = 1; k <= 3; k++)
			plan_add(&plan, k, IBCC_CC_ATTR_CA_SETTING, 0, 0, k);
		assert_int_equal(ibcc_result_init(&r, plan.n), 0);
		assert_int_equal(ibcc_plugin_apply(p, &plan, 0, &r, &why), cases[i].want);
		assert_int_equal(r.n_verified, cases[i].verified);
		assert_int_equal(r.n_failed, cases[i].failed);
		assert_int_equal(r.set_mads, cases[i].set_mads);
		assert_int_equal(r.unheard, cases[i].want == -ENOTCONN || cases[i].want == -EPROTO);
		assert_int_equal(ibcc_result_may_have_written(&r), cases[i].want != -EPERM);
		assert_non_null(strstr(why.text, cases[i].word));
		/* A refusal of a plan is no reason to part. */
		assert_int_equal(ibcc_plugin_state(p) != NULL,
				 cases[i].want != -ENOTCONN && cases[i].want != -EPROTO);
		ibcc_result_fini(&r);
		ibcc_plan_fini(&plan);
		end(p);
	}
}

static void *cancel_soon(void *p)
{
	usleep(20000);
	ibcc_plugin_cancel(p);
	return NULL;
}

/* A plugin that says nothing any more must not keep the daemon from ending. */
static void alive_again(int fd)
{
	struct ibcc_proto_state s = state_of(6);
	struct ibcc_proto_header h;
	const void *p;

	get(fd, &h, &p);
	while (!server.goes_on)
		usleep(1000);
	put(fd, IBCC_PROTO_STATE, 0, &s, sizeof(s));
	silent(fd);
}

/* An OpenSM that has stopped keeps the connection and says nothing. */
static void test_stopped(void **state)
{
	struct ibcc_plugin *p = start(alive_again);
	struct ibcc_why why = { "" };

	(void)state;
	assert_int_equal(ibcc_plugin_connect(p, &why), 0);
	assert_int_equal(ibcc_plugin_silent_ms(p), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(ibcc_plugin_poll(p), 0);
		usleep(2000);
		assert_true(ibcc_plugin_silent_ms(p) > 0);
	}
	assert_int_equal(ibcc_plugin_stopped(p, &why), -ETIMEDOUT);
	assert_non_null(strstr(why.text, "does not answer"));
	server.goes_on = true;
	while (ibcc_plugin_state(p)->generation != 6)
		assert_int_equal(ibcc_plugin_poll(p), 0);
	end(p);
}

static void test_cancel(void **state)
{
	struct ibcc_plugin *p = start(silent);
	struct ibcc_why why = { "" };
	pthread_t t;
	int err = 0;

	(void)state;
	assert_int_equal(ibcc_plugin_connect(p, &why), 0);
	assert_int_equal(pthread_create(&t, NULL, cancel_soon, p), 0);
	assert_null(ibcc_plugin_topology(p, &err, &why));
	assert_int_equal(err, -ECANCELED);
	pthread_join(t, NULL);
	end(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_greetings), cmocka_unit_test(test_other_release),
		cmocka_unit_test(test_topology),  cmocka_unit_test(test_bad_topology),
		cmocka_unit_test(test_plans),     cmocka_unit_test(test_stopped),
		cmocka_unit_test(test_cancel),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
