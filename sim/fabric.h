/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The data plane of a simulated fabric: engine, agents and traffic, kept in step with what the
 * observer sees of the control plane.
 */
#ifndef SIM_FABRIC_H
#define SIM_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/agents.h>
#include <ibcc/engine.h>
#include <ibcc/scenario.h>
#include <ibcc/topo.h>

struct ibcc_sim_fabric;

/* Without a scenario there is a default model and no traffic; it must outlive the fabric. NULL
 * without memory.
 */
struct ibcc_sim_fabric *ibcc_sim_fabric_new(const struct ibcc_scenario *s);
void ibcc_sim_fabric_free(struct ibcc_sim_fabric *fab);

/* Takes over the topology that was observed, whose nodes are in ascending order of GUIDs. Small
 * changes are made in the running engine; others build a new one, in which time and counters go on.
 * `t` passes to the fabric. Returns 0, or -errno if all is as before.
 */
int ibcc_sim_fabric_update(struct ibcc_sim_fabric *fab, struct ibcc_topo *t);

/* Advances engine time. Returns 0, -ENOMEM. */
int ibcc_sim_fabric_run(struct ibcc_sim_fabric *fab, uint64_t until_ps);
uint64_t ibcc_sim_fabric_now_ps(const struct ibcc_sim_fabric *fab);
/* As ibcc_engine_deadlock(). */
int ibcc_sim_fabric_deadlock(const struct ibcc_sim_fabric *fab, char *buf, size_t len);

/* Sets the function to call at a link event of the scenario, since cables are pulled in ibsim. */
typedef void ibcc_sim_fabric_link_event(void *arg, const struct ibcc_event_spec *v);
void ibcc_sim_fabric_on_link_event(struct ibcc_sim_fabric *fab, ibcc_sim_fabric_link_event *fn,
				   void *arg);

/* Answers a MAD from the node with a GUID to a LID. 0, or -ETIMEDOUT if there is no route or no
 * answer.
 */
int ibcc_sim_fabric_answer(struct ibcc_sim_fabric *fab, uint64_t from_guid, uint16_t dlid,
			   uint32_t qp, const uint8_t *rq, uint8_t *reply);
/* LID of the node's first endport, 0 if it has none. */
uint16_t ibcc_sim_fabric_lid(const struct ibcc_sim_fabric *fab, uint64_t guid);
/* GUID of the node that has a LID; 0: none. */
uint64_t ibcc_sim_fabric_lid_guid(const struct ibcc_sim_fabric *fab, uint16_t lid);

/* The node where an SMP's directed route ends that starts at another node, or IBCC_NONE. */
uint32_t ibcc_sim_fabric_route_end(const struct ibcc_topo *t, uint32_t node, const uint8_t *smp);

/* Loss at the node that a request goes to, by its LID or directed route; 0 if that is not known. */
uint16_t ibcc_sim_fabric_loss(const struct ibcc_sim_fabric *fab, uint64_t from_guid, uint16_t dlid,
			      const uint8_t *rq);

/* The node of the fabric that a name of the scenario means, or a text as ibcc_topo_find_node() has
 * it. -ENOENT, -ENOTUNIQ.
 */
int ibcc_sim_fabric_find(const struct ibcc_sim_fabric *fab, const char *name, uint32_t *node);

/* Knobs; 0, -ENOENT (no such node), -ENOTUNIQ (several), -EINVAL, -ENOMEM. */
int ibcc_sim_fabric_set_traffic(struct ibcc_sim_fabric *fab, bool on);
bool ibcc_sim_fabric_traffic(const struct ibcc_sim_fabric *fab);
int ibcc_sim_fabric_set_support(struct ibcc_sim_fabric *fab, const char *node, bool on);
int ibcc_sim_fabric_set_loss(struct ibcc_sim_fabric *fab, const char *node, uint16_t permille);
int ibcc_sim_fabric_set_port_block(struct ibcc_sim_fabric *fab, const char *node, uint8_t n);
int ibcc_sim_fabric_reboot(struct ibcc_sim_fabric *fab, const char *node);
/* The quirks of a node; NULL: no such node. */
struct ibcc_agent_quirks *ibcc_sim_fabric_quirks(struct ibcc_sim_fabric *fab, const char *node);
int ibcc_sim_fabric_set_sink_rate(struct ibcc_sim_fabric *fab, const char *node, uint32_t mbps);

/* The present topology; NULL before the first update. */
const struct ibcc_topo *ibcc_sim_fabric_topo(const struct ibcc_sim_fabric *fab);
struct ibcc_agents *ibcc_sim_fabric_agents(struct ibcc_sim_fabric *fab);

/* A flow of the scenario with its sums over all engines. */
struct ibcc_sim_fabric_flow {
	const struct ibcc_flow_spec *spec;
	struct ibcc_engine_flow sum;
	const char *missing; /* an end node of the flow that the fabric does not show, or NULL */
	uint32_t mbps; /* payload received, over the last IBCC_SIM_FABRIC_SAMPLE_PS to twice that */
};
#define IBCC_SIM_FABRIC_SAMPLE_PS (5 * IBCC_PS_PER_MS)
uint32_t ibcc_sim_fabric_n_flows(const struct ibcc_sim_fabric *fab);
void ibcc_sim_fabric_flow_read(const struct ibcc_sim_fabric *fab, uint32_t i,
			       struct ibcc_sim_fabric_flow *out);

#endif
