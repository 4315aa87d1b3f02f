/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sums of jobs over polling cycles (whose_account.h). Begin with ibcc_whose_account_settle(). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/estimate.h>
#include <ibcc/grow.h>
#include <ibcc/hash.h>
#include <ibcc/whose_account.h>

/* Of a hash table, half of which is used at most. */
#define PLACES (2u * IBCC_WHOSE_ROWS_MAX)

/* The roots of a pass that wait for a map. */
struct pass {
	int64_t end_ms;
	uint32_t n, n_adapters;
	struct ibcc_whose_evidence *root; /* owned */
};

struct ibcc_whose_account {
	struct pass *pass; /* oldest first */
	uint32_t n_passes, cap_passes, n_adapters;
	struct ibcc_whose_row *row;
	uint32_t n_rows, cap_rows;
	uint32_t place[PLACES]; /* by hash: 1 more than the place in row[], 0: none */
};

static void pass_fini(struct pass *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		ibcc_whose_evidence_fini(&p->root[i]);
	free(p->root);
	*p = (struct pass){ 0 };
}

/* Drops the oldest n passes. */
static void drop(struct ibcc_whose_account *a, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		a->n_adapters -= a->pass[i].n_adapters;
		pass_fini(&a->pass[i]);
	}
	a->n_passes -= n;
	if (n)
		memmove(a->pass, a->pass + n, a->n_passes * sizeof(*a->pass));
}

struct ibcc_whose_account *ibcc_whose_account_new(void)
{
	return calloc(1, sizeof(struct ibcc_whose_account));
}

void ibcc_whose_account_free(struct ibcc_whose_account *a)
{
	if (!a)
		return;
	drop(a, a->n_passes);
	free(a->pass);
	free(a->row);
	free(a);
}

const struct ibcc_whose_row *ibcc_whose_account_rows(const struct ibcc_whose_account *a,
						     uint32_t *n)
{
	*n = a->n_rows;
	return a->row;
}

/* The place of a job's row in place[], or the one where it belongs. */
static uint32_t *place_of(struct ibcc_whose_account *a, const char *id, int64_t start_s)
{
	uint64_t h =
		ibcc_hash(ibcc_hash(IBCC_HASH_START, id, strlen(id)), &start_s, sizeof(start_s));
	uint32_t i = (uint32_t)(h ^ h >> 32) % PLACES;
	const struct ibcc_whose_row *r;

	for (; a->place[i]; i = (i + 1) % PLACES) {
		r = &a->row[a->place[i] - 1];
		if (r->start_s == start_s && !strcmp(r->id, id))
			break;
	}
	return &a->place[i];
}

void ibcc_whose_account_clear(struct ibcc_whose_account *a, uint32_t n)
{
	a->n_rows -= n;
	if (n)
		memmove(a->row, a->row + n, a->n_rows * sizeof(*a->row));
	memset(a->place, 0, sizeof(a->place));
	for (uint32_t i = 0; i < a->n_rows; i++)
		*place_of(a, a->row[i].id, a->row[i].start_s) = i + 1;
}

int ibcc_whose_account_note(struct ibcc_whose_account *a, const struct ibcc_topo *t,
			    const struct ibcc_estimate *e, int64_t end_ms, double pace)
{
	struct pass p = { .end_ms = end_ms,
			  .root = calloc(e->n_roots ? e->n_roots : 1, sizeof(*p.root)) };
	struct pass *grown;

	if (!p.root)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n_roots; i++) {
		const struct ibcc_root *r = &e->root[i];
		int64_t ms = (int64_t)((double)r->interval_ns / 1e6 * pace);

		if (!r->fresh || ms <= 0)
			continue;
		if (ibcc_whose_evidence_take(t, r, end_ms - ms, end_ms, &p.root[p.n])) {
			pass_fini(&p);
			return -ENOMEM;
		}
		p.n_adapters += p.root[p.n++].n;
	}
	if (!p.n_adapters || p.n_adapters > IBCC_WHOSE_ADAPTERS_MAX) {
		pass_fini(&p);
		return 0;
	}
	/* The clock was set back: no map will be made between their end and this one's. */
	while (a->n_passes && a->pass[a->n_passes - 1].end_ms > end_ms) {
		a->n_adapters -= a->pass[--a->n_passes].n_adapters;
		pass_fini(&a->pass[a->n_passes]);
	}
	while (a->n_passes == IBCC_WHOSE_PASSES_MAX ||
	       a->n_adapters + p.n_adapters > IBCC_WHOSE_ADAPTERS_MAX)
		drop(a, 1);
	grown = ibcc_grow(a->pass, a->n_passes, &a->cap_passes, sizeof(*grown));
	if (!grown) {
		pass_fini(&p);
		return -ENOMEM;
	}
	a->pass = grown;
	a->pass[a->n_passes++] = p;
	a->n_adapters += p.n_adapters;
	return 0;
}

