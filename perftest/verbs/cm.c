/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/cm.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/now.h>
#include <ibcc/text.h>

#define CONNECT_MS   15000
#define RESOLVE_MS   5000
#define RNR_FOR_EVER 7           /* the value that ibcc_perf_qp_connect() uses */
#define MAGIC        0x69626363u /* in private data: marks requests of our hosts */

/* The private data of a request, in network order. */
struct hello {
	uint32_t magic, flow, conn;
};

/* The state of connecting. */
struct work {
	struct ibcc_perf_cm *c;
	struct ibcc_perf_qp *qp;
	const struct ibcc_perf_port *p;
	const struct ibcc_perf_job *j;
	struct ibcc_why *e;
	int fd; /* the coordinator's socket */
	uint32_t left;
};

static int why(void)
{
	return errno > 0 ? errno : EIO;
}

/* Reads an IPv6 address, or an IPv4 address as it is. `scope` is for a link-local address whose own
 * scope is unknown here.
 */
static int parse(const char *text, uint16_t port, uint32_t scope, struct sockaddr_storage *sa)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST };
	char buf[IBCC_ADDRESS_BYTES];
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)sa;
	struct addrinfo *ai;

	snprintf(buf, sizeof(buf), "%s", text);
	if (scope)
		buf[strcspn(buf, "%")] = '\0'; /* removes the peer's name of its interface */
	if (getaddrinfo(buf, NULL, &hints, &ai))
		return -EINVAL;
	memset(sa, 0, sizeof(*sa));
	memcpy(sa, ai->ai_addr, ai->ai_addrlen);
	freeaddrinfo(ai);
	if (sa->ss_family == AF_INET) {
		((struct sockaddr_in *)sa)->sin_port = htons(port);
		return 0;
	}
	in6->sin6_port = htons(port);
	if (scope && IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		in6->sin6_scope_id = scope;
	return 0;
}

static uint32_t own_scope(const struct ibcc_perf_cm *c)
{
	return c->own.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&c->own)->sin6_scope_id
					    : 0;
}

int ibcc_perf_cm_listen(struct ibcc_perf_cm *c, const char *address, uint32_t n_qps,
			const struct ibcc_perf_port *p, struct ibcc_why *e)
{
	const char *device;

	*c = (struct ibcc_perf_cm){ .n_qps = n_qps };
	if (parse(address, 0, 0, &c->own))
		return ibcc_perf_fail(
			e, 0,
			"%s is not an IP address of a port of %s: give the host an rdma_address",
			address, p->name);
	c->id = calloc(n_qps, sizeof(*c->id));
	c->connected = calloc(n_qps, sizeof(*c->connected));
	if (!c->id || !c->connected)
		return ibcc_perf_fail(e, ENOMEM, "memory for %u connection%s", n_qps,
				      ibcc_text_plural(n_qps, "", "s"));
	c->channel = rdma_create_event_channel();
	if (!c->channel)
		return ibcc_perf_fail(e, why(), "rdma_create_event_channel");
	if (fcntl(c->channel->fd, F_SETFL, fcntl(c->channel->fd, F_GETFL) | O_NONBLOCK))
		return ibcc_perf_fail(e, errno, "cannot wait for events of librdmacm");
	if (rdma_create_id(c->channel, &c->listen, NULL, RDMA_PS_TCP)) {
		c->listen = NULL;
		return ibcc_perf_fail(e, why(), "rdma_create_id");
	}
	if (rdma_bind_addr(c->listen, (struct sockaddr *)&c->own))
		return ibcc_perf_fail(e, why(), "rdma_bind_addr to %s", address);
	device = c->listen->verbs ? ibv_get_device_name(c->listen->verbs->device) : "no device";
	if (strcmp(device, p->name))
		return ibcc_perf_fail(e, 0,
				      "%s is an address of %s, not of %s: give the host another "
				      "rdma_address or device",
				      address, device, p->name);
	if (rdma_listen(c->listen, 128))
		return ibcc_perf_fail(e, why(), "rdma_listen at %s", address);
	c->port = ntohs(rdma_get_src_port(c->listen));
	return 0;
}

static int fail_qp(const struct work *w, uint32_t i, int err, const char *what)
{
	char name[200];

	return ibcc_perf_fail(w->e, err, "%s, %s", what,
			      ibcc_perf_qp_name(&w->qp[i], name, sizeof(name)));
}

