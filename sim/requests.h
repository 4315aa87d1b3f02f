/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What can be asked of a running simulator, as JSON. */
#ifndef SIM_REQUESTS_H
#define SIM_REQUESTS_H

#include <jansson.h>

#include <ibcc/jsonl.h>

#include "sim/fabric.h"
#include "sim/ibsim.h"
#include "sim/pace.h"
#include "sim/proxy.h"

/* The parts that requests read and change. */
struct ibcc_requests {
	struct ibcc_sim_fabric *fabric;
	struct ibcc_pace *pace;
	struct ibcc_proxy *proxy;
	struct ibcc_ibsim *ibsim;
	struct ibcc_jsonl *server;
	const struct ibcc_topo *names; /* the fabric as ibsim's file has it */
	uint64_t console_client;       /* the client that waits for the console */
	void (*changed)(void *arg);    /* the console may have changed the fabric */
	void *arg;
};

/* An ibcc_jsonl_fn, for a struct ibcc_requests. */
void ibcc_requests_answer(void *arg, const struct ibcc_jsonl_request *r);

#endif
