/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The election of the one daemon that may write, if several daemons write by their own ports. It
 * uses a ServiceRecord with subnet administration (IBA vol. 1, 15.2.5.14).
 *
 * Only the leader has a record, with a lease that it renews. A daemon that wants to lead asks for
 * the record. If there is none, it sets its own, and after a moment checks whether that is the only
 * one. If not, all daemons that have just set a record withdraw it, and try again after different
 * times. The election is advisory: an SA has no test-and-set, any program may replace or remove a
 * record, and records may be lost when the subnet manager changes.
 *
 * An SA keeps one record for each port, and every program at that port overwrites it. So each run
 * has a number of its own in its record. A record with another number belongs to another daemon,
 * and its lease has to end first. The exception is the record of our previous run, which is over
 * (`before`).
 */
#ifndef IBCC_ELECTION_H
#define IBCC_ELECTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/mad.h>
#include <ibcc/why.h>

#define IBCC_MAD_SA_DELETE      0x15u
#define IBCC_MAD_SA_DELETE_RESP 0x95u

/* Locally administered (0x02), "ibcc", 1. */
#define IBCC_LEADER_SERVICE_ID 0x0269626363000001ull
#define IBCC_LEADER_NAME_BYTES 64u
/* Seconds. */
#define IBCC_LEADER_LEASE_S  60u
#define IBCC_LEADER_RENEW_S  15u
#define IBCC_LEADER_SETTLE_S 2u  /* from setting a record to looking whether it is the only one */
#define IBCC_LEADER_LOST_S   30u /* time without a renewal after which there is no leader */

/* What of a ServiceRecord is used. */
struct ibcc_leader_record {
	uint64_t prefix, guid; /* ServiceGID: of the port */
	uint32_t lease_s;
	char name[IBCC_LEADER_NAME_BYTES]; /* terminated */
	uint64_t since;                    /* ServiceData64_1: when it began, s since 1970 */
	uint64_t run; /* ServiceData32_1 and _2: a number that this run has drawn */
};

/* A request to the SA about such records: IBCC_MAD_GET for any, IBCC_MAD_SET and
 * IBCC_MAD_SA_DELETE for this one.
 */
void ibcc_leader_request(uint8_t *mad, uint8_t method, const struct ibcc_leader_record *r);

enum ibcc_leader_answer {
	IBCC_LEADER_SILENT,  /* none: the caller's to say */
	IBCC_LEADER_NONE,    /* there is no record */
	IBCC_LEADER_ONE,     /* the one that there is */
	IBCC_LEADER_MANY,    /* there are several */
	IBCC_LEADER_DONE,    /* set, or deleted */
	IBCC_LEADER_REFUSED, /* the SA does not let us, or knows no such thing */
};

/* Reads an answer; any 256 bytes are accepted. *r is complete with IBCC_LEADER_ONE. */
enum ibcc_leader_answer ibcc_leader_read(const uint8_t *mad, struct ibcc_leader_record *r);

enum ibcc_election_state {
	IBCC_ELECTION_ASKS,    /* nothing is known yet */
	IBCC_ELECTION_VACANT,  /* there is no leader, and this daemon does not stand */
	IBCC_ELECTION_STANDS,  /* has set its record, and waits */
	IBCC_ELECTION_LEADS,   /* the one that writes */
	IBCC_ELECTION_FOLLOWS, /* another leads, or several try to */
	IBCC_ELECTION_SILENT,  /* the SA does not answer: not the one that writes */
	IBCC_ELECTION_REFUSED, /* the SA keeps no records for us: which one leads is not known */
};

struct ibcc_election {
	struct ibcc_leader_record own;
	bool stands;     /* is to lead if no other daemon does */
	uint64_t before; /* the number of our run before this one; 0: not known */
	enum ibcc_election_state state;
	struct ibcc_leader_record leader; /* while one follows; name empty: not known */
	uint8_t step;                     /* IBCC_MAD_GET, _SET, _SA_DELETE: the next request, */
	int64_t due_s;                    /* and when */
	int64_t renewed_s;
	unsigned int conflicts, draws, refusals;
};

/* `before`: the number of our run before this one, 0: not known. */
void ibcc_election_init(struct ibcc_election *e, const struct ibcc_leader_record *own,
			uint64_t before);

/* Stands for election from now on, or no longer: then its record is withdrawn. Times are in seconds
 * of a clock that does not jump.
 */
void ibcc_election_stand(struct ibcc_election *e, bool stands, int64_t now_s);

/* Another subnet manager has taken over, and its SA has no records yet. */
void ibcc_election_new_sa(struct ibcc_election *e, int64_t now_s);

/* The method of the request that is due; 0: none. */
uint8_t ibcc_election_due(const struct ibcc_election *e, int64_t now_s);

/* What became of it; `r` is heeded with IBCC_LEADER_ONE. */
void ibcc_election_answer(struct ibcc_election *e, int64_t now_s, enum ibcc_leader_answer a,
			  const struct ibcc_leader_record *r);

/* Whether this daemon may write. Returns 0; -EPERM: another one leads; -EAGAIN: that is not known
 * yet; -EHOSTUNREACH: the SA does not answer. `*why` says why not, or that it may though the leader
 * cannot be known; else it is empty.
 */
int ibcc_election_may_write(const struct ibcc_election *e, int64_t now_s, struct ibcc_why *why);

#endif
