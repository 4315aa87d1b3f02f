/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is known of devices by their vendor and device IDs, in ascending order of both: name,
 * family, kind, unit of PortXmitWait, and how sure that is (proved or inferred;
 * doc/compatibility.md has the sources). Behind that, what is known of each generation's congestion
 * control: probe, reasons, README.md and doc/compatibility.md speak from that table.
 */
#include <ibcc/device.h>

#include <stddef.h>

#include <ibcc/link.h>
#include <ibcc/pma.h>

#define USUAL_LANES 4u

/* Channel adapters */
#define HCA(fam, unit, mark)                                                                       \
	IBCC_FAMILY_##fam, IBCC_DEVICE_HCA, IBCC_WAIT_##unit, IBCC_DEVICE_##mark, false,           \
		IBCC_DEVICE_##mark
/* Adapters whose PerfMgt the kernel answers. Their unit of PortXmitWait is documented nowhere. */
#define MLX5(mark)                                                                                 \
	IBCC_FAMILY_MLX5, IBCC_DEVICE_HCA, IBCC_WAIT_UNKNOWN, IBCC_DEVICE_INFERRED, true,          \
		IBCC_DEVICE_##mark
#define VIRTUAL(fam)                                                                               \
	IBCC_FAMILY_##fam, IBCC_DEVICE_VIRTUAL, IBCC_WAIT_UNKNOWN, IBCC_DEVICE_INFERRED, true,     \
		IBCC_DEVICE_INFERRED
#define SWITCH(fam, unit, mark)                                                                    \
	IBCC_FAMILY_##fam, IBCC_DEVICE_SWITCH, IBCC_WAIT_##unit, IBCC_DEVICE_##mark, false,        \
		IBCC_DEVICE_##mark
#define AGGREGATION                                                                                \
	IBCC_FAMILY_SWITCH_IB2, IBCC_DEVICE_AGGREGATION, IBCC_WAIT_UNKNOWN, IBCC_DEVICE_INFERRED,  \
		false, IBCC_DEVICE_INFERRED

