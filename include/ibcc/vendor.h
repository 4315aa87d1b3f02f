/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What NVIDIA's own mechanisms do at each endport of a fabric, as far as devices report it. */
#ifndef IBCC_VENDOR_H
#define IBCC_VENDOR_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/counters.h>
#include <ibcc/estimate.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>
#include <ibcc/transport.h>
#include <ibcc/vendor_cc.h>
#include <ibcc/why.h>

/* What became of a question. */
enum ibcc_vendor_told {
	IBCC_VENDOR_UNASKED,
	IBCC_VENDOR_TOLD,
	IBCC_VENDOR_REFUSED, /* it knows no such attribute */
	IBCC_VENDOR_SILENT,
	IBCC_VENDOR_SPARED, /* not asked: others of its type said nothing */
};

enum ibcc_vendor_cc {
	IBCC_VENDOR_CC_NONE, /* the node does not have it, as far as is known */
	IBCC_VENDOR_CC_OFF,
	IBCC_VENDOR_CC_ON,
	IBCC_VENDOR_CC_SILENT, /* it has, but does not say whether it is on: a CC_Key is lacking */
};

struct ibcc_vendor_endport {
	enum ibcc_vendor_told general, settings;
	struct ibcc_vcc_general_info can; /* with general TOLD */
	enum ibcc_vendor_cc cc;
	bool reacts;           /* an adapter: slows down, and does not only notify others */
	bool counts;           /* has HCAStatisticsQuery */
	bool lists;            /* has HCAAlgoConfig */
	uint32_t buffer_bytes; /* a switch: of all its ports, by settings TOLD; 0: not reported */
	/* The algorithm that runs for SL 0, if congestion control is on and the device reports it.
	 * n_slots 0: not reported.
	 */
	struct ibcc_vcc_ca_algorithm algorithm;
	/* A switch: SLs whose packets need not follow its forwarding table, because of adaptive
	 * routing, hash based forwarding or private tables. All SLs if the switch can do this but
	 * does not report it.
	 */
	uint16_t loose_sls;
	/* Since the statistics were read before; 0 when they were not. */
	struct ibcc_vcc_ca_statistics last, grown;
	bool last_known;
	uint64_t last_ns; /* when they were read last, by the transport's clock */
	bool grown_known; /* read twice in a row, and not cleared between the two */
	/* The port's counters when the statistics were read last, and what it sent and received in
	 * the interval of `grown`. interval_ns 0: not known.
	 */
	struct ibcc_counters counters;
	bool counters_known;
	uint64_t interval_ns, xmit_bytes, rcv_bytes;
};

/* By endport index of the topology that it was made for; all zero is one of no fabric. */
struct ibcc_vendor {
	uint32_t n;
	struct ibcc_vendor_endport *ep; /* owned */
	uint32_t n_off, n_on, n_silent; /* endports */
	uint32_t n_marking, n_reacting; /* of n_on: switches, and adapters that slow down */
	uint32_t n_loose;               /* switches with loose_sls */
	uint16_t loose_sls;             /* of any */
	uint64_t again_ns;              /* when those that were silent may be asked again */
	uint64_t statistics_ns;         /* when the statistics were read last; 0: never */
};

void ibcc_vendor_fini(struct ibcc_vendor *v);

/* Goes over to another topology (`from` NULL: the first), and keeps what the nodes that are in both
 * have reported. -ENOMEM leaves *v as it was.
 */
int ibcc_vendor_rebase(struct ibcc_vendor *v, const struct ibcc_topo *from,
		       const struct ibcc_topo *to);

/* Asks NVIDIA's devices. Each device that has not been asked yet is asked what it can do (SMP
 * GeneralInfo by LID, two at once). Then each one that can is asked whether its congestion control
 * is on (class 0x21).
 *
 * The cheapest questions come first. Three devices of each type are asked before the others of that
 * type, which are not asked if these three are silent. Where a CC_Key may be lacking, one device of
 * a type is asked before all, since every node counts wrong keys. A type with protected SMPs is
 * asked by class 0x21. Devices that kept silent to class 0x21 are not asked for five minutes.
 *
 * Sends Gets only. Returns 0, -ENOMEM, -EIO, -ECANCELED; what was learnt before a failure holds.
 */
int ibcc_vendor_ask(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		    struct ibcc_vendor *v);

/* Asks switches that can route in other ways than by their forwarding table whether they do; two
 * SMPs at once. Call it after ibcc_vendor_ask(); it returns as that does.
 */
int ibcc_vendor_ask_routes(struct ibcc_transport *tr, const struct ibcc_topo *t,
			   struct ibcc_vendor *v);

/* Reads the statistics of adapters with NVIDIA's congestion control on, every ten seconds at most,
 * and takes from a snapshot of just before what their ports have counted. With `marks` it reads
 * them each time, and the snapshot gets CNPs and marked packets as BECNs and FECNs of adapters that
 * do not count these. Returns as ibcc_vendor_ask() does.
 */
int ibcc_vendor_count(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		      bool marks, struct ibcc_snapshot *s, struct ibcc_vendor *v);

/* Asks adapters with NVIDIA's congestion control on which algorithms they have, and whether that of
 * slot 0 runs for SL 0. Call it after ibcc_vendor_ask(); it returns as that does.
 */
int ibcc_vendor_ask_algorithms(struct ibcc_transport *tr, const struct ibcc_topo *t,
			       uint64_t cc_key, struct ibcc_vendor *v);

