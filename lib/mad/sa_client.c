/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A client of subnet administration over libibumad (sa_client.h): one request at a time, and
 * reports in between.
 */
#include "lib/mad/sa_client.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include <ibcc/now.h>

#define SA_VERSION 2
#define TIMEOUT_MS 1000
#define SLICE_MS   200
#define DRAIN_MS   5000

int ibcc_sa_open(struct ibcc_sa_client *c, const struct ibcc_umad_options *o)
{
	/* Only one program of a host can receive a port's reports. */
	long methods[16 / sizeof(long)] = { 1l << IBCC_MAD_REPORT };
	char why[128];

	c->fd = c->agent = -1;
	c->tid = (uint32_t)ibcc_now_ms() << 8;
	if (ibcc_umad_port_find(o, &c->port, why, sizeof(why)) < 0)
		return -ENODEV;
	c->sm_lid = c->port.sm_lid;
	c->fd = umad_open_port(c->port.ca, c->port.num);
	if (c->fd < 0)
		return -EACCES;
	c->buf = calloc(1, umad_size() + IBCC_MAD_BYTES);
	if (!c->buf)
		return -ENOMEM;
	c->agent = umad_register(c->fd, IBCC_MAD_CLASS_SA, SA_VERSION, 0, methods);
	c->hears = c->agent >= 0;
	if (!c->hears)
		c->agent = umad_register(c->fd, IBCC_MAD_CLASS_SA, SA_VERSION, 0, NULL);
	return c->agent < 0 ? -EBUSY : 0;
}

int ibcc_sa_send(struct ibcc_sa_client *c, const uint8_t *mad, int timeout_ms)
{
	memset(c->buf, 0, umad_size());
	memcpy(umad_get_mad(c->buf), mad, IBCC_MAD_BYTES);
	umad_set_addr(c->buf, c->sm_lid, 1, 0, IB_DEFAULT_QP1_QKEY);
	umad_set_pkey(c->buf, 0);
	return umad_send(c->fd, c->agent, c->buf, IBCC_MAD_BYTES, timeout_ms, 0) < 0 ? -EIO : 0;
}

/* Takes one datagram, if one comes in time. True: it ends the request with number `tid`. *err is 0
 * if *mad is its answer. A number of 0 stands for no request.
 */
static bool receive(struct ibcc_sa_client *c, int wait_ms, uint32_t tid, uint8_t *mad, int *err)
{
	uint8_t got[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_mad_header h;
	int len = IBCC_MAD_BYTES;

	memset(c->buf, 0, umad_size() + IBCC_MAD_BYTES);
	if (umad_recv(c->fd, c->buf, &len, wait_ms) < 0 || len < (int)IBCC_MAD_HEADER_BYTES)
		return false;
	memcpy(got, umad_get_mad(c->buf), len < (int)IBCC_MAD_BYTES ? (size_t)len : IBCC_MAD_BYTES);
	ibcc_mad_header_unpack(got, &h);
	if (h.method != IBCC_MAD_REPORT && c->n_open)
		c->n_open--;
	if (tid && (uint32_t)h.tid == tid && h.method != IBCC_MAD_REPORT) {
		*err = umad_status(c->buf) ? -ETIMEDOUT : 0;
		memcpy(mad, got, sizeof(got));
		return true;
	}
	/* Only the subnet manager's reports count and are answered: any node can send some. */
	if (!umad_status(c->buf) && len == (int)IBCC_MAD_BYTES && c->report &&
	    be16toh(umad_get_mad_addr(c->buf)->lid) == c->sm_lid)
		c->report(c, got, c->arg);
	return false;
}

void ibcc_sa_listen(struct ibcc_sa_client *c, int wait_ms)
{
	uint8_t mad[IBCC_MAD_BYTES];
	int err;

	receive(c, wait_ms, 0, mad, &err);
}

static bool drain(struct ibcc_sa_client *c)
{
	int64_t until = ibcc_now_ms() + DRAIN_MS;

	while (c->n_open && ibcc_now_ms() < until)
		ibcc_sa_listen(c, SLICE_MS);
	return !c->n_open;
}

void ibcc_sa_close(struct ibcc_sa_client *c)
{
	if (drain(c)) {
		if (c->agent >= 0)
			umad_unregister(c->fd, c->agent);
		if (c->fd >= 0)
			umad_close_port(c->fd);
	}
	free(c->buf);
	c->fd = c->agent = -1;
	c->buf = NULL;
}

int ibcc_sa_ask(struct ibcc_sa_client *c, uint8_t mad[IBCC_MAD_BYTES], unsigned int tries)
{
	struct ibcc_mad_header h;

	for (unsigned int i = 0; i < tries; i++) {
		int64_t until = ibcc_now_ms() + 2 * TIMEOUT_MS;
		int err = -ETIMEDOUT;

		ibcc_mad_header_unpack(mad, &h);
		h.tid = ++c->tid ? c->tid : ++c->tid;
		ibcc_mad_header_pack(mad, &h);
		if (ibcc_sa_send(c, mad, TIMEOUT_MS))
			return -EIO;
		c->n_open++;
		while (ibcc_now_ms() < until) {
			uint8_t answer[IBCC_MAD_BYTES];

			if (!receive(c, SLICE_MS, (uint32_t)h.tid, answer, &err))
				continue;
			if (!err)
				memcpy(mad, answer, IBCC_MAD_BYTES);
			break;
		}
		if (!err)
			return 0;
	}
	return -ETIMEDOUT;
}