static const struct ibcc_device devices[] = {
	{ IBCC_VENDOR_MELLANOX, 0x1003, 0x1003, "ConnectX-3", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0x1007, 0x1007, "ConnectX-3 Pro", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0x1011, 0x1011, "Connect-IB", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1012, 0x1012, "Connect-IB VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x1013, 0x1013, "ConnectX-4", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1014, 0x1014, "ConnectX-4 VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x1015, 0x1015, "ConnectX-4 Lx", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1016, 0x1016, "ConnectX-4 Lx VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x1017, 0x1017, "ConnectX-5", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1018, 0x1018, "ConnectX-5 VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x1019, 0x1019, "ConnectX-5 Ex", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x101a, 0x101a, "ConnectX-5 Ex VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x101b, 0x101b, "ConnectX-6", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x101c, 0x101c, "ConnectX-6 VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x101d, 0x101d, "ConnectX-6 Dx", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x101e, 0x101e, "ConnectX VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0x101f, 0x101f, "ConnectX-6 Lx", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1021, 0x1021, "ConnectX-7", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1023, 0x1023, "ConnectX-8", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1025, 0x1025, "ConnectX-9", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x1027, 0x1027, "ConnectX-10", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0x6340, 0x6340, "ConnectX", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0x634a, 0x634a, "ConnectX", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0x6354, 0x6354, "ConnectX", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0x6732, 0x6732, "ConnectX, ConnectX-2",
	  HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0x673c, 0x673c, "ConnectX, ConnectX-2",
	  HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0xa2d2, 0xa2d2, "BlueField", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xa2d3, 0xa2d3, "BlueField VF", VIRTUAL(MLX5) },
	{ IBCC_VENDOR_MELLANOX, 0xa2d6, 0xa2d6, "BlueField-2", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xa2dc, 0xa2dc, "BlueField-3", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xa2df, 0xa2df, "BlueField-4", MLX5(PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xbd36, 0xbd36, "InfiniScale IV",
	  SWITCH(INFINISCALE, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_MELLANOX, 0xc738, 0xc73b, "SwitchX", SWITCH(SWITCHX, LANES, PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xc839, 0xc839, "SwitchX", SWITCH(SWITCHX, LANES, PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xcb20, 0xcb20, "Switch-IB", SWITCH(SWITCH_IB, LANES, PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xcf08, 0xcf08, "Switch-IB 2", SWITCH(SWITCH_IB2, LANES, PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xcf09, 0xcf09, "SHARP aggregation node", AGGREGATION },
	{ IBCC_VENDOR_MELLANOX, 0xd2f0, 0xd2f0, "Quantum", SWITCH(QUANTUM, PORT, PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xd2f2, 0xd2f2, "Quantum-2", SWITCH(QUANTUM2, PORT, PROVED) },
	{ IBCC_VENDOR_MELLANOX, 0xd2f4, 0xd2f4, "Quantum-3", SWITCH(QUANTUM3, PORT, PROVED) },
	{ IBCC_VENDOR_BULL, 0x1b02, 0x1b02, "Bull SwitchX", SWITCH(SWITCHX, LANES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b33, 0x1b33, "Bull ConnectX-3", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b40, 0x1b41, "Bull ConnectX-3", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b50, 0x1b50, "Bull SwitchX", SWITCH(SWITCHX, LANES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b60, 0x1b61, "Bull ConnectX-3", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b73, 0x1b73, "Bull ConnectX-3", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b83, 0x1b83, "Bull Connect-IB", MLX5(INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1b93, 0x1b94, "Bull Connect-IB", MLX5(INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1ba0, 0x1ba0, "Bull Switch-IB", SWITCH(SWITCH_IB, LANES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1bb4, 0x1bb5, "Bull ConnectX-4", MLX5(INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1bc4, 0x1bc6, "Bull ConnectX-4", MLX5(INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1bd0, 0x1bd5, "Bull Switch-IB 2",
	  SWITCH(SWITCH_IB2, LANES, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x1bf0, 0x1bf0, "Bull Quantum", SWITCH(QUANTUM, PORT, INFERRED) },
	{ IBCC_VENDOR_BULL, 0x673c, 0x673c, "Bull ConnectX-2", HCA(MLX4, SAMPLES, INFERRED) },
	{ IBCC_VENDOR_QLOGIC, 0x0010, 0x0010, "QLE7140", HCA(QIB, SAMPLES, PROVED) },
	{ IBCC_VENDOR_QLOGIC, 0x7220, 0x7220, "QLE7240/7280", HCA(QIB, SAMPLES, PROVED) },
	{ IBCC_VENDOR_QLOGIC, 0x7322, 0x7322, "QLE7340/7342", HCA(QIB, SAMPLES, PROVED) },
};

static const struct ibcc_generation_facts generations[IBCC_GENERATIONS] = {
	[IBCC_GENERATION_FDR] = { .name = "FDR and older",
				  .devices = "InfiniScale IV, SwitchX, SwitchX-2; ConnectX to "
					     "ConnectX-3 Pro; True Scale adapters",
				  .mechanism = "Annex A10",
				  .action = "tuned" },
	[IBCC_GENERATION_EDR] = { .name = "EDR",
				  .devices = "Switch-IB, Switch-IB 2",
				  .mechanism = "congestion log only",
				  .action = "observed",
				  .refusal = "supports only the congestion log, by its release "
					     "notes" },
	[IBCC_GENERATION_HDR] = { .name = "HDR and later",
				  .devices = "Quantum, Quantum-2, Quantum-3; ConnectX-6 and later, "
					     "BlueField-2 and later",
				  .mechanism = "NVIDIA's own",
				  .action = "observed where it is on" },
	[IBCC_GENERATION_OTHER] = { .name = "others",
				    .devices = "Connect-IB, ConnectX-4, ConnectX-5, BlueField; all "
					       "that are not listed",
				    .mechanism = "not known",
				    .action = "tuned where it answers Annex A10" },
};

const struct ibcc_generation_facts *ibcc_device_facts(enum ibcc_generation g)
{
	return &generations[g];
}

/* Adapters of the mlx5 driver: their first device with NVIDIA's own control is ConnectX-6. */
static bool is_before_connectx6(const struct ibcc_device *d)
{
	return d->vendor_id == IBCC_VENDOR_BULL || d->last_id < 0x101b ||
	       (d->last_id >= 0xa2d2 && d->last_id < 0xa2d6);
}

enum ibcc_generation ibcc_device_generation(const struct ibcc_device *d)
{
	if (!d || d->kind == IBCC_DEVICE_AGGREGATION || d->kind == IBCC_DEVICE_VIRTUAL)
		return IBCC_GENERATION_OTHER;
	switch (d->family) {
	case IBCC_FAMILY_MLX4:
	case IBCC_FAMILY_QIB:
	case IBCC_FAMILY_INFINISCALE:
	case IBCC_FAMILY_SWITCHX: return IBCC_GENERATION_FDR;
	case IBCC_FAMILY_SWITCH_IB:
	case IBCC_FAMILY_SWITCH_IB2: return IBCC_GENERATION_EDR;
	case IBCC_FAMILY_QUANTUM:
	case IBCC_FAMILY_QUANTUM2:
	case IBCC_FAMILY_QUANTUM3: return IBCC_GENERATION_HDR;
	case IBCC_FAMILY_MLX5:
		return is_before_connectx6(d) ? IBCC_GENERATION_OTHER : IBCC_GENERATION_HDR;
	}
	return IBCC_GENERATION_OTHER;
}

const struct ibcc_device *ibcc_device_find(uint32_t vendor_id, uint16_t device_id)
{
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		const struct ibcc_device *d = &devices[i];

		if (d->vendor_id == vendor_id && device_id >= d->first_id &&
		    device_id <= d->last_id)
			return d;
	}
	return NULL;
}

bool ibcc_device_has_kernel_pma(const struct ibcc_device *d, uint32_t vendor_id, uint16_t cap_mask,
				uint32_t cap_mask2)
{
	return (d ? d->kernel_pma : vendor_id == IBCC_VENDOR_MELLANOX) &&
	       cap_mask == IBCC_PMA_CAP_EXT_WIDTH && !cap_mask2;
}

bool ibcc_device_has_fdr10(const struct ibcc_device *d)
{
	if (d->kind == IBCC_DEVICE_VIRTUAL)
		return false;
	switch (d->family) {
	case IBCC_FAMILY_MLX5: /* to ConnectX-6, and BlueField */
		return d->vendor_id == IBCC_VENDOR_BULL || d->last_id <= 0x101b ||
		       d->last_id == 0xa2d2;
	case IBCC_FAMILY_MLX4: return d->last_id < 0x6340; /* from ConnectX-3 on */
	case IBCC_FAMILY_SWITCHX:
	case IBCC_FAMILY_SWITCH_IB:
	case IBCC_FAMILY_SWITCH_IB2:
	case IBCC_FAMILY_QUANTUM: return true;
	case IBCC_FAMILY_INFINISCALE:
	case IBCC_FAMILY_QUANTUM2:
	case IBCC_FAMILY_QUANTUM3:
	case IBCC_FAMILY_QIB: return false;
	}
	return false;
}

int ibcc_device_default_tick(const struct ibcc_device *d)
{
	if (!d)
		return -1;
	switch (d->wait_unit) {
	case IBCC_WAIT_UNKNOWN:
	case IBCC_WAIT_SAMPLES: return -1;
	case IBCC_WAIT_LANES: return 31;
	case IBCC_WAIT_PORT: return 7;
	}
	return -1;
}

uint64_t ibcc_device_tick_ps(const struct ibcc_device *d, uint32_t rate_mbps, unsigned int lanes,
			     uint8_t tick)
{
	unsigned int bytes = tick + 1u;

	switch (d ? d->wait_unit : IBCC_WAIT_PORT) {
	case IBCC_WAIT_UNKNOWN:
	case IBCC_WAIT_PORT: break;
	case IBCC_WAIT_SAMPLES:
	case IBCC_WAIT_LANES: bytes *= lanes ? lanes : USUAL_LANES; break;
	}
	return ibcc_link_bytes_ps(rate_mbps, bytes);
}

bool ibcc_device_is_host(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);

	return n->type == IBCC_NODE_CA && ibcc_topo_ca_port(t, node) != IBCC_NONE &&
	       (!d || d->kind != IBCC_DEVICE_AGGREGATION);
}

bool ibcc_device_takes_part(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);

	if (n->type == IBCC_NODE_ROUTER || ibcc_topo_has_planes(t, node))
		return false;
	return !d || d->kind == IBCC_DEVICE_HCA || d->kind == IBCC_DEVICE_SWITCH;
}
