/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congestion control settings of every endport: as read from a fabric, or as wanted there. */
#ifndef IBCC_SETTINGS_H
#define IBCC_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/ccmad.h>
#include <ibcc/cct.h>
#include <ibcc/dcqcn.h>
#include <ibcc/topo.h>

/* What an endport answered when its settings were read. */
enum ibcc_cc_answer {
	IBCC_CC_NO_ANSWER, /* not asked, or no answer: see err */
	IBCC_CC_ANSWERED,  /* CongestionInfo answered; the settings are as read */
	IBCC_CC_NO_CLASS,  /* the node answered that it has no such class or attribute */
	IBCC_CC_READ_ONLY, /* as ANSWERED, but the node would refuse a Set with our CC_Key */
};

/* Whether an endport may be given settings, and if not, why not. */
enum ibcc_cc_support {
	IBCC_CC_UNKNOWN,       /* it has not answered */
	IBCC_CC_SUPPORTED,     /* it may */
	IBCC_CC_UNSUPPORTED,   /* it has no congestion control */
	IBCC_CC_KEY_REFUSED,   /* it does not accept our CC_Key */
	IBCC_CC_VENDOR_ON,     /* the vendor's own congestion control is on there */
	IBCC_CC_VENDOR_SILENT, /* it has the vendor's, and does not say whether that is on */
	IBCC_CC_FOREIGN,       /* another program has changed what we wrote */
	IBCC_CC_NO_EFFECT,     /* it takes settings and does nothing with them */
	IBCC_CC_LOG_ONLY,      /* by its device type only its CongestionLog works */
};

/* Which congestion control an endport is given settings of. */
enum ibcc_mechanism {
	IBCC_MECHANISM_A10, /* IBA vol. 1, Annex A10 */
	/* NVIDIA's: marking profiles of switch ports. An adapter with this one is never written: it
	 * reacts by itself, and counts as a sender that can be slowed down.
	 */
	IBCC_MECHANISM_DCQCN,
};

/* PortProfileSettings of one switch port. */
struct ibcc_cc_profile {
	bool known;                       /* it was read */
	uint8_t used;                     /* profiles that SLs use: bit k is profile k */
	uint8_t data[IBCC_CC_DATA_BYTES]; /* all bits, also those that no public header names */
};

struct ibcc_endport_cc {
	enum ibcc_cc_support support; /* ibcc_endport_judge() alone sets it */
	/* All else is as read. */
	enum ibcc_cc_answer answer;
	bool told; /* has answered CongestionInfo once: a refusal is a passing one */
	int err;   /* negative errno of the last failure, 0 if none */
	/* Readings in a row in which it was silent to class 0x21 though it answered others, and
	 * when the last was: see ibcc_readback_run().
	 */
	uint8_t silences;
	uint64_t silent_ns;
	uint16_t status; /* MAD status of the last failure */
	struct ibcc_cc_info info;
	/* switches */
	struct ibcc_cc_sw_setting sw;
	uint8_t sw_port_block; /* elements a block of 0x15: 32, 48, or 0 where not supported */
	uint16_t n_element;    /* ports 0 .. n_element - 1 of `element`, owned */
	struct ibcc_cc_sw_port_element *element;
	/* channel adapters */
	struct ibcc_cc_ca_setting ca;
	struct ibcc_cct cct;
	/* Found by its answers: it has a CCTI_Limit for each block of the table, as QLogic's agents
	 * do. There a CA setting takes effect with the next table, and the mode is always SL.
	 */
	bool by_block;

	enum ibcc_mechanism mechanism;
	/* Of NVIDIA's congestion control, whether or not that is the mechanism: */
	uint16_t n_profile;              /* a switch: ports 0 .. n_profile - 1 of `profile` */
	struct ibcc_cc_profile *profile; /* owned */
	uint32_t buffer_bytes;           /* a switch: of all its ports; 0: not reported */
	bool rp_known;                   /* an adapter */
	struct ibcc_dcqcn_rp rp;
};

/* Can an adapter be given values, or does it react by itself? */
static inline bool ibcc_endport_reacts(const struct ibcc_endport_cc *ep)
{
	return ep->mechanism == IBCC_MECHANISM_DCQCN || ep->info.ControlTableCap;
}

