/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a fabric: port counters into a snapshot, congestion control settings into settings. */
#ifndef IBCC_COLLECT_H
#define IBCC_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/topo.h>
#include <ibcc/transport.h>
#include <ibcc/units.h>
#include <ibcc/walk.h>
#include <ibcc/why.h>

struct ibcc_collector; /* capabilities of each port, read once, and when it was read last */

/* NULL without memory. */
struct ibcc_collector *ibcc_collector_new(void);
void ibcc_collector_free(struct ibcc_collector *c);

/* Lets a new collector go on with another topology, `t`, where `old` was with `from`. The new one
 * asks for capabilities again, but knows when each port was read last, and how late. -ENOMEM.
 */
int ibcc_collector_follow(struct ibcc_collector *c, const struct ibcc_topo *t,
			  const struct ibcc_collector *old, const struct ibcc_topo *from);

/* Ends each pass after `ns` nanoseconds (0: never). Ports that were not read by then are stale, or
 * unreachable with -ETIMEDOUT. Nodes that were silent or are new get at most a quarter of that time
 * before the others have their turn.
 */
void ibcc_collector_set_deadline(struct ibcc_collector *c, uint64_t ns);

/* Until this is called again, passes read these ports alone (by index; borrowed; NULL: all, as at
 * first), and the logs of their nodes. The other ports keep their readings, as IBCC_SAMPLE_KEPT.
 * What is asked again after some passes waits for as many passes over all ports. The first pass
 * over a topology must read all.
 */
void ibcc_collector_confine(struct ibcc_collector *c, const bool *port);

/* The fabric has changed: the next pass asks again, and not only after some time, for what nodes
 * refused or did not answer. It also reads each port by itself.
 */
void ibcc_collector_ask_again(struct ibcc_collector *c);

/* One pass over all active ports of t. It reads the capabilities of ports that are not known yet
 * (ClassPortInfo, PortSamplesControl). Then it reads XmitData, pkts and XmitWait (extended where
 * the port has them), and FECN and BECN of channel adapters. *s must be sized for t (-EINVAL). Each
 * pass may bring another topology, with the snapshot rebased to it. Times are by
 * ibcc_transport_fabric_ns(). Reads only.
 *
 * Error counters of links are in PortCounters, which most ports are not asked for. So each port is
 * asked for them once in 16 passes, in each pass a part of the ports: one MAD more for each 16 that
 * read counters. Ports of a switch that is quiet are not asked.
 *
 * The pass reads CongestionLog (IBA vol. 1, Annex A10) of the switches that mark by `actual`, the
 * settings of t (NULL: of none), and of those that are IBCC_CC_LOG_ONLY there, with one MAD for
 * each. Entries that are new since the last reading
 * go into ibcc_snapshot:mark. The ports that have marked since then go into
 * ibcc_port_sample:marked, if the switch reports any. Reading the log resets LogEventsCounter and
 * PortMap on the switch. Marks are a sample: if an answer gets lost, its entries come with the next
 * one, if the switch still has them. The first log only sets the point from which entries count; so
 * does the first one after a longer while. Returns 0, -ENOMEM, -ECANCELED, or -EIO when the
 * transport is gone; *s is untouched then.
 */
int ibcc_collector_pass(struct ibcc_collector *c, struct ibcc_transport *tr,
			const struct ibcc_topo *t, struct ibcc_snapshot *s, uint64_t cc_key,
			const struct ibcc_settings *actual);

/* After a pass: reads PortXmitDataSL of some active ports. For each it gives a mask of the SLs that
 * the port sent on since the last reading: those with one part in 50 of its data or more, and those
 * whose counter has saturated. 0: not known yet, or the counters of the SLs do not add up to what
 * the port sent. If a port is silent, its last mask stays valid for three passes. Sends one MAD for
 * each port; asks nodes that refuse less and less often. Returns 0, -EINVAL (another topology),
 * -ENOMEM, -EIO, -ECANCELED.
 */
int ibcc_collector_read_sls(struct ibcc_collector *c, struct ibcc_transport *tr,
			    const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			    const uint32_t *port, uint32_t n, uint16_t *sls);

/* Clears PortXmitDataSL of those ports that had a counter beyond half its range at the last
 * ibcc_collector_read_sls(), and goes on from zero. A saturated counter is useless, and a full link
 * at 4X EDR saturates one within two seconds. Sends Sets. Returns as ibcc_collector_read_sls()
 * does.
 */
int ibcc_collector_clear_sls(struct ibcc_collector *c, struct ibcc_transport *tr,
			     const struct ibcc_topo *t, const uint32_t *port, uint32_t n);

