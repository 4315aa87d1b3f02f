/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's control socket with the daemon behind it: what a client sends in pieces (a byte of
 * length before each), and what comes back. A piece of length 0 hangs up, and the next is another
 * client's. The daemon's port is one that does not exist, so requests get as far as that, and to
 * the state file; clients may have gone when they are answered.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibcc/config.h>
#include <ibcc/log.h>

#include "daemon/request.h"

struct fixture {
	struct ibcc_config config;
	sd_event *event;
	struct ibcc_worker *worker;
	struct ibcc_jsonl *control;
	char dir[48];
	struct sockaddr_un address;
	uint64_t n_asked;
};

static void request(void *arg, const struct ibcc_jsonl_request *r)
{
	struct fixture *x = arg;
	json_t *answer = NULL;
	struct ibcc_task *t = NULL;

	FUZZ_CHECK(json_is_object(r->object));
	x->n_asked++;
	if (ibcc_request_is_status(r))
		answer = ibcc_request_answer(0, NULL, ibcc_worker_status(x->worker));
	else
		t = ibcc_request_task(r, &answer);
	FUZZ_CHECK(!t == !!answer);
	if (t)
		ibcc_worker_submit(x->worker, t);
	else
		ibcc_jsonl_reply(x->control, r->client, answer);
}

static void turn(struct fixture *x)
{
	while (sd_event_run(x->event, 0) > 0)
		;
}

/* Has the worker make a pass, for which clients wait that asked for an apply, and answers what it
 * has done until then.
 */
static void work(struct fixture *x)
{
	struct ibcc_task *pass = calloc(1, sizeof(*pass)), *t;
	struct pollfd p = { .fd = ibcc_worker_fd(x->worker), .events = POLLIN };
	bool over = false;

	FUZZ_CHECK(pass);
	pass->kind = IBCC_TASK_PASS;
	ibcc_worker_submit(x->worker, pass);
	while (!over) {
		poll(&p, 1, -1);
		while ((t = ibcc_worker_done(x->worker))) {
			/* Nothing comes of anything but the state file. */
			FUZZ_CHECK(t->err || t->kind == IBCC_TASK_HISTORY ||
				   t->kind == IBCC_TASK_JOBS);
			FUZZ_CHECK(!t->err || t->why.text[0]);
			over |= t->kind == IBCC_TASK_PASS;
			if (t->kind != IBCC_TASK_PASS) {
				ibcc_jsonl_reply(
					x->control, t->client,
					ibcc_request_answer(t->err, t->why.text, t->result));
				t->result = NULL;
			}
			ibcc_task_free(t);
		}
	}
}

/* An answer lets a client's next request in. */
static void finish(struct fixture *x)
{
	uint64_t before;

	do {
		before = x->n_asked;
		work(x);
		turn(x);
	} while (x->n_asked != before);
}

/* Every line that comes back is a JSON object that says "ok". */
static void check_answers(int fd)
{
	static char text[4 * IBCC_JSONL_MAX_REQUEST];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);
	char *line = text, *end;

	for (; n > 0 && (end = memchr(line, '\n', (size_t)n)); line = end + 1) {
		json_t *o = json_loadb(line, (size_t)(end - line), 0, NULL);

		FUZZ_CHECK(json_is_boolean(json_object_get(o, "ok")));
		json_decref(o);
		n -= end + 1 - line;
	}
}

static int dial(struct fixture *x)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(!connect(fd, (struct sockaddr *)&x->address, sizeof(x->address)));
	turn(x);
	return fd;
}

static struct fixture fixture;

static void teardown(void)
{
	static const char *const files[] = { "control", "state.db", "state.db-journal", "" };
	char path[80];

	ibcc_jsonl_free(fixture.control);
	ibcc_worker_free(fixture.worker);
	sd_event_unref(fixture.event);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", fixture.dir, files[i]);
		remove(path);
	}
}

static void setup(struct fixture *x)
{
	struct ibcc_config *c = &x->config;
	int err = 0;

	if (x->control)
		return;
	ibcc_log_open("fuzz", IBCC_LOG_STDERR, NULL, LOG_EMERG);
	snprintf(x->dir, sizeof(x->dir), "%s/ibcc-fuzz.XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	FUZZ_CHECK(mkdtemp(x->dir));
	ibcc_config_defaults(c, NULL);
	snprintf(c->ca, sizeof(c->ca), "none0");
	snprintf(c->control_socket, sizeof(c->control_socket), "%s/control", x->dir);
	snprintf(c->plugin_socket, sizeof(c->plugin_socket), "%s/plugin", x->dir);
	snprintf(c->state_file, sizeof(c->state_file), "%s/state.db", x->dir);
	x->address.sun_family = AF_UNIX;
	snprintf(x->address.sun_path, sizeof(x->address.sun_path), "%s/control", x->dir);
	FUZZ_CHECK(sd_event_new(&x->event) >= 0);
	x->worker = ibcc_worker_new(c, 0, NULL, &err, NULL);
	FUZZ_CHECK(x->worker);
	x->control = ibcc_jsonl_listen(x->event, x->address.sun_path, request, x, &err);
	FUZZ_CHECK(x->control);
	atexit(teardown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd;

	setup(&fixture);
	fd = dial(&fixture);
	while (size) {
		size_t len = *data++;

		size--;
		if (len > size)
			len = size;
		if (!len) {
			close(fd);
			turn(&fixture);
			fd = dial(&fixture);
			continue;
		}
		(void)!send(fd, data, len, MSG_NOSIGNAL);
		turn(&fixture);
		check_answers(fd);
		data += len;
		size -= len;
	}
	finish(&fixture);
	check_answers(fd);
	close(fd);
	turn(&fixture);
	return 0;
}
