/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks the local port whether it has a link and a subnet manager, so that a user gets one
 * sentence about that instead of errors about the fabric (sm.h).
 */
#include "daemon/service/sm.h"

#include <errno.h>

#include <ibcc/smp.h>

#define PORT_DOWN 1u /* PortInfo:PortState */

/* PortInfo:PortPhysicalState (IBA vol. 1, 14.2.5.6). */
static const char *phys_name(unsigned int phys_state)
{
	static const char *const names[] = {
		"no state change",           "Sleep",  "Polling",           "Disabled",
		"PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"
	};

	return phys_state < sizeof(names) / sizeof(names[0]) ? names[phys_state] : "unknown";
}

int ibcc_sm_check(struct ibcc_transport *tr, struct ibcc_smp_port_info *info, struct ibcc_why *why)
{
	struct ibcc_mad_op op = { .lid = IBCC_SMP_PERMISSIVE_LID };
	const struct ibcc_smp_path self = { 0 };
	int rc;

	ibcc_smp_direct_get(op.mad, &self, IBCC_SMP_ATTR_PORT_INFO, 0);
	rc = ibcc_transport_run(tr, &op, 1);
	if (rc)
		return ibcc_why_set(why, rc,
				    "the daemon cannot read the state of the local port, so "
				    "nothing is decided: see ibstat");
	if (op.err == -ECANCELED)
		return ibcc_why_set(why, op.err, "canceled");
	if (op.err)
		return ibcc_why_set(
			why, -EHOSTUNREACH,
			"the local port does not answer, so nothing is decided: see ibstat");
	ibcc_smp_port_info_unpack(op.mad, info);
	/* A port without a link has no subnet manager either, but that is not what is wrong. */
	if (info->state == PORT_DOWN)
		return ibcc_why_set(why, -ENETDOWN,
				    "the local port is down (%s): it has no link to the fabric. "
				    "Check the cable, the "
				    "switch port, and whether one of the two is disabled "
				    "(ibportstate), or choose "
				    "another port by ca and port",
				    phys_name(info->phys_state));
	if (!info->sm_lid)
		return ibcc_why_set(why, -ENETDOWN,
				    "no subnet manager has set this port up: is opensm running?");
	return 0;
}
