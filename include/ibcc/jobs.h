/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which jobs of a batch system run on which hosts. ibcc-jobs asks the batch system and replaces a
 * file; the daemon reads the file and never waits for a batch system.
 */
#ifndef IBCC_JOBS_H
#define IBCC_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibcc_why;

enum {
	IBCC_JOBS_MAX = 10000,        /* jobs of a file */
	IBCC_JOBS_HOSTS_MAX = 100000, /* hosts of a file */
	IBCC_JOBS_ON_MAX = 1000000,   /* hosts of all jobs, each as often as a job has it */
	IBCC_JOBS_FILE_BYTES = 64 << 20,
};

struct ibcc_job {
	char id[64];     /* as the batch system writes it: "4711", "4711_3" */
	char user[64];   /* "": not known, or kept back */
	char name[128];  /* as its user wrote it, but printable: it may have quotes and HTML */
	int64_t start_s; /* since 1970 */
	int64_t end_s;   /* 0: it runs */
	uint32_t first;  /* of its hosts in on[] */
	uint32_t n_hosts;
};

struct ibcc_jobs {
	int64_t made_s;    /* when the batch system was asked, since 1970 */
	int64_t period_s;  /* how often it is asked: a map older than twice this is not used */
	char source[32];   /* "slurm", "file", "command" */
	char trouble[256]; /* why the batch system does not answer, a sentence; "": it does */
	uint32_t n;
	struct ibcc_job *job; /* owned; by start, then by id; a job may have several runs */
	uint32_t n_hosts;
	char **host; /* owned, sorted: names as the batch system has them */
	uint32_t n_on;
	uint32_t *on; /* owned: the hosts of all jobs, as places in host[] */
};

void ibcc_jobs_fini(struct ibcc_jobs *jobs);

/* Reads a map from JSON, which comes from outside: every length, number and list is bounded, and
 * text is made printable UTF-8 (ibcc_clean()). A host twice in a job and a job without hosts are
 * refused; so is a job twice, unless the two have different starts: it ran twice. -EINVAL with the
 * place and the reason in *why, -ENOMEM. *jobs is empty then.
 *
 *	{"version": 1, "made_s": 1795918576, "period_s": 30, "source": "slurm", "trouble": "",
 *	 "jobs": [{"id": "4711", "user": "ann", "name": "cfd", "start_s": 1795918000,
 *		   "end_s": 0, "hosts": ["source1", "source2"]}]}
 *
 * "trouble", "user", "name", "start_s" and "end_s" may be left out. Jobs that have ended stay in
 * the file for some minutes, so that a polling cycle that began before their end knows them.
 */
int ibcc_jobs_parse(struct ibcc_jobs *jobs, const char *text, size_t len, struct ibcc_why *why);

/* As JSON on a line, which ibcc_jobs_parse() reads; the caller's. NULL without memory. */
char *ibcc_jobs_dump(const struct ibcc_jobs *jobs);

/* Jobs that come one by one, from which a map is made. */
struct ibcc_jobs_draft;

struct ibcc_jobs_draft *ibcc_jobs_draft_new(void);
void ibcc_jobs_draft_free(struct ibcc_jobs_draft *d);

/* Adds a job with its hosts, all texts made printable; `first` and `n_hosts` of *job are ignored.
 * -EINVAL with the reason in *why: it has no hosts, or there are more jobs or hosts than a map
 * holds; -ENOMEM.
 */
int ibcc_jobs_draft_add(struct ibcc_jobs_draft *d, const struct ibcc_job *job,
			const char *const *host, uint32_t n_hosts, struct ibcc_why *why);

/* The map of all jobs that were added; the draft is empty then. What is not about single jobs is
 * zero. -EINVAL with the reason in *why: two jobs have the same id and start, or one of them has no
 * start, or a job has a host twice; -ENOMEM. *jobs is empty then.
 */
int ibcc_jobs_draft_finish(struct ibcc_jobs_draft *d, struct ibcc_jobs *jobs, struct ibcc_why *why);

#endif
