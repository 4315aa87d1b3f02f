/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Bad company for a socket of JSON lines: bytes of any kind, halves, lines without end, clients
 * that leave before the answer, and such that stay and say nothing.
 *
 * usage: garbage_client SOCKET SEED       until it is ended
 */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibcc/rng.h>

#define CLIENTS  24 /* at once */
#define PAUSE_MS 5
#define MUCH     (1u << 20)

static uint64_t seed;

static uint32_t draw(uint32_t n)
{
	return ibcc_rng_below(&seed, n);
}

static int dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* What does not go through at once need not. */
static void put(int fd, const void *data, size_t n)
{
	if (send(fd, data, n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == ENOMEM)
		exit(1);
}

static void annoy(int fd, uint8_t *much)
{
	static const char *const lines[] = {
		"{\"command\": \"status\"}\n",
		"{\"command\": \"status\"}\n{\"command\": \"sta",
		"{\"command\": \"plan\", \"args\": {}}\n",
		"{\"command\": \"history\", \"args\": {\"limit\": -1}}\n",
		"{\"command\": \"rollback\", \"args\": {\"id\": \"0\"}}\n",
		"{\"command\": \"apply\", \"args\": 7}\n",
		"[[[[[[[[[[[[[[[[\n",
		"\n\n\n\n",
	};
	uint32_t what = draw(12), n;

	if (what < 8) {
		put(fd, lines[what], strlen(lines[what]));
	} else if (what < 10) {
		n = 1 + draw(4096);
		for (uint32_t i = 0; i < n; i++)
			much[i] = (uint8_t)draw(256);
		put(fd, much, n);
	} else if (what == 10) {
		memset(much, 'x', MUCH);
		put(fd, much, MUCH);
	} /* else: says nothing */
}

int main(int argc, char **argv)
{
	int fd[CLIENTS];
	uint8_t *much = malloc(MUCH);

	if (argc != 3 || !much) {
		fprintf(stderr, "usage: garbage_client SOCKET SEED\n");
		return 1;
	}
	seed = strtoull(argv[2], NULL, 0);
	for (int i = 0; i < CLIENTS; i++)
		fd[i] = -1;
	for (;;) {
		uint32_t i = draw(CLIENTS);

		if (fd[i] >= 0 && !draw(3)) {
			close(fd[i]);
			fd[i] = -1;
		} else if (fd[i] < 0) {
			fd[i] = dial(argv[1]);
		}
		if (fd[i] >= 0)
			annoy(fd[i], much);
		poll(NULL, 0, PAUSE_MS);
	}
}
