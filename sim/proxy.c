/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The clients of the proxy (proxy.h): how they come and go, and their requests of control, as
 * ibsim has them (wire.h). What becomes of their MADs is in proxy_mads.c. A client is known by
 * its number. It ends with DISCONNECT, with the end of its process (a killed client sends none),
 * or when its socket is gone.
 */
#include "sim/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/queue.h>
#include <unistd.h>

#include "sim/proxy_state.h"

#define CLIENT_QUEUE_MAX 8192u

static void client_free(struct client *c);

static int on_client(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_wire_mad m[IBCC_WIRE_BATCH];
	struct client *c = arg;
	int i, n;

	(void)src;
	if (revents & EPOLLOUT)
		ibcc_sendq_flush(&c->q);
	n = ibcc_wire_receive(fd, m, IBCC_WIRE_BATCH);
	if (n < 0) {
		c->p->stats.clients_killed++;
		client_free(c);
		return 0;
	}
	for (i = 0; i < n && c->slot; i++)
		ibcc_proxy_request(c, &m[i]);
	return 0;
}

static int on_client_exit(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct client *c = arg;

	(void)src;
	(void)fd;
	(void)revents;
	c->p->stats.clients_killed++;
	client_free(c);
	return 0;
}

/* Hands a request or trap from ibsim to the first client at the slot that is a subnet manager. */
static void on_forwarded(void *arg, struct ibcc_upstream_slot *s, const struct ibcc_wire_mad *m)
{
	struct ibcc_proxy *p = arg;
	struct client *c;

	for (c = TAILQ_FIRST(&p->clients); c; c = TAILQ_NEXT(c, link)) {
		if (c->slot == s && c->issm) {
			ibcc_proxy_send(c, m);
			return;
		}
	}
}

/* Control */

static void ctl_reply(struct client *c, const struct ibcc_wire_ctl *r)
{
	/* A client that does not take the answer has gone, or does not read. */
	(void)!sendto(c->p->ctl_fd, r, sizeof(*r), MSG_DONTWAIT | MSG_NOSIGNAL,
		      (struct sockaddr *)&c->ctl_addr, c->ctl_len);
}

/* Hands ibsim's answer to a request of control to the client, with the proxy as its sender. */
static void on_ctl_answer(void *arg, const struct ibcc_wire_ctl *reply)
{
	struct ibcc_wire_ctl r = *reply;
	struct client *c = arg;

	r.client = c->number;
	if (r.type == IBCC_WIRE_GET_PORTINFO)
		c->p->ops.port_info(c->p->ops.arg, ibcc_upstream_node_guid(c->slot), r.data);
	ctl_reply(c, &r);
}

/* Sets the flag by which a port says that a subnet manager is there (IsSM). ibsim has one flag for
 * all clients of the slot.
 */
static void slot_set_issm(struct ibcc_upstream_slot *s, uint32_t issm, struct client *c)
{
	struct ibcc_wire_ctl r = { .type = IBCC_WIRE_SET_ISSM, .len = sizeof(issm) };

	memcpy(r.data, &issm, sizeof(issm));
	if (ibcc_upstream_ctl(s, &r, c ? on_ctl_answer : NULL, c) && c)
		ctl_reply(c, &(struct ibcc_wire_ctl){ .magic = IBCC_WIRE_MAGIC });
}

static bool slot_has_sm(const struct ibcc_proxy *p, const struct ibcc_upstream_slot *s)
{
	const struct client *c;

	for (c = TAILQ_FIRST(&p->clients); c; c = TAILQ_NEXT(c, link))
		if (c->slot == s && c->issm)
			return true;
	return false;
}

static void client_free(struct client *c)
{
	struct ibcc_proxy *p = c->p;

	TAILQ_REMOVE(&p->clients, c, link);
	p->stats.clients_now--;
	ibcc_proxy_forget(c);
	ibcc_upstream_cancel(p->u, c);
	if (c->slot) {
		if (c->issm && !slot_has_sm(p, c->slot))
			slot_set_issm(c->slot, 0, NULL);
		ibcc_upstream_release(c->slot);
	}
	sd_event_source_disable_unref(c->src);
	sd_event_source_disable_unref(c->pid_src);
	ibcc_sendq_fini(&c->q);
	if (c->fd >= 0)
		close(c->fd);
	if (c->pidfd >= 0)
		close(c->pidfd);
	free(c);
}

