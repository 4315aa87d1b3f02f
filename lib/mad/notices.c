/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A thread that talks with subnet administration: it subscribes to traps of changes in the fabric
 * and counts them, and takes part in the election of a leader (election.h). The owner only sets
 * flags and reads counts (ibcc_notices_look()). Begin with listen_on().
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/election.h>
#include <ibcc/notice.h>
#include <ibcc/now.h>
#include <ibcc/thread.h>

#include "lib/mad/sa_client.h"

#define SA_TRIES 3u
#define SLICE_MS 200 /* between two checks of whether to end */
#define RENEW_S  30
#define RETRY_S  10 /* after an SA that did not answer */
#define N_TRAPS  4u

static const uint16_t traps[N_TRAPS] = { IBCC_TRAP_IN_SERVICE, IBCC_TRAP_OUT_OF_SERVICE,
					 IBCC_TRAP_LINK_STATE, IBCC_TRAP_LOCAL_CHANGES };

struct ibcc_notices {
	pthread_t thread;
	bool started;
	atomic_bool quit, subscribed, stands;
	atomic_uint sm_lid, last_trap;
	atomic_ullong n_traps, n_gaps;
	_Atomic(const char *) trouble;
	pthread_mutex_t lock; /* of `election`, which only the thread changes */
	struct ibcc_election election;
	/* The thread's own: */
	struct ibcc_sa_client sa;
	int64_t again_s; /* when it subscribes again */
	bool asked;      /* it has subscribed before: traps may have been missed since */
};

/* A lease goes on ending while the machine is suspended. */
static int64_t now_s(void)
{
	return (int64_t)(ibcc_now_of_ns(CLOCK_BOOTTIME) / 1000000000u);
}

/* Counts a trap that was reported, and confirms it. */
static void take_report(struct ibcc_sa_client *sa, uint8_t *mad, void *arg)
{
	struct ibcc_notices *n = arg;
	uint16_t trap;

	if (!ibcc_notice_report(mad, &trap))
		return;
	for (unsigned int i = 0; i < N_TRAPS; i++) {
		if (traps[i] != trap)
			continue;
		atomic_store(&n->last_trap, trap);
		atomic_fetch_add(&n->n_traps, 1);
	}
	ibcc_notice_respond(mad);
	(void)ibcc_sa_send(sa, mad, 0);
}

/* Subscribes to a trap. False: the SA does not answer, or refuses. */
static bool ask(struct ibcc_notices *n, uint16_t trap)
{
	uint8_t mad[IBCC_MAD_BYTES];

	for (unsigned int i = 0; i < SA_TRIES && !atomic_load(&n->quit); i++) {
		ibcc_notice_subscribe(mad, trap, true);
		if (!ibcc_sa_ask(&n->sa, mad, 1) && ibcc_notice_is_subscribed(mad))
			return true;
	}
	return false;
}

/* Whether our subscription is lost. A restarted subnet manager does not know it, which shows only
 * when it is asked to end it. If the manager does not answer, it may have been restarted: traps
 * until the new subscription may be missed either way.
 */
static bool is_forgotten(struct ibcc_notices *n)
{
	uint8_t mad[IBCC_MAD_BYTES];

	ibcc_notice_subscribe(mad, traps[0], false);
	return ibcc_sa_ask(&n->sa, mad, 1) || !ibcc_notice_is_subscribed(mad);
}

/* Subscribes to all traps. If traps may have been missed meanwhile, that is counted as a gap. */
static void subscribe(struct ibcc_notices *n)
{
	bool gap = n->asked && (!atomic_load(&n->subscribed) || is_forgotten(n));
	unsigned int i;

	for (i = 0; i < N_TRAPS && ask(n, traps[i]); i++)
		;
	n->asked = true;
	if (gap && i == N_TRAPS)
		atomic_fetch_add(&n->n_gaps, 1);
	atomic_store(&n->subscribed, i == N_TRAPS);
	atomic_store(&n->trouble, i == N_TRAPS ? NULL
					       : "subnet administration does not answer, or takes "
						 "no subscription to traps");
	n->again_s = now_s() + (i == N_TRAPS ? RENEW_S : RETRY_S);
}

/* Sends the request that the election wants, and hands it the answer. */
static void vote(struct ibcc_notices *n, uint8_t method)
{
	enum ibcc_leader_answer answer = IBCC_LEADER_SILENT;
	struct ibcc_leader_record r = { 0 };
	uint8_t mad[IBCC_MAD_BYTES];

	ibcc_leader_request(mad, method, &n->election.own);
	if (!ibcc_sa_ask(&n->sa, mad, 1))
		answer = ibcc_leader_read(mad, &r);
	pthread_mutex_lock(&n->lock);
	ibcc_election_answer(&n->election, now_s(), answer, &r);
	pthread_mutex_unlock(&n->lock);
}

static void look_at_election(struct ibcc_notices *n, bool new_sm)
{
	uint8_t due;

	pthread_mutex_lock(&n->lock);
	ibcc_election_stand(&n->election, atomic_load(&n->stands), now_s());
	if (new_sm)
		ibcc_election_new_sa(&n->election, now_s());
	due = ibcc_election_due(&n->election, now_s());
	pthread_mutex_unlock(&n->lock);
	if (due)
		vote(n, due);
}

