/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Device profiles (profile.h): how simulated nodes answer, by the kind of device. One row for
 * each profile, in the order of ibcc_profile_names. IDs, ticks and capability masks are facts
 * where <ibcc/device.h> has them from drivers, otherwise choices.
 */
#include <ibcc/profile.h>

#include <stddef.h>

#include <ibcc/device.h>
#include <ibcc/pma.h>

#define WAITS (IBCC_PMA_CAP_EXT_WIDTH | IBCC_PMA_CAP_XMIT_WAIT)
/* The top one of CapabilityMask2's 27 bits. The qib driver sets it if it keeps congestion
 * statistics. */
#define QIB_CAP2 (1u << 26)

const char *const ibcc_profile_names[] = {
	"plain",   "connectx-3", "connectx-6", "connectx-7", "switchx", "switch-ib2",
	"quantum", "quantum2",   "qib",        "sharp-an",   NULL,
};

const char *const ibcc_nvidia_cc_names[] = { "none", "off", "on", NULL };

static const struct ibcc_profile profiles[] = {
	{ .cap_mask = WAITS, .cap_mask2 = IBCC_PMA_CAP2_EXT_XMIT_WAIT, .tick = 7 },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0x1003,
	  .cap_mask = WAITS,
	  .cap_mask2 = IBCC_PMA_CAP2_EXT_XMIT_WAIT,
	  .tick = 3,
	  .firmware = { 2, 42, 5000 } },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0x101b,
	  .cap_mask = IBCC_PMA_CAP_EXT_WIDTH,
	  .wait_bytes = 32, /* a guess that differs from what the daemon assumes at first */
	  .kernel_pma = true,
	  .firmware = { 20, 31, 1014 },
	  .nvidia_cc = IBCC_NVIDIA_CC_OFF },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0x1021,
	  .cap_mask = IBCC_PMA_CAP_EXT_WIDTH,
	  .wait_bytes = 32,
	  .kernel_pma = true,
	  .firmware = { 28, 39, 1002 },
	  .nvidia_cc = IBCC_NVIDIA_CC_OFF },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0xc738,
	  .cap_mask = WAITS,
	  .cap_mask2 = IBCC_PMA_CAP2_EXT_XMIT_WAIT,
	  .tick = 31,
	  .firmware = { 9, 4, 5110 } },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0xcf08,
	  .cap_mask = WAITS,
	  .cap_mask2 = IBCC_PMA_CAP2_EXT_XMIT_WAIT,
	  .tick = 31,
	  .firmware = { 15, 2008, 2036 },
	  .adaptive = true },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0xd2f0,
	  .cap_mask = WAITS,
	  .cap_mask2 = IBCC_PMA_CAP2_EXT_XMIT_WAIT,
	  .tick = 7,
	  .firmware = { 27, 2010, 4102 },
	  .nvidia_cc = IBCC_NVIDIA_CC_OFF,
	  .adaptive = true },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0xd2f2,
	  .cap_mask = WAITS,
	  .cap_mask2 = IBCC_PMA_CAP2_EXT_XMIT_WAIT,
	  .tick = 7,
	  .firmware = { 31, 2010, 4102 },
	  .nvidia_cc = IBCC_NVIDIA_CC_OFF,
	  .fixed_marks = true,
	  .adaptive = true },
	{ .vendor_id = IBCC_VENDOR_QLOGIC,
	  .device_id = 0x7322,
	  .cap_mask = IBCC_PMA_CAP_EXT_WIDTH,
	  .cap_mask2 = QIB_CAP2,
	  .tick = 3,
	  .no_wait = true,
	  .qlogic = true },
	{ .vendor_id = IBCC_VENDOR_MELLANOX,
	  .device_id = 0xcf09,
	  .cap_mask = IBCC_PMA_CAP_EXT_WIDTH,
	  .tick = 7,
	  .no_wait = true },
};

const struct ibcc_profile *ibcc_profile(unsigned int i)
{
	return i < sizeof(profiles) / sizeof(profiles[0]) ? &profiles[i] : NULL;
}

static bool aggregates(const struct ibcc_device *d)
{
	return d->kind == IBCC_DEVICE_AGGREGATION;
}

/* The family whose profile stands for a family. Switches have one for each generation of congestion
 * control (ibcc_device_generation()), and Quantum one of its own, as it marks by percent, too.
 */
static enum ibcc_device_family kin(enum ibcc_device_family f)
{
	switch (f) {
	case IBCC_FAMILY_MLX4:
	case IBCC_FAMILY_MLX5:
	case IBCC_FAMILY_QUANTUM:
	case IBCC_FAMILY_QIB: return f;
	case IBCC_FAMILY_INFINISCALE:
	case IBCC_FAMILY_SWITCHX: return IBCC_FAMILY_SWITCHX;
	case IBCC_FAMILY_SWITCH_IB:
	case IBCC_FAMILY_SWITCH_IB2: return IBCC_FAMILY_SWITCH_IB2;
	case IBCC_FAMILY_QUANTUM2:
	case IBCC_FAMILY_QUANTUM3: return IBCC_FAMILY_QUANTUM2;
	}
	return f;
}

struct ibcc_profile ibcc_profile_like(uint32_t vendor_id, uint16_t device_id)
{
	const struct ibcc_device *d = ibcc_device_find(vendor_id, device_id);
	struct ibcc_profile p = profiles[0];

	/* Of several in a family, the last one that is not newer. */
	for (unsigned int i = 1; d && i < sizeof(profiles) / sizeof(profiles[0]); i++) {
		const struct ibcc_device *of =
			ibcc_device_find(profiles[i].vendor_id, profiles[i].device_id);

		if (of && of->family == kin(d->family) && aggregates(of) == aggregates(d) &&
		    (!p.vendor_id || profiles[i].device_id <= device_id))
			p = profiles[i];
	}
	p.vendor_id = vendor_id;
	p.device_id = device_id;
	return p;
}