/* Clears counters of 32 bits that have passed half their range, before they stop at its end, and
 * makes the snapshot count on from there: data, packets and PortXmitWait of PortCounters, FECN and
 * BECN of PortRcvConCtrl. Counters of 64 bits are left alone. Sends Sets, so it is no part of a dry
 * run. *n_cleared ports were; those that did not answer are tried again by the next call. Returns
 * 0, -ENOMEM, or -EIO when the transport is gone.
 */
int ibcc_collector_clear_full(const struct ibcc_collector *c, struct ibcc_transport *tr,
			      const struct ibcc_topo *t, struct ibcc_snapshot *s,
			      uint32_t *n_cleared);

/* A sentence about a node that has its counters asked for elsewhere; "" if it has not. Returns the
 * length as snprintf() does.
 */
int ibcc_collector_redirect_say(const struct ibcc_collector *c, const struct ibcc_topo *t,
				uint32_t node, char *buf, size_t len);

/* What is known of units of PortXmitWait; the collector's. */
const struct ibcc_units *ibcc_collector_units(const struct ibcc_collector *c);

/* Whether rates are computed with a fabric's own time, which only a simulated fabric has, and not
 * with the host's clock.
 */
bool ibcc_collector_uses_fabric_clock(const struct ibcc_collector *c);
/* Does the fabric's time stand still? No rate can be computed then, and a fabric that is paused
 * must not be taken for an idle one. *why gets a sentence about it that begins with "clock: "; else
 * it is empty.
 */
bool ibcc_collector_clock_trouble(const struct ibcc_collector *c, struct ibcc_why *why);

/* Reads CongestionInfo and all settings of every endport with a LID into *s, which must be zero or
 * initialised and is replaced; it is untouched on failure. The block size of attribute 0x15 is
 * probed. With CCT blocks whose limit is block-relative, the table's limit is put together.
 *
 * If an endport is silent, it stays UNKNOWN. err is -EHOSTUNREACH if it does not answer PerfMgt
 * either, and -ETIMEDOUT if it does. In the latter case the node lacks class 0x21 and does not
 * report that, or its CC_Key is protected and differs from ours. A key that lets us read but not
 * write makes the endport KEY_REFUSED, with settings as read. Reads only. Returns 0, -ENOMEM, -EIO,
 * -ECANCELED.
 *
 * A node counts each request with a wrong key as a violation, and may start its lease. So while no
 * endport has answered class 0x21 yet, one endport is asked before all others, and two more if it
 * is silent. If these three are silent too, but answer other classes, no other endport is asked. An
 * endport that is silent to class 0x21 alone three times in a row is not asked for five minutes.
 */
int ibcc_readback_run(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		      struct ibcc_settings *s);

/* As ibcc_readback_run(), but for some endports alone, by their index; *s must be sized for t
 * (-EINVAL). An endport that does not answer keeps what was read of it before.
 */
int ibcc_readback_some(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		       const bool *which, struct ibcc_settings *s);

/* As ibcc_readback_run(), but for the endports that are UNKNOWN in *s: if a single answer got lost,
 * there is no need to read the whole fabric again.
 */
int ibcc_readback_missing(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
			  struct ibcc_settings *s);

/* Call this when the keys have changed: the next reading asks every endport again, however silent
 * it was.
 */
void ibcc_readback_new_keys(struct ibcc_settings *s);

/* Carries the Gets of a walk (see ibcc/walk.h) from the local port of a transport that carries
 * SMPs, until none is left: directed-route discovery, for fabrics without our plugin. Ends five
 * minutes after its beginning, or half a minute after a time in which something answered. What has
 * not answered by then is given up: ibcc_walk_retry() and another call ask for it alone. Returns 0,
 * -EIO when the transport is gone, -ECANCELED, -ENOMEM.
 */
int ibcc_discover(struct ibcc_transport *tr, struct ibcc_walk *w);

/* The topology that a walk has found, with virtual ports, and gaps where nodes are silent. *why is
 * empty, or says what of the fabric is missing. NULL on failure with *err, -ENOLINK if the local
 * port does not answer or -ENOMEM, and a sentence in why.
 */
struct ibcc_topo *ibcc_discover_topo(struct ibcc_walk *w, int *err, char *why, size_t len);

/* As ibcc_discover() and ibcc_discover_topo() on a new walk, for callers that do not ask again. */
struct ibcc_topo *ibcc_discover_walk(struct ibcc_transport *tr, int *err, char *why, size_t len);

#endif
