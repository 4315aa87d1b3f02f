/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which local port to open. The port may be named by its GUID, which libibumad cannot do. Private
 * to lib/mad.
 */
#ifndef IBCC_MAD_UMAD_PORT_H
#define IBCC_MAD_UMAD_PORT_H

#include <stddef.h>
#include <stdint.h>

#include <infiniband/umad.h>

#include <ibcc/transport.h>

struct ibcc_umad_port {
	char ca[UMAD_CA_NAME_LEN];
	int num;
	uint64_t guid;
	uint64_t prefix; /* of its subnet */
	uint16_t lid, sm_lid;
};

/* Finds the port that the options ask for: by GUID; by name and number; or the first that is
 * active, else the first with link.
 *
 * If the options name no port and active ports are on several fabrics, the result is -ENOTUNIQ
 * instead of a guess. Fabrics differ by their subnet prefixes or by their subnet managers' LIDs. If
 * these are equal, the subnet managers are asked for their GUIDs; -ENOTUNIQ, too, if one of them
 * does not answer.
 *
 * Returns 0, or -ENODEV; with a sentence in why.
 */
int ibcc_umad_port_find(const struct ibcc_umad_options *o, struct ibcc_umad_port *out, char *why,
			size_t len);

/* Reads the LIDs again, which the SM may have changed. -ENODEV if the port is gone. */
int ibcc_umad_port_refresh(struct ibcc_umad_port *p);

#endif
