/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests to subnet administration, one at a time, and the reports that it sends. Private to
 * lib/mad. A client belongs to one thread. There is one for each port in a process, since below
 * umad2sim a second client would take the class away from the first.
 */
#ifndef IBCC_MAD_SA_CLIENT_H
#define IBCC_MAD_SA_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/mad.h>
#include <ibcc/transport.h>

#include "lib/mad/umad_port.h"

struct ibcc_sa_client {
	struct ibcc_umad_port port;
	uint16_t sm_lid; /* the subnet manager that the client asks and listens to; 0: none */
	bool hears;      /* the client receives reports */
	int fd, agent;
	void *buf;
	uint32_t tid;
	unsigned int n_open; /* requests that have neither been answered nor come back */
	/* Called with what the subnet manager sends unasked; may send. */
	void (*report)(struct ibcc_sa_client *c, uint8_t *mad, void *arg);
	void *arg;
};

/* Opens a port of its own, for reports too if no other program of the host has them. *c may have
 * been zero. 0, -ENODEV, -EACCES, -EBUSY, -ENOMEM; ibcc_sa_close() is fine in any case.
 */
int ibcc_sa_open(struct ibcc_sa_client *c, const struct ibcc_umad_options *o);
/* First waits for the ends of abandoned requests: below umad2sim an answer to a class without an
 * agent ends the process. The kernel reports the end within a second. If it has not come in five,
 * the port is left open until the process ends.
 */
void ibcc_sa_close(struct ibcc_sa_client *c);

/* Sends without waiting for anything. 0 or -EIO. */
int ibcc_sa_send(struct ibcc_sa_client *c, const uint8_t *mad, int timeout_ms);

/* Waits for a report, or for the late answer to an abandoned request. */
void ibcc_sa_listen(struct ibcc_sa_client *c, int wait_ms);

/* Sends a request, whose answer takes its place, and reports what comes meanwhile. Waits one second
 * in each of `tries` tries. 0, -ETIMEDOUT, -EIO.
 */
int ibcc_sa_ask(struct ibcc_sa_client *c, uint8_t mad[IBCC_MAD_BYTES], unsigned int tries);

#endif
