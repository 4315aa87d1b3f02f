/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What jobs did and suffered, summed up over polling cycles.
 *
 * An interval is charged only when a map is there that was made after the interval's end: only such
 * a map knows which jobs had ended by then, and which had begun. Until then the interval is kept.
 */
#ifndef IBCC_WHOSE_ACCOUNT_H
#define IBCC_WHOSE_ACCOUNT_H

#include <ibcc/whose.h>

struct ibcc_estimate; /* <ibcc/estimate.h> */

enum {
	IBCC_WHOSE_ROWS_MAX = 4096,
	IBCC_WHOSE_PASSES_MAX = 1024,      /* passes that wait for a map, at most, */
	IBCC_WHOSE_ADAPTERS_MAX = 1 << 18, /* and adapters in them */
	IBCC_WHOSE_ROOTS_OF_JOB = 4,       /* the roots of a row, at most */
	IBCC_WHOSE_WORK = 1 << 15,         /* of one call: adapters, and jobs times roots */
};

struct ibcc_whose_row_root {
	char name[2 * IBCC_DESC_BYTES + 32];
	int64_t ms; /* how long the job contributed to it or suffered from it */
};

/* Sums of one job. Times are those in which at least one of its adapters had the role. Shared is
 * the time in which only hosts that it shared with other jobs had it.
 */
struct ibcc_whose_row {
	char id[sizeof(((struct ibcc_job *)0)->id)];
	char user[sizeof(((struct ibcc_job *)0)->user)];
	char name[sizeof(((struct ibcc_job *)0)->name)];
	int64_t start_s, end_s; /* as in struct ibcc_job */
	int64_t seen_s;         /* end of the last interval with a part of it */
	int64_t contributor_ms, shared_contributor_ms;
	int64_t suspect_ms; /* blocked where no mark shows what contributes; shared ones too */
	int64_t victim_ms, shared_victim_ms;
	double harm_ms;    /* its own share of each root's congestion, times the time */
	double blocked_ms; /* sum over its own victims: the time in which each was blocked */
	double sent_bytes; /* by its own contributors, to one root at a time */
	uint32_t n_roots;
	struct ibcc_whose_row_root root[IBCC_WHOSE_ROOTS_OF_JOB];
};

struct ibcc_whose_account;

struct ibcc_whose_account *ibcc_whose_account_new(void);
void ibcc_whose_account_free(struct ibcc_whose_account *a);

/* Keeps what the roots of a pass did until a map comes. The pass ended at end_ms (since 1970).
 * `pace` is how many milliseconds of that clock one of the counters' clock takes; 1 but on a
 * simulated fabric. If too much waits, the oldest pass is dropped. -ENOMEM.
 */
int ibcc_whose_account_note(struct ibcc_whose_account *a, const struct ibcc_topo *t,
			    const struct ibcc_estimate *e, int64_t end_ms, double pace);

/* How many passes wait that ended before the map was made. */
uint32_t ibcc_whose_account_due(const struct ibcc_whose_account *a, const struct ibcc_jobs *jobs);

/* Charges the jobs of a map with passes that ended before the map was made, but for what ended
 * longer than twice its period before: jobs of that time may be missing from the map. The work of a
 * call is bounded: it charges two passes, and further ones up to IBCC_WHOSE_WORK. Two are more than
 * each pass adds, so that calls after each pass get to the end. -ENOMEM.
 */
int ibcc_whose_account_settle(struct ibcc_whose_account *a, const struct ibcc_jobs *jobs,
			      const struct ibcc_whose_hosts *hosts, const struct ibcc_topo *t);

/* The sums that were not cleared, oldest first. With IBCC_WHOSE_ROWS_MAX jobs, further ones are
 * left out. Clears the first n of them.
 */
const struct ibcc_whose_row *ibcc_whose_account_rows(const struct ibcc_whose_account *a,
						     uint32_t *n);
void ibcc_whose_account_clear(struct ibcc_whose_account *a, uint32_t n);

#endif
