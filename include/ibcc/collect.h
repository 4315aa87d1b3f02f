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

/* A new collector goes on with another topology, t, where `old` was with `from`: capabilities are
 * asked anew, but it knows when each port was read last, and how late. -ENOMEM.
 */
int ibcc_collector_follow(struct ibcc_collector *c, const struct ibcc_topo *t,
			  const struct ibcc_collector *old, const struct ibcc_topo *from);

/* Ends passes after so long (0: never): what was not read by then is stale or unreachable with
 * -ETIMEDOUT. Nodes that were silent or are new get at most a quarter of it before the others have
 * their turn.
 */
void ibcc_collector_set_deadline(struct ibcc_collector *c, uint64_t ns);

/* What nodes refused to tell, or kept silent about, is asked for again in the next pass, and not
 * only after some time, and each port is read by itself: the fabric has changed.
 */
void ibcc_collector_ask_again(struct ibcc_collector *c);

/* One pass over all active ports of t: reads capabilities of ports not known yet (ClassPortInfo,
 * PortSamplesControl), then XmitData, pkts and XmitWait (extended where the port has them), FECN
 * and BECN of channel adapters. *s must be sized for t (-EINVAL). Each pass may bring another
 * topology, with the snapshot rebased to it. Times are by ibcc_transport_fabric_ns(). Reads only.
 *
 * CongestionLog (IBA vol. 1, Annex A10) is read of the switches that mark by `actual`, the settings
 * of t (NULL: of none), one MAD each; what is new in it since it was read before comes into
 * ibcc_snapshot:mark, and which ports have marked since into ibcc_port_sample:marked, where the
 * switch tells any. Reading it begins its LogEventsCounter and PortMap anew on the switch. Marks
 * are a sample: those of an answer that gets lost come with the next, if they are still logged, and
 * the first log, or one after a longer while, only tells from when on they count. Returns 0,
 * -ENOMEM, -ECANCELED, or -EIO when the transport is gone; *s is untouched then.
 */
int ibcc_collector_pass(struct ibcc_collector *c, struct ibcc_transport *tr,
			const struct ibcc_topo *t, struct ibcc_snapshot *s, uint64_t cc_key,
			const struct ibcc_settings *actual);

/* After a pass: a mask of the SLs that each of some active ports sends on, as PortXmitDataSL tells
 * of the time since that was read before: with one part in 50 of their data or more, and those
 * whose counter is at its end. 0: it is not told yet, or what is does not come to what was
 * sent. Silence leaves what was known for three passes. One MAD each; of nodes that refuse, ever
 * more seldom. Returns 0, -EINVAL (another topology), -ENOMEM, -EIO, -ECANCELED.
 */
int ibcc_collector_read_sls(struct ibcc_collector *c, struct ibcc_transport *tr,
			    const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			    const uint32_t *port, uint32_t n, uint16_t *sls);

/* Clears PortXmitDataSL of those of these ports of which a counter had passed half its range when
 * ibcc_collector_read_sls() read it after the last pass, and goes on from there: at its end, which
 * a full link at 4X EDR comes to within two seconds, it tells nothing any more. Sends Sets. Returns
 * as that.
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
 * Silence leaves an endport UNKNOWN: err is -EHOSTUNREACH if it does not answer PerfMgt either,
 * -ETIMEDOUT if it does. Then it is without class 0x21 and says nothing, or its CC_Key is protected
 * and ours is another. A key that lets us read but not write makes it KEY_REFUSED, with settings as
 * read. Reads only. Returns 0, -ENOMEM, -EIO, -ECANCELED.
 *
 * Each request with another key than its own is counted by a node, and may start its lease. So
 * where nobody has told anything yet, one endport is asked before all, and two more if it is
 * silent; when they are, though they answer others, everybody else is left alone. Who is silent to
 * class 0x21 alone three times in a row is not asked for five minutes.
 */
int ibcc_readback_run(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		      struct ibcc_settings *s);

/* The same for some endports alone, by their index; *s must be sized for t (-EINVAL). Who does not
 * answer keeps what was read of it before.
 */
int ibcc_readback_some(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		       const bool *which, struct ibcc_settings *s);

/* The same for those that are UNKNOWN in *s: an answer that got lost is no reason to read a whole
 * fabric again.
 */
int ibcc_readback_missing(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
			  struct ibcc_settings *s);

/* There are other keys: everybody is asked once more, however silent. */
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

/* Both with a walk of its own, for those that do not ask again. */
struct ibcc_topo *ibcc_discover_walk(struct ibcc_transport *tr, int *err, char *why, size_t len);

#endif