/* The row of a job; NULL: there is no room, or with *rc no memory, for one more. *at is its place
 * as it was found before, IBCC_NONE: it was not.
 */
static struct ibcc_whose_row *row_of(struct ibcc_whose_account *a, const struct ibcc_job *j,
				     uint32_t *at, int *rc)
{
	struct ibcc_whose_row *r;
	uint32_t *place;

	if (*at != IBCC_NONE)
		return &a->row[*at];
	place = place_of(a, j->id, j->start_s);
	if (*place) {
		*at = *place - 1;
		return &a->row[*at];
	}
	if (a->n_rows == IBCC_WHOSE_ROWS_MAX)
		return NULL;
	r = ibcc_grow(a->row, a->n_rows, &a->cap_rows, sizeof(*r));
	if (!r) {
		*rc = -ENOMEM;
		return NULL;
	}
	a->row = r;
	*at = a->n_rows++;
	*place = a->n_rows;
	r += *at;
	*r = (struct ibcc_whose_row){ .start_s = j->start_s };
	memcpy(r->id, j->id, sizeof(r->id));
	return r;
}

/* What a job did in one pass. It may take part in several roots at once. */
struct sum {
	int64_t contributor_ms, shared_contributor_ms, suspect_ms, victim_ms, shared_victim_ms;
	double harm_ms, blocked_ms, sent_bytes;
};

/* Room for each job of a map. */
struct room {
	struct sum *sum;
	uint32_t *row; /* its place in a->row[], IBCC_NONE: not looked for yet */
};

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_part(struct sum *s, const struct ibcc_whose_part *p,
		     const struct ibcc_whose_evidence *e)
{
	if (e->basis == IBCC_WHOSE_BY_WAITING) {
		s->suspect_ms = most(s->suspect_ms, p->contributor_ms + p->shared_contributor_ms);
	} else {
		s->contributor_ms = most(s->contributor_ms, p->contributor_ms);
		s->shared_contributor_ms = most(s->shared_contributor_ms, p->shared_contributor_ms);
		s->harm_ms += p->own_permille * (double)(e->end_ms - e->begin_ms) / 1000;
		s->sent_bytes = p->sent_bytes > s->sent_bytes ? p->sent_bytes : s->sent_bytes;
	}
	s->victim_ms = most(s->victim_ms, p->victim_ms);
	s->shared_victim_ms = most(s->shared_victim_ms, p->shared_victim_ms);
	s->blocked_ms = p->blocked_ms > s->blocked_ms ? p->blocked_ms : s->blocked_ms;
}

/* Adds the time in which a job took part in a root. A new root takes the place of the one in which
 * it took part least, if there are too many.
 */
static void add_root(struct ibcc_whose_row *r, const char *name, int64_t ms)
{
	uint32_t least = 0, i;

	for (i = 0; i < r->n_roots && strcmp(r->root[i].name, name); i++)
		if (r->root[i].ms < r->root[least].ms)
			least = i;
	if (i == r->n_roots && i < IBCC_WHOSE_ROOTS_OF_JOB) {
		r->n_roots++;
		r->root[i].ms = 0;
	} else if (i == r->n_roots) {
		i = least;
		if (r->root[i].ms >= ms)
			return;
		r->root[i].ms = 0;
	}
	snprintf(r->root[i].name, sizeof(r->root[i].name), "%s", name);
	r->root[i].ms += ms;
}

