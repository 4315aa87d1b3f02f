/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/job.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/text.h>

#define MESSAGE_MAX_BYTES (1u << 30)
#define WINDOW_MAX        65535

void ibcc_perf_job_fini(struct ibcc_perf_job *j)
{
	free(j->flow);
	free(j->qp);
	memset(j, 0, sizeof(*j));
}

static json_t *flow_json(const struct ibcc_perf_flow *f)
{
	return json_pack("{sI ss si si sf sf sI sI si sI sI sI sI sI sb}", "id", (json_int_t)f->id,
			 "name", f->name, "operation", (int)f->operation, "arrivals",
			 (int)f->arrivals, "rate_mbps", f->rate_mbps, "load", f->load,
			 "message_bytes", (json_int_t)f->message_bytes, "window",
			 (json_int_t)f->window, "sl", f->sl, "start_ns", (json_int_t)f->start_ns,
			 "stop_ns", (json_int_t)f->stop_ns, "on_ns", (json_int_t)f->on_ns, "off_ns",
			 (json_int_t)f->off_ns, "seed", (json_int_t)f->seed, "spread", f->spread);
}

static json_t *qp_json(const struct ibcc_perf_qp_spec *x)
{
	return json_pack("{sI sI sb ss}", "flow", (json_int_t)x->flow, "conn", (json_int_t)x->conn,
			 "active", x->active, "peer", x->peer);
}

json_t *ibcc_perf_job_json(const struct ibcc_perf_job *j)
{
	json_t *flows = json_array(), *ends = json_array();

	for (uint32_t i = 0; flows && i < j->n_flows; i++)
		json_array_append_new(flows, flow_json(&j->flow[i]));
	for (uint32_t i = 0; ends && i < j->n_qps; i++)
		json_array_append_new(ends, qp_json(&j->qp[i]));
	return json_pack("{sb ss ss si si si si si sb sb so so}", "cm", j->cm, "rdma_address",
			 j->rdma_address, "device", j->device, "port", j->port, "gid_index",
			 j->gid_index, "mtu_bytes", j->mtu_bytes, "ack_timeout", j->ack_timeout,
			 "retries", j->retries, "polling", j->polling, "verify", j->verify, "flows",
			 flows, "ends", ends);
}

static bool copy_name(char *to, const char *from)
{
	return snprintf(to, IBCC_NAME_BYTES, "%s", from) < (int)IBCC_NAME_BYTES;
}

static bool within(json_int_t v, json_int_t min, json_int_t max)
{
	return v >= min && v <= max;
}

static bool read_flow(struct ibcc_perf_flow *f, json_t *o)
{
	json_int_t id, bytes, window, start, stop, on, off, seed;
	int operation, arrivals, sl, spread;
	const char *name;

	if (json_unpack(o, "{sI ss si si sF sF sI sI si sI sI sI sI sI sb}", "id", &id, "name",
			&name, "operation", &operation, "arrivals", &arrivals, "rate_mbps",
			&f->rate_mbps, "load", &f->load, "message_bytes", &bytes, "window", &window,
			"sl", &sl, "start_ns", &start, "stop_ns", &stop, "on_ns", &on, "off_ns",
			&off, "seed", &seed, "spread", &spread))
		return false;
	if (!copy_name(f->name, name) || !within(id, 0, UINT32_MAX) ||
	    !within(operation, IBCC_VERBS_WRITE, IBCC_VERBS_READ) ||
	    !within(arrivals, IBCC_ARRIVALS_BACKLOGGED, IBCC_ARRIVALS_CLOSED) ||
	    !within(bytes, 1, MESSAGE_MAX_BYTES) || !within(window, 1, WINDOW_MAX) ||
	    !within(sl, 0, 15) || start < 0 || stop < 0 || on < 0 || off < 0 || (off && !on) ||
	    !(f->rate_mbps >= 0) || !(f->load >= 0 && f->load <= 1))
		return false;
	if (ibcc_arrivals_paced((enum ibcc_arrivals)arrivals) && !(f->rate_mbps + f->load > 0))
		return false;
	f->id = (uint32_t)id;
	f->operation = (enum ibcc_verbs_operation)operation;
	f->arrivals = (enum ibcc_arrivals)arrivals;
	f->message_bytes = (uint32_t)bytes;
	f->window = (uint32_t)window;
	f->sl = (uint8_t)sl;
	f->start_ns = (uint64_t)start;
	f->stop_ns = (uint64_t)stop;
	f->on_ns = (uint64_t)on;
	f->off_ns = (uint64_t)off;
	f->seed = (uint64_t)seed;
	f->spread = spread != 0;
	return true;
}

