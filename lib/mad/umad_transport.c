/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs over libibumad: hardware, or a simulated fabric below umad2sim.
 *
 * A class is registered with its first request. Below umad2sim a registration takes the class away
 * from every other user in the process, so a class that is not used is left to its owner. An answer
 * that arrives there after its class was unregistered kills the process, so closing waits for the
 * answers. And umad_close_port() forgets only one registration, so this file ends each of them.
 */
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <ibcc/ccmad.h>
#include <ibcc/mad.h>
#include <ibcc/now.h>
#include <ibcc/sim_clock.h>
#include <ibcc/transport.h>

#include "lib/mad/umad_port.h"
#include "lib/mad/window.h"
#include "lib/mad/window_run.h"

#define N_CLASSES       256
#define AGENT_NONE      (-1)
#define MAX_RECV_ERRORS 100u
#define UMAD2SIM_BYTES  224u
#define IBSIM_NAME      "sim" /* the simulator's name if IBSIM_SOCKNAME is not set */

struct umad_transport {
	struct ibcc_transport base;
	struct ibcc_umad_port port;
	struct ibcc_window *window;
	struct ibcc_sim_clock *clock; /* NULL: the host's clock is the fabric's */
	int fd;
	int agent[N_CLASSES];
	void *sbuf, *rbuf;
	unsigned int recv_errors;
};

static struct umad_transport *to_umad(struct ibcc_transport *t)
{
	return (struct umad_transport *)t;
}

static int agent_of(struct umad_transport *u, uint8_t mgmt_class)
{
	int version = mgmt_class == IBCC_MAD_CLASS_CC ? (int)IBCC_CC_CLASS_VERSION : 1;
	int agent = u->agent[mgmt_class];

	if (agent == AGENT_NONE) {
		agent = umad_register(u->fd, mgmt_class, version, 0, NULL);
		u->agent[mgmt_class] = agent < 0 ? AGENT_NONE : agent;
	}
	return agent;
}

/* Errors after which nothing will work on this descriptor. */
static bool is_fatal(int e)
{
	return e == ENODEV || e == ENXIO || e == EBADF || e == EPIPE || e == ECONNREFUSED ||
	       e == ECONNRESET || e == ENOTCONN;
}

static int port_send(void *port, const struct ibcc_mad_op *op, unsigned int timeout_ms)
{
	struct umad_transport *u = port;
	bool smp = ibcc_mad_is_smp(op->mad);
	uint32_t qp = op->qp ? op->qp : 1, q_key = op->q_key ? op->q_key : IB_DEFAULT_QP1_QKEY;
	int agent = agent_of(u, op->mad[1]);

	if (agent < 0)
		return -EPERM;
	memset(u->sbuf, 0, umad_size());
	memcpy(umad_get_mad(u->sbuf), op->mad, IBCC_MAD_BYTES);
	umad_set_addr(u->sbuf, op->lid, smp ? 0 : (int)qp, op->sl, smp ? 0 : (int)q_key);
	umad_set_grh(u->sbuf, NULL);
	umad_set_pkey(u->sbuf, 0);
	if (umad_send(u->fd, agent, u->sbuf, IBCC_MAD_BYTES, (int)timeout_ms, 0) < 0)
		return is_fatal(errno) ? -ENODEV : -EIO;
	return 0;
}

static int port_recv(void *port, uint8_t mad[IBCC_MAD_BYTES], bool *undeliverable, int wait_ms)
{
	struct umad_transport *u = port;
	int len = IBCC_MAD_BYTES;
	int rc;

	memset(u->rbuf, 0, umad_size() + IBCC_MAD_BYTES);
	rc = umad_recv(u->fd, u->rbuf, &len, wait_ms);
	if (rc >= 0) {
		u->recv_errors = 0;
		if (len > (int)IBCC_MAD_BYTES)
			len = IBCC_MAD_BYTES;
		memcpy(mad, umad_get_mad(u->rbuf), IBCC_MAD_BYTES);
		/* The kernel's timeout, or ibsim's message that it knows no such route. */
		*undeliverable = umad_status(u->rbuf) != 0;
		return len;
	}
	if (rc == -ETIMEDOUT || rc == -EAGAIN || errno == EINTR) {
		u->recv_errors = 0;
		return -EAGAIN;
	}
	/* A single failure means nothing: umad2sim's poll sometimes wakes up without a reason. */
	return is_fatal(errno) || ++u->recv_errors > MAX_RECV_ERRORS ? -ENODEV : -EAGAIN;
}

static uint64_t port_now_ns(void *port)
{
	(void)port;
	return ibcc_now_ns();
}

static uint64_t port_fabric_ns(void *port, const uint8_t *answer)
{
	struct umad_transport *u = port;
	uint64_t ns;

	if (u->clock && answer && ibcc_sim_clock_stamped(answer, &ns))
		return ns;
	return u->clock ? ibcc_sim_clock_ns(u->clock) : port_now_ns(port);
}

static const struct ibcc_port_ops port_ops = {
	.send = port_send,
	.recv = port_recv,
	.now_ns = port_now_ns,
	.fabric_ns = port_fabric_ns,
};

static int umad_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	return ibcc_window_run(to_umad(t)->window, op, n, t->deadline_ns, &t->stats);
}

