/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's control socket: what a client sends in pieces (a byte of length before each), and
 * what comes back. A piece of length 0 hangs up, and the next is another client's.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/control.h"

struct fixture {
	sd_event *event;
	struct ibcc_control *control;
	struct sockaddr_un address;
	uint64_t later; /* a client whose answer has to wait; 0: none */
};

/* The answer has what was asked; every other one comes later. */
static void request(void *arg, const struct ibcc_control_request *r)
{
	struct fixture *x = arg;

	FUZZ_CHECK(r->command && json_is_object(r->args));
	if (x->later)
		ibcc_control_reply(x->control, x->later, -EBUSY, "it took too long", NULL);
	x->later = strlen(r->command) % 2 ? r->client : 0;
	if (!x->later)
		ibcc_control_reply(x->control, r->client, 0, NULL,
				   json_deep_copy((json_t *)(uintptr_t)r->args));
}

static void turn(struct fixture *x)
{
	while (sd_event_run(x->event, 0) > 0)
		;
}

/* Every line that comes back is a JSON object that says "ok". */
static void check_answers(int fd)
{
	static char text[4 * IBCC_CONTROL_MAX_REQUEST];
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

static void setup(struct fixture *x)
{
	int err = 0;

	if (x->control)
		return;
	FUZZ_CHECK(sd_event_new(&x->event) >= 0);
	x->address.sun_family = AF_UNIX;
	snprintf(x->address.sun_path, sizeof(x->address.sun_path), "/tmp/ibcc-fuzz.%d",
		 (int)getpid());
	x->control = ibcc_control_new(x->event, x->address.sun_path, request, x, &err, NULL);
	FUZZ_CHECK(x->control);
}

static struct fixture fixture;

static void teardown(void)
{
	ibcc_control_free(fixture.control);
	sd_event_unref(fixture.event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;
	int fd;

	setup(&fixture);
	if (!begun)
		atexit(teardown);
	begun = true;
	fixture.later = 0;
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
	close(fd);
	turn(&fixture);
	return 0;
}
