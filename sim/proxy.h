/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The proxy between clients and ibsim: binds ibsim's sockets under another name and serves any
 * number of clients. MADs that the simulated fabric answers go to a callback, all others to
 * ibsim.
 */
#ifndef SIM_PROXY_H
#define SIM_PROXY_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "sim/madcount.h"
#include "sim/setlog.h"
#include "sim/upstream.h"
#include "sim/wire.h"

struct ibcc_proxy;

struct ibcc_proxy_ops {
	/* Answers a request of classes PerfMgt or CC, or for a vendor's own SMP attribute, that a
	 * client at the node with `node_guid` sends; *reply starts as a copy of the request with
	 * addresses swapped. Returns 0, or -ETIMEDOUT if there is no answer.
	 */
	int (*answer)(void *arg, uint64_t node_guid, const struct ibcc_wire_mad *rq,
		      struct ibcc_wire_mad *reply);
	/* Share of losses, in permille, at the node that a request goes to. */
	uint16_t (*loss)(void *arg, uint64_t node_guid, const struct ibcc_wire_mad *rq);
	/* LID of a node's first port, 0 if it has none. */
	uint16_t (*lid)(void *arg, uint64_t node_guid);
	/* Amends PortInfo (64 bytes) that ibsim gives a client of its own port. */
	void (*port_info)(void *arg, uint64_t node_guid, uint8_t *info);
	/* Whether the fabric may have changed since it was last looked at. */
	bool (*stale)(void *arg);
	/* A client has set something by a subnet management packet. */
	void (*changed)(void *arg);
	void *arg;
};

/* Knobs; may be changed at any time. */
struct ibcc_proxy_knobs {
	uint32_t mad_loss_permille; /* share of MADs that get lost, half of them on the way back */
	uint32_t mad_delay_us;      /* added to each answer */
	uint32_t mad_timeout_ms;    /* until a client hears that a MAD got no answer */
};

struct ibcc_proxy_stats {
	struct ibcc_madcount mads; /* requests of clients */
	uint64_t lost;             /* by the knob */
	uint64_t overflow;         /* answers that a client did not fetch */
	uint64_t clients_now, clients_total, clients_killed;
};

/* Binds the sockets; NULL and *err on failure (-EADDRINUSE: the name is taken). */
struct ibcc_proxy *ibcc_proxy_new(sd_event *ev, struct ibcc_upstream *u, const char *name,
				  const struct ibcc_proxy_ops *ops, int *err);
void ibcc_proxy_free(struct ibcc_proxy *p);

struct ibcc_proxy_knobs *ibcc_proxy_knobs(struct ibcc_proxy *p);
const struct ibcc_proxy_stats *ibcc_proxy_stats(const struct ibcc_proxy *p);
const struct ibcc_setlog *ibcc_proxy_setlog(const struct ibcc_proxy *p);

#endif