static uint64_t umad_now_ns(struct ibcc_transport *t)
{
	return port_now_ns(to_umad(t));
}

static uint64_t umad_fabric_ns(struct ibcc_transport *t)
{
	return port_fabric_ns(to_umad(t), NULL);
}

static void umad_cancel(struct ibcc_transport *t)
{
	ibcc_window_cancel(to_umad(t)->window);
}

static void umad_free_transport(struct ibcc_transport *t)
{
	struct umad_transport *u = to_umad(t);

	/* While an answer may still come, the descriptor stays open until the process ends. */
	if (u->fd >= 0 && (!u->window || ibcc_window_drain(u->window))) {
		for (int c = 0; c < N_CLASSES; c++) {
			if (u->agent[c] != AGENT_NONE)
				umad_unregister(u->fd, u->agent[c]);
		}
		umad_close_port(u->fd);
	}
	ibcc_window_free(u->window);
	ibcc_sim_clock_close(u->clock);
	free(u->base.stats.node);
	free(u->sbuf);
	free(u->rbuf);
	free(u);
}

static const struct ibcc_transport_ops umad_ops = {
	.run = umad_run,
	.now_ns = umad_now_ns,
	.fabric_ns = umad_fabric_ns,
	.cancel = umad_cancel,
	.free = umad_free_transport,
};

/* Whether a library is umad2sim. It copies a datagram into a buffer that is as long as its own
 * request, with a header in front. So the bytes beyond 224 come from the memory behind the buffer.
 */
static int is_umad2sim(struct dl_phdr_info *lib, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	return lib->dlpi_name && strstr(lib->dlpi_name, "libumad2sim") != NULL;
}

/* Opens the file in which a simulator publishes its time, as `ibcc-sim exec` names it, or else by
 * the simulator's name. Stock ibsim publishes no time, so a missing file of its name is no error.
 */
static int open_clock(struct umad_transport *u, char *text, size_t len)
{
	const char *path = getenv(IBCC_SIM_CLOCK_ENV), *name = getenv("IBSIM_SOCKNAME");
	struct ibcc_why why;
	char by_name[128];
	int err = 0;

	ibcc_sim_clock_path(name ? name : IBSIM_NAME, by_name, sizeof(by_name));
	u->clock = ibcc_sim_clock_open(path ? path : by_name, port_now_ns(u), &err, &why);
	u->base.simulated = u->clock != NULL;
	if (u->clock || (err == -ENOENT && !path))
		return 0;
	snprintf(text, len, "the time of the simulated fabric: %s", why.text);
	return err;
}

struct ibcc_transport *ibcc_umad_open(const struct ibcc_umad_options *o, int *err, char *why,
				      size_t len)
{
	struct umad_transport *u = calloc(1, sizeof(*u));

	*err = -ENOMEM;
	snprintf(why, len, "out of memory");
	if (!u)
		return NULL;
	u->base.ops = &umad_ops;
	u->fd = -1;
	for (int c = 0; c < N_CLASSES; c++)
		u->agent[c] = AGENT_NONE;
	if (dl_iterate_phdr(is_umad2sim, NULL)) {
		u->base.whole_bytes = UMAD2SIM_BYTES;
		*err = open_clock(u, why, len);
		if (*err < 0)
			goto fail;
	}
	umad_init();
	*err = ibcc_umad_port_find(o, &u->port, why, len);
	if (*err < 0)
		goto fail;
	errno = 0;
	u->fd = umad_open_port(u->port.ca, u->port.num);
	if (u->fd < 0) {
		*err = errno == EACCES || errno == EPERM ? -EACCES : -EIO;
		snprintf(why, len, "cannot open the umad device of %s port %d: %s%s", u->port.ca,
			 u->port.num, errno ? strerror(errno) : "no such device",
			 *err == -EACCES
				 ? "; root may, and so may the group of /dev/infiniband/umad*"
			 : !errno || errno == ENOENT
				 ? "; load the module ib_umad (modprobe ib_umad)"
				 : "");
		goto fail;
	}
	/* umad_size() is final only after the first open. */
	*err = -ENOMEM;
	u->sbuf = calloc(1, umad_size() + IBCC_MAD_BYTES);
	u->rbuf = calloc(1, umad_size() + IBCC_MAD_BYTES);
	u->window = ibcc_window_new(&port_ops, u, o);
	u->base.stats.node = calloc(IBCC_RUN_LIDS, sizeof(*u->base.stats.node));
	if (!u->sbuf || !u->rbuf || !u->window || !u->base.stats.node)
		goto fail;
	*err = 0;
	return &u->base;
fail:
	umad_free_transport(&u->base);
	return NULL;
}

uint16_t ibcc_umad_lid(const struct ibcc_transport *t)
{
	struct ibcc_umad_port p = ((const struct umad_transport *)t)->port;

	return ibcc_umad_port_refresh(&p) < 0 ? 0 : p.lid;
}

uint64_t ibcc_umad_port_guid(const struct ibcc_transport *t)
{
	return ((const struct umad_transport *)t)->port.guid;
}

uint16_t ibcc_umad_sm_lid(const struct ibcc_transport *t)
{
	struct ibcc_umad_port p = ((const struct umad_transport *)t)->port;

	return ibcc_umad_port_refresh(&p) < 0 ? 0 : p.sm_lid;
}
