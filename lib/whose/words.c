/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Jobs in sentences. The names of a map are printable; users choose them, so they may be long. */
#include <stdio.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/text.h>
#include <ibcc/whose.h>

#define NAMED      3u  /* jobs that a sentence names for each role */
#define NAME_BYTES 40u /* of a user's or a job's name in a sentence */

/* Copies a name, cut to `len` bytes before a character that does not fit. */
static void copy(const char *from, char *to, size_t len)
{
	size_t n = ibcc_clean_cut(from, len - 1);

	memcpy(to, from, n);
	to[n] = '\0';
}

const char *ibcc_whose_label(const struct ibcc_job *job, char buf[IBCC_WHOSE_LABEL_BYTES])
{
	char id[sizeof(job->id)], user[NAME_BYTES], name[NAME_BYTES];
	const char *comma;

	copy(job->id, id, sizeof(id));
	copy(job->user, user, sizeof(user));
	copy(job->name, name, sizeof(name));
	comma = user[0] && name[0] ? ", " : "";
	if (user[0] || name[0])
		snprintf(buf, IBCC_WHOSE_LABEL_BYTES, "job %s (%s%s%s)", id, user, comma, name);
	else
		snprintf(buf, IBCC_WHOSE_LABEL_BYTES, "job %s", id);
	return buf;
}

static bool contributes(const struct ibcc_whose_part *p)
{
	return p->own_permille || p->shared_permille;
}

static bool suffers(const struct ibcc_whose_part *p)
{
	return p->n_victims && !contributes(p);
}

/* Whether one of n jobs has this number. Two runs of a job may be in one interval. */
static bool is_named(const char *const *id, uint32_t n, const char *other)
{
	for (uint32_t i = 0; i < n && i < NAMED; i++)
		if (!strcmp(id[i], other))
			return true;
	return false;
}

/* Names the first jobs that have a role, and counts the others. Returns how many have it. */
static uint32_t list(struct ibcc_text *x, const struct ibcc_jobs *jobs,
		     const struct ibcc_whose_share *s, bool names,
		     bool (*has)(const struct ibcc_whose_part *))
{
	char label[IBCC_WHOSE_LABEL_BYTES];
	const char *id[NAMED] = { NULL };
	struct ibcc_job job;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct ibcc_whose_part *p = &s->part[i];

		if (!has(p) || is_named(id, n, jobs->job[p->job].id) || n++ >= NAMED)
			continue;
		id[n - 1] = jobs->job[p->job].id;
		job = jobs->job[p->job];
		if (!names)
			job.user[0] = job.name[0] = '\0';
		ibcc_text_add(x, "%s%s%s", n > 1 ? ", " : "", ibcc_whose_label(&job, label),
			      !p->own_permille && p->shared_permille ? " on shared hosts" : "");
	}
	if (n > NAMED)
		ibcc_text_add(x, " and %u more", n - NAMED);
	return n;
}

int ibcc_whose_words(const struct ibcc_jobs *jobs, const struct ibcc_whose_share *s,
		     const char *root, bool names, char *buf, size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };
	bool known = s->basis != IBCC_WHOSE_BY_WAITING;
	uint32_t n;

	if (len)
		buf[0] = '\0';
	n = list(&x, jobs, s, names, contributes);
	if (n && known)
		ibcc_text_add(&x, n > 1 ? " fill %s" : " fills %s", root);
	else if (n)
		ibcc_text_add(&x,
			      n > 1 ? " may fill %s: they wait for it, and no mark shows which of "
				      "them cause it"
				    : " may fill %s: it waits for it, and no mark shows whether it "
				      "causes it",
			      root);
	if (n)
		for (uint32_t i = 0; i < s->n; i++)
			if (suffers(&s->part[i])) {
				ibcc_text_add(&x, "; ");
				break;
			}
	n = list(&x, jobs, s, names, suffers);
	if (n)
		ibcc_text_add(&x, n > 1 ? " are blocked" : " is blocked");
	return (int)x.n;
}
