/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that are faster than stock ibsim knows, and slow cables. In ibsim the fast ones run at
 * IBCC_NETFILE_IBSIM_SPEED, and what ibsim says of such a port is changed to the link's own speed.
 * The ports of a slow cable support what their nodes' fastest links run at.
 */
#ifndef SIM_FAST_H
#define SIM_FAST_H

#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_fast;

/* The fast links and slow cables of a fabric, as its file has them. `t` must outlive them. NULL
 * without memory. */
struct ibcc_fast *ibcc_fast_new(const struct ibcc_topo *t);
void ibcc_fast_free(struct ibcc_fast *f);

/* Amends a request of a client at the node with a GUID, or ibsim's answer to it. One that goes by
 * its LID is for the node with the GUID `by_lid`; 0: not known.
 */
void ibcc_fast_amend(const struct ibcc_fast *f, uint64_t client_guid, uint64_t by_lid,
		     uint8_t *mad);

/* Amends PortInfo, 64 bytes, of a port of the node with a GUID. */
void ibcc_fast_amend_port_info(const struct ibcc_fast *f, uint64_t guid, unsigned int num,
			       uint8_t *info);

#endif
