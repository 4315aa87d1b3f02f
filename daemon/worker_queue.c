/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The order in which the worker takes tasks.
 *
 * The daemon's own tasks come first: a polling cycle that is due waits for the current task, and
 * for no other. Then come root's tasks and those of the daemon's own user, so that an operator can
 * always revert. Then come those of control_write_group, then those of readers. Within a rank the
 * oldest task is taken, but no user has two in a row while another user waits. So a user with many
 * connections delays each other user by one task at a time.
 *
 * A client has one request in progress at a time, and its task dies with its connection. So the
 * limits of <ibcc/jsonl.h> on connections, of each user and in all, are the limits on tasks as
 * well.
 */
#include "daemon/worker_impl.h"

void ibcc_queue_init(struct ibcc_queue *q)
{
	q->first = NULL;
	q->last = &q->first;
}

void ibcc_queue_push(struct ibcc_queue *q, struct ibcc_task *t)
{
	t->next = NULL;
	*q->last = t;
	q->last = &t->next;
}

static struct ibcc_task *take(struct ibcc_queue *q, struct ibcc_task **at)
{
	struct ibcc_task *t = *at;

	if (!t)
		return NULL;
	*at = t->next;
	if (!*at)
		q->last = at;
	return t;
}

struct ibcc_task *ibcc_queue_pop(struct ibcc_queue *q)
{
	return take(q, &q->first);
}

struct ibcc_task *ibcc_queue_pick(struct ibcc_queue *q, uid_t last_uid)
{
	struct ibcc_task **best = &q->first, **p;

	for (p = &q->first; *p; p = &(*p)->next)
		if ((*p)->rank < (*best)->rank ||
		    ((*p)->rank == (*best)->rank && (*best)->uid == last_uid &&
		     (*p)->uid != last_uid))
			best = p;
	return take(q, best);
}

struct ibcc_task *ibcc_queue_take_client(struct ibcc_queue *q, uint64_t client)
{
	struct ibcc_task **p = &q->first;

	while (*p && ((*p)->client != client || (*p)->rank == IBCC_RANK_OWN))
		p = &(*p)->next;
	return take(q, p);
}

struct ibcc_task *ibcc_queue_take_kind(struct ibcc_queue *q, enum ibcc_task_kind kind)
{
	struct ibcc_task **p = &q->first;

	while (*p && (*p)->kind != kind)
		p = &(*p)->next;
	return take(q, p);
}
