/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A double of librdmacm for the double of libibverbs: it connects ends within this process. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/double/verbs.h"

#define IDS_MAX    256
#define FIRST_PORT 5000
#define PUBLIC     __attribute__((visibility("default")))

struct id {
	struct rdma_cm_id id;
	struct id *peer;
	bool listens;
	uint16_t port; /* the port at which the id listens, or to which it connects */
	uint32_t remote_qp;
};

struct event {
	struct rdma_cm_event event;
	struct event *next;
	unsigned char data[64];
};

struct channel {
	struct rdma_event_channel channel;
	struct event *first;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct id *ids[IDS_MAX];
static uint16_t ports;

PUBLIC struct rdma_event_channel *rdma_create_event_channel(void)
{
	struct channel *c = double_make("rdma_create_event_channel", sizeof(*c));

	if (!c)
		return NULL;
	c->channel.fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	return &c->channel;
}

/* Sends an event to an id's owner. Call with the lock held. */
static void tell(struct id *id, enum rdma_cm_event_type type, const struct rdma_conn_param *param)
{
	struct channel *c = (struct channel *)id->id.channel;
	struct event *e = calloc(1, sizeof(*e)), **at = &c->first;
	uint64_t one = 1;

	if (!e)
		abort();
	e->event.id = &id->id;
	e->event.event = type;
	if (param) {
		e->event.param.conn = *param;
		memcpy(e->data, param->private_data, param->private_data_len);
		e->event.param.conn.private_data = e->data;
	}
	while (*at)
		at = &(*at)->next;
	*at = e;
	if (write(c->channel.fd, &one, sizeof(one)) != sizeof(one))
		abort();
}

static void hang_up(struct id *peer)
{
	peer->peer = NULL;
	tell(peer, RDMA_CM_EVENT_REJECTED, NULL);
}

static void forget(struct id *id)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < IDS_MAX; i++) {
		if (ids[i] == id)
			ids[i] = NULL;
		else if (ids[i] && ids[i]->peer == id)
			hang_up(ids[i]);
	}
	pthread_mutex_unlock(&lock);
	double_unmake("id of a request", id);
}

PUBLIC void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
	struct channel *c = (struct channel *)channel;

	while (c->first) {
		struct event *e = c->first;

		c->first = e->next;
		/* The library makes the id of a request when its event is got. */
		if (e->event.event == RDMA_CM_EVENT_CONNECT_REQUEST)
			forget((struct id *)e->event.id);
		free(e);
	}
	close(channel->fd);
	double_unmake("rdma_destroy_event_channel", c);
}

PUBLIC int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event)
{
	struct channel *c = (struct channel *)channel;
	uint64_t n;
	int rc = -1;

	pthread_mutex_lock(&lock);
	if (double_fails("rdma_get_cm_event")) {
		errno = EIO;
	} else if (read(channel->fd, &n, sizeof(n)) == sizeof(n)) {
		/* Destroying an id removes its events, but not their wake-ups. */
		*event = c->first ? &c->first->event : NULL;
		rc = c->first ? 0 : -1;
		errno = EAGAIN;
		if (c->first)
			c->first = c->first->next;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

PUBLIC int rdma_ack_cm_event(struct rdma_cm_event *event)
{
	free(event);
	if (!double_fails("rdma_ack_cm_event"))
		return 0;
	errno = EIO;
	return -1;
}

static struct id *new_id(const char *verb, struct rdma_event_channel *channel, void *context)
{
	struct id *id = double_make(verb, sizeof(*id));
	int i = 0;

	if (!id)
		return NULL;
	id->id.channel = channel;
	id->id.context = context;
	id->id.verbs = double_context();
	while (ids[i])
		i++;
	ids[i] = id;
	return id;
}

PUBLIC int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
			  enum rdma_port_space ps)
{
	struct id *made;

	(void)ps;
	pthread_mutex_lock(&lock);
	made = new_id("rdma_create_id", channel, context);
	pthread_mutex_unlock(&lock);
	*id = made ? &made->id : NULL;
	return made ? 0 : -1;
}

PUBLIC int rdma_destroy_id(struct rdma_cm_id *gone)
{
	struct id *id = (struct id *)gone;
	struct channel *c = (struct channel *)gone->channel;

	pthread_mutex_lock(&lock);
	for (struct event **at = &c->first; *at;) {
		struct event *e = *at;

		if (e->event.id != gone) {
			at = &e->next;
			continue;
		}
		*at = e->next;
		free(e);
	}
	for (int i = 0; i < IDS_MAX; i++) {
		if (ids[i] == id)
			ids[i] = NULL;
		else if (ids[i] && ids[i]->peer == id)
			hang_up(ids[i]);
	}
	pthread_mutex_unlock(&lock);
	errno = EIO;
	return double_unmake("rdma_destroy_id", id) ? -1 : 0;
}

static int simple(const char *verb)
{
	if (!double_fails(verb))
		return 0;
	errno = EIO;
	return -1;
}

PUBLIC int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	(void)id;
	(void)addr;
	return simple("rdma_bind_addr");
}

