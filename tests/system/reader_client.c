/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A reader that does its worst to a socket of JSON lines: it connects, asks, and either hangs up at
 * once or waits for the answer, again and again. Ends with the number of requests when it is told
 * to.
 *
 * usage: reader_client SOCKET UID GID leave|wait REQUEST
 */
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PAUSE_MS 1 /* after a refusal, so that a processor is left for those that are tested */

static volatile sig_atomic_t over;

static void on_signal(int sig)
{
	(void)sig;
	over = 1;
}

static int dial(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Reads to the end of a line, or of the connection. */
static void take_answer(int fd)
{
	static char text[65536];
	ssize_t n;

	while (!over && (n = recv(fd, text, sizeof(text), 0)) > 0)
		if (memchr(text, '\n', (size_t)n))
			return;
}

int main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_signal };
	unsigned long asked = 0;
	char line[512];
	int n;

	if (argc != 6) {
		fprintf(stderr, "usage: reader_client SOCKET UID GID leave|wait REQUEST\n");
		return 1;
	}
	if (setgroups(0, NULL) || setgid((gid_t)atoi(argv[3])) || setuid((uid_t)atoi(argv[2]))) {
		perror("reader_client");
		return 1;
	}
	sigaction(SIGTERM, &sa, NULL);
	n = snprintf(line, sizeof(line), "%s\n", argv[5]);
	while (!over) {
		int fd = dial(argv[1]);

		if (fd >= 0 && send(fd, line, (size_t)n, MSG_NOSIGNAL) == n) {
			asked++;
			if (!strcmp(argv[4], "wait"))
				take_answer(fd);
		}
		if (fd >= 0)
			close(fd);
		poll(NULL, 0, PAUSE_MS);
	}
	printf("%lu requests\n", asked);
	return 0;
}