static void *listen_on(void *arg)
{
	struct ibcc_notices *n = arg;
	uint8_t mad[IBCC_MAD_BYTES];

	while (!atomic_load(&n->quit)) {
		unsigned int sm = atomic_load(&n->sm_lid);
		bool new_sm = sm && sm != n->sa.sm_lid;

		n->sa.sm_lid = (uint16_t)sm;
		if (sm && n->election.own.guid)
			look_at_election(n, new_sm);
		if (sm && n->sa.hears && (new_sm || now_s() >= n->again_s))
			subscribe(n);
		ibcc_sa_listen(&n->sa, SLICE_MS);
	}
	atomic_store(&n->stands, false);
	if (n->election.stands)
		look_at_election(n, false);
	/* Ends all subscriptions, even if the SA did not confirm them. If it refuses one, as after
	 * a restart, it may know the next; if it does not answer, it is not asked again.
	 */
	for (unsigned int i = 0; i < N_TRAPS && n->asked; i++) {
		ibcc_notice_subscribe(mad, traps[i], false);
		if (ibcc_sa_ask(&n->sa, mad, 1))
			break;
	}
	return NULL;
}

static int start(struct ibcc_notices *n)
{
	int rc = ibcc_thread_start(&n->thread, listen_on, n);

	n->started = !rc;
	return rc;
}

struct ibcc_notices *ibcc_notices_new(const struct ibcc_umad_options *o,
				      const struct ibcc_leader_record *own, uint64_t before)
{
	struct ibcc_notices *n = calloc(1, sizeof(*n));
	struct ibcc_leader_record candidate = own ? *own : (struct ibcc_leader_record){ 0 };
	int rc;

	if (!n)
		return NULL;
	pthread_mutex_init(&n->lock, NULL);
	n->sa.report = take_report;
	n->sa.arg = n;
	rc = ibcc_sa_open(&n->sa, o);
	if (!n->sa.hears)
		n->trouble = rc && rc != -EBUSY
				     ? "the port cannot be opened to receive traps"
				     : "another program of this host receives the port's traps";
	n->sa.sm_lid = 0; /* ibcc_notices_set_sm() sets it */
	candidate.prefix = own ? n->sa.port.prefix : 0;
	candidate.guid = own ? n->sa.port.guid : 0;
	ibcc_election_init(&n->election, &candidate, before);
	if (rc && own)
		n->election.state = IBCC_ELECTION_REFUSED;
	if (!rc)
		rc = start(n);
	if (!rc || (rc != -ENOMEM && rc != -EAGAIN))
		return n;
	ibcc_notices_free(n);
	return NULL;
}

void ibcc_notices_free(struct ibcc_notices *n)
{
	if (!n)
		return;
	if (n->started) {
		atomic_store(&n->quit, true);
		pthread_join(n->thread, NULL);
	}
	ibcc_sa_close(&n->sa);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

void ibcc_notices_stand(struct ibcc_notices *n, bool stands)
{
	atomic_store(&n->stands, stands);
}

void ibcc_notices_election(struct ibcc_notices *n, struct ibcc_election *out)
{
	pthread_mutex_lock(&n->lock);
	*out = n->election;
	pthread_mutex_unlock(&n->lock);
}

int ibcc_notices_may_write(struct ibcc_notices *n, struct ibcc_why *why)
{
	struct ibcc_election e;

	ibcc_notices_election(n, &e);
	return ibcc_election_may_write(&e, now_s(), why);
}

int ibcc_notices_ask_once(const struct ibcc_umad_options *o, uint64_t before, struct ibcc_why *why)
{
	struct ibcc_notices n = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct ibcc_leader_record own = { 0 };
	int rc = ibcc_sa_open(&n.sa, o);

	own.prefix = n.sa.port.prefix;
	own.guid = n.sa.port.guid;
	ibcc_election_init(&n.election, &own, before);
	if (rc)
		n.election.state = IBCC_ELECTION_REFUSED;
	for (unsigned int i = 0; !rc && i < SA_TRIES; i++) {
		vote(&n, IBCC_MAD_GET);
		if (n.election.state != IBCC_ELECTION_SILENT &&
		    n.election.state != IBCC_ELECTION_ASKS)
			break;
	}
	/* It was refused each time, and cannot wait for an SA that may have lost its port for a
	 * while. */
	if (n.election.state == IBCC_ELECTION_ASKS)
		n.election.state = IBCC_ELECTION_REFUSED;
	ibcc_sa_close(&n.sa);
	return ibcc_election_may_write(&n.election, now_s(), why);
}

void ibcc_notices_set_sm(struct ibcc_notices *n, uint16_t lid)
{
	atomic_store(&n->sm_lid, lid);
}

void ibcc_notices_look(const struct ibcc_notices *n, struct ibcc_notices_state *s)
{
	*s = (struct ibcc_notices_state){
		.subscribed = atomic_load(&n->subscribed),
		.n_traps = atomic_load(&n->n_traps),
		.n_gaps = atomic_load(&n->n_gaps),
		.last_trap = (uint16_t)atomic_load(&n->last_trap),
		.trouble = atomic_load(&n->trouble),
	};
}
