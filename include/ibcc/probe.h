/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the devices of a fabric answer: an inventory, by reading only. */
#ifndef IBCC_PROBE_H
#define IBCC_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/settings.h>
#include <ibcc/topo.h>
#include <ibcc/transport.h>
#include <ibcc/vendor_info.h>

/* What became of a question. */
enum ibcc_answer {
	IBCC_ANSWER_UNASKED,
	IBCC_ANSWER_GOOD,
	IBCC_ANSWER_REFUSED, /* it has no such attribute */
	IBCC_ANSWER_SILENT,
};

enum ibcc_probe_key {
	IBCC_PROBE_KEY_UNKNOWN, /* the node does not answer CongestionKeyInfo */
	IBCC_PROBE_KEY_NONE,    /* it has none */
	IBCC_PROBE_KEY_OURS,
	IBCC_PROBE_KEY_OTHER, /* it has one and does not show it, or shows another one */
};

/* PerfMgt and class 0x21 of an endport. */
struct ibcc_probe_endport {
	enum ibcc_answer pma; /* ClassPortInfo */
	uint16_t cap_mask;
	uint32_t cap_mask2;
	bool kernel_pma; /* see <ibcc/device.h> */
	/* PortSamplesControl. UNASKED also where it would not be genuine, REFUSED where what came
	 * is about another port.
	 */
	enum ibcc_answer samples;
	uint8_t tick;
	uint64_t option_mask;
	enum ibcc_answer log, timestamp,
		key_info; /* of class 0x21, where CongestionInfo was answered */
	enum ibcc_probe_key key;
	bool protect; /* its CC_KeyProtectBit */
	bool has_firmware;
	struct ibcc_vinfo_general firmware;
};

/* By endport index. */
struct ibcc_probe {
	uint32_t n;
	struct ibcc_probe_endport *ep; /* owned */
};
void ibcc_probe_fini(struct ibcc_probe *p);

/* Asks all endports with a LID. `s`, as read from the fabric, says which have class 0x21.
 * Attributes that a device is known to answer with something else are not asked for. Of Mellanox's
 * devices one of each type is asked for its firmware, and if it answers, the others, too. *p is
 * initialised by the call. Returns 0, -ENOMEM, -EIO, -ECANCELED.
 */
int ibcc_probe_run(struct ibcc_transport *tr, const struct ibcc_topo *t, uint64_t cc_key,
		   const struct ibcc_settings *s, struct ibcc_probe *p);

#endif
