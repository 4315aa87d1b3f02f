/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/port.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/text.h>

#define GIDS_MAX 256

/* The errno of a failed call. Verbs set errno or return it, and some providers do neither. */
static int why(void)
{
	return errno > 0 ? errno : EIO;
}

/* Data rate by the width and speed that a port reports: lanes times the rate of a lane, without
 * coding (IBA vol. 1, 14.2.5.6).
 */
static uint32_t rate_mbps(const struct ibv_port_attr *a)
{
	static const struct {
		uint8_t speed;
		double lane;
	} speeds[] = { { 1, 2000 },   { 2, 4000 },   { 4, 8000 },   { 8, 10000 },
		       { 16, 13636 }, { 32, 25000 }, { 64, 50000 }, { 128, 100000 } };
	unsigned int lanes = a->active_width == 1   ? 1
			     : a->active_width == 2 ? 4
			     : a->active_width == 4 ? 8
			     : a->active_width == 8 ? 12
						    : 2;

	for (size_t i = 0; i < sizeof(speeds) / sizeof(*speeds); i++)
		if (a->active_speed == speeds[i].speed)
			return (uint32_t)(lanes * speeds[i].lane);
	return 0;
}

static bool is_zero(const union ibv_gid *g)
{
	return !g->global.subnet_prefix && !g->global.interface_id;
}

/* Finds a GID that Ethernet routes: RoCE v2 with an IPv4 address, then any RoCE v2, then any GID at
 * all.
 */
