/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The metrics by HTTP and as a file: pages, clients good and bad, which users may read what. */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "files.h"

#include <ibcc/listen.h>

#include "daemon/metrics/metrics_file.h"
#include "daemon/metrics/metrics_http.h"

#define LARGE 3000000u
#define TURNS 20000 /* of the event loop, a millisecond each at most */

static struct {
	sd_event *event;
	struct ibcc_metrics_http *http;
	unsigned int made; /* pages */
	bool ok;
	size_t len; /* of /metrics */
} x;

static char *page(void *arg, enum ibcc_metrics_page p, size_t *len, bool *ok)
{
	char *text;

	assert_ptr_equal(arg, &x);
	x.made++;
	*ok = p == IBCC_METRICS_PAGE_METRICS || x.ok;
	*len = p == IBCC_METRICS_PAGE_METRICS ? x.len : 4;
	text = malloc(*len);
	assert_non_null(text);
	memset(text,
	       p == IBCC_METRICS_PAGE_READY    ? 'r'
	       : p == IBCC_METRICS_PAGE_HEALTH ? 'h'
					       : 'm',
	       *len);
	return text;
}

static void serve(const char *address, int fd)
{
	struct ibcc_why why = { "" };
	int err = 0;

	x.http = ibcc_metrics_http_new(x.event, address, fd, page, &x, &err, &why);
	if (!x.http)
		fail_msg("%s", why.text);
}

static int setup(void **state)
{
	(void)state;
	memset(&x, 0, sizeof(x));
	x.ok = true;
	x.len = 100;
	return sd_event_new(&x.event) < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	(void)state;
	ibcc_metrics_http_free(x.http);
	sd_event_unref(x.event);
	return 0;
}

