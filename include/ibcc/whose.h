/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose job causes congestion, and whose job suffers from it: the adapters of a root, joined with
 * the jobs that ran on their hosts in that interval.
 *
 * A host that several jobs had at a time is reported as shared between them: nothing tells which of
 * them sent. A job counts for the part of the interval in which it ran, and for no more.
 */
#ifndef IBCC_WHOSE_H
#define IBCC_WHOSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/jobs.h>
#include <ibcc/topo.h>

struct ibcc_root; /* <ibcc/estimate.h> */

/* Which adapters a map's hosts have, and which jobs ran on each host. */
struct ibcc_whose_hosts {
	uint32_t n_endports, n_hosts;
	uint32_t *host;      /* by endport: place in jobs->host[], IBCC_NONE: no such host; owned */
	uint32_t *first;     /* by host, and one more: its first job in job[]; owned */
	uint32_t *job;       /* places in jobs->job[], host by host; owned */
	uint32_t n_adapters; /* endports whose host is in the map */
	uint32_t n_unmatched; /* hosts of the map without an adapter in the fabric */
#define IBCC_WHOSE_NAMED 8u
	uint32_t unmatched[IBCC_WHOSE_NAMED]; /* the first of them, by name */
};

/* Writes the host name that an adapter's description holds; false: it holds none. */
typedef bool ibcc_whose_name_fn(void *arg, const char *desc, char name[IBCC_DESC_BYTES]);

/* The first word of the description, which is where drivers and rdma-ndd put the host name. */
bool ibcc_whose_first_word(void *arg, const char *desc, char name[IBCC_DESC_BYTES]);

/* Joins a map with a topology by host names. Upper and lower case count as different. *out is
 * initialised by the call and freed by ibcc_whose_hosts_fini(). -ENOMEM.
 */
int ibcc_whose_hosts_find(const struct ibcc_jobs *jobs, const struct ibcc_topo *t,
			  ibcc_whose_name_fn *name_of, void *arg, struct ibcc_whose_hosts *out);
void ibcc_whose_hosts_fini(struct ibcc_whose_hosts *h);

/* Whether a map must not be used at a time (seconds since 1970): it is older than twice its period,
 * or was made that long after the time, so that one of the clocks is wrong.
 */
bool ibcc_whose_is_old(const struct ibcc_jobs *jobs, int64_t now_s);

/* By what it is known which adapters contribute to a root. */
enum ibcc_whose_basis {
	IBCC_WHOSE_BY_WAITING, /* they are blocked behind it: each is only suspected */
	IBCC_WHOSE_BY_MARKS,   /* BECNs that they got */
	IBCC_WHOSE_BY_LOG,     /* packets of theirs in its switch's CongestionLog */
};
const char *ibcc_whose_basis_name(enum ibcc_whose_basis basis);

/* An adapter in the tree of a root. It is named by its node, so that a new topology finds it. */
struct ibcc_whose_adapter {
	uint64_t node_guid;
	uint8_t port;
	bool suffers;           /* it is a victim */
	uint16_t wait_permille; /* share of the time in which it was blocked */
	uint32_t xmit_mbps;     /* what it sent */
	double weight;          /* its part in the congestion, in the unit of the basis; 0: none */
};

/* What one root's adapters did in one interval. */
struct ibcc_whose_evidence {
	int64_t begin_ms, end_ms; /* since 1970 */
	uint64_t root_guid;
	uint8_t root_port;
	char root[2 * IBCC_DESC_BYTES + 32]; /* its place in words: "destination1 (leaf2 port 2)" */
	enum ibcc_whose_basis basis;
	uint32_t n;
	struct ibcc_whose_adapter *adapter; /* owned */
};

/* Takes from a root which adapters contribute and which suffer. The weight is the packets in the
 * log where the log agrees with the adapters' counters, else the BECNs of contributors, else what
 * the suspects send. *out is initialised by the call and freed by ibcc_whose_evidence_fini().
 * -ENOMEM.
 */
