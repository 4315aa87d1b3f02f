/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the proxy share. Private to these files. */
#ifndef SIM_PROXY_STATE_H
#define SIM_PROXY_STATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "sim/proxy.h"
#include "sim/sendq.h"

struct client {
	TAILQ_ENTRY(client) link;
	struct ibcc_proxy *p;
	uint32_t number;
	pid_t pid;
	bool issm;
	bool informed;                   /* has subscribed to traps */
	struct ibcc_upstream_slot *slot; /* NULL while being attached */
	int fd, pidfd;
	sd_event_source *src, *pid_src;
	struct ibcc_sendq q;
	/* destination of the answer to the request of control under way */
	struct sockaddr_un ctl_addr;
	socklen_t ctl_len;
	struct ibcc_wire_ctl ctl;
};

/* A MAD that is held back: an answer, a timeout, or a request that is to be tried again. */
struct delayed {
	STAILQ_ENTRY(delayed) link;
	struct client *c; /* NULL: the client has gone */
	uint64_t due_us;
	unsigned int tries; /* retries of the request so far */
	bool lose;          /* whether the answer is to get lost */
	struct ibcc_wire_mad m;
};

/* All MADs in a line are held back for the same time, so they stay in order. */
struct delay_line {
	struct ibcc_proxy *p;
	sd_event_source *src;
	void (*due)(const struct delayed *d); /* called while the MAD's client is there */
	STAILQ_HEAD(, delayed) list;
};

struct ibcc_proxy {
	sd_event *ev;
	struct ibcc_upstream *u;
	struct ibcc_proxy_ops ops;
	struct ibcc_proxy_knobs knobs;
	struct ibcc_proxy_stats stats;
	struct ibcc_setlog sets;
	char name[64];
	int ctl_fd;
	uint32_t next_number;
	uint64_t rng; /* state that decides which MADs get lost */
	sd_event_source *ctl_src;
	TAILQ_HEAD(, client) clients;
	struct delay_line answers, losses, retries;
};

/* Handles a MAD that a client sent. */
void ibcc_proxy_request(struct client *c, struct ibcc_wire_mad *m);

/* Notes subscriptions to reports of traps, and hands reports over (proxy_reports.c). True: the MAD
 * needs nothing more.
 */
bool ibcc_proxy_report(struct client *c, const struct ibcc_wire_mad *m);

/* Delivers an answer to a client's request after the delay; status not 0: there is no answer. */
void ibcc_proxy_answer(void *client, struct ibcc_wire_mad *m);

/* Sends to a client at once, whatever the delay knob says. */
void ibcc_proxy_send(struct client *c, const struct ibcc_wire_mad *m);

/* The client is leaving: forgets the MADs that are held back for it. */
void ibcc_proxy_forget(struct client *c);

/* Returns 0 or -errno. Lines that failed may be finished, too. */
int ibcc_proxy_delays_init(struct ibcc_proxy *p);
void ibcc_proxy_delays_fini(struct ibcc_proxy *p);

#endif