static bool read_qp(struct ibcc_perf_qp_spec *x, json_t *o, uint32_t n_flows)
{
	json_int_t flow, conn;
	const char *peer;
	int active;

	if (json_unpack(o, "{sI sI sb ss}", "flow", &flow, "conn", &conn, "active", &active, "peer",
			&peer) ||
	    !copy_name(x->peer, peer) || !within(flow, 0, (json_int_t)n_flows - 1) ||
	    !within(conn, 0, IBCC_PERF_MAX_QPS))
		return false;
	x->flow = (uint32_t)flow;
	x->conn = (uint32_t)conn;
	x->active = active != 0;
	return true;
}

static int read_lists(struct ibcc_perf_job *j, json_t *flows, json_t *ends, struct ibcc_why *e)
{
	size_t n_flows = json_array_size(flows), n_qps = json_array_size(ends), i;

	if (!n_flows || n_flows > IBCC_PERF_MAX_FLOWS || !n_qps || n_qps > IBCC_PERF_MAX_QPS)
		return ibcc_perf_fail(e, EPROTO,
				      "the coordinator sent a plan of %zu flow%s and %zu end%s of "
				      "connections, which this host does not take",
				      n_flows, ibcc_text_plural(n_flows, "", "s"), n_qps,
				      ibcc_text_plural(n_qps, "", "s"));
	j->flow = calloc(n_flows, sizeof(*j->flow));
	j->qp = calloc(n_qps, sizeof(*j->qp));
	if (!j->flow || !j->qp)
		return ibcc_perf_fail(e, ENOMEM, "memory for %zu flow%s", n_flows,
				      ibcc_text_plural(n_flows, "", "s"));
	j->n_flows = (uint32_t)n_flows;
	j->n_qps = (uint32_t)n_qps;
	for (i = 0; i < n_flows; i++)
		if (!read_flow(&j->flow[i], json_array_get(flows, i)))
			return ibcc_perf_fail(
				e, EPROTO,
				"the coordinator sent a flow that is not valid, number %zu", i);
	for (i = 0; i < n_qps; i++)
		if (!read_qp(&j->qp[i], json_array_get(ends, i), j->n_flows))
			return ibcc_perf_fail(
				e, EPROTO,
				"the coordinator sent a connection that is not valid, number %zu",
				i);
	return 0;
}

int ibcc_perf_job_read(struct ibcc_perf_job *j, const json_t *o, struct ibcc_why *e)
{
	int cm, port, gid_index, mtu, timeout, retries, polling, verify, rc;
	json_t *flows, *ends;
	const char *device, *address;

	memset(j, 0, sizeof(*j));
	if (json_unpack((json_t *)o, "{sb ss ss si si si si si sb sb so so}", "cm", &cm,
			"rdma_address", &address, "device", &device, "port", &port, "gid_index",
			&gid_index, "mtu_bytes", &mtu, "ack_timeout", &timeout, "retries", &retries,
			"polling", &polling, "verify", &verify, "flows", &flows, "ends", &ends) ||
	    !copy_name(j->device, device) || strchr(device, '/') || !within(port, 0, 254) ||
	    !within(gid_index, -1, 255) || !within(mtu, 0, 4096) || !within(timeout, 1, 31) ||
	    !within(retries, 0, 7))
		return ibcc_perf_fail(e, EPROTO,
				      "the coordinator sent an invalid request to open a port");
	if (snprintf(j->rdma_address, sizeof(j->rdma_address), "%s", address) >=
	    (int)sizeof(j->rdma_address))
		return ibcc_perf_fail(e, EPROTO,
				      "the coordinator sent an RDMA address that is too long");
	j->cm = cm != 0;
	j->port = (uint8_t)port;
	j->gid_index = gid_index;
	j->mtu_bytes = (uint16_t)mtu;
	j->ack_timeout = (uint8_t)timeout;
	j->retries = (uint8_t)retries;
	j->polling = polling != 0;
	j->verify = verify != 0;
	rc = read_lists(j, flows, ends, e);
	if (rc)
		ibcc_perf_job_fini(j);
	return rc;
}