static int find_gid(struct ibcc_perf_port *p, struct ibcc_why *e)
{
	int best = -1, best_rank = 0, i, n = p->attr.gid_tbl_len;

	for (i = 0; i < n && i < GIDS_MAX; i++) {
		struct ibv_gid_entry g;
		int rank = 1;

		if (ibv_query_gid_ex(p->context, p->num, (uint32_t)i, &g, 0) || is_zero(&g.gid))
			continue;
		if (g.gid_type == IBV_GID_TYPE_ROCE_V2)
			rank = !memcmp(g.gid.raw, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12) ? 3 : 2;
		if (rank > best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	if (best < 0)
		return ibcc_perf_fail(e, 0,
				      "%s port %u has no GID: has its network device an "
				      "address?",
				      p->name, p->num);
	p->gid_index = best;
	return 0;
}

static int open_port(struct ibcc_perf_port *p, const struct ibcc_perf_job *j, uint8_t num,
		     struct ibcc_why *e)
{
	int rc = ibv_query_port(p->context, num, &p->attr);

	if (rc)
		return ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_query_port of %s port %u",
				      p->name, num);
	if (p->attr.state != IBV_PORT_ACTIVE)
		return ibcc_perf_fail(e, ENETDOWN, "%s port %u is %s", p->name, num,
				      ibv_port_state_str(p->attr.state));
	p->num = num;
	p->rate_mbps = rate_mbps(&p->attr);
	p->mtu = p->attr.active_mtu;
	for (int m = IBV_MTU_256; j->mtu_bytes && m <= (int)p->attr.active_mtu; m++)
		if (128u << m == j->mtu_bytes)
			p->mtu = (enum ibv_mtu)m;
	if (j->mtu_bytes && 128u << p->mtu != j->mtu_bytes)
		return ibcc_perf_fail(
			e, 0,
			"%s port %u has an MTU of %u bytes, less than the plan's mtu_bytes, %u",
			p->name, num, 128u << p->mtu, j->mtu_bytes);
	p->global = p->attr.link_layer == IBV_LINK_LAYER_ETHERNET || !p->attr.lid;
	p->gid_index = j->gid_index;
	if (p->gid_index < 0 && p->global && find_gid(p, e))
		return -ENODEV;
	if (p->gid_index >= 0)
		p->global = true;
	else
		p->gid_index = 0;
	if (ibv_query_gid(p->context, num, p->gid_index, &p->gid))
		return ibcc_perf_fail(e, why(), "ibv_query_gid of %s port %u, index %d", p->name,
				      num, p->gid_index);
	return 0;
}

/* Finds the first active port, if the job does not name one. */
static int find_port(struct ibcc_perf_port *p, const struct ibcc_perf_job *j, struct ibcc_why *e)
{
	struct ibcc_why last = { "" };
	int rc = ibv_query_device(p->context, &p->device);

	if (rc)
		return ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_query_device of %s", p->name);
	if (j->port)
		return open_port(p, j, j->port, e);
	rc = -ENODEV;
	for (uint8_t n = 1; rc && n <= p->device.phys_port_cnt; n++) {
		last = (struct ibcc_why){ "" };
		rc = open_port(p, j, n, &last);
	}
	return rc ? ibcc_perf_fail(e, 0, "%s", *last.text ? last.text : "the device has no ports")
		  : 0;
}

/* Opens devices in turn until one fits what is asked for. */
static int find_device(struct ibcc_perf_port *p, const struct ibcc_perf_job *j,
		       struct ibv_device **list, int n, struct ibcc_why *e)
{
	struct ibcc_why last = { "" };
	int i, rc = -ENODEV;

	for (i = 0; rc && i < n; i++) {
		const char *name = ibv_get_device_name(list[i]);

		if (*j->device && strcmp(j->device, name))
			continue;
		last = (struct ibcc_why){ "" };
		snprintf(p->name, sizeof(p->name), "%s", name);
		p->context = ibv_open_device(list[i]);
		if (!p->context) {
			rc = ibcc_perf_fail(&last, why(), "ibv_open_device of %s", p->name);
			continue;
		}
		rc = find_port(p, j, &last);
		if (!rc)
			break;
		if (ibv_close_device(p->context))
			ibcc_perf_fail(&last, why(), "ibv_close_device of %s", p->name);
		p->context = NULL;
	}
	if (!rc)
		return 0;
	if (*last.text)
		return ibcc_perf_fail(e, 0, "%s", last.text);
	return ibcc_perf_fail(
		e, 0,
		*j->device ? "there is no RDMA device %s on this host (ibv_devices lists them)"
			   : "there is no RDMA device on this host%s",
		j->device);
}

static int share(struct ibcc_perf_port *p, const struct ibcc_perf_job *j, struct ibcc_why *e)
{
	errno = 0;
	p->pd = ibv_alloc_pd(p->context);
	if (!p->pd)
		return ibcc_perf_fail(e, why(), "ibv_alloc_pd on %s", p->name);
	if (j->polling)
		return 0;
	p->channel = ibv_create_comp_channel(p->context);
	if (!p->channel)
		return ibcc_perf_fail(e, why(), "ibv_create_comp_channel on %s", p->name);
	/* No thread may block in ibv_get_cq_event(): the loop also polls other descriptors. */
	if (fcntl(p->channel->fd, F_SETFL, fcntl(p->channel->fd, F_GETFL) | O_NONBLOCK))
		return ibcc_perf_fail(e, errno, "cannot set up the completion events of %s",
				      p->name);
	return 0;
}

int ibcc_perf_port_open(struct ibcc_perf_port *p, const struct ibcc_perf_job *j, struct ibcc_why *e)
{
	struct ibv_device **list;
	int n = 0, rc;

	memset(p, 0, sizeof(*p));
	errno = 0;
	list = ibv_get_device_list(&n);
	if (!list)
		return ibcc_perf_fail(e, why(), "ibv_get_device_list");
	rc = find_device(p, j, list, n, e);
	ibv_free_device_list(list);
	return rc ? rc : share(p, j, e);
}

int ibcc_perf_port_completions(struct ibcc_perf_port *p, uint32_t n, struct ibcc_why *e)
{
	int rc;

	if (n > (uint32_t)p->device.max_cqe)
		return ibcc_perf_fail(e, 0,
				      "the plan needs a completion queue of %u entr%s here, and %s "
				      "allows %d: use smaller windows or fewer queue pairs",
				      n, ibcc_text_plural(n, "y", "ies"), p->name,
				      p->device.max_cqe);
	errno = 0;
	p->cq = ibv_create_cq(p->context, (int)n, NULL, p->channel, 0);
	if (!p->cq)
		return ibcc_perf_fail(e, why(), "ibv_create_cq of %u entr%s on %s", n,
				      ibcc_text_plural(n, "y", "ies"), p->name);
	if (!p->channel)
		return 0;
	rc = ibv_req_notify_cq(p->cq, 0);
	return rc ? ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_req_notify_cq on %s", p->name) : 0;
}

int ibcc_perf_port_close(struct ibcc_perf_port *p, struct ibcc_why *e)
{
	int rc, first = 0;

	if (p->cq && p->unacked)
		ibv_ack_cq_events(p->cq, p->unacked);
	if (p->cq && (rc = ibv_destroy_cq(p->cq)))
		first = ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_destroy_cq on %s", p->name);
	if (p->channel && (rc = ibv_destroy_comp_channel(p->channel)))
		first = ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_destroy_comp_channel on %s",
				       p->name);
	if (p->pd && (rc = ibv_dealloc_pd(p->pd)))
		first = ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_dealloc_pd on %s", p->name);
	if (p->context && (rc = ibv_close_device(p->context)))
		first = ibcc_perf_fail(e, rc > 0 ? rc : why(), "ibv_close_device of %s", p->name);
	memset(p, 0, sizeof(*p));
	return first;
}