/* The client's slot at ibsim is ready: answers the client's CONNECT. */
static void on_attached(void *arg, struct ibcc_upstream_slot *s)
{
	struct client *c = arg;
	struct ibcc_wire_ctl r = c->ctl;
	struct ibcc_wire_connect info;

	if (!s) {
		r.type = IBCC_WIRE_ERROR;
		ctl_reply(c, &r);
		client_free(c);
		return;
	}
	c->slot = s;
	memcpy(&info, r.data, sizeof(info));
	info.id = c->number;
	memset(info.node, 0, sizeof(info.node));
	memcpy(info.node, ibcc_upstream_node_name(s),
	       strnlen(ibcc_upstream_node_name(s), sizeof(info.node) - 1));
	memcpy(r.data, &info, sizeof(info));
	ctl_reply(c, &r);
}

/* Makes a new client. `pid` is its process, as the kernel reports it: 0 if the kernel cannot, since
 * the client is in another PID namespace.
 */
static struct client *client_new(struct ibcc_proxy *p, pid_t pid, const struct ibcc_wire_ctl *ctl,
				 const struct sockaddr_un *from, socklen_t from_len)
{
	struct client *c = calloc(1, sizeof(*c));
	struct ibcc_wire_connect info;
	struct sockaddr_un sa;
	socklen_t len;

	if (!c)
		return NULL;
	memcpy(&info, ctl->data, sizeof(info));
	info.node[sizeof(info.node) - 1] = '\0';
	c->p = p;
	c->number = p->next_number++;
	c->pid = pid;
	c->ctl = *ctl;
	c->ctl_addr = *from;
	c->ctl_len = from_len;
	c->pidfd = -1;
	TAILQ_INSERT_TAIL(&p->clients, c, link);
	p->stats.clients_now++;
	p->stats.clients_total++;
	c->fd = ibcc_wire_bind("%s:out%u", p->name, c->number);
	if (c->fd < 0 || ibcc_wire_addr(&sa, &len, "%s:in%u", p->name, info.id) ||
	    connect(c->fd, (struct sockaddr *)&sa, len) ||
	    sd_event_add_io(p->ev, &c->src, c->fd, EPOLLIN, on_client, c) < 0)
		goto fail;
	if (ibcc_sendq_init(&c->q, p->ev, c->fd, c->src, CLIENT_QUEUE_MAX))
		goto fail;
	c->pidfd = pidfd_open(pid, 0);
	if (c->pidfd >= 0 &&
	    sd_event_add_io(p->ev, &c->pid_src, c->pidfd, EPOLLIN, on_client_exit, c) < 0)
		goto fail;
	if (ibcc_upstream_attach(p->u, info.node, on_attached, c))
		goto fail;
	return c;
fail:
	client_free(c);
	return NULL;
}

static struct client *client_find(const struct ibcc_proxy *p, uint32_t number)
{
	struct client *c;

	for (c = TAILQ_FIRST(&p->clients); c; c = TAILQ_NEXT(c, link))
		if (c->number == number)
			return c;
	return NULL;
}

