/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* JSON lines on a pair of sockets: in parts, several at once, too long ones, and what is no object.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibcc/json_lines.h>

#define LIMIT 8192u

struct pair {
	int fd[2];
	struct ibcc_json_lines in;
};

static int open_pair(void **state)
{
	static struct pair p;

	p = (struct pair){ .in.limit = LIMIT };
	*state = &p;
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p.fd);
}

static int close_pair(void **state)
{
	struct pair *p = *state;

	ibcc_json_lines_fini(&p->in);
	close(p->fd[0]);
	if (p->fd[1] >= 0)
		close(p->fd[1]);
	return 0;
}

static void comes(struct pair *p, const char *text, size_t len)
{
	assert_int_equal(send(p->fd[1], text, len, 0), (ssize_t)len);
	while (len) {
		size_t before = p->in.n;

		assert_int_equal(ibcc_json_lines_fill(&p->in, p->fd[0]), 0);
		len -= p->in.n - before;
	}
}

/* The number `n` of the next object. */
static json_int_t next(struct pair *p)
{
	json_int_t n;
	json_t *o;

	assert_int_equal(ibcc_json_lines_take(&p->in, &o, NULL), 0);
	n = json_integer_value(json_object_get(o, "n"));
	json_decref(o);
	return n;
}

static void is_nothing(struct pair *p, int err)
{
	json_t *o = (json_t *)p;

	assert_int_equal(ibcc_json_lines_take(&p->in, &o, NULL), err);
	assert_null(o);
}

static void lines_come_in_any_pieces(void **state)
{
	static const char text[] = "{\"n\": 1}\n{\"n\": 2}\n{\"n\":";
	struct pair *p = *state;

	is_nothing(p, -EAGAIN);
	assert_int_equal(ibcc_json_lines_fill(&p->in, p->fd[0]), 0); /* nothing is there */
	for (size_t i = 0; i < 8; i++) {
		comes(p, text + i, 1);
		is_nothing(p, -EAGAIN);
	}
	comes(p, text + 8, strlen(text) - 8);
	assert_int_equal(next(p), 1);
	assert_int_equal(next(p), 2);
	is_nothing(p, -EAGAIN);
	comes(p, " 3}\n", 4);
	assert_int_equal(next(p), 3);
	close(p->fd[1]);
	p->fd[1] = -1;
	assert_int_equal(ibcc_json_lines_fill(&p->in, p->fd[0]), -ECONNRESET);
}

static void what_is_no_object_is_refused(void **state)
{
	static const char *const bad[] = { "[1]\n", "\n", "{\n", "{\"a\": 1, \"a\": 2}\n",
					   "{\"n\": 1} {}\n" };
	struct pair *p = *state;
	struct ibcc_why why;
	json_t *o;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		comes(p, bad[i], strlen(bad[i]));
		why.text[0] = '\0';
		assert_int_equal(ibcc_json_lines_take(&p->in, &o, &why), -EPROTO);
		assert_null(o);
		assert_string_not_equal(why.text, "");
	}
	/* What follows is read all the same. */
	comes(p, "{\"n\": 4}\n", 9);
	assert_int_equal(next(p), 4);
}

static void a_line_has_a_limit(void **state)
{
	struct pair *p = *state;
	char line[LIMIT];

	memset(line, ' ', sizeof(line));
	memcpy(line, "{\"n\": 5}", 8);
	line[LIMIT - 1] = '\n';
	comes(p, line, LIMIT); /* exactly */
	assert_int_equal(next(p), 5);
	line[LIMIT - 1] = ' ';
	comes(p, line, LIMIT);
	is_nothing(p, -EMSGSIZE);
}

struct reader {
	struct pair *p;
	unsigned int waits;
};

static int read_some(void *arg)
{
	struct reader *r = arg;

	return ++r->waits > 1000 ? -ETIMEDOUT : ibcc_json_lines_fill(&r->p->in, r->p->fd[0]);
}

static int give_up(void *arg)
{
	(void)arg;
	return -ETIMEDOUT;
}

static void what_is_sent_comes(void **state)
{
	static char text[1u << 20];
	struct pair *p = *state;
	struct reader r = { .p = p };
	json_t *o, *got;

	memset(text, 'x', sizeof(text) - 1);
	o = json_pack("{ss}", "text", text);
	p->in.limit = 2u << 20;
	/* More than the sockets hold. */
	assert_int_equal(ibcc_json_lines_send(p->fd[1], o, give_up, NULL), -ETIMEDOUT);
	close_pair(state);
	assert_int_equal(open_pair(state), 0);
	p->in.limit = 2u << 20;
	assert_int_equal(ibcc_json_lines_send(p->fd[1], o, read_some, &r), 0);
	assert_true(r.waits > 0);
	while (ibcc_json_lines_take(&p->in, &got, NULL) == -EAGAIN)
		assert_int_equal(ibcc_json_lines_fill(&p->in, p->fd[0]), 0);
	assert_true(json_equal(o, got));
	json_decref(o);
	json_decref(got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_come_in_any_pieces, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(what_is_no_object_is_refused, open_pair,
						close_pair),
		cmocka_unit_test_setup_teardown(a_line_has_a_limit, open_pair, close_pair),
		cmocka_unit_test_setup_teardown(what_is_sent_comes, open_pair, close_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