/* Makes a queue pair ready to receive and send, by the path that was found, and the flow's SL, if
 * it has one.
 */
static int ready(struct work *w, uint32_t i)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_RTR, IBV_QPS_RTS };
	const struct ibcc_perf_qp *x = &w->qp[i];

	for (int s = 0; s < 2; s++) {
		struct ibv_qp_attr attr = { .qp_state = states[s] };
		int mask = 0, rc;

		if (rdma_init_qp_attr(w->c->id[i], &attr, &mask))
			return fail_qp(w, i, why(), "rdma_init_qp_attr");
		if (x->flow->sl && mask & IBV_QP_AV)
			attr.ah_attr.sl = x->flow->sl;
		if (mask & IBV_QP_PATH_MTU && attr.path_mtu > w->p->mtu)
			attr.path_mtu = w->p->mtu;
		if (mask & IBV_QP_TIMEOUT)
			attr.timeout = w->j->ack_timeout;
		rc = ibv_modify_qp(x->qp, &attr, mask);
		if (rc)
			return fail_qp(w, i, rc > 0 ? rc : why(), "ibv_modify_qp by librdmacm");
	}
	return 0;
}

static struct rdma_conn_param parameters(const struct work *w, const struct ibcc_perf_qp *x,
					 const struct hello *h)
{
	return (struct rdma_conn_param){
		.private_data = h,
		.private_data_len = h ? sizeof(*h) : 0,
		.responder_resources = x->local.rd_atomic,
		.initiator_depth = x->remote.rd_atomic < x->local.rd_atomic ? x->remote.rd_atomic
									    : x->local.rd_atomic,
		.retry_count = w->j->retries,
		.rnr_retry_count = RNR_FOR_EVER,
		.qp_num = x->qp->qp_num,
	};
}

static int connected(struct work *w, uint32_t i)
{
	w->left -= !w->c->connected[i];
	w->c->connected[i] = true;
	return 0;
}

/* Handles a peer's request to connect: to a queue pair that is not active and not connected yet. */
static int requested(struct work *w, struct rdma_cm_id *id, const struct rdma_conn_param *asked)
{
	struct rdma_conn_param param;
	struct hello h = { 0, 0, 0 };
	uint32_t i = w->c->n_qps;

	if (asked->private_data && asked->private_data_len >= sizeof(h))
		memcpy(&h, asked->private_data, sizeof(h));
	if (ntohl(h.magic) == MAGIC)
		for (i = 0; i < w->c->n_qps; i++)
			if (!w->qp[i].spec->active && w->qp[i].flow->id == ntohl(h.flow) &&
			    w->qp[i].spec->conn == ntohl(h.conn) && !w->c->id[i])
				break;
	if (i == w->c->n_qps) {
		rdma_reject(id, NULL, 0);
		rdma_destroy_id(id);
		return 0;
	}
	w->c->id[i] = id;
	id->context = &w->qp[i];
	if (ready(w, i))
		return -EIO;
	param = parameters(w, &w->qp[i], NULL);
	return rdma_accept(id, &param) ? fail_qp(w, i, why(), "rdma_accept") : 0;
}

static int advance(struct work *w, uint32_t i, struct rdma_cm_id *id)
{
	const struct ibcc_perf_qp *x = &w->qp[i];
	struct hello h = { htonl(MAGIC), htonl(x->flow->id), htonl(x->spec->conn) };
	struct rdma_conn_param param = parameters(w, x, &h);

	return rdma_connect(id, &param) ? fail_qp(w, i, why(), "rdma_connect") : 0;
}

static int take(struct work *w, const struct rdma_cm_event *event)
{
	struct rdma_cm_id *id = event->id;
	uint32_t i;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return requested(w, id, &event->param.conn);
	if (!id->context)
		return 0;
	i = (uint32_t)((struct ibcc_perf_qp *)id->context - w->qp);
	switch ((int)event->event) {
	case RDMA_CM_EVENT_ADDR_RESOLVED:
		return rdma_resolve_route(id, RESOLVE_MS)
			       ? fail_qp(w, i, why(), "rdma_resolve_route")
			       : 0;
	case RDMA_CM_EVENT_ROUTE_RESOLVED: return advance(w, i, id);
	case RDMA_CM_EVENT_CONNECT_RESPONSE:
		if (ready(w, i))
			return -EIO;
		return rdma_establish(id) ? fail_qp(w, i, why(), "rdma_establish")
					  : connected(w, i);
	case RDMA_CM_EVENT_ESTABLISHED: return connected(w, i);
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
	case RDMA_CM_EVENT_ADDR_CHANGE: return 0;
	default:
		return fail_qp(w, i, event->status < 0 ? -event->status : 0,
			       rdma_event_str(event->event));
	}
}