/* An answer about parameters: an adapter's, or those of one port of a switch. */
struct ibcc_vendor_answer {
	uint32_t endport;
	uint8_t port;     /* of a switch; 0: an adapter */
	uint16_t attr_id; /* see ibcc_vcc_fields() */
	uint8_t data[IBCC_CC_DATA_BYTES];
};

/* An attribute that ports of a device type have not answered: adapters, or linked ports of
 * switches.
 */
struct ibcc_vendor_unread {
	uint32_t endport; /* the first of the type */
	uint16_t attr_id;
	const char *attribute; /* its name */
	uint32_t n;            /* ports that were to be read, also those that answered */
	uint32_t n_refused, n_silent;
	uint32_t n_late;   /* not reached before the transport's deadline */
	uint32_t n_spared; /* not asked: the first ones of the type did not answer */
};

/* Answers in the order of endports, ports and attributes. All zero is empty. */
struct ibcc_vendor_parameters {
	uint32_t n, n_unread;
	struct ibcc_vendor_answer *answer; /* owned */
	struct ibcc_vendor_unread *unread; /* owned */
};
void ibcc_vendor_parameters_fini(struct ibcc_vendor_parameters *p);

/* Reads the parameters of all endports, or of those of `which` (by endport), that have said whether
 * their congestion control is on: one Get for each of two attributes at an adapter and at each
 * linked port of a switch. One port of each of three devices of a type is asked first, and the
 * others only for what one of these answered. Fills the uninitialised *p; what was not answered is
 * counted there. Call it after ibcc_vendor_ask(); it returns as that does.
 */
int ibcc_vendor_ask_parameters(struct ibcc_transport *tr, const struct ibcc_topo *t,
			       uint64_t cc_key, const struct ibcc_vendor *v, const bool *which,
			       struct ibcc_vendor_parameters *p);

/* Takes an answer over into the settings that were read: a port's marking profiles, those of them
 * that its SLs use, or an adapter's parameters. Other answers change nothing. -ENOMEM.
 */
int ibcc_vendor_take(const struct ibcc_vendor *v, const struct ibcc_topo *t,
		     const struct ibcc_vendor_answer *a, struct ibcc_settings *s);

/* What a switch port and one of its data VLs have of the buffer of all ports. That each has an
 * equal share is an assumption. 0: the switch reports none.
 */
uint32_t ibcc_vendor_port_buffer(uint32_t switch_bytes, const struct ibcc_topo *t, uint32_t port);

/* Counts again what the members n_* are sums of. */
void ibcc_vendor_sum(struct ibcc_vendor *v, const struct ibcc_topo *t);

/* What NVIDIA's congestion control means for the annex's settings at an endport: it is on there,
 * the node does not report whether it is on, or nothing (IBCC_CC_SUPPORTED). See
 * ibcc_endport_judge().
 */
enum ibcc_cc_support ibcc_vendor_block(const struct ibcc_vendor *v, uint32_t endport);

/* Marks the changes of nodes that may have NVIDIA's congestion control by their device IDs. Before
 * anything is written to such a node, it is asked once more, whatever else is known of it.
 */
void ibcc_vendor_mark(const struct ibcc_topo *t, struct ibcc_plan *plan);

/* Does NVIDIA's congestion control work in this fabric: does a switch mark and an adapter react?
 * Then its operator decides, and nothing is written anywhere.
 */
static inline bool ibcc_vendor_rules(const struct ibcc_vendor *v)
{
	return v->n_marking && v->n_reacting;
}

/* Describes the algorithm: "algorithm slot 0 (algorithm 1, version 2.3)", or "no algorithm of slot
 * 0" if that does not run. If the endport does not report it, sets "" and returns false.
 */
bool ibcc_vendor_algorithm(const struct ibcc_vendor_endport *e, char *buf, size_t len);
/* One sentence, "NVIDIA congestion control is on: ..."; empty if it is on at no node. */
void ibcc_vendor_text(const struct ibcc_vendor *v, struct ibcc_why *text);
/* One sentence about switches that do not route by their table alone; empty if all do. */
void ibcc_vendor_routes_text(const struct ibcc_vendor *v, struct ibcc_why *text);

/* What the operator can change in NVIDIA's congestion control about the congestion seen. */
enum ibcc_vendor_advice_code {
	IBCC_VENDOR_ADVICE_NONE,     /* there is nothing to be said */
	IBCC_VENDOR_ADVICE_SWITCH,   /* the first root does not mark: let its switch */
	IBCC_VENDOR_ADVICE_ADAPTERS, /* it marks, but some that contribute do not react: let them */
	IBCC_VENDOR_ADVICE_PROFILE, /* all do, and it is congested: mark earlier, react otherwise */
};

struct ibcc_vendor_advice {
	enum ibcc_vendor_advice_code code;
	const struct ibcc_root *root; /* the estimate's; NULL with NONE */
};
struct ibcc_vendor_advice ibcc_vendor_advise(const struct ibcc_vendor *v, const struct ibcc_topo *t,
					     const struct ibcc_estimate *p);
/* Says in words what the operator can change; empty with NONE. */
void ibcc_vendor_advice_text(const struct ibcc_vendor *v, const struct ibcc_topo *t,
			     struct ibcc_vendor_advice advice, struct ibcc_why *text);

#endif