/* By endport index of the topology it was sized for. */
struct ibcc_settings {
	uint32_t n;
	struct ibcc_endport_cc *ep;
};

/* Sizes settings for a topology, everything unknown and zero. -ENOMEM. */
int ibcc_settings_init(struct ibcc_settings *s, const struct ibcc_topo *t);
void ibcc_settings_fini(struct ibcc_settings *s);
/* Deep copies: of an endport over another, which is left alone in case of -ENOMEM; of all into an
 * uninitialised *dst. -ENOMEM.
 */
int ibcc_endport_cc_copy(struct ibcc_endport_cc *dst, const struct ibcc_endport_cc *src);
int ibcc_settings_copy(struct ibcc_settings *dst, const struct ibcc_settings *src);

/* Frees what one endport's settings own, and forgets it. */
void ibcc_endport_cc_fini(struct ibcc_endport_cc *ep);

/* Decides whether an endport may be given settings: by its answer, and by `block`, what else there
 * is against it (IBCC_CC_SUPPORTED: nothing). With IBCC_MECHANISM_DCQCN the answers about the
 * annex's settings do not count, but a refused CC_Key does. The vendor's control and the device
 * type count whatever was answered; the others only where settings could be given without them.
 */
void ibcc_endport_judge(struct ibcc_endport_cc *ep, enum ibcc_cc_support block);

/* The support of an endport for what is no new setting: for taking settings back, for reading them
 * and for keys. It is `support`, but of IBCC_CC_LOG_ONLY what its answers say: such a device may
 * have settings of another program, or of a version of ours that did not know its type.
 */
enum ibcc_cc_support ibcc_endport_support_back(const struct ibcc_endport_cc *ep);

/* An attribute's management data as a Set of these settings has them, with all parts named in its
 * Control_Map and a table's whole limit in each block. False for what is no setting of the endport.
 */
bool ibcc_settings_pack(const struct ibcc_endport_cc *ep, uint16_t attr_id, uint32_t attr_mod,
			uint8_t *data);

/* Attributes of an endport that differ between two settings of it, in what a fabric is set to. */
enum ibcc_settings_part {
	IBCC_SETTINGS_SWITCH = 1 << 0,
	IBCC_SETTINGS_ELEMENTS = 1 << 1, /* as many as both have */
	IBCC_SETTINGS_CA = 1 << 2,
	IBCC_SETTINGS_TABLE = 1 << 3,
	IBCC_SETTINGS_PROFILES = 1 << 4, /* of ports of which both are known */
};
unsigned int ibcc_settings_differ(const struct ibcc_endport_cc *a, const struct ibcc_endport_cc *b);

/* The reverse: takes an attribute's management data over. A table's limit becomes that of its
 * block, so blocks are to come in ascending order. False for what is no setting of the endport.
 */
bool ibcc_settings_unpack(struct ibcc_endport_cc *ep, uint16_t attr_id, uint32_t attr_mod,
			  const uint8_t *data);

/* The setting that counts at a switch port: its own element where valid, else the switch's. */
struct ibcc_cc_sw_port_element ibcc_settings_effective(const struct ibcc_endport_cc *sw,
						       unsigned int port);

/* Whether going from one to the other only takes congestion control back: no port marks more or
 * sooner, and no adapter holds back more, for longer or for less cause.
 */
bool ibcc_settings_relax(const struct ibcc_endport_cc *from, const struct ibcc_endport_cc *to);

/* Do these settings, as read from a switch, have the port mark packets (FECN)? A port of credit
 * starvation does not (IBA vol. 1, Annex A10).
 */
bool ibcc_settings_port_marks(const struct ibcc_endport_cc *sw, unsigned int port);
/* Does the port mark packets by a profile of NVIDIA's that an SL uses? */
bool ibcc_settings_profiles_mark(const struct ibcc_endport_cc *sw, unsigned int port);

/* Whether with these settings a switch marks packets, or a channel adapter holds back flows that
 * are marked, or all flows (CCTI_Min).
 */
bool ibcc_settings_are_on(const struct ibcc_endport_cc *ep);

#endif
