/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults of links and routes that congestion control does not cure: a plan has to name them, or it
 * throttles hosts where a cable should be replaced.
 */
#ifndef IBCC_FAULTS_H
#define IBCC_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

enum ibcc_fault_kind {
	IBCC_FAULT_SLOW,   /* the link runs slower than both its ends can; ibcc_topo_is_slow() */
	IBCC_FAULT_ERRORS, /* the port's error counters grew; ibcc_link_errors_judge() */
};

struct ibcc_fault {
	enum ibcc_fault_kind kind;
	uint32_t port; /* fabric-wide index; of a slow link one end, a switch's if it has one */
	bool on_tree;  /* packets of a congestion root's sources go through this link, or the root
			* is there
			*/
};

struct ibcc_faults {
	uint32_t n, cap;
	uint32_t n_slow, n_errors; /* of them: links, ports */
	struct ibcc_fault *fault;  /* owned; in order of the port index */
};

/* Finds the faulty links of a fabric, by PortInfo and by the last readings of error counters. `e`
 * has the congestion roots; NULL: they are not known, and no fault is on a tree. *out is
 * initialised by the call and freed by ibcc_faults_fini(). All arguments must be of one topology.
 * -ENOMEM.
 */
int ibcc_faults_find(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_estimate *e, struct ibcc_faults *out);
void ibcc_faults_fini(struct ibcc_faults *f);

/* A fault in words: what it is, what it means, what to do. Rates are in Mb/s. Returns the length as
 * snprintf() does.
 */
int ibcc_faults_text(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_fault *f, char *buf, size_t len);

/* Words about a credit loop in the routes between hosts: outputs of switches that wait for each
 * other's buffers in a circle. Empty: there is none. Service levels that keep routes apart by their
 * VLs are not seen; the text says so where a link of the loop has several VLs. -ENOMEM.
 */
int ibcc_faults_find_loop(const struct ibcc_topo *t, struct ibcc_why *text);

#endif
