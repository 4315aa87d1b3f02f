/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A daemon that may write marking profiles, on a fabric of HDR and NDR whose subnet manager moves
 * and whose answers get lost. A test that includes this is linked alone, because of its host.
 */
#ifndef TESTS_SIM_NVIDIA_H
#define TESTS_SIM_NVIDIA_H

#include "services.h"

#include "lib/state/state_db.h"

#include <infiniband/mad.h>

#include <ibcc/smp.h>
#include <ibcc/vendor_cc.h>

#define PASS_PS (1000 * IBCC_PS_PER_US)

/* This host has no port, and counts how often it is searched for one. */
static unsigned int n_searches;

bool __wrap_ibcc_umad_is_local(uint64_t port_guid);
bool __wrap_ibcc_umad_is_local(uint64_t port_guid)
{
	(void)port_guid;
	n_searches++;
	return false;
}

/* A transport that also answers for the own port, and can lose what is asked of a port's profiles.
 */
struct line {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	uint16_t lid, sm_lid;
	uint16_t then_sm_lid;         /* the subnet manager from the first Set on; 0: the same */
	uint8_t lost_gets, lost_sets; /* of the profiles of this port; 0: of none */
	uint16_t away;                /* what is for this LID is lost; 0: nothing is */
	unsigned int n_sets;
};

struct scene {
	struct loop l;
	struct line line;
	struct ibcc_config c;
	struct ibcc_service *s;
	struct ibcc_why why;
	char conf[512];
	uint8_t before[3][IBCC_CC_DATA_BYTES]; /* by port of q2 */
};

static inline int line_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct line *l = (struct line *)t;

	for (size_t i = 0; i < n; i++) {
		uint8_t *mad = op[i].mad;
		bool profile = mad[1] == IBCC_MAD_CLASS_CC && mad[16] == 0xff && mad[17] == 0x09;
		uint8_t lost = mad[3] == IBCC_MAD_SET ? l->lost_sets : l->lost_gets;

		l->n_sets += mad[3] == IBCC_MAD_SET;
		if (mad[3] == IBCC_MAD_SET && l->then_sm_lid)
			l->sm_lid = l->then_sm_lid;
		op[i].err = op[i].status = 0;
		if (op[i].lid == IBCC_SMP_PERMISSIVE_LID) {
			mad_set_field(mad, 64, IB_PORT_LID_F, l->lid);
			mad_set_field(mad, 64, IB_PORT_SMLID_F, l->sm_lid);
			mad_set_field(mad, 64, IB_PORT_STATE_F, 4);
		} else if ((profile && lost && mad[23] == lost) ||
			   (l->away && op[i].lid == l->away)) {
			op[i].err = -ETIMEDOUT;
		} else {
			assert_int_equal(ibcc_transport_run(l->inner, &op[i], 1), 0);
		}
	}
	t->stats = l->inner->stats;
	return 0;
}

static inline uint64_t line_now(struct ibcc_transport *t)
{
	return ibcc_transport_now_ns(((struct line *)t)->inner);
}

static inline void line_free(struct ibcc_transport *t)
{
	ibcc_transport_free(((struct line *)t)->inner);
}

static const struct ibcc_transport_ops line_ops = { .run = line_run,
						    .now_ns = line_now,
						    .free = line_free };

static inline uint16_t lid_of(const struct scene *x, const char *desc)
{
	const struct ibcc_topo *t = x->l.sc.topo;
	uint32_t node = ibcc_topo_find_desc(t, desc);

	return t->port[t->node[node].first_port + !ibcc_topo_is_switch(t, node)].lid;
}

/* The scenario with a profile that marks too late for its buffers. Later another server gets slow,
 * at port 2 of the same switch.
 */
static const char *late(void)
{
	static const struct {
		const char *from, *to;
	} edit[] = { { "  - {sink: n1, rate: 60 Gb/s}\n",
		       "  - {sink: n1, rate: 60 Gb/s}\n"
		       "  - {sink: n2, at_ms: 10, rate: 2 Gb/s}\n" },
		     { "buffer_bytes: 1048576", "buffer_bytes: 131072" },
		     { "{min: 100000, max: 400000, percent: 20}",
		       "{min: 1000000, max: 1040000, percent: 1}" } };
	char *text = files_read("perftest/scenarios/hdr-ndr.yaml"), *next;
	const char *path;

	for (size_t i = 0; i < sizeof(edit) / sizeof(edit[0]); i++) {
		char *at = strstr(text, edit[i].from);

		assert_non_null(at);
		*at = '\0';
		assert_true(asprintf(&next, "%s%s%s", text, edit[i].to, at + strlen(edit[i].from)) >
			    0);
		free(text);
		text = next;
	}
	path = files_write("late.yaml", text);
	free(text);
	return path;
}

