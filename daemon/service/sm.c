/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/service/sm.h"

#include <errno.h>

#include <ibcc/smp.h>

#define PORT_DOWN    1u /* PortInfo:PortState */
#define PHYS_POLLING 2u /* PortInfo:PortPhysicalState */

int ibcc_sm_check(struct ibcc_transport *tr, struct ibcc_smp_port_info *info, struct ibcc_why *why)
{
	struct ibcc_mad_op op = { .lid = IBCC_SMP_PERMISSIVE_LID };
	const struct ibcc_smp_path self = { 0 };
	int rc;

	ibcc_smp_direct_get(op.mad, &self, IBCC_SMP_ATTR_PORT_INFO, 0);
	rc = ibcc_transport_run(tr, &op, 1);
	if (rc)
		return ibcc_why_set(why, rc, "the local port cannot be asked for its state");
	if (op.err == -ECANCELED)
		return ibcc_why_set(why, op.err, "canceled");
	if (op.err)
		return ibcc_why_set(why, -EHOSTUNREACH, "the local port does not answer");
	ibcc_smp_port_info_unpack(op.mad, info);
	/* A port without a link has no subnet manager either, but that is not what is wrong. */
	if (info->state == PORT_DOWN)
		return ibcc_why_set(
			why, -ENETDOWN,
			info->phys_state == PHYS_POLLING
				? "the link of the local port is down (Polling): it finds "
				  "no other end. Check its cable and the switch"
				: "the link of the local port is down. Check its cable, "
				  "and whether the port is disabled (ibportstate)");
	if (!info->sm_lid)
		return ibcc_why_set(why, -ENETDOWN,
				    "no subnet manager has set this port up: is opensm running?");
	return 0;
}
