/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The election of one leader among daemons that write directly, by a ServiceRecord with subnet
 * administration (election.h). A state machine without I/O: the caller sends the request that is
 * due, and hands its answer back to ibcc_election_answer().
 *
 * A daemon that stands for election looks for the record (Get). If there is none, it sets its own
 * (Set), waits for a while, and looks again: if only its own is there, it leads, and renews the
 * record before its lease ends. If several daemons have set records at the same time, all delete
 * theirs and retry after random times.
 */
#include <ibcc/election.h>

#include <errno.h>
#include <inttypes.h>

#include <ibcc/hash.h>

#define LOOK_S    5u  /* between two looks for a leader, of a daemon that stands */
#define IDLE_S    15u /* between two looks, of a daemon that does not stand */
#define SILENT_S  1u  /* after no answer: nothing can be written until the leader is known */
#define REFUSED_S 60u /* after an SA that does not keep such records */
/* Refusals in a row, LOOK_S apart, after which an SA is one that keeps no such records. OpenSM also
 * refuses for some seconds while a sweep has lost the requester's port.
 */
#define REFUSALS    6u
#define CONFLICTS   2u /* looks that find several records after which a leader gives way */
#define DRAWS       6u /* random waits are a multiple, below this, of DRAW_STEP_S */
#define DRAW_STEP_S 3u

/* Sets the next request (a method) and when it is due. */
static void next(struct ibcc_election *e, uint8_t step, int64_t due_s)
{
	e->step = step;
	e->due_s = due_s;
}

/* Enters a state. */
static void become(struct ibcc_election *e, enum ibcc_election_state s)
{
	e->state = s;
	e->conflicts = 0;
	if (s != IBCC_ELECTION_FOLLOWS)
		e->leader = (struct ibcc_leader_record){ 0 };
}

void ibcc_election_init(struct ibcc_election *e, const struct ibcc_leader_record *own,
			uint64_t before)
{
	*e = (struct ibcc_election){ .own = *own, .before = before, .step = IBCC_MAD_GET };
	e->own.lease_s = IBCC_LEADER_LEASE_S;
}

/* Whether our record is with the SA, as far as we know. */
static bool has_record(const struct ibcc_election *e)
{
	return e->state == IBCC_ELECTION_STANDS || e->state == IBCC_ELECTION_LEADS;
}

void ibcc_election_stand(struct ibcc_election *e, bool stands, int64_t now_s)
{
	if (e->stands == stands)
		return;
	e->stands = stands;
	next(e, !stands && has_record(e) ? IBCC_MAD_SA_DELETE : IBCC_MAD_GET, now_s);
}

/* There is a new SA. A daemon that no longer stands deletes its record, which the new SA may have
 * taken over from the old one.
 */
void ibcc_election_new_sa(struct ibcc_election *e, int64_t now_s)
{
	if (!e->stands && has_record(e))
		next(e, IBCC_MAD_SA_DELETE, now_s);
	else
		next(e, e->state == IBCC_ELECTION_LEADS ? IBCC_MAD_SET : IBCC_MAD_GET, now_s);
}

uint8_t ibcc_election_due(const struct ibcc_election *e, int64_t now_s)
{
	return now_s >= e->due_s ? e->step : 0;
}

static int64_t look_s(const struct ibcc_election *e)
{
	return e->stands ? LOOK_S : IDLE_S;
}

/* Several daemons have set records at the same time: deletes ours, to retry at another time. */
static void give_way(struct ibcc_election *e, int64_t now_s)
{
	become(e, IBCC_ELECTION_FOLLOWS);
	next(e, IBCC_MAD_SA_DELETE, now_s);
}

/* How long to wait before a retry: differs by port, start of the daemon and try. */
static int64_t draw_s(struct ibcc_election *e)
{
	uint64_t of[] = { e->own.guid, e->own.since, ++e->draws };

	/* The high bits, as the low bits of this hash depend on few bits of its input. */
	return IBCC_LEADER_SETTLE_S +
	       (int64_t)((ibcc_hash(IBCC_HASH_START, of, sizeof(of)) >> 32) % DRAWS * DRAW_STEP_S);
}

static void found_many(struct ibcc_election *e, int64_t now_s)
{
	if (e->state == IBCC_ELECTION_LEADS && ++e->conflicts < CONFLICTS) {
		next(e, IBCC_MAD_GET, now_s + LOOK_S);
	} else if (has_record(e)) {
		give_way(e, now_s);
	} else {
		become(e, IBCC_ELECTION_FOLLOWS);
		e->leader = (struct ibcc_leader_record){ 0 };
		next(e, IBCC_MAD_GET, now_s + look_s(e));
	}
}

static void found_none(struct ibcc_election *e, int64_t now_s)
{
	if (e->stands) {
		if (!has_record(e))
			become(e, IBCC_ELECTION_ASKS);
		next(e, IBCC_MAD_SET, now_s);
		return;
	}
	become(e, IBCC_ELECTION_VACANT);
	next(e, IBCC_MAD_GET, now_s + IDLE_S);
}

static void found_ours(struct ibcc_election *e, int64_t now_s)
{
	int64_t renew_s = e->renewed_s + IBCC_LEADER_RENEW_S;

	if (!has_record(e)) { /* set before our port was reopened */
		found_none(e, now_s);
		return;
	}
	become(e, IBCC_ELECTION_LEADS);
	/* A renewal overwrites any record, so it comes only after a look that found our own. */
	if (now_s >= renew_s)
		next(e, IBCC_MAD_SET, now_s);
	else
		next(e, IBCC_MAD_GET, now_s + LOOK_S < renew_s ? now_s + LOOK_S : renew_s);
}

