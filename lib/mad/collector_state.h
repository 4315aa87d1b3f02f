/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the collector, shared by its files: collector.c reads counters, collector_caps.c what
 * can be counted.
 */
#ifndef IBCC_MAD_COLLECTOR_STATE_H
#define IBCC_MAD_COLLECTOR_STATE_H

#include <ibcc/collect.h>
#include <ibcc/device.h>
#include <ibcc/pma.h>
#include <ibcc/units.h>

#include "lib/mad/batch.h"
#include "lib/mad/collector_ask.h"
#include "lib/mad/collector_marks.h"

enum ibcc_ask_kind {
	IBCC_ASK_CLASS, /* tag index: node; all others but LOG and SUM*: port */
	IBCC_ASK_CONTROL,
	IBCC_ASK_LOG,
	IBCC_ASK_EXT,
	IBCC_ASK_PLAIN,
	IBCC_ASK_CON,
	IBCC_ASK_SLS,
	IBCC_ASK_ERRORS,
	IBCC_ASK_SUM,      /* all ports of a switch together: PortCountersExtended, */
	IBCC_ASK_SUM_WAIT, /* and PortCounters where the former lacks PortXmitWait */
};

/* State of the sum over a switch's ports: see collector_sums.c. */
struct ibcc_switch_sum {
	bool can;      /* ClassPortInfo has AllPortSelect, and counters of 64 bits */
	bool lies;     /* the node answers with something other than the sum */
	bool idle;     /* all ports were read when the sum was taken, and hardly anything moved */
	bool has_base; /* what the sums were at that time */
	uint64_t base_words, base_ticks;
	uint32_t age; /* passes since that time */
	/* in this pass */
	bool asked, answered, missing;
	bool quiet; /* its ports need not be read */
	uint64_t words, ticks, t_ns;
};

struct ibcc_node_state {
	uint64_t guid;
	bool known;    /* capabilities are as the node said */
	bool silent;   /* no port answered in the last pass */
	bool left_out; /* of this pass: it is not asked */
	bool answered;
	int err; /* why `known` is false */
	/* of capabilities: the last answer stays valid, if there was one */
	struct ibcc_refusal refusal;
	struct ibcc_refusal sl_refusal; /* of PortXmitDataSL, or silence to it */
	bool ext, ext_wait, plain_wait;
	uint32_t vendor_id;
	const struct ibcc_device *device; /* by its IDs; NULL: not known */
	bool kernel_pma;                  /* see <ibcc/device.h> */
	uint32_t stops; /* how many counters stop at their end, as seen at this type of device */
	struct ibcc_pma_redirect redirect; /* where its counters are, as the node says */
	struct ibcc_switch_sum sum;
};

struct ibcc_port_state {
	uint64_t guid; /* of the node: with the port's number the identity */
	uint8_t num;
	bool known;                /* PortSamplesControl was answered, if only by a refusal */
	bool has_tick, fecn, becn; /* reported by a genuine answer */
	uint8_t tick, tries;
	struct ibcc_refusal refusal, con_refusal; /* of PortSamplesControl, PortRcvConCtrl */
	/* PortXmitDataSL, for which few ports are asked: collector_sls.c. */
	uint64_t sl_pass; /* the pass that read it last; 0: none */
	bool sls_add_up;  /* the SLs add up to what the port sent, as far as is known */
	uint16_t sls;
	uint32_t sl_words[IBCC_PMA_SLS];
	uint64_t errors_due; /* the pass from which on its link's errors are read again */
	/* in this pass */
	bool asked, got;
	bool errors_asked, errors_got;
	int err;
	uint64_t t_ns, late_ns; /* when the reading came, and how late at most */
	uint16_t errors[IBCC_LINK_ERRORS];
	struct ibcc_counters now;
	uint64_t last_t_ns, last_late_ns; /* of the last reading */
};

struct ibcc_collector {
	uint64_t pass;      /* number of passes over all ports that have ended */
	const bool *only;   /* by port: those to read; NULL: all; borrowed */
	bool simulated;     /* see ibcc_transport:simulated, as in the last pass */
	unsigned int still; /* passes in a row in which the fabric's time stood still */
	struct ibcc_mark_logs marks;
	struct ibcc_units *units;
	struct ibcc_node_state *node;
	struct ibcc_port_state *port;
	uint32_t n_nodes, n_ports;
	uint64_t deadline_ns; /* of a pass, from its beginning; 0: none */
	struct ibcc_batch batch;
};