static int start(struct work *w, uint32_t i, const struct ibcc_perf_cm_peer *peer)
{
	struct ibcc_perf_cm *c = w->c;
	struct sockaddr_storage to;

	if (parse(peer->address, peer->port, own_scope(c), &to) || to.ss_family != c->own.ss_family)
		return ibcc_perf_fail(w->e, 0,
				      "%s has the address %s, which is not an IP address of the "
				      "same family as this host's",
				      w->qp[i].spec->peer, peer->address);
	if (rdma_create_id(c->channel, &c->id[i], &w->qp[i], RDMA_PS_TCP)) {
		c->id[i] = NULL;
		return fail_qp(w, i, why(), "rdma_create_id");
	}
	if (rdma_resolve_addr(c->id[i], (struct sockaddr *)&c->own, (struct sockaddr *)&to,
			      RESOLVE_MS))
		return fail_qp(w, i, why(), "rdma_resolve_addr");
	return 0;
}

static int wait_for(struct work *w, int64_t end_ms)
{
	struct pollfd p[2] = { { .fd = w->c->channel->fd, .events = POLLIN },
			       { .fd = w->fd, .events = POLLIN } };
	struct rdma_cm_event *event, copy;
	unsigned char private_data[256];
	int64_t left = end_ms - ibcc_now_ms();

	if (left <= 0)
		return ibcc_perf_fail(
			w->e, ETIMEDOUT, "%u %s not made", w->left,
			ibcc_text_plural(w->left, "connection was", "connections were"));
	if (poll(p, 2, (int)left) < 0 && errno != EINTR)
		return ibcc_perf_fail(w->e, errno, "cannot wait for events of librdmacm");
	if (p[1].revents)
		return ibcc_perf_fail(w->e, 0, "lost the connection to the coordinator");
	if (!p[0].revents)
		return 0;
	if (rdma_get_cm_event(w->c->channel, &event))
		return errno == EAGAIN ? 0 : ibcc_perf_fail(w->e, why(), "rdma_get_cm_event");
	/* An id cannot be destroyed while one of its events is out. */
	copy = *event;
	if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST && copy.param.conn.private_data) {
		memcpy(private_data, copy.param.conn.private_data,
		       copy.param.conn.private_data_len);
		copy.param.conn.private_data = private_data;
	}
	if (rdma_ack_cm_event(event)) {
		if (copy.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			rdma_destroy_id(copy.id); /* no queue pair owns it yet */
		return ibcc_perf_fail(w->e, why(), "rdma_ack_cm_event");
	}
	return take(w, &copy);
}

int ibcc_perf_cm_connect(struct ibcc_perf_cm *c, struct ibcc_perf_qp *qp,
			 const struct ibcc_perf_cm_peer *peer, const struct ibcc_perf_port *p,
			 const struct ibcc_perf_job *j, int fd, struct ibcc_why *e)
{
	struct work w = { c, qp, p, j, e, fd, c->n_qps };
	int64_t end_ms = ibcc_now_ms() + CONNECT_MS;
	int rc = 0;

	for (uint32_t i = 0; i < c->n_qps && !rc; i++)
		if (qp[i].spec->active)
			rc = start(&w, i, &peer[i]);
	while (!rc && w.left)
		rc = wait_for(&w, end_ms);
	return rc;
}

int ibcc_perf_cm_close(struct ibcc_perf_cm *c, struct ibcc_why *e)
{
	int first = 0;

	for (uint32_t i = 0; c->id && i < c->n_qps; i++)
		if (c->id[i] && rdma_destroy_id(c->id[i]))
			first = ibcc_perf_fail(e, why(), "rdma_destroy_id");
	if (c->listen && rdma_destroy_id(c->listen))
		first = ibcc_perf_fail(e, why(), "rdma_destroy_id");
	if (c->channel)
		rdma_destroy_event_channel(c->channel);
	free(c->id);
	free(c->connected);
	memset(c, 0, sizeof(*c));
	return first;
}