static int dial(void)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(ibcc_metrics_http_port(x.http)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(sa.sin_port != 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* All that a client gets until it is hung up on, to be freed. */
static char *hear(int fd)
{
	size_t n = 0, cap = 1024;
	char *text = malloc(cap);
	int turns;

	for (turns = 0; turns < TURNS; turns++) {
		ssize_t got;

		assert_non_null(text);
		got = recv(fd, text + n, cap - n - 1, MSG_DONTWAIT);
		if (got < 0 && errno == EAGAIN) {
			assert_true(sd_event_run(x.event, 1000) >= 0);
			continue;
		}
		if (got <= 0)
			break;
		n += (size_t)got;
		if (cap - n < 512)
			text = realloc(text, cap *= 2);
	}
	assert_true(turns < TURNS);
	close(fd);
	text[n] = '\0';
	return text;
}

static char *ask(const char *request)
{
	int fd = dial();

	say(fd, request);
	return hear(fd);
}

static void assert_page(const char *method, const char *path, const char *begin, const char *end)
{
	char request[256], *got;
	size_t len;

	snprintf(request, sizeof(request), "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		 method, path);
	got = ask(request);
	len = strlen(got);
	if (strncmp(got, begin, strlen(begin)) || len < strlen(end) ||
	    strcmp(got + len - strlen(end), end))
		fail_msg("%s: %.400s", path, got);
	free(got);
}

static void test_pages(void **state)
{
	char *got;

	(void)state;
	serve("127.0.0.1:0", -1);
	assert_page("GET", "/healthz", "HTTP/1.1 200 ", "\r\n\r\nhhhh");
	assert_page("GET", "/readyz", "HTTP/1.1 200 ", "\r\n\r\nrrrr");
	assert_page("HEAD", "/readyz", "HTTP/1.1 200 ", "\r\n\r\n");
	x.ok = false;
	assert_page("GET", "/healthz", "HTTP/1.1 503 ", "\r\n\r\nhhhh");
	got = ask("GET /metrics HTTP/1.0\r\n\r\n");
	assert_non_null(strstr(got, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
	assert_non_null(strstr(got, "\r\n\r\nmmmmmm"));
	free(got);
}

static void test_others_are_refused(void **state)
{
	(void)state;
	serve("127.0.0.1:0", -1);
	assert_page("GET", "/", "HTTP/1.1 404 ", "/readyz\n");
	assert_page("GET", "/metrics/..", "HTTP/1.1 404 ", "/readyz\n");
	assert_page("DELETE", "/metrics", "HTTP/1.1 405 ", "only GET and HEAD\n");
	assert_int_equal(x.made, 0);
}

/* More than a socket's buffer, so in several turns of the loop. */
static void test_large(void **state)
{
	char *got;

	(void)state;
	x.len = LARGE;
	serve("127.0.0.1:0", -1);
	got = ask("GET /metrics HTTP/1.0\r\n\r\n");
	assert_int_equal(strlen(strstr(got, "\r\n\r\n") + 4), LARGE);
	free(got);
}

/* However many ask, the large page is made once in a while. */
static void test_made_once(void **state)
{
	(void)state;
	serve("127.0.0.1:0", -1);
	for (int i = 0; i < 5; i++)
		assert_page("GET", "/metrics", "HTTP/1.1 200 ", "mmmm");
	assert_in_range(x.made, 1, 4); /* five would be one for each */
}

static void test_bad_clients(void **state)
{
	int fd[IBCC_METRICS_CONNECTIONS], half;
	char much[20000], *got;

	(void)state;
	serve("127.0.0.1:0", -1);
	got = ask("what?\r\n\r\n");
	assert_null(strstr(got, " 200 "));
	free(got);
	memset(much, 'x', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	got = ask(much);
	assert_null(strstr(got, " 200 "));
	free(got);
	/* Half a request does not keep the next one waiting. */
	half = dial();
	say(half, "GET /metr");
	assert_page("GET", "/healthz", "HTTP/1.1 200 ", "hhhh");
	close(half);
	/* A client that comes when all places are taken is not served, and hurts no other. */
	for (unsigned int i = 0; i < IBCC_METRICS_CONNECTIONS; i++)
		fd[i] = dial();
	for (int i = 0; i < 50; i++)
		sd_event_run(x.event, 1000);
	for (unsigned int i = 0; i < IBCC_METRICS_CONNECTIONS; i++)
		close(fd[i]);
	assert_page("GET", "/healthz", "HTTP/1.1 200 ", "hhhh");
}

/* From an address of the loopback network. */
static int dial_from(uint32_t host)
{
	struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(host) };
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_port = htons(ibcc_metrics_http_port(x.http)),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* One user has all places and more, from many addresses, and sends a byte of a header now and then:
 * a client with a request is served nevertheless, each time.
 */
static void test_slow_clients(void **state)
{
	enum { SLOW = 2 * IBCC_METRICS_CONNECTIONS };
	int fd[SLOW], turns = 0, honest;
	char got[16] = "", from[64];

	(void)state;
	serve("127.0.0.1:0", -1);
	assert_page("GET", "/healthz", "HTTP/1.1 200 ", "hhhh");
	assert_int_equal(ibcc_metrics_http_crowd(x.http, from, sizeof(from)), 0);
	for (unsigned int i = 0; i < SLOW; i++) {
		fd[i] = dial_from(INADDR_LOOPBACK + i);
		say(fd[i], "GET /healthz HTTP/1.1\r\nX: ");
		for (int k = 0; k < 20; k++)
			sd_event_run(x.event, 1000);
	}
	for (int round = 0; round < 10; round++) {
		honest = dial();
		say(honest, "GET /healthz HTTP/1.0\r\n\r\n");
		while (recv(honest, got, 12, MSG_DONTWAIT) != 12) {
			for (unsigned int i = 0; turns % 50 == 0 && i < SLOW; i++)
				(void)send(fd[i], "a", 1, MSG_NOSIGNAL);
			assert_true(++turns < TURNS);
			sd_event_run(x.event, 1000);
		}
		assert_string_equal(got, "HTTP/1.1 200");
		close(honest);
	}
	assert_true(ibcc_metrics_http_crowd(x.http, from, sizeof(from)) >=
		    IBCC_METRICS_CONNECTIONS / 2);
	assert_string_equal(from, "127.0.0.1");
	for (unsigned int i = 0; i < SLOW; i++)
		close(fd[i]);
}

/* A request has an end, however long the client goes on. */
static void test_endless_request(void **state)
{
	unsigned int sent = 0;
	int fd;

	(void)state;
	serve("127.0.0.1:0", -1);
	fd = dial();
	say(fd, "GET /healthz HTTP/1.1\r\nX: ");
	while (send(fd, "a", 1, MSG_NOSIGNAL) == 1) {
		/* What fits into the memory of a connection ends by itself. */
		assert_true(++sent < 1200);
		for (int k = 0; k < 10; k++)
			sd_event_run(x.event, 5000);
		usleep(50000);
	}
	close(fd);
	assert_page("GET", "/healthz", "HTTP/1.1 200 ", "hhhh");
}

/* Without a descriptor for a new client, the loop rests until there may be one again. */
static void test_no_descriptors(void **state)
{
	static const char request[] = "GET /healthz HTTP/1.0\r\n\r\n";
	struct rlimit old, few;
	unsigned int busy = 0;
	int fd, next;
	char *got;

	(void)state;
	serve("127.0.0.1:0", -1);
	fd = dial();
	say(fd, request);
	next = dup(fd);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < 200; i++)
		busy += sd_event_run(x.event, 0) > 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_in_range(busy, 1, 20);
	got = hear(fd);
	assert_non_null(strstr(got, " 200 "));
	free(got);
}

static void test_given_socket(void **state)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(fd, 4), 0);
	serve(NULL, fd);
	assert_page("GET", "/healthz", "HTTP/1.1 200 ", "hhhh");
}

static void test_taken_port(void **state)
{
	struct ibcc_why why = { "" };
	char address[32];
	int err = 0;

	(void)state;
	serve("0", -1); /* of 127.0.0.1 */
	snprintf(address, sizeof(address), "%u", ibcc_metrics_http_port(x.http));
	assert_null(ibcc_metrics_http_new(x.event, address, -1, page, &x, &err, &why));
	assert_int_equal(err, -EADDRINUSE);
	assert_non_null(strstr(why.text, address));
}

static void test_addresses(void **state)
{
	static const char *const good[] = { "10315", "127.0.0.1:10315", "[::1]:10315", "0.0.0.0:1",
					    "[::]:65535" };
	static const char *const bad[] = { "",        ":",          "localhost:10315", "127.0.0.1:",
					   ":10315",  "10315x",     "65536",           "123456",
					   "1.2.3.4", "[::1]10315", "1.2.3.4:-1",      "metrics" };
	struct sockaddr_storage sa;
	socklen_t len;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_int_equal(ibcc_listen_parse(good[i], &sa, &len), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (ibcc_listen_parse(bad[i], &sa, &len) != -EINVAL)
			fail_msg("%s is taken", bad[i]);
	assert_int_equal(ibcc_listen_parse("10315", &sa, &len), 0);
	assert_int_equal(((struct sockaddr_in *)&sa)->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	assert_int_equal(((struct sockaddr_in *)&sa)->sin_port, htons(10315));
}

static void test_file(void **state)
{
	struct ibcc_why why = { "" };
	char path[256], *text;
	struct stat before, after;
	FILE *reader;

	(void)state;
	snprintf(path, sizeof(path), "%.200s", files_path("m.prom"));
	assert_int_equal(ibcc_metrics_file_write(path, "one\n", 4, &why), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(before.st_mode & 07777, 0644);
	reader = fopen(path, "r");
	assert_int_equal(ibcc_metrics_file_write(path, "two\n", 4, &why), 0);
	assert_int_equal(stat(path, &after), 0);
	/* A reader that has opened the old one reads the old one to its end. */
	assert_int_not_equal(before.st_ino, after.st_ino);
	assert_int_equal(fgetc(reader), 'o');
	fclose(reader);
	text = files_read(path);
	assert_string_equal(text, "two\n");
	free(text);
	assert_int_equal(access(files_path("m.prom.tmp"), F_OK), -1);
}

static void test_file_trouble(void **state)
{
	struct ibcc_why why = { "" };
	char path[256], other[256], *text;

	(void)state;
	snprintf(path, sizeof(path), "%.200s", files_path("none/m.prom"));
	assert_int_equal(ibcc_metrics_file_write(path, "x", 1, &why), -ENOENT);
	assert_non_null(strstr(why.text, "none/m.prom"));
	/* What was put in the way of the temporary file is not written to. */
	snprintf(other, sizeof(other), "%.200s", files_write("other", "kept"));
	snprintf(path, sizeof(path), "%.200s", files_path("l.prom.tmp"));
	assert_int_equal(symlink(other, path), 0);
	snprintf(path, sizeof(path), "%.200s", files_path("l.prom"));
	assert_int_equal(ibcc_metrics_file_write(path, "new", 3, &why), 0);
	text = files_read(other);
	assert_string_equal(text, "kept");
	free(text);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pages),
		TEST(test_others_are_refused),
		TEST(test_large),
		TEST(test_made_once),
		TEST(test_bad_clients),
		TEST(test_slow_clients),
		TEST(test_endless_request),
		TEST(test_no_descriptors),
		TEST(test_given_socket),
		TEST(test_taken_port),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_file_trouble),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