/* The profiles of the port at which the congestion starts. */
static inline void profiles(struct scene *x, unsigned int port, uint8_t *data)
{
	struct ibcc_mad_op op = { .lid = lid_of(x, "q2") };

	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, IBCC_VCC_ATTR_SW_PROFILE, port);
	assert_int_equal(ibcc_transport_run(x->line.inner, &op, 1), 0);
	assert_int_equal(op.err, 0);
	memcpy(data, op.mad + IBCC_MAD_DATA_OFFS, IBCC_CC_DATA_BYTES);
}

static inline bool is_written(struct scene *x)
{
	uint8_t now[IBCC_CC_DATA_BYTES];

	for (unsigned int port = 1; port <= 2; port++) {
		profiles(x, port, now);
		if (memcmp(now, x->before[port], sizeof(now)) != 0)
			return true;
	}
	return false;
}

static inline void open_service(struct scene *x)
{
	x->l.tr = &x->line.base;
	x->s = services_open(&x->l, &x->c);
	x->s->listens = true;
	assert_int_equal(ibcc_cycle_set_topology(&x->s->cycle, ibcc_topo_clone(x->l.sc.topo)), 0);
	assert_int_equal(ibcc_service_open_state(x->s, &x->why), 0);
}

/* A daemon at h1 with a subnet manager at `sm`; `conf` is in its vendor_opensm_conf, NULL: there is
 * none.
 */
static inline void open_scene(struct scene *x, const char *db, int mode, const char *sm,
			      const char *conf)
{
	*x = (struct scene){ .line.base.ops = &line_ops };
	loop_open(&x->l, late(), &loop_hardware, NULL);
	assert_int_equal(ibcc_agents_equip(x->l.agents, &x->l.sc, NULL), 0);
	x->line.inner = x->l.tr;
	x->line.lid = lid_of(x, "h1");
	x->line.sm_lid = lid_of(x, sm);
	services_config(&x->c);
	snprintf(x->c.state_file, sizeof(x->c.state_file), "%.200s", files_path(db));
	x->c.mode = mode;
	x->c.vendor_writes = IBCC_VENDOR_WRITES_EXPERIMENTAL;
	if (conf)
		snprintf(x->c.vendor_opensm_conf, sizeof(x->c.vendor_opensm_conf), "%.200s",
			 files_write("nvidia.conf", conf));
	for (unsigned int port = 1; port <= 2; port++)
		profiles(x, port, x->before[port]);
	open_service(x);
}

static inline void close_scene(struct scene *x)
{
	services_close(&x->l, x->s);
	loop_end(&x->l);
}

/* The daemon is gone at once, and another one starts. */
static inline void restart(struct scene *x)
{
	x->s->transport = NULL;
	ibcc_service_free(x->s);
	open_service(x);
}

static inline void passes(struct scene *x, unsigned int n)
{
	while (n--)
		if (services_pass(&x->l, x->s, PASS_PS, &x->why))
			fail_msg("%s", x->why.text);
}

/* Passes until something is written; false: nothing was in 40 of them. */
static inline bool writes(struct scene *x)
{
	for (unsigned int i = 0; i < 40; i++) {
		unsigned int sets = x->line.n_sets;

		passes(x, 1);
		if (x->line.n_sets > sets)
			return true;
	}
	return false;
}

static inline void assert_said(const struct scene *x, const char *words)
{
	if (!strstr(x->why.text, words))
		fail_msg("%s", x->why.text);
}

/* A scene in which the daemon has written port 1 of q2 and is about to end. */
static inline void open_end(struct scene *x, const char *db)
{
	open_scene(x, db, IBCC_MODE_APPLY, "h1", "mlnx_congestion_control 0\n");
	assert_true(writes(x));
	x->s->config.mode = x->c.mode = IBCC_MODE_OBSERVE;
}

#endif