int ibcc_whose_evidence_take(const struct ibcc_topo *t, const struct ibcc_root *root,
			     int64_t begin_ms, int64_t end_ms, struct ibcc_whose_evidence *out);
void ibcc_whose_evidence_fini(struct ibcc_whose_evidence *e);

/* What one job has to do with a root in an interval. "Shared" is what is of hosts that it did not
 * have to itself: it is counted for each of their jobs.
 */
struct ibcc_whose_part {
	uint32_t job; /* place in jobs->job[] */
	/* Of all that contributed, in permille, by adapters and time. */
	uint16_t own_permille, shared_permille;
	uint32_t n_contributors, n_victims; /* its adapters, shared ones too */
	uint16_t victim_permille; /* mean of the time in which these victims were blocked */
	/* How long it ran in the interval and had a contributor, a victim; of hosts of its own, and
	 * of shared hosts.
	 */
	int64_t contributor_ms, shared_contributor_ms, victim_ms, shared_victim_ms;
	double sent_bytes; /* by its own contributors while it ran */
	double blocked_ms; /* sum over its own victims: the time in which each was blocked */
};

struct ibcc_whose_share {
	enum ibcc_whose_basis basis;
	uint32_t n;
	struct ibcc_whose_part *part; /* contributors by their share, then victims; owned */
	/* Of all that contributed: adapters and times without a job. */
	uint16_t nobody_permille;
};

/* Divides a root's interval between the jobs that ran in it. *out is initialised by the call and
 * freed by ibcc_whose_share_fini(). -ENOMEM.
 */
int ibcc_whose_share_out(const struct ibcc_jobs *jobs, const struct ibcc_whose_hosts *hosts,
			 const struct ibcc_topo *t, const struct ibcc_whose_evidence *e,
			 struct ibcc_whose_share *out);
void ibcc_whose_share_fini(struct ibcc_whose_share *s);

/* What a job did and suffered over all roots of a polling cycle. Its runs count as one job. */
struct ibcc_whose_sum {
	uint32_t job; /* place of one of its runs in jobs->job[] */
	/* Its largest part in one root, by hosts of its own; 0 to 1000. Roots of which no mark
	 * shows what contributes do not count.
	 */
	uint16_t share_permille;
	uint32_t n_victims; /* adapters of its hosts that suffer, each once; shared ones too */
};

struct ibcc_whose_sums {
	uint32_t n;
#define IBCC_WHOSE_WORST 10u
	struct ibcc_whose_sum sum[IBCC_WHOSE_WORST]; /* the largest shares first, then victims */
	struct ibcc_whose_sum others;                /* all other jobs, as if they were one */
	/* The largest part in one root of hosts that jobs share, and of those without a job. */
	uint16_t shared_permille, nobody_permille;
};

/* Sums up n roots, each with its evidence and with how that was shared out. -ENOMEM. */
int ibcc_whose_sum_up(const struct ibcc_jobs *jobs, const struct ibcc_whose_hosts *hosts,
		      const struct ibcc_topo *t, const struct ibcc_whose_evidence *e,
		      const struct ibcc_whose_share *share, uint32_t n,
		      struct ibcc_whose_sums *out);

/* A job as a sentence names it: "job 4711 (ann, cfd)". A long name is cut. Returns buf. */
#define IBCC_WHOSE_LABEL_BYTES 192u
const char *ibcc_whose_label(const struct ibcc_job *job, char buf[IBCC_WHOSE_LABEL_BYTES]);

/* Says for one root which jobs cause the congestion and which suffer: "job 4711 (ann, cfd) fills
 * destination1 (leaf2 port 2); job 4712 (bob, lammps) is blocked". Without `names` a job has its
 * number alone. Empty where no job takes part. Returns the length as snprintf() does.
 */
int ibcc_whose_words(const struct ibcc_jobs *jobs, const struct ibcc_whose_share *s,
		     const char *root, bool names, char *buf, size_t len);

#endif
