/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests under way to ibsim (pending.h). Each has an entry of a table and a deadline. Of a
 * MAD's transaction ID, ibsim replaces bits 48 to 63, and libumad2sim uses bits 32 to 47. So the
 * entry is found by the low 32 bits, which are its index and its generation; the answer gets the
 * sender's own ID back.
 */
#include "sim/pending.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define TIMEOUT_US  4000000u /* a request that ibsim forwarded and whose target does not answer */
#define ENTRIES_MAX 65536u
#define INDEX_MASK  0xffffu

struct entry {
	TAILQ_ENTRY(entry) link; /* in the order of deadlines, or among the free ones */
	struct ibcc_wire_mad m;  /* as the sender gave it */
	ibcc_pending_done *done;
	void *arg;
	uint64_t deadline_us;
	uint32_t key;
	bool used;
};

TAILQ_HEAD(entries, entry);

struct ibcc_pending {
	sd_event *ev;
	sd_event_source *timer;
	struct entries busy, spare;
	struct entry **tab; /* by index */
	uint32_t n_tab;
};

static uint64_t now_us(const struct ibcc_pending *p)
{
	uint64_t t;

	return sd_event_now(p->ev, CLOCK_MONOTONIC, &t) < 0 ? 0 : t;
}

static void put_tid(uint8_t *mad, uint64_t tid)
{
	tid = htobe64(tid);
	memcpy(mad + 8, &tid, sizeof(tid));
}

static uint64_t get_tid(const uint8_t *mad)
{
	uint64_t tid;

	memcpy(&tid, mad + 8, sizeof(tid));
	return be64toh(tid);
}

/* A free entry, or a new one; NULL without memory, or if all are in use. */
static struct entry *entry_get(struct ibcc_pending *p)
{
	struct entry *e = TAILQ_FIRST(&p->spare), **tab;

	if (e) {
		TAILQ_REMOVE(&p->spare, e, link);
		return e;
	}
	if (p->n_tab == ENTRIES_MAX)
		return NULL;
	tab = reallocarray(p->tab, p->n_tab + 1, sizeof(*tab));
	if (!tab)
		return NULL;
	p->tab = tab;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->key = p->n_tab;
	tab[p->n_tab++] = e;
	return e;
}

/* Ends a request with its answer, or with NULL after its deadline. */
static void entry_end(struct ibcc_pending *p, struct entry *e, const struct ibcc_wire_mad *answer)
{
	struct ibcc_wire_mad m = answer ? *answer : e->m;
	ibcc_pending_done *done = e->done;

	if (answer)
		put_tid(m.mad, get_tid(e->m.mad));
	else
		m.status = htonl(IBCC_WIRE_TIMEOUT);
	TAILQ_REMOVE(&p->busy, e, link);
	TAILQ_INSERT_HEAD(&p->spare, e, link);
	e->used = false;
	if (done)
		done(e->arg, &m);
}

static int on_deadline(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ibcc_pending *p = arg;
	struct entry *e;

	(void)usec;
	while ((e = TAILQ_FIRST(&p->busy)) && e->deadline_us <= now_us(p))
		entry_end(p, e, NULL);
	if (!e)
		return 0;
	sd_event_source_set_time(src, e->deadline_us);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

int ibcc_pending_add(struct ibcc_pending *p, const struct ibcc_wire_mad *m, ibcc_pending_done *done,
		     void *arg, struct ibcc_wire_mad *out)
{
	struct entry *e = entry_get(p);
	int on = SD_EVENT_OFF;

	if (!e)
		return -ENOMEM;
	e->m = *m;
	e->done = done;
	e->arg = arg;
	e->used = true;
	e->key += INDEX_MASK + 1; /* a late answer to the entry's last user must not match */
	e->deadline_us = now_us(p) + TIMEOUT_US;
	TAILQ_INSERT_TAIL(&p->busy, e, link);
	sd_event_source_get_enabled(p->timer, &on);
	if (on == SD_EVENT_OFF) {
		sd_event_source_set_time(p->timer, e->deadline_us);
		sd_event_source_set_enabled(p->timer, SD_EVENT_ONESHOT);
	}
	*out = *m;
	put_tid(out->mad, (get_tid(m->mad) & 0xffffffff00000000ull) | e->key);
	return 0;
}

void ibcc_pending_answer(struct ibcc_pending *p, const struct ibcc_wire_mad *m)
{
	uint32_t key = (uint32_t)get_tid(m->mad), i = key & INDEX_MASK;
	struct entry *e = i < p->n_tab ? p->tab[i] : NULL;

	/* A trap is ended by its repression only, and nothing else by one. */
	if (e && e->used && e->key == key &&
	    (m->status || (m->mad[3] == IBCC_MAD_TRAP_REPRESS) == (e->m.mad[3] == IBCC_MAD_TRAP)))
		entry_end(p, e, m->status ? NULL : m);
}

void ibcc_pending_cancel(struct ibcc_pending *p, const void *arg)
{
	struct entry *e;

	for (e = TAILQ_FIRST(&p->busy); e; e = TAILQ_NEXT(e, link))
		if (e->arg == arg)
			e->done = NULL;
}

struct ibcc_pending *ibcc_pending_new(sd_event *ev, int *err)
{
	struct ibcc_pending *p = calloc(1, sizeof(*p));

	*err = -ENOMEM;
	if (!p)
		return NULL;
	TAILQ_INIT(&p->busy);
	TAILQ_INIT(&p->spare);
	p->ev = ev;
	*err = sd_event_add_time(ev, &p->timer, CLOCK_MONOTONIC, UINT64_MAX, 1000, on_deadline, p);
	if (*err >= 0)
		*err = sd_event_source_set_enabled(p->timer, SD_EVENT_OFF);
	if (*err >= 0)
		return p;
	ibcc_pending_free(p);
	return NULL;
}

void ibcc_pending_free(struct ibcc_pending *p)
{
	uint32_t i;

	if (!p)
		return;
	for (i = 0; i < p->n_tab; i++)
		free(p->tab[i]);
	free(p->tab);
	sd_event_source_disable_unref(p->timer);
	free(p);
}