/* Carries out a request of control, or passes it on to ibsim. */
static void ctl_request(struct ibcc_proxy *p, struct ibcc_wire_ctl *ctl, pid_t pid,
			const struct sockaddr_un *from, socklen_t from_len)
{
	struct client tmp = { .p = p, .ctl_addr = *from, .ctl_len = from_len };
	struct client *c;
	uint32_t issm;

	if (ctl->type == IBCC_WIRE_CONNECT) {
		if (client_new(p, pid, ctl, from, from_len))
			return;
		ctl->type = IBCC_WIRE_ERROR;
		ctl_reply(&tmp, ctl);
		return;
	}
	c = client_find(p, ctl->client);
	if (!c || !c->slot) {
		ctl->type = IBCC_WIRE_ERROR;
		ctl_reply(&tmp, ctl);
		return;
	}
	c->ctl_addr = *from;
	c->ctl_len = from_len;
	if (ctl->type == IBCC_WIRE_DISCONNECT) {
		ctl_reply(c, ctl);
		client_free(c);
	} else if (ctl->type == IBCC_WIRE_SET_ISSM) {
		memcpy(&issm, ctl->data, sizeof(issm));
		c->issm = issm != 0;
		slot_set_issm(c->slot, slot_has_sm(p, c->slot), c);
	} else if (ibcc_upstream_ctl(c->slot, ctl, on_ctl_answer, c)) {
		ctl->type = IBCC_WIRE_ERROR;
		ctl_reply(c, ctl);
	}
}

static int on_ctl(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct sockaddr_un from = { 0 };
	struct ibcc_wire_ctl ctl = { 0 };
	struct iovec iov = { .iov_base = &ctl, .iov_len = sizeof(ctl) };
	struct msghdr mh = { .msg_name = &from,
			     .msg_namelen = sizeof(from),
			     .msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	struct cmsghdr *cm;
	struct ucred cred = { 0 };

	(void)src;
	(void)revents;
	if (recvmsg(fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof(ctl))
		return 0;
	for (cm = CMSG_FIRSTHDR(&mh); cm; cm = CMSG_NXTHDR(&mh, cm))
		if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SCM_CREDENTIALS)
			memcpy(&cred, CMSG_DATA(cm), sizeof(cred));
	if (ctl.magic == IBCC_WIRE_MAGIC && ctl.type != IBCC_WIRE_ERROR &&
	    ctl.type <= IBCC_WIRE_GET_PKEYS)
		ctl_request(arg, &ctl, cred.pid, &from, mh.msg_namelen);
	return 0;
}

struct ibcc_proxy *ibcc_proxy_new(sd_event *ev, struct ibcc_upstream *u, const char *name,
				  const struct ibcc_proxy_ops *ops, int *err)
{
	struct ibcc_proxy *p = calloc(1, sizeof(*p));
	int r = -ENOMEM, one = 1;

	if (!p)
		goto out;
	TAILQ_INIT(&p->clients);
	p->ev = ev;
	p->u = u;
	p->ops = *ops;
	p->ctl_fd = -1;
	if (ibcc_setlog_init(&p->sets))
		goto out;
	r = -EINVAL;
	if (strlen(name) >= sizeof(p->name))
		goto out;
	memcpy(p->name, name, strlen(name));
	r = p->ctl_fd = ibcc_wire_bind("%s:ctl", name);
	if (r < 0)
		goto out;
	r = setsockopt(p->ctl_fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) ? -errno : 0;
	if (r < 0)
		goto out;
	r = sd_event_add_io(ev, &p->ctl_src, p->ctl_fd, EPOLLIN, on_ctl, p);
	if (r < 0)
		goto out;
	r = ibcc_proxy_delays_init(p);
	ibcc_upstream_on_request(u, on_forwarded, p);
out:
	if (r < 0) {
		*err = r;
		ibcc_proxy_free(p);
		return NULL;
	}
	return p;
}

void ibcc_proxy_free(struct ibcc_proxy *p)
{
	struct client *c;

	if (!p)
		return;
	while ((c = TAILQ_FIRST(&p->clients)))
		client_free(c);
	ibcc_proxy_delays_fini(p);
	sd_event_source_disable_unref(p->ctl_src);
	if (p->ctl_fd >= 0)
		close(p->ctl_fd);
	ibcc_upstream_on_request(p->u, NULL, NULL);
	ibcc_setlog_fini(&p->sets);
	free(p);
}

struct ibcc_proxy_knobs *ibcc_proxy_knobs(struct ibcc_proxy *p)
{
	return &p->knobs;
}

const struct ibcc_proxy_stats *ibcc_proxy_stats(const struct ibcc_proxy *p)
{
	return &p->stats;
}

const struct ibcc_setlog *ibcc_proxy_setlog(const struct ibcc_proxy *p)
{
	return &p->sets;
}
