/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings on trial: an operator confirms them in time and they are kept. Otherwise they are
 * reverted, also if the program that watched the time is gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/now.h>
#include <ibcc/state.h>

#include "daemon/report/report.h"
#include "daemon/service/service_impl.h"

#define SECOND_NS 1000000000ull
/* Longest intervals in seconds between tries to revert: while no node can be reached, and after a
 * try that left a part behind. Each try of the second kind is in the history.
 */
#define MOST_UNREACHED_S 4u
#define MOST_PARTIAL_S   64u

static void forget(struct ibcc_service *s)
{
	s->trial = (struct ibcc_service_trial){ 0 };
}

static void end(struct ibcc_service *s, const char *why)
{
	s->trial.is_over = true;
	ibcc_why_set(&s->trial.over, 0, "%s", why);
}

static void watch(struct ibcc_service *s, const struct ibcc_trial *t, const char *over)
{
	s->trial = (struct ibcc_service_trial){ .txn = t->txn, .within_s = t->within_s };
	s->trial.due_ns = ibcc_now_ns();
	if (over)
		end(s, over);
	else
		s->trial.due_ns += t->within_s * SECOND_NS;
}

void ibcc_service_find_trial(struct ibcc_service *s)
{
	struct ibcc_trial t;

	if (!s->trial.txn && !ibcc_state_trial(s->state, &t) && t.pending)
		watch(s, &t, "ibcc-tuned ended before it was confirmed");
}

int ibcc_service_no_trial(const struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_service_trial *t = &s->trial;

	if (!t->txn)
		return 0;
	if (t->is_over)
		return ibcc_why_set(why, -EBUSY,
				    "transaction %" PRId64 " is being reverted: %s; \"ibcc-tune "
				    "disable\" removes all settings",
				    t->txn, t->over.text);
	return ibcc_why_set(why, -EBUSY,
			    "transaction %" PRId64 " is on trial: \"ibcc-tune confirm\" keeps it, "
			    "\"ibcc-tune cancel\" reverts it",
			    t->txn);
}

int ibcc_service_may_apply(struct ibcc_service *s, const struct ibcc_request *apply,
			   struct ibcc_why *why)
{
	int rc = ibcc_service_open_state(s, why);

	if (!rc)
		rc = ibcc_service_no_trial(s, why);
	if (!rc && apply->confirm_s && ibcc_state_trouble(s->state))
		rc = ibcc_why_set(why, -EIO, "nothing can be on trial: %s",
				  ibcc_state_trouble(s->state));
	return rc;
}

void ibcc_service_begin_trial(struct ibcc_service *s, const struct ibcc_request *r, int rc,
			      const struct ibcc_why *why)
{
	struct ibcc_trial t;

	if (r->confirm_s && !s->trial.txn && !ibcc_state_trial(s->state, &t) && t.pending)
		watch(s, &t, rc ? why->text : NULL);
}

void ibcc_service_drop_trial(struct ibcc_service *s, const char *outcome, const char *who)
{
	struct ibcc_trial t;

	if (!s->trial.txn)
		return;
	if (outcome)
		ibcc_state_trial_end(s->state, s->trial.txn, outcome, who, NULL);
	if (!ibcc_state_trial(s->state, &t) && !t.pending)
		forget(s);
}

/* The outcome of the last trial, for a request about a trial that is over. */
static int nothing_on_trial(struct ibcc_service *s, struct ibcc_why *why)
{
	struct ibcc_trial t;

	if (ibcc_state_trial(s->state, &t) || !t.txn || t.pending)
		return ibcc_why_set(why, -ENOENT, "nothing is on trial");
	return ibcc_why_set(why, -ENOENT, "nothing is on trial: transaction %" PRId64 " was %s",
			    t.txn, t.confirmed ? "confirmed" : "reverted, or disabled");
}

int ibcc_service_confirm(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			 struct ibcc_why *why)
{
	int64_t txn = s->trial.txn;
	int rc = ibcc_service_open_state(s, why);

	if (rc)
		return rc;
	if (!txn)
		return nothing_on_trial(s, why);
	if (s->trial.is_over)
		return ibcc_why_set(why, -ENOENT,
				    "it is too late: transaction %" PRId64 " is being reverted: %s",
				    txn, s->trial.over.text);
	rc = ibcc_state_trial_end(s->state, txn, "confirmed", r->who, why);
	if (rc)
		return rc;
	ibcc_service_consent_to_sm(s, s->trial.sm);
	forget(s);
	*out = json_pack("{si sI}", "schema", IBCC_REPORT_SCHEMA, "transaction", (json_int_t)txn);
	return *out ? 0 : ibcc_why_set(why, -ENOMEM, "no memory");
}

