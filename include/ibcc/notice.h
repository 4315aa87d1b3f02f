/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traps as subnet administration forwards them (IBA vol. 1, 13.4.8, 13.4.9 and 15.2): InformInfo
 * subscribes to one, a Report brings it, a ReportResp says that it has come.
 */
#ifndef IBCC_NOTICE_H
#define IBCC_NOTICE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/election.h>
#include <ibcc/mad.h>
#include <ibcc/transport.h>

/* Traps that mean that the topology may have changed. */
enum ibcc_trap {
	IBCC_TRAP_IN_SERVICE = 64,
	IBCC_TRAP_OUT_OF_SERVICE = 65,
	IBCC_TRAP_LINK_STATE = 128,
	IBCC_TRAP_LOCAL_CHANGES = 144, /* capabilities, name, speed or width of a link */
};

/* A request to the SA to report a generic trap of any type and from any node, or no longer. */
void ibcc_notice_subscribe(uint8_t *mad, uint16_t trap, bool on);

/* Whether this is the SA's answer to such a request. */
bool ibcc_notice_is_subscribed(const uint8_t *mad);

/* Whether this is a Report of a generic trap; *trap is its number. Any 256 bytes are accepted. */
bool ibcc_notice_report(const uint8_t *mad, uint16_t *trap);

/* Makes the ReportResp of a Report. */
void ibcc_notice_respond(uint8_t *mad);

/* Listens for these traps, in a thread of its own on a umad port of its own: answers Reports, and
 * subscribes again every half a minute, since a subnet manager that was restarted has no
 * subscriptions. It is what talks to the SA, so it takes part in the election of a leader, too.
 */
struct ibcc_notices;

struct ibcc_notices_state {
	bool subscribed;     /* the SA said so, to all four */
	uint64_t n_traps;    /* that came */
	uint64_t n_gaps;     /* in which some may have been missed: the SA knew nothing of us */
	uint16_t last_trap;  /* 0: none */
	const char *trouble; /* why it is not, in words; NULL: it is, or will be */
};

/* By the options' port. Without the right to listen, or if another program does, `trouble` says so.
 * With `own` (name and beginning, the rest is filled in; NULL: there is no election) it takes part
 * in the election of the daemon that writes; see <ibcc/election.h>, also for `before`. NULL without
 * memory or threads.
 */
struct ibcc_notices *ibcc_notices_new(const struct ibcc_umad_options *o,
				      const struct ibcc_leader_record *own, uint64_t before);
/* Takes its record and its subscriptions back as far as the SA answers, within two seconds, and
 * waits for answers that are late: five seconds at most. NULL is fine.
 */
void ibcc_notices_free(struct ibcc_notices *n);

/* Stands for it, or no longer. */
void ibcc_notices_stand(struct ibcc_notices *n, bool stands);
void ibcc_notices_election(struct ibcc_notices *n, struct ibcc_election *out);
/* As ibcc_election_may_write(). */
int ibcc_notices_may_write(struct ibcc_notices *n, struct ibcc_why *why);
/* The election for a program that writes once and does not stay: asks the SA now. Not beside
 * ibcc_notices_new().
 */
int ibcc_notices_ask_once(const struct ibcc_umad_options *o, uint64_t before, struct ibcc_why *why);

/* The subnet manager is at this LID: 0 while it is not known. Subscribes if it is another. */
void ibcc_notices_set_sm(struct ibcc_notices *n, uint16_t lid);

void ibcc_notices_look(const struct ibcc_notices *n, struct ibcc_notices_state *s);

#endif
