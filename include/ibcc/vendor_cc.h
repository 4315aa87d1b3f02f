/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's own congestion control, which is another one than that of IBA vol. 1, Annex A10: what
 * nodes answer about it. PortProfileSettings alone is ever sent as a Set.
 *
 * Layouts: NVIDIA OpenSM 5.x headers (iba/ib_types.h, 2021-2025, GPL-2.0 or BSD) and, for
 * HCAStatisticsQuery, the packet layouts of NVIDIA's ibis. None of it was tried on hardware.
 */
#ifndef IBCC_VENDOR_CC_H
#define IBCC_VENDOR_CC_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/mad.h>

/* Attributes from here on are a vendor's own, in all classes. */
#define IBCC_VCC_ATTR_FIRST 0xff00u

/* SMP attribute GeneralInfo; with this modifier it is a mask of what a node can. */
#define IBCC_VCC_ATTR_GENERAL_INFO       0xff17u
#define IBCC_VCC_GENERAL_INFO_CAPABILITY 4u

/* Bits of that mask. */
enum ibcc_vcc_capability {
	IBCC_VCC_CAP_PRIVATE_LFT = 0,
	IBCC_VCC_CAP_ADAPTIVE_ROUTING = 1,
	IBCC_VCC_CAP_SHARP_AN = 18, /* is the aggregation node in a switch */
	IBCC_VCC_CAP_CC = 44,
};
#define IBCC_VCC_CAPABILITY_WORDS 4u
struct ibcc_vcc_general_info {
	uint32_t word[IBCC_VCC_CAPABILITY_WORDS];
};
void ibcc_vcc_general_info_pack(uint8_t *mad, const struct ibcc_vcc_general_info *v);
void ibcc_vcc_general_info_unpack(const uint8_t *mad, struct ibcc_vcc_general_info *v);
static inline bool ibcc_vcc_can(const struct ibcc_vcc_general_info *v, enum ibcc_vcc_capability bit)
{
	return v->word[bit / 32] >> bit % 32 & 1;
}

/* Attributes of class 0x21. */
enum ibcc_vcc_attr {
	IBCC_VCC_ATTR_INFO = 0xff00,          /* EnhancedCongestionInfo, all nodes */
	IBCC_VCC_ATTR_SW_GENERAL = 0xff08,    /* SwitchGeneralSettings */
	IBCC_VCC_ATTR_SW_PROFILE = 0xff09,    /* PortProfileSettings; AttributeModifier: the port */
	IBCC_VCC_ATTR_SW_SL_MAPPING = 0xff10, /* SLMapping; the same */
	IBCC_VCC_ATTR_CA_GENERAL = 0xff20,    /* HCAGeneralSettings */
	IBCC_VCC_ATTR_CA_RP = 0xff21,         /* HCARPParameters: how an adapter reacts */
	IBCC_VCC_ATTR_CA_NP = 0xff22,         /* HCANPParameters: how it notifies others */
	IBCC_VCC_ATTR_CA_STATISTICS = 0xff23, /* HCAStatisticsQuery */
	IBCC_VCC_ATTR_CA_ALGORITHM = 0xff24,  /* HCAAlgoConfig */
};

/* The name of one of these; "unknown attribute" for any other ID. */
const char *ibcc_vcc_attr_name(uint16_t attr_id);

struct ibcc_vcc_info {
	bool ver0; /* reaction like DCQCN's */
	bool ver1; /* programmable (PPCC) */
	uint64_t CC_Capability_Mask;
};
/* Bits of CC_Capability_Mask: HCAStatisticsQuery is there; HCAAlgoConfig is. */
#define IBCC_VCC_INFO_STATISTICS (1ull << 1)
#define IBCC_VCC_INFO_ALGORITHMS (1ull << 2)
void ibcc_vcc_info_pack(uint8_t *mad, const struct ibcc_vcc_info *v);
void ibcc_vcc_info_unpack(const uint8_t *mad, struct ibcc_vcc_info *v);

struct ibcc_vcc_sw_general {
	bool en;            /* ports mark packets (ECN) */
	uint8_t aqs_weight; /* averaged queue = queue * 2^-w + old * (1 - 2^-w), 0..15 */
	uint8_t aqs_time;   /* every 2^t * 64 ns */
	uint32_t cap_total_buffer_size;   /* bytes */
	uint8_t cap_cc_profile_step_size; /* KB */
};
void ibcc_vcc_sw_general_pack(uint8_t *mad, const struct ibcc_vcc_sw_general *v);
void ibcc_vcc_sw_general_unpack(const uint8_t *mad, struct ibcc_vcc_sw_general *v);

struct ibcc_vcc_ca_general {
	bool en_notify; /* answers marked packets with a CNP */
	bool en_react;  /* slows down for a CNP */
};
void ibcc_vcc_ca_general_pack(uint8_t *mad, const struct ibcc_vcc_ca_general *v);
void ibcc_vcc_ca_general_unpack(const uint8_t *mad, struct ibcc_vcc_ca_general *v);