static int charge(struct ibcc_whose_account *a, const struct ibcc_jobs *jobs,
		  const struct ibcc_whose_hosts *hosts, const struct ibcc_topo *t,
		  const struct pass *pass, const struct room *room)
{
	struct sum *sum = room->sum;
	int rc = 0;

	memset(sum, 0, jobs->n * sizeof(*sum));
	for (uint32_t i = 0; i < pass->n && !rc; i++) {
		const struct ibcc_whose_evidence *e = &pass->root[i];
		struct ibcc_whose_share share;

		rc = ibcc_whose_share_out(jobs, hosts, t, e, &share);
		for (uint32_t k = 0; k < share.n && !rc; k++) {
			const struct ibcc_whose_part *p = &share.part[k];
			struct ibcc_whose_row *row =
				row_of(a, &jobs->job[p->job], &room->row[p->job], &rc);
			int64_t ms = most(p->contributor_ms + p->shared_contributor_ms,
					  p->victim_ms + p->shared_victim_ms);

			add_part(&sum[p->job], p, e);
			if (row)
				add_root(row, e->root, ms);
		}
		ibcc_whose_share_fini(&share);
	}
	for (uint32_t i = 0; i < jobs->n && !rc; i++) {
		const struct ibcc_job *j = &jobs->job[i];
		const struct sum *s = &sum[i];
		struct ibcc_whose_row *r;

		if (!s->contributor_ms && !s->shared_contributor_ms && !s->suspect_ms &&
		    !s->victim_ms && !s->shared_victim_ms)
			continue;
		r = row_of(a, j, &room->row[i], &rc);
		if (!r)
			continue;
		memcpy(r->user, j->user, sizeof(r->user));
		memcpy(r->name, j->name, sizeof(r->name));
		r->end_s = j->end_s;
		r->seen_s = most(r->seen_s, pass->end_ms / 1000);
		r->contributor_ms += s->contributor_ms;
		r->shared_contributor_ms += s->shared_contributor_ms;
		r->suspect_ms += s->suspect_ms;
		r->victim_ms += s->victim_ms;
		r->shared_victim_ms += s->shared_victim_ms;
		r->harm_ms += s->harm_ms;
		r->blocked_ms += s->blocked_ms;
		r->sent_bytes += s->sent_bytes;
	}
	return rc;
}

uint32_t ibcc_whose_account_due(const struct ibcc_whose_account *a, const struct ibcc_jobs *jobs)
{
	uint32_t n = 0;

	while (n < a->n_passes && a->pass[n].end_ms <= jobs->made_s * 1000)
		n++;
	return n;
}

int ibcc_whose_account_settle(struct ibcc_whose_account *a, const struct ibcc_jobs *jobs,
			      const struct ibcc_whose_hosts *hosts, const struct ibcc_topo *t)
{
	int64_t made_ms = jobs->made_s * 1000, period_ms = jobs->period_s * 1000;
	uint32_t n = 0, due = ibcc_whose_account_due(a, jobs);
	size_t size = jobs->n ? jobs->n : 1;
	struct room room = { calloc(size, sizeof(*room.sum)), calloc(size, sizeof(*room.row)) };
	uint64_t work = 0;
	int rc = room.sum && room.row ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < jobs->n && !rc; i++)
		room.row[i] = IBCC_NONE;
	while (n < due && !rc && (n < 2 || work < IBCC_WHOSE_WORK)) {
		const struct pass *p = &a->pass[n++];

		if (made_ms - p->end_ms > 2 * period_ms)
			continue;
		rc = charge(a, jobs, hosts, t, p, &room);
		work += p->n_adapters + (uint64_t)p->n * jobs->n;
	}
	drop(a, n);
	free(room.sum);
	free(room.row);
	return rc;
}