/* Schedules another try; the intervals grow. */
static void retry(struct ibcc_service *s, unsigned int most_s)
{
	struct ibcc_service_trial *t = &s->trial;

	t->retry_s = t->retry_s ? 2 * t->retry_s : 1;
	if (t->retry_s > most_s)
		t->retry_s = most_s;
	t->due_ns = ibcc_now_ns() + t->retry_s * SECOND_NS;
}

/* A new file in the place of the one with the trial knows nothing about it, whatever it has under
 * that number. Then all our settings are reverted, which include those on trial.
 */
static int64_t where_it_began(struct ibcc_service *s)
{
	struct ibcc_trial t;

	(void)ibcc_service_check_state(s, NULL);
	return !ibcc_state_trial(s->state, &t) && t.txn == s->trial.txn ? t.txn : 0;
}

/* Was none of it ever written, or is it reverted? Only the file can answer that: a node that must
 * be reverted may also be absent (-ENOENT).
 */
static bool is_nothing_left(struct ibcc_service *s, int64_t from)
{
	struct ibcc_plan joined = { 0 };
	int64_t first = 0;
	int rc = from ? ibcc_state_undo(s->state, from, &joined, &first, NULL, NULL) : 0;

	ibcc_plan_fini(&joined);
	return rc == -ENOENT;
}

static int take_back(struct ibcc_service *s, const struct ibcc_request *r, const char *reason,
		     json_t **out, struct ibcc_why *why)
{
	int64_t from = where_it_began(s);
	int rc = 0;

	if (is_nothing_left(s, from))
		*out = json_pack("{si so si si so}", "schema", IBCC_REPORT_SCHEMA, "changes",
				 json_array(), "writes", 0, "verified", 0, "error", json_null());
	else
		rc = ibcc_service_take_back(s, from, r, reason, out, why);
	/* The file may not have it yet. Absent nodes that still have the settings are owed. */
	if (!rc || (rc == -EHOSTUNREACH && ibcc_service_owes(s, from)))
		ibcc_service_drop_trial(s, "taken back", r->who);
	if (s->trial.txn)
		retry(s, *out ? MOST_PARTIAL_S : MOST_UNREACHED_S);
	return rc;
}

int ibcc_service_cancel_trial(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			      struct ibcc_why *why)
{
	int rc = ibcc_service_open_state(s, why);

	if (rc)
		return rc;
	if (!s->trial.txn)
		return nothing_on_trial(s, why);
	s->trial.is_over = true;
	ibcc_why_set(&s->trial.over, 0, "canceled by %s", r->who);
	return take_back(s, r, "canceled", out, why);
}

uint64_t ibcc_service_trial_due_ns(const struct ibcc_service *s)
{
	return s->trial.txn ? s->trial.due_ns : UINT64_MAX;
}

int ibcc_service_end_trial(struct ibcc_service *s, const char *reason, json_t **out,
			   struct ibcc_why *why)
{
	struct ibcc_request r = { .who = "ibcc-tuned" };
	struct ibcc_why over, late;

	if (!s->trial.txn)
		return 0;
	if (!s->trial.is_over && !reason)
		ibcc_why_set(&late, 0, "it was not confirmed within %u s", s->trial.within_s);
	if (!s->trial.is_over)
		end(s, reason ? reason : late.text);
	over = s->trial.over; /* that of the service is cleared by the revert */
	return take_back(s, &r, over.text, out, why);
}

void ibcc_service_trial_left(json_t *trial, uint64_t due_ns)
{
	uint64_t now = ibcc_now_ns(), left = 0;

	if (due_ns > now && !json_is_string(json_object_get(trial, "over")))
		left = (due_ns - now + SECOND_NS - 1) / SECOND_NS;
	json_object_set_new(trial, "seconds_left", json_integer((json_int_t)left));
}

json_t *ibcc_service_trial(const struct ibcc_service *s)
{
	const struct ibcc_service_trial *t = &s->trial;
	json_t *o;

	if (!t->txn)
		return json_null();
	o = json_pack("{sI sI so}", "transaction", (json_int_t)t->txn, "seconds_left",
		      (json_int_t)0, "over",
		      t->is_over ? ibcc_json_text(t->over.text) : json_null());
	if (o)
		ibcc_service_trial_left(o, t->due_ns);
	return o;
}
