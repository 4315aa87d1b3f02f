/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a scenario on the packet engine and measures it: means over the measuring window, and
 * samples over the whole time. Rates of flows and nodes count payload.
 */
#ifndef IBCC_MEASURE_H
#define IBCC_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include <ibcc/engine.h>
#include <ibcc/scenario.h>

/* NAN if there were none; the percentiles, to 6.25 %, also with more than 10000 flows. */
struct ibcc_measure_latency {
	double mean_us, p50_us, p99_us;
};

struct ibcc_measure_flow {
	double offered_mbps, throughput_mbps;
	double ideal_mbps;              /* NAN: too many pairs and ways to compute it */
	double latency_us;              /* mean of the packets received; NAN if there were none */
	double p50_us, p99_us, p999_us; /* their percentiles, to 6.25 %; NAN if there were none,
					 * and with more than 10000 flows */
	uint64_t received_pkts, refused_pkts, dropped_pkts, fecn, becn;
	double ccti;        /* mean of the samples in the window */
	uint64_t sent_pkts; /* again or not */
	uint64_t reordered_pkts;
	/* Of messages that were delivered whole; engine.h says when one begins. */
	struct ibcc_measure_latency message;
	uint64_t received_messages;
	struct ibcc_engine_conn conn; /* depth_max is that of the whole time */
};

struct ibcc_measure_port {
	double xmit_mbps, rcv_mbps; /* wire octets as PortXmitData counts them */
	/* Time on the wire of what it sent, VCRC and all, as a share of the window, by the rate in
	 * the topology.
	 */
	double utilisation;
	double wait, congested; /* shares of the window: nothing sent in spite of data; marking */
	double paused;          /* share of the window that its peer's PAUSE stopped it */
	uint64_t pauses_sent;   /* how often it stopped its peer */
	uint64_t bcn_negative, bcn_positive; /* messages about this output */
	uint64_t mark_fecn, rcv_fecn, rcv_becn, dropped;
	double backlog_bytes; /* mean of the samples in the window */
};

/* What channel adapters receive. Zero for switches. */
struct ibcc_measure_node {
	double offered_mbps; /* sum of the flows' for it, an equal part of those to all */
	double throughput_mbps, ideal_mbps;
	double capacity_mbps; /* by link and sink; NAN as the ideal */
};

/* Since the sample before. */
struct ibcc_measure_flow_sample {
	float throughput_mbps, latency_us; /* latency NAN if nothing was received */
	uint32_t fecn, becn;
	uint16_t ccti; /* now */
};
struct ibcc_measure_port_sample {
	float xmit_mbps, rcv_mbps;         /* wire; rcv: payload */
	float utilisation, wait;           /* shares of the interval */
	uint32_t mark_fecn, backlog_bytes; /* backlog: now */
};

struct ibcc_measure {
	uint64_t from_ps, to_ps;
	uint32_t n_flows, n_ports, n_nodes;
	struct ibcc_measure_flow *flow; /* in the scenario's order */
	struct ibcc_measure_port *port; /* by the topology's indices */
	struct ibcc_measure_node *node;
	/* Of the packets and of the messages of all flows of a kind together. */
	struct ibcc_measure_latency latency[IBCC_FLOW_KINDS], message[IBCC_FLOW_KINDS];
	uint32_t n_samples;
	uint64_t *sample_ps;                          /* end of each sample's interval */
	struct ibcc_measure_flow_sample *flow_sample; /* [sample * n_flows + flow] */
	struct ibcc_measure_port_sample *port_sample; /* [sample * n_ports + port] */
	struct ibcc_engine_totals totals;
	char deadlock[IBCC_DEADLOCK_BYTES]; /* what ended the run, after -EDEADLK; else "" */
};

/* A control loop that advances the engine's time, instead of the measurement alone. run() advances
 * the engine at least to until_ps; requests under way may take it beyond. Window and samples then
 * end where it does.
 */
struct ibcc_measure_driver {
	int (*start)(void *arg, struct ibcc_engine *e); /* at time 0, with traffic and settings */
	int (*run)(void *arg, uint64_t until_ps);
	void *arg;
};

/* Runs a scenario from 0 to its duration_ps, measuring from measure_from_ps on, with a sample each
 * sample_ps (0: none). Returns 0; -EINVAL (a model or flow that the engine refuses), -ENOENT (*bad,
 * may be NULL, names a node that is missing), -EDEADLK (outputs of switches wait for each other for
 * ever: out->deadlock names them), -ENOMEM. *out needs ibcc_measure_fini() after 0.
 */
int ibcc_measure_run(const struct ibcc_scenario *s, uint64_t sample_ps, struct ibcc_measure *out,
		     const char **bad);
/* As ibcc_measure_run(), with a driver; NULL: none. Returns also what its functions return. */
int ibcc_measure_run_driven(const struct ibcc_scenario *s, uint64_t sample_ps,
			    const struct ibcc_measure_driver *driver, struct ibcc_measure *out,
			    const char **bad);
void ibcc_measure_fini(struct ibcc_measure *m);

/* Sum of the throughputs of the flows of one kind. */
double ibcc_measure_kind_mbps(const struct ibcc_scenario *s, const struct ibcc_measure *m,
			      enum ibcc_flow_kind kind);

/* Share of the fair allocation that was delivered: sum of min(throughput, ideal) over sum of ideal,
 * over all flows. What a flow gets beyond its ideal does not make up for another's loss. NAN
 * without an ideal.
 */
double ibcc_measure_ideal_share(const struct ibcc_measure *m);

#endif