static void found(struct ibcc_election *e, int64_t now_s, const struct ibcc_leader_record *r)
{
	bool ours = r->guid == e->own.guid && r->run == e->own.run;
	bool earlier = r->guid == e->own.guid && e->before && r->run == e->before;

	/* If the port was not up yet when the program started, its prefix was not the subnet's. */
	if (ours || earlier)
		e->own.prefix = r->prefix;
	if (ours) {
		found_ours(e, now_s);
		return;
	}
	if (earlier) {
		found_none(e, now_s);
		return;
	}
	become(e, IBCC_ELECTION_FOLLOWS);
	e->leader = *r;
	next(e, IBCC_MAD_GET, now_s + look_s(e));
}

static void was_set(struct ibcc_election *e, int64_t now_s)
{
	e->renewed_s = now_s;
	if (e->state != IBCC_ELECTION_LEADS)
		become(e, IBCC_ELECTION_STANDS);
	next(e, IBCC_MAD_GET,
	     e->state == IBCC_ELECTION_LEADS ? now_s : now_s + IBCC_LEADER_SETTLE_S);
}

/* A leader has some time until its record is lost. */
static bool still_leads(const struct ibcc_election *e, int64_t now_s)
{
	return e->state == IBCC_ELECTION_LEADS &&
	       now_s - e->renewed_s < (int64_t)IBCC_LEADER_LOST_S;
}

/* The SA does not answer. */
static void is_silent(struct ibcc_election *e, int64_t now_s)
{
	bool leads = still_leads(e, now_s);

	if (!leads)
		become(e, IBCC_ELECTION_SILENT);
	next(e, leads ? IBCC_MAD_SET : IBCC_MAD_GET, now_s + SILENT_S);
}

/* Meanwhile it is as if nothing was known yet, so that no two daemons write. */
static void is_refused(struct ibcc_election *e, int64_t now_s)
{
	if (e->refusals < REFUSALS && ++e->refusals < REFUSALS) {
		bool leads = still_leads(e, now_s);

		if (!leads)
			become(e, IBCC_ELECTION_ASKS);
		next(e, leads ? IBCC_MAD_SET : IBCC_MAD_GET, now_s + LOOK_S);
		return;
	}
	become(e, IBCC_ELECTION_REFUSED);
	next(e, IBCC_MAD_GET, now_s + REFUSED_S);
}

void ibcc_election_answer(struct ibcc_election *e, int64_t now_s, enum ibcc_leader_answer a,
			  const struct ibcc_leader_record *r)
{
	if (e->step == IBCC_MAD_SA_DELETE) { /* whatever the answer: its lease ends it, too */
		if (has_record(e))
			become(e, IBCC_ELECTION_ASKS);
		next(e, IBCC_MAD_GET, now_s + draw_s(e));
		return;
	}
	if (a != IBCC_LEADER_SILENT && a != IBCC_LEADER_REFUSED)
		e->refusals = 0;
	switch (a) {
	case IBCC_LEADER_SILENT: is_silent(e, now_s); break;
	case IBCC_LEADER_REFUSED: is_refused(e, now_s); break;
	case IBCC_LEADER_NONE: found_none(e, now_s); break;
	case IBCC_LEADER_MANY: found_many(e, now_s); break;
	case IBCC_LEADER_DONE: break;
	case IBCC_LEADER_ONE:
		if (e->step == IBCC_MAD_SET)
			was_set(e, now_s);
		else
			found(e, now_s, r);
		break;
	}
}

static int say_leader(const struct ibcc_election *e, struct ibcc_why *why)
{
	if (!e->leader.guid)
		return ibcc_why_set(
			why, -EPERM,
			"another daemon leads: several have registered with subnet administration, "
			"and all but one will withdraw; this daemon writes nothing until then");
	return ibcc_why_set(
		why, -EPERM,
		"another daemon leads: \"%s\" at port 0x%016" PRIx64
		"%s, by its ServiceRecord at subnet administration; this daemon writes nothing",
		e->leader.name, e->leader.guid,
		e->leader.guid == e->own.guid
			? ", the port of this daemon, too (or it ran there less than a minute ago)"
			: "");
}

int ibcc_election_may_write(const struct ibcc_election *e, int64_t now_s, struct ibcc_why *why)
{
	enum ibcc_election_state s = e->state;

	if (s == IBCC_ELECTION_LEADS && now_s - e->renewed_s >= (int64_t)IBCC_LEADER_LOST_S)
		s = IBCC_ELECTION_SILENT;
	switch (s) {
	case IBCC_ELECTION_VACANT:
	case IBCC_ELECTION_LEADS: return ibcc_why_set(why, 0, "%s", "");
	case IBCC_ELECTION_ASKS:
	case IBCC_ELECTION_STANDS:
		return ibcc_why_set(why, -EAGAIN,
				    "subnet administration has not reported yet which daemon "
				    "leads: nothing is written until then");
	case IBCC_ELECTION_FOLLOWS: return say_leader(e, why);
	case IBCC_ELECTION_SILENT:
		return ibcc_why_set(
			why, -EHOSTUNREACH,
			"subnet administration does not answer, so it is not known which "
			"daemon leads: nothing is written; is there a subnet manager "
			"(sminfo)?");
	case IBCC_ELECTION_REFUSED:
		return ibcc_why_set(why, 0,
				    "subnet administration does not keep our ServiceRecord, so it "
				    "is not known whether another daemon writes, too: see the log "
				    "of the subnet manager");
	}
	return -EAGAIN;
}
