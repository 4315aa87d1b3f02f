/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stores changes that were carried out while the state file could not be written. They are the
 * difference between what we know and what the file says.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/state/state_db.h"

/* One of the transactions that the difference is stored as. */
struct part {
	struct ibcc_plan plan;
	bool uncertain;
};

struct diff {
	struct part back, left, off, made;
	bool all_back; /* all settings that the file says are ours have been reverted */
	int64_t first; /* the first of the transactions that the file says are ours */
};

static int add(struct part *p, const struct ibcc_book_entry *e, const uint8_t *old_data,
	       const uint8_t *new_data, bool certain)
{
	struct ibcc_change c = ibcc_book_change(e);

	snprintf(c.reason, sizeof(c.reason), "recorded afterwards");
	memcpy(c.old_data, old_data, sizeof(c.old_data));
	memcpy(c.new_data, new_data, sizeof(c.new_data));
	p->uncertain |= !certain;
	return ibcc_plan_append(&p->plan, &c);
}

static bool same(const struct ibcc_book_entry *a, const struct ibcc_book_entry *b)
{
	return a->certain == b->certain && !memcmp(a->last, b->last, sizeof(a->last));
}

/* What a way back has left is no plan: a plan cancels debts. */
static struct part *part_of(struct diff *d, const struct ibcc_book_entry *k, bool is_in_file)
{
	if (k->off && !memcmp(k->off, k->last, sizeof(k->last)))
		return &d->off;
	return k->back && is_in_file ? &d->left : &d->made;
}

/* Finds settings that we know of and that the file lacks or has with other values. */
static int diff_known(struct diff *d, const struct ibcc_book *file, const struct ibcc_book *known)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < known->n; i++) {
		const struct ibcc_book_entry *k = known->entry[i];
		struct ibcc_change c = ibcc_book_change(k);
		const struct ibcc_book_entry *f = ibcc_book_find(file, &c);

		if (f && same(f, k))
			continue;
		rc = add(part_of(d, k, f), k, f ? f->last : k->before, k->last, k->certain);
	}
	return rc;
}

/* Finds settings that the file says are ours and that we know were reverted. */
static int diff_back(struct diff *d, const struct ibcc_book *file, const struct ibcc_book *known)
{
	struct ibcc_plan joined;
	int rc = ibcc_book_joined(file, &joined, &d->first);

	d->all_back = !rc && file->n;
	for (uint32_t i = 0; !rc && i < file->n; i++) {
		const struct ibcc_book_entry *f = file->entry[i];

		if (ibcc_book_find(known, &joined.change[i]))
			d->all_back = false;
		else
			rc = add(&d->back, f, f->last, joined.change[i].old_data, true);
	}
	ibcc_plan_fini(&joined);
	return rc;
}

static int record(struct ibcc_state *s, const struct part *p, const char *action, int64_t undoes,
		  struct ibcc_why *why)
{
	struct ibcc_txn txn = { .who = "ibcc-tuned",
				.action = action,
				.via = "memory",
				.summary = "made while the state file could not be written",
				.undoes_from = undoes };
	struct ibcc_result r;
	int64_t id;
	int rc;

	if (!p->plan.n)
		return 0;
	rc = ibcc_state_begin(s, &txn, &p->plan, NULL, &id, why);
	if (rc)
		return rc;
	if (ibcc_result_init(&r, p->plan.n))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	/* Changes that are uncertain are settled later by reading the nodes. */
	for (uint32_t i = 0; i < p->plan.n; i++)
		r.change[i].outcome = p->uncertain ? IBCC_OUTCOME_PENDING : IBCC_OUTCOME_VERIFIED;
	rc = ibcc_state_end(s, id, &r, p->uncertain ? -EIO : 0, "", why);
	ibcc_result_fini(&r);
	return rc;
}

static int record_all(struct ibcc_state *s, const struct diff *d, struct ibcc_why *why)
{
	int rc = record(s, &d->back, "rollback", d->all_back ? d->first : 0, why);

	if (!rc)
		rc = record(s, &d->left, "rollback", 0, why);
	if (!rc)
		rc = record(s, &d->off, "disable", 0, why);
	return rc ? rc : record(s, &d->made, "unrecorded", 0, why);
}

int ibcc_state_catch_up(struct ibcc_state *s, struct ibcc_why *why)
{
	struct ibcc_book file = { 0 }, mine;
	struct diff d = { 0 };
	int rc;

	if (!s->ahead)
		return 0;
	rc = ibcc_state_end_late(s, why);
	if (rc)
		return rc;
	rc = ibcc_state_read_book(s, 0, &file, NULL);
	if (!rc)
		rc = diff_known(&d, &file, &s->book);
	if (!rc && s->whole)
		rc = diff_back(&d, &file, &s->book);
	if (rc)
		rc = rc == -ENOMEM ? ibcc_why_set(why, rc, "no memory") : ibcc_state_failed(s, why);
	/* The book in memory has these changes already, so storing them must not change it: perhaps
	 * only a part can be stored. It is read again afterwards.
	 */
	s->book_fresh = false;
	mine = s->book;
	s->book = (struct ibcc_book){ 0 };
	if (!rc)
		rc = record_all(s, &d, why);
	ibcc_book_fini(&s->book);
	s->book = mine;
	if (!rc)
		s->ahead = false;
	ibcc_plan_fini(&d.back.plan);
	ibcc_plan_fini(&d.left.plan);
	ibcc_plan_fini(&d.off.plan);
	ibcc_plan_fini(&d.made.plan);
	ibcc_book_fini(&file);
	return rc;
}
