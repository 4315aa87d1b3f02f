/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sockets of the form that ibsim and its clients use (wire.h): abstract unix sockets for datagrams,
 * many of which are received at once.
 */
#include "sim/wire.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Works as ibcc_wire_addr(). */
__attribute__((format(printf, 3, 0))) static int addr_v(struct sockaddr_un *sa, socklen_t *len,
							const char *fmt, va_list ap)
{
	int n;

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	n = vsnprintf(sa->sun_path + 1, sizeof(sa->sun_path) - 1, fmt, ap);
	if (n < 0 || (size_t)n >= sizeof(sa->sun_path) - 1)
		return -EINVAL;
	*len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n + 1);
	return 0;
}

int ibcc_wire_addr(struct sockaddr_un *sa, socklen_t *len, const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = addr_v(sa, len, fmt, ap);
	va_end(ap);
	return err;
}

int ibcc_wire_bind(const char *fmt, ...)
{
	struct sockaddr_un sa;
	socklen_t len;
	va_list ap;
	int fd, err;

	va_start(ap, fmt);
	err = addr_v(&sa, &len, fmt, ap);
	va_end(ap);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&sa, len)) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

int ibcc_wire_receive(int fd, struct ibcc_wire_mad *m, unsigned int n)
{
	struct mmsghdr msg[IBCC_WIRE_BATCH] = { 0 };
	struct iovec iov[IBCC_WIRE_BATCH];
	int got, good = 0;

	if (n > IBCC_WIRE_BATCH)
		n = IBCC_WIRE_BATCH;
	for (unsigned int i = 0; i < n; i++) {
		iov[i] = (struct iovec){ .iov_base = &m[i], .iov_len = sizeof(*m) };
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	got = recvmmsg(fd, msg, n, MSG_DONTWAIT, NULL);
	if (got < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	for (int i = 0; i < got; i++) {
		if (msg[i].msg_len != sizeof(*m) || msg[i].msg_hdr.msg_flags & MSG_TRUNC)
			continue;
		if (good != i)
			m[good] = m[i];
		good++;
	}
	return good;
}