/* Algorithms that an adapter has, one a slot. The AttributeModifier says which slot is meant, in a
 * way that is not public: with 0, the only one sent here, it is taken to be slot 0 that is asked
 * about, and an answer counts only if it is the list that was asked for.
 */
#define IBCC_VCC_SLOTS 16u
struct ibcc_vcc_algorithm {
	uint16_t algo_id; /* 0: none; which is which is not public */
	uint8_t major, minor;
};
struct ibcc_vcc_ca_algorithm {
	bool algo_status; /* the slot's algorithm runs for the SLs of the mask */
	uint16_t sl_bitmask;
	uint8_t n_slots; /* 0 in a request, and in an answer that is not the list */
	struct ibcc_vcc_algorithm slot[IBCC_VCC_SLOTS];
};
/* An answer; with n_slots 0 the request for one. */
void ibcc_vcc_ca_algorithm_pack(uint8_t *mad, const struct ibcc_vcc_ca_algorithm *v);
void ibcc_vcc_ca_algorithm_unpack(const uint8_t *mad, struct ibcc_vcc_ca_algorithm *v);

/* Counts since they were last cleared, as by a Get with the clear bit, which is never sent here. */
struct ibcc_vcc_ca_statistics {
	uint64_t cnp_ignored, cnp_handled, marked_packets, cnp_sent;
};
void ibcc_vcc_ca_statistics_pack(uint8_t *mad, const struct ibcc_vcc_ca_statistics *v);
void ibcc_vcc_ca_statistics_unpack(const uint8_t *mad, struct ibcc_vcc_ca_statistics *v);

/* Attributes of parameters: PortProfileSettings, SLMapping, HCARPParameters, HCANPParameters. They
 * are lists of numbers, so there is a table of their fields and no struct for each. That the
 * AttributeModifier of the first two is the port, and that of the others 0, is inferred from the
 * arguments of NVIDIA's ibdiagnet.
 */
struct ibcc_vcc_field {
	const char *name; /* that of NVIDIA's headers; units are in ibcc-tune-json(7) */
	/* 32 bit word of the attribute's data, least significant bit in it, and width */
	uint8_t word, shift, bits;
};
/* Bytes of data that the longest of these attributes has, in words. */
#define IBCC_VCC_PARAMETER_BYTES 64u

/* The name of such an attribute, and its fields, *n of them. NULL: it is none of these. */
const char *ibcc_vcc_parameters_name(uint16_t attr_id);
const struct ibcc_vcc_field *ibcc_vcc_fields(uint16_t attr_id, unsigned int *n);
/* The value of a field in the attribute's data, of IBCC_VCC_PARAMETER_BYTES. */
uint32_t ibcc_vcc_field_get(const uint8_t *data, const struct ibcc_vcc_field *f);
/* The data of HCARPParameters as parameters of a limiter. */
struct ibcc_dcqcn_rp;
void ibcc_vcc_rp_unpack(const uint8_t *data, struct ibcc_dcqcn_rp *p);
/* Writes a field, cut to its width, and leaves all other bits as they are. */
void ibcc_vcc_field_set(uint8_t *data, const struct ibcc_vcc_field *f, uint32_t v);

/* A marking profile of a switch port, as in PortProfileSettings: from `min` on packets are marked
 * with a probability that rises to `percent` at `max`.
 */
#define IBCC_VCC_PROFILES  3u
#define IBCC_VCC_FIELD_MAX 0xfffffu /* of min and max: 20 bits */
struct ibcc_vcc_profile {
	uint32_t min, max; /* in the units of the data: ibcc_vcc_profile_unit() */
	uint8_t percent;
};
/* Bytes that one of min and max is worth, 1 or 1024; 0: they are percentages of the buffer. */
uint32_t ibcc_vcc_profile_unit(const uint8_t *data);
/* Reads or writes profile 0 to 2, called 1 to 3 by NVIDIA. Writing leaves all other bits as they
 * are, also those that no public header names.
 */
struct ibcc_vcc_profile ibcc_vcc_profile_get(const uint8_t *data, unsigned int k);
void ibcc_vcc_profile_set(uint8_t *data, unsigned int k, const struct ibcc_vcc_profile *p);
/* Whether two data of PortProfileSettings, of IBCC_CC_DATA_BYTES each, differ in more than min, max
 * and percent of the profiles. A device may have bits there that no public header names.
 */
bool ibcc_vcc_profiles_differ_beside(const uint8_t *a, const uint8_t *b);
/* The profiles that SLs are mapped to by the data of SLMapping: bit k is profile k. */
uint8_t ibcc_vcc_profiles_used(const uint8_t *sl_mapping);

#endif