/* The LID that answers for a port, 0 if none does. */
uint16_t ibcc_collector_lid(const struct ibcc_topo *t, uint32_t port);
bool ibcc_collector_is_active(const struct ibcc_topo *t, uint32_t port);
/* An active port of a node, through which the node is asked; IBCC_NONE if there is none. */
uint32_t ibcc_collector_first_active(const struct ibcc_topo *t, uint32_t node);

/* Sends a node's PerfMgt request to where the node redirects such requests. */
void ibcc_collector_redirect(const struct ibcc_collector *c, const struct ibcc_topo *t,
			     uint32_t node, struct ibcc_mad_op *op);
/* Gathers a PerfMgt Get of a node, sent to where the node redirects such requests; -ENOMEM. */
int ibcc_collector_pma_get(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t node,
			   uint16_t lid, uint16_t attr_id, uint8_t port, struct ibcc_batch_tag tag);
/* Gathers a request about a port; -ENOMEM. */
int ibcc_collector_add(struct ibcc_collector *c, const struct ibcc_topo *t, uint32_t port,
		       enum ibcc_ask_kind kind, uint16_t attr_id);
/* Sends what was gathered and takes the answers. The second function does so only if enough was
 * gathered.
 */
int ibcc_collector_flush(struct ibcc_collector *c, struct ibcc_transport *tr,
			 const struct ibcc_topo *t);
int ibcc_collector_flush_if_full(struct ibcc_collector *c, struct ibcc_transport *tr,
				 const struct ibcc_topo *t);

/* collector_record.c. The first function returns how long an answer took, which is how late it may
 * have come. The second makes samples of a pass's readings.
 */
uint64_t ibcc_collector_late(const struct ibcc_mad_op *op);
void ibcc_collector_record(struct ibcc_collector *c, const struct ibcc_topo *t,
			   struct ibcc_snapshot *s);

/* collector_caps.c. Asks nodes for capabilities that are not known yet, silent nodes for a sign of
 * life, and ports for what they count; takes the answers. Returns as ibcc_collector_pass().
 */
int ibcc_caps_ask_classes(struct ibcc_collector *c, struct ibcc_transport *tr,
			  const struct ibcc_topo *t);
int ibcc_caps_ask_controls(struct ibcc_collector *c, struct ibcc_transport *tr,
			   const struct ibcc_topo *t);
void ibcc_caps_take_class(struct ibcc_collector *c, const struct ibcc_mad_op *op, uint32_t node);
void ibcc_caps_take_control(struct ibcc_collector *c, const struct ibcc_mad_op *op, uint32_t port);

/* collector_errors.c. The pass in which a port is asked for the first time; whether it is asked in
 * this pass; takes what PortCounters says.
 */
uint64_t ibcc_errors_first(const struct ibcc_collector *c, uint32_t port);
void ibcc_errors_plan(const struct ibcc_collector *c, struct ibcc_port_state *p);
void ibcc_errors_take(struct ibcc_port_state *p, const uint8_t *mad);

/* collector_sums.c: one request for all ports of a quiet switch, in place of one for each port. The
 * functions ask, using the readings of the pass before, and say which switches are quiet. They take
 * the ports of those as read and unchanged, and look at the switches whose ports were read. The
 * first returns as ibcc_collector_pass().
 */
int ibcc_sums_ask(struct ibcc_collector *c, struct ibcc_transport *tr, const struct ibcc_topo *t,
		  const struct ibcc_snapshot *s);
void ibcc_sums_fill(struct ibcc_collector *c, const struct ibcc_topo *t);
void ibcc_sums_judge(struct ibcc_collector *c, const struct ibcc_topo *t,
		     const struct ibcc_snapshot *s);
void ibcc_sums_take(struct ibcc_collector *c, const struct ibcc_mad_op *op, enum ibcc_ask_kind kind,
		    uint32_t node);

#endif
