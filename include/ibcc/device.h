/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known of devices by the vendor and device IDs of NodeInfo: a table, nothing is asked.
 *
 * Where it comes from: names and IDs from rdma-core (providers/mlx4 and mlx5, infiniband-diags),
 * the mft kernel module's nnt_device_defs.h, from pci.ids and from the kernel's qib; units of
 * PortXmitWait from NVIDIA's ibdiagnet manual, version 2.13, "Congestion Assessment"; what answers
 * PerfMgt from the kernel's drivers (mlx5/mad.c, qib/qib_mad.c). Each entry says whether its unit
 * and its PerfMgt are documented so, or inferred from devices that are like it. None was measured.
 */
#ifndef IBCC_DEVICE_H
#define IBCC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/topo.h>

#define IBCC_VENDOR_MELLANOX 0x0002c9u
#define IBCC_VENDOR_BULL     0x00119fu
#define IBCC_VENDOR_QLOGIC   0x001175u

enum ibcc_device_kind {
	IBCC_DEVICE_HCA,
	IBCC_DEVICE_SWITCH,
	/* SHARP aggregation node: a channel adapter within a switch, which reduces in the network;
	 * not a host.
	 */
	IBCC_DEVICE_AGGREGATION,
	IBCC_DEVICE_VIRTUAL, /* virtual function: its port is another device's */
};

enum ibcc_device_family {
	IBCC_FAMILY_MLX4, /* ConnectX to ConnectX-3 Pro */
	IBCC_FAMILY_MLX5, /* Connect-IB, ConnectX-4 and later, BlueField */
	IBCC_FAMILY_INFINISCALE,
	IBCC_FAMILY_SWITCHX,
	IBCC_FAMILY_SWITCH_IB,
	IBCC_FAMILY_SWITCH_IB2,
	IBCC_FAMILY_QUANTUM,
	IBCC_FAMILY_QUANTUM2,
	IBCC_FAMILY_QUANTUM3,
	IBCC_FAMILY_QIB, /* QLogic and Intel True Scale adapters */
};

/* Generations of devices by their congestion control. Those of an IBA fabric are named by the link
 * rate that they brought.
 */
enum ibcc_generation {
	IBCC_GENERATION_FDR,   /* FDR and older: Annex A10 */
	IBCC_GENERATION_EDR,   /* Annex A10, but of its attributes only CongestionLog works */
	IBCC_GENERATION_HDR,   /* HDR and later: NVIDIA's own control */
	IBCC_GENERATION_OTHER, /* nothing is documented */
};
#define IBCC_GENERATIONS (IBCC_GENERATION_OTHER + 1u)

/* What is documented of a generation's congestion control, and what ibcc-tune does there. None of
 * the strings is NULL but `refusal`.
 */
struct ibcc_generation_facts {
	const char *name;      /* "HDR and later" */
	const char *devices;   /* those of ibcc_device_generation(), in words */
	const char *mechanism; /* "Annex A10" */
	const char *action;    /* "tuned" */
	/* Why no settings are written to a device of this generation, as a predicate of the node's
	 * name: "supports only ...". NULL: its answers decide.
	 */
	const char *refusal;
};

/* What a tick of PortXmitWait is. A symbol time is that of a byte on one lane (IBA vol. 1,
 * 16.1.3.2), so n of them are n bytes times the lanes of the link.
 */
enum ibcc_wait_unit {
	IBCC_WAIT_UNKNOWN, /* documented nowhere: to be measured before it is believed */
	IBCC_WAIT_SAMPLES, /* PortSamplesControl:Tick + 1 symbol times, as the specification says */
	IBCC_WAIT_LANES,   /* the same; Tick is 31, so 32 bytes on each lane */
	IBCC_WAIT_PORT,    /* Tick + 1 bytes of the port, whatever its lanes; Tick is 7, so 8 */
};

/* How sure we are of what an entry says. */
enum ibcc_device_mark {
	IBCC_DEVICE_PROVED,   /* read in the source or the manual named above */
	IBCC_DEVICE_INFERRED, /* from its generation, or from what the driver does with its class */
};

struct ibcc_device {
	uint32_t vendor_id;
	uint16_t first_id, last_id; /* device IDs, both included */
	const char *name;           /* "ConnectX-6 Dx"; never NULL */
	enum ibcc_device_family family;
	enum ibcc_device_kind kind;
	enum ibcc_wait_unit wait_unit;
	enum ibcc_device_mark wait_mark;
	/* PerfMgt is answered by the mlx5 driver of the host's kernel, not by the device:
	 * CapabilityMask is 0x0200 and CapabilityMask2 is 0, PortCounters has PortXmitWait though
	 * the mask does not claim it, PortCountersExtended is good, and every other Get is answered
	 * with success and what PortCounters would have: PortSamplesControl and the congestion
	 * attributes must not be asked for.
	 */
	bool kernel_pma;
	enum ibcc_device_mark pma_mark;
};

/* Whether PerfMgt of a node is answered by the mlx5 driver, by its ClassPortInfo and IDs. `d` is
 * its entry; an adapter of Mellanox's that has none (NULL) is taken for one like the others, since
 * newer ones are.
 */
bool ibcc_device_has_kernel_pma(const struct ibcc_device *d, uint32_t vendor_id, uint16_t cap_mask,
				uint32_t cap_mask2);

/* The entry of a device, or NULL: it is not known. A virtual function's or an aggregation node's is
 * found like the others'; see its kind.
 */
const struct ibcc_device *ibcc_device_find(uint32_t vendor_id, uint16_t device_id);

/* The generation of a device; NULL: IBCC_GENERATION_OTHER. That of a switch, since switches mark
 * packets; of adapters it tells those apart that have the control of such switches. ConnectX-4 and
 * -5, Connect-IB and the first BlueField are IBCC_GENERATION_OTHER, as only their switches'
 * vendor's release notes speak of a congestion log. Source: doc/compatibility.md.
 */
enum ibcc_generation ibcc_device_generation(const struct ibcc_device *d);
const struct ibcc_generation_facts *ibcc_device_facts(enum ibcc_generation g);

/* Whether a node of a topology is a host that data may go to: a channel adapter that has a link and
 * is no SHARP aggregation node.
 */
bool ibcc_device_is_host(const struct ibcc_topo *t, uint32_t node);

/* Whether a node of a topology is a host or a switch, and not a SHARP aggregation node, a virtual
 * function or a router. Those cannot be given settings of their own, and nothing waits for them.
 */
bool ibcc_device_takes_part(const struct ibcc_topo *t, uint32_t node);
/* Whether its links may be FDR10, as its vendor's ExtendedPortInfo says. Other devices are not
 * asked for it, since old ones do not answer what they do not know (the list is infiniband-diags').
 */
bool ibcc_device_has_fdr10(const struct ibcc_device *d);

/* Tick that a device counts by where PortSamplesControl is not answered: 31 or 7; -1: not known.
 * `d` may be NULL.
 */
int ibcc_device_default_tick(const struct ibcc_device *d);

/* Length of PortXmitWait's tick in picoseconds at a port of a device. device NULL: not in the
 * table, taken for IBCC_WAIT_PORT. The link has `lanes` (0: not known, taken for 4) and a data rate
 * of rate_mbps both ways together. `tick` is that of PortSamplesControl. 0 if rate_mbps is 0. For
 * IBCC_WAIT_UNKNOWN it is that of IBCC_WAIT_PORT, as a value to begin measuring with.
 */
uint64_t ibcc_device_tick_ps(const struct ibcc_device *d, uint32_t rate_mbps, unsigned int lanes,
			     uint8_t tick);

#endif
