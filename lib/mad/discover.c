/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Discovers a fabric from a local port: drives a walk (walk.h) over a transport, and makes a
 * topology of what it found. Begin with ibcc_discover().
 *
 * This uses our own transport, not libibnetdisc, which waits for ever for an SMP that was lost
 * below umad2sim, aborts when its peer goes away, and does not report nodes without an answer.
 * And the transport stays open: below umad2sim, opening a port waits for a server that has
 * stopped, and an answer that comes after a port was closed ends the process.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/grow.h>
#include <ibcc/smp.h>
#include <ibcc/text.h>
#include <ibcc/walk.h>

#include "lib/mad/batch.h"

/* Time limits. A batch has this long, after the last one that brought answers. The whole walk has
 * far more than the largest fabric takes with two SMPs in flight.
 */
#define BATCH_NS     30000000000u
#define WALK_NS      300000000000u
#define FUTILE_TRIES 8u

struct discovery {
	struct ibcc_walk *w;
	struct ibcc_transport *tr;
	struct ibcc_batch batch;
	struct ibcc_walk_get *get;   /* by the batch's index */
	struct ibcc_walk_get *again; /* put aside for another try */
	uint32_t n_again, cap_again;
	uint64_t end_ns;     /* of the whole walk */
	bool good;           /* the last batch brought an answer */
	bool heard, silent;  /* since the last try came a good answer; a request had none */
	unsigned int futile; /* tries in a row without a good answer */
};

static int add(struct discovery *d, const struct ibcc_walk_get *get)
{
	struct ibcc_mad_op *op =
		ibcc_batch_add(&d->batch, IBCC_SMP_PERMISSIVE_LID, (struct ibcc_batch_tag){ 0 });

	if (!op)
		return -ENOMEM;
	ibcc_walk_request(get, op->mad);
	d->get[d->batch.n - 1] = *get;
	return 0;
}

/* Gathers the Gets that wait, at most a batch of them. */
static int gather(struct discovery *d)
{
	struct ibcc_walk_get get;
	int rc = 0, more = 1;

	ibcc_batch_clear(&d->batch);
	while (!rc && d->batch.n < IBCC_BATCH_OPS && (more = ibcc_walk_next(d->w, &get)) > 0)
		rc = add(d, &get);
	return more < 0 ? more : rc;
}

/* Gathers the Gets that were put aside, for another try. Trying goes on as long as it brings
 * answers: a few tries are enough on a fabric that loses or refuses many. If some node does not
 * answer at all, there is only one more try, since that takes seconds.
 */
static int gather_again(struct discovery *d)
{
	size_t n = d->n_again;
	int rc = 0;

	if (n > IBCC_BATCH_OPS)
		n = IBCC_BATCH_OPS;
	d->futile = d->heard ? 0 : d->silent ? FUTILE_TRIES : d->futile + 1;
	d->heard = d->silent = false;
	for (size_t i = 0; d->futile < FUTILE_TRIES && i < n && !rc; i++)
		rc = add(d, &d->again[--d->n_again]);
	if (d->futile < FUTILE_TRIES)
		return rc;
	while (d->n_again)
		ibcc_walk_give_up(d->w, &d->again[--d->n_again]);
	d->heard = true; /* the next request has tries of its own */
	return 0;
}

