/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What can be asked of a running simulator, as JSON. */
#ifndef SIM_REQUESTS_H
#define SIM_REQUESTS_H

#include <jansson.h>

#include "sim/ibsim.h"
#include "sim/pace.h"
#include "sim/proxy.h"
#include "sim/world.h"

struct ibcc_control_conn;

/* The parts that requests read and change. */
struct ibcc_requests {
	struct ibcc_world *world;
	struct ibcc_pace *pace;
	struct ibcc_proxy *proxy;
	struct ibcc_ibsim *ibsim;
	void (*changed)(void *arg); /* the console may have changed the fabric */
	void *arg;
};

/* As ibcc_control_request, for a struct ibcc_requests. */
json_t *ibcc_requests_answer(void *arg, struct ibcc_control_conn *c, const json_t *rq);

#endif