PUBLIC int rdma_listen(struct rdma_cm_id *listener, int backlog)
{
	struct id *id = (struct id *)listener;

	(void)backlog;
	pthread_mutex_lock(&lock);
	id->listens = true;
	id->port = (uint16_t)(FIRST_PORT + ports++ % 10000);
	pthread_mutex_unlock(&lock);
	return simple("rdma_listen");
}

PUBLIC __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
	return htons(((struct id *)id)->port);
}

PUBLIC int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
			     int timeout_ms)
{
	(void)from;
	(void)timeout_ms;
	if (simple("rdma_resolve_addr"))
		return -1;
	pthread_mutex_lock(&lock);
	((struct id *)id)->port = ntohs(((struct sockaddr_in *)to)->sin_port);
	tell((struct id *)id, RDMA_CM_EVENT_ADDR_RESOLVED, NULL);
	pthread_mutex_unlock(&lock);
	return 0;
}

PUBLIC int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
	(void)timeout_ms;
	if (simple("rdma_resolve_route"))
		return -1;
	pthread_mutex_lock(&lock);
	tell((struct id *)id, RDMA_CM_EVENT_ROUTE_RESOLVED, NULL);
	pthread_mutex_unlock(&lock);
	return 0;
}

PUBLIC int rdma_connect(struct rdma_cm_id *from, struct rdma_conn_param *param)
{
	struct id *id = (struct id *)from, *listener = NULL, *made;

	if (simple("rdma_connect"))
		return -1;
	pthread_mutex_lock(&lock);
	for (int i = 0; i < IDS_MAX; i++)
		if (ids[i] && ids[i]->listens && ids[i]->port == id->port)
			listener = ids[i];
	made = listener ? new_id("id of a request", listener->id.channel, listener->id.context)
			: NULL;
	if (made) {
		made->peer = id;
		id->peer = made;
		made->remote_qp = param->qp_num;
		tell(made, RDMA_CM_EVENT_CONNECT_REQUEST, param);
	} else {
		tell(id, RDMA_CM_EVENT_UNREACHABLE, NULL);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

PUBLIC int rdma_accept(struct rdma_cm_id *from, struct rdma_conn_param *param)
{
	struct id *id = (struct id *)from;

	if (simple("rdma_accept"))
		return -1;
	pthread_mutex_lock(&lock);
	if (id->peer) {
		id->peer->remote_qp = param->qp_num;
		tell(id->peer, RDMA_CM_EVENT_CONNECT_RESPONSE, NULL);
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

PUBLIC int rdma_establish(struct rdma_cm_id *from)
{
	struct id *id = (struct id *)from;

	if (simple("rdma_establish"))
		return -1;
	pthread_mutex_lock(&lock);
	if (id->peer)
		tell(id->peer, RDMA_CM_EVENT_ESTABLISHED, NULL);
	pthread_mutex_unlock(&lock);
	return 0;
}

PUBLIC int rdma_reject(struct rdma_cm_id *from, const void *data, uint8_t len)
{
	struct id *id = (struct id *)from;

	(void)data;
	(void)len;
	pthread_mutex_lock(&lock);
	if (id->peer)
		tell(id->peer, RDMA_CM_EVENT_REJECTED, NULL);
	pthread_mutex_unlock(&lock);
	return simple("rdma_reject");
}

PUBLIC int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
	if (simple("rdma_init_qp_attr"))
		return -1;
	*mask = IBV_QP_STATE;
	if (attr->qp_state == IBV_QPS_RTR) {
		*mask |= IBV_QP_DEST_QPN | IBV_QP_AV | IBV_QP_PATH_MTU;
		attr->path_mtu = IBV_MTU_4096;
		attr->dest_qp_num = ((struct id *)id)->remote_qp;
	} else {
		*mask |= IBV_QP_TIMEOUT;
		attr->timeout = 20; /* the path's timeout */
	}
	return 0;
}
