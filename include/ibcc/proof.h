/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which roots have proved contributors. Contributors are worked out along the forwarding tables,
 * but packets of some SLs need not follow these (adaptive routing, private tables, hashes). They
 * are also worked out among the nodes that answer, which need not be all nodes.
 */
#ifndef IBCC_PROOF_H
#define IBCC_PROOF_H

#include <stdint.h>

#include <ibcc/estimate.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

#define IBCC_UNPROVED_NAMED 3u

/* Roots for which it is unknown whether their packets follow the forwarding tables. */
struct ibcc_unproved {
	uint32_t n;
	struct {
		uint32_t port;
		uint16_t sls; /* loose ones that it sends on; 0: not known */
	} first[IBCC_UNPROVED_NAMED];
};

/* Makes the estimate to decide by from the measured one. A root that sends on none of the `loose`
 * SLs stays seen. The others are as if only known, and are listed in *who. sls has, by the index of
 * the roots seen, the SLs that each sends on. 0: not known, so the root is proved only if no SL is
 * loose. Two more kinds of roots are not seen: those to which silent nodes may send 2 % or more of
 * what they carry (IBCC_TRACE_SHARE), and those that hide behind such nodes.
 * ibcc_estimate:n_unknown counts them. *to borrows all but its array of roots, which the caller
 * frees. -ENOMEM.
 */
int ibcc_proof_run(const struct ibcc_estimate *from, uint16_t loose, const uint16_t *sls,
		   struct ibcc_estimate *to, struct ibcc_unproved *who);

/* The unproved roots by name and SL, in words; empty if there are none. */
void ibcc_proof_text(const struct ibcc_topo *t, const struct ibcc_unproved *who,
		     struct ibcc_why *text);

#endif