/* Keeps a Get without a good answer for another try. */
static int put_aside(struct discovery *d, const struct ibcc_walk_get *get)
{
	struct ibcc_walk_get *grown =
		ibcc_grow(d->again, d->n_again, &d->cap_again, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	d->again = grown;
	d->again[d->n_again++] = *get;
	return 0;
}

/* Takes the answers of a batch. */
static int take(struct discovery *d)
{
	int rc = 0;

	for (size_t k = 0; k < d->batch.n && !rc; k++) {
		const struct ibcc_mad_op *op = &d->batch.op[k];

		d->heard |= !op->err;
		d->good |= !op->err;
		d->silent |= op->err && op->err != -EREMOTEIO;
		if (op->err && (ibcc_walk_needs(&d->get[k]) || !ibcc_batch_is_refused(op)))
			rc = put_aside(d, &d->get[k]);
		else
			rc = ibcc_walk_answer(d->w, &d->get[k], op->err ? NULL : op->mad);
	}
	return rc;
}

/* Extends the time limit if the last batch brought an answer. */
static void extend(struct discovery *d)
{
	uint64_t until = ibcc_transport_now_ns(d->tr) + BATCH_NS;

	if (d->good)
		d->tr->deadline_ns = until < d->end_ns ? until : d->end_ns;
	d->good = false;
}

int ibcc_discover(struct ibcc_transport *tr, struct ibcc_walk *w)
{
	struct discovery d = { .w = w, .tr = tr, .good = true };
	int rc = 0;

	d.get = calloc(IBCC_BATCH_OPS, sizeof(*d.get));
	if (!d.get)
		rc = -ENOMEM;
	d.end_ns = ibcc_transport_now_ns(tr) + WALK_NS;
	while (!rc) {
		rc = gather(&d);
		if (!rc && !d.batch.n && !d.n_again)
			break;
		if (!rc && !d.batch.n)
			rc = gather_again(&d);
		extend(&d);
		if (!rc)
			rc = ibcc_batch_run(&d.batch, tr);
		if (!rc)
			rc = take(&d);
	}
	tr->deadline_ns = 0;
	ibcc_batch_fini(&d.batch);
	free(d.get);
	free(d.again);
	return rc;
}

/* Writes what is missing of the fabric; empty: nothing. */
static void say_gaps(const struct ibcc_walk *w, const struct ibcc_topo *t, char *why, size_t len)
{
	char silent[300] = "", partial[160] = "", odd[440] = "";
	struct ibcc_walk_gaps g;

	ibcc_walk_gaps(w, &g);
	ibcc_topo_gaps_text(t, silent, sizeof(silent));
	if (g.n_partial)
		snprintf(partial, sizeof(partial), "; %s left %u request%s unanswered", g.partial,
			 g.n_partial, ibcc_text_plural(g.n_partial, "", "s"));
	if (g.n_odd)
		snprintf(odd, sizeof(odd), "; %s", g.odd);
	if (!g.n && !g.n_odd)
		snprintf(why, len, "%s", "");
	else if (silent[0] || g.local)
		snprintf(why, len, "incomplete: no answer from %s%s%s",
			 silent[0] ? silent : "the node behind the local port", partial, odd);
	else
		snprintf(why, len, "incomplete: %s%s",
			 partial[0] ? partial + 2
			 : odd[0]   ? odd + 2
				    : "some requests had no answer",
			 partial[0] ? odd : "");
}

static int find(const struct ibcc_walk *w, struct ibcc_topo *t, char *why, size_t len)
{
	if (!t->n_nodes)
		return -ENOLINK;
	ibcc_topo_leave_planes(t);
	if (ibcc_topo_find_virtual(t) || ibcc_topo_find_gaps(t))
		return -ENOMEM;
	say_gaps(w, t, why, len);
	return 0;
}

struct ibcc_topo *ibcc_discover_topo(struct ibcc_walk *w, int *err, char *why, size_t len)
{
	struct ibcc_topo *t = ibcc_walk_topo(w);

	*err = t ? find(w, t, why, len) : -ENOMEM;
	if (!*err)
		return t;
	ibcc_topo_free(t);
	snprintf(why, len, "%s",
		 *err == -ENOLINK ? "the local port does not answer SMPs" : strerror(-*err));
	return NULL;
}

struct ibcc_topo *ibcc_discover_walk(struct ibcc_transport *tr, int *err, char *why, size_t len)
{
	const struct ibcc_walk_options o = { 0 };
	struct ibcc_walk *w = ibcc_walk_new(&o);
	struct ibcc_topo *t = NULL;

	*err = w ? ibcc_discover(tr, w) : -ENOMEM;
	if (!*err)
		t = ibcc_discover_topo(w, err, why, len);
	else
		snprintf(why, len, "%s", strerror(-*err));
	ibcc_walk_free(w);
	return t;
}
