/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How simulated nodes answer as real devices do: what the agents of <ibcc/agents.h> follow. The IDs
 * are the devices'. Capability masks are those of drivers where these have them, else chosen:
 * <ibcc/device.h> and ibcc-scenario(5) say what is a fact and what a guess.
 */
#ifndef IBCC_PROFILE_H
#define IBCC_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

/* NVIDIA's own congestion control, beside that of the annex or in place of it. */
enum ibcc_nvidia_cc {
	IBCC_NVIDIA_CC_NONE, /* the node knows nothing of it */
	IBCC_NVIDIA_CC_OFF,
	IBCC_NVIDIA_CC_ON,
};
extern const char *const ibcc_nvidia_cc_names[]; /* "none", "off", "on", NULL */

struct ibcc_profile {
	uint32_t vendor_id; /* of NodeInfo; 0: none */
	uint16_t device_id;
	/* PerfMgt's ClassPortInfo. What needs bytes that a transport does not carry is taken off;
	 * see struct ibcc_agents_options.
	 */
	uint16_t cap_mask;
	uint32_t cap_mask2;
	uint8_t tick;         /* PortSamplesControl:Tick */
	uint16_t wait_bytes;  /* of the port that a tick of PortXmitWait really is; 0: as the device
			       * table says of the IDs */
	bool kernel_pma;      /* as <ibcc/device.h> has it */
	bool no_wait;         /* PortXmitWait stays zero */
	bool qlogic;          /* see struct ibcc_agent_quirks */
	uint16_t firmware[3]; /* that it answers by class 0x0a; 0: it has no such class */
	/* Its CC_Key at the start, and with it CC_KeyProtectBit and CC_KeyLeasePeriod; 0: none. */
	uint64_t cc_key;
	bool cc_key_protect;
	uint16_t cc_key_lease_s;
	int nvidia_cc;    /* enum ibcc_nvidia_cc, at the start */
	bool fixed_marks; /* its marking profiles are in bytes only, not in percent of the buffer */
	/* A switch that can route adaptively, and the SLs for which it reports that it does. The
	 * engine nevertheless follows the forwarding tables.
	 */
	bool adaptive;
	uint16_t adaptive_sls;
};

/* Names of the profiles in the order of ibcc_profile(), NULL-terminated; the first is "plain": no
 * device in particular, with all that the specification has.
 */
extern const char *const ibcc_profile_names[];
/* The profile by its place among the names. NULL: there is no such place. */
const struct ibcc_profile *ibcc_profile(unsigned int i);
/* One for a node with such IDs: that of a device of the same family, with these IDs, or plain. */
struct ibcc_profile ibcc_profile_like(uint32_t vendor_id, uint16_t device_id);

#endif
