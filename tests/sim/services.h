/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's service on virtual time, with a state file, over the transport of a loop. */
#ifndef TEST_SERVICES_H
#define TEST_SERVICES_H

#include "loop.h"

#include "tests/unit/files.h"

#include <time.h>

#include <ibcc/now.h>

#include "daemon/service/service_impl.h"

/* A daemon in mode apply that writes by its own port. */
static inline void services_config(struct ibcc_config *c)
{
	ibcc_config_defaults(c, NULL);
	c->mode = IBCC_MODE_APPLY;
	c->apply_via = IBCC_VIA_DIRECT;
	assert_true(snprintf(c->state_file, sizeof(c->state_file), "%s", files_path("state.db")) <
		    (int)sizeof(c->state_file));
}

/* Opens the service as the daemon does, but with the transport of a loop instead of a port. The
 * transport belongs to the service then.
 */
static inline struct ibcc_service *services_open(struct loop *l, const struct ibcc_config *c)
{
	struct ibcc_cycle_options o = { .estimator = c->estimator, .tuner = c->tuner };
	struct ibcc_service *s = ibcc_service_new(c, 0);

	assert_non_null(s);
	s->transport = l->tr;
	s->applier = ibcc_applier_direct_new(l->tr, 0, false);
	assert_non_null(s->applier);
	ibcc_applier_set_bounds(s->applier, &c->bounds);
	assert_int_equal(ibcc_cycle_init(&s->cycle, &o, l->tr), 0);
	return s;
}

static inline void services_close(struct loop *l, struct ibcc_service *s)
{
	l->tr = NULL;
	ibcc_service_free(s);
}

/* Runs the fabric for an interval, then a pass, which does not look for another topology. */
static inline int services_pass(struct loop *l, struct ibcc_service *s, uint64_t interval_ps,
				struct ibcc_why *why)
{
	assert_int_equal(ibcc_engine_run(l->engine, ibcc_engine_now_ps(l->engine) + interval_ps),
			 0);
	s->again.last_ns = ibcc_now_ns();
	return ibcc_service_pass(s, NULL, why);
}

#endif
