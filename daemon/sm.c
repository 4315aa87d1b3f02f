/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/sm.h"

#include <errno.h>
#include <stdio.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

int ibcc_sm_check(const char *ca, int port, int timeout_ms, struct ibcc_why *why)
{
	int classes[] = { IB_SMI_DIRECT_CLASS };
	char name[UMAD_CA_NAME_LEN] = "";
	uint8_t info[IB_SMP_DATA_SIZE] = { 0 };
	ib_portid_t self = { 0 };
	struct ibmad_port *p;
	int rc = 0;

	if (ca)
		snprintf(name, sizeof(name), "%s", ca);
	p = mad_rpc_open_port(ca ? name : NULL, port, classes, 1);
	if (!p)
		return ibcc_why_set(why, errno ? -errno : -EIO, "cannot open the port for SMPs");
	if (!smp_query_via(info, &self, IB_ATTR_PORT_INFO, 0, (unsigned int)timeout_ms, p))
		rc = ibcc_why_set(why, -EIO, "the local port does not answer");
	else if (!mad_get_field(info, 0, IB_PORT_SMLID_F))
		rc = ibcc_why_set(why, -ENETDOWN,
				  "no subnet manager has set this port up: is opensm running?");
	mad_rpc_close_port(p);
	return rc;
}
