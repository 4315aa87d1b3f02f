/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asks which subnet manager a local port belongs to (SMInfo); for hosts with ports on several
 * fabrics.
 */
#include "lib/mad/umad_sm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include <ibcc/mad.h>
#include <ibcc/smp.h>

#define TIMEOUT_MS 1000
#define TRIES      2

/* Makes one attempt. Ignores an answer to an earlier attempt. */
static int ask(int fd, int agent, void *buf, uint16_t sm_lid, uint32_t tid, uint64_t *guid)
{
	uint8_t mad[IBCC_MAD_BYTES];
	struct ibcc_mad_header h;

	ibcc_mad_request(mad, IBCC_MAD_CLASS_SMP, IBCC_MAD_GET, IBCC_SMP_ATTR_SM_INFO, 0);
	ibcc_mad_header_unpack(mad, &h);
	h.tid = tid;
	ibcc_mad_header_pack(mad, &h);
	memset(buf, 0, umad_size());
	memcpy(umad_get_mad(buf), mad, sizeof(mad));
	umad_set_addr(buf, sm_lid, 0, 0, 0);
	if (umad_send(fd, agent, buf, IBCC_MAD_BYTES, TIMEOUT_MS, 0) < 0)
		return -EIO;
	for (uint32_t i = 0; i < tid; i++) {
		int len = IBCC_MAD_BYTES;

		if (umad_recv(fd, buf, &len, 2 * TIMEOUT_MS) < 0)
			return -ETIMEDOUT;
		memcpy(mad, umad_get_mad(buf), sizeof(mad));
		ibcc_mad_header_unpack(mad, &h);
		if ((uint32_t)h.tid != tid)
			continue;
		if (umad_status(buf))
			return -ETIMEDOUT;
		if (len < (int)IBCC_MAD_BYTES || h.method != IBCC_MAD_GET_RESP || h.status)
			return -EBADMSG;
		*guid = mad_get_field64(mad + IB_SMP_DATA_OFFS, 0, IB_SMINFO_GUID_F);
		return *guid ? 0 : -EBADMSG;
	}
	return -ETIMEDOUT;
}

int ibcc_umad_sm_guid(const struct ibcc_umad_port *p, uint64_t *guid)
{
	int fd = umad_open_port(p->ca, p->num);
	int agent = fd < 0 ? -1 : umad_register(fd, IBCC_MAD_CLASS_SMP, 1, 0, NULL);
	void *buf = agent < 0 ? NULL : calloc(1, umad_size() + IBCC_MAD_BYTES);
	int rc = -ETIMEDOUT;

	if (!buf)
		rc = agent < 0 ? -EACCES : -ENOMEM;
	for (uint32_t i = 1; buf && rc == -ETIMEDOUT && i <= TRIES; i++)
		rc = ask(fd, agent, buf, p->sm_lid, i, guid);
	free(buf);
	if (agent >= 0)
		umad_unregister(fd, agent);
	if (fd >= 0)
		umad_close_port(fd);
	return rc;
}
