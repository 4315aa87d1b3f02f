/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose contributors are proved: they are worked out along the forwarding tables, which packets of
 * some SLs need not follow (adaptive routing, private tables, hashes), and among the nodes that
 * answer, which need not be all.
 */
#ifndef IBCC_PROOF_H
#define IBCC_PROOF_H

#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

#define IBCC_UNPROVED_NAMED 3u

/* Roots of which nobody knows whether their packets go by the forwarding tables. */
struct ibcc_unproved {
	uint32_t n;
	struct {
		uint32_t port;
		uint16_t sls; /* loose ones that it sends on; 0: not known */
	} first[IBCC_UNPROVED_NAMED];
};

/* Makes of an estimate the one to decide by: of its roots those are seen that do not send on one of
 * the `loose` SLs, the others are as if only known, and in *who. sls: by the index of those seen,
 * what they send on; 0: not known, so that they are proved only if no SL is loose. Roots to which
 * nodes that do not answer may send 2 % or more of what they carry (IBCC_TRACE_SHARE), or that hide
 * behind such nodes, are not seen either; ibcc_estimate:n_unknown counts them. *to borrows all but
 * its array of roots, which the caller frees. -ENOMEM.
 */
int ibcc_proof_run(const struct ibcc_estimate *from, uint16_t loose, const uint16_t *sls,
		   struct ibcc_estimate *to, struct ibcc_unproved *who);

/* Those roots by name and SL, in words; empty if there are none. */
void ibcc_proof_text(const struct ibcc_topo *t, const struct ibcc_unproved *who,
		     struct ibcc_why *text);

#endif
