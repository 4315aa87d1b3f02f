/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Class 0x21 from any bytes: every attribute is read whatever the header says, since a node may
 * answer with nonsense.
 */
#include "tests/fuzz/fuzz.h"

#include <ibcc/ccmad.h>
#include <ibcc/vendor_cc.h>

static void log_stable(const uint8_t *mad)
{
	struct ibcc_cc_log v1, v2;
	uint8_t a[FUZZ_MAD], b[FUZZ_MAD];

	if (ibcc_cc_log_unpack(mad, &v1)) {
		FUZZ_CHECK(mad[IBCC_CC_LOG_OFFS] != IBCC_CC_LOG_SWITCH &&
			   mad[IBCC_CC_LOG_OFFS] != IBCC_CC_LOG_CA);
		return;
	}
	memcpy(a, mad, sizeof(a));
	memcpy(b, mad, sizeof(b));
	ibcc_cc_log_pack(a, &v1);
	FUZZ_CHECK(!ibcc_cc_log_unpack(a, &v2));
	ibcc_cc_log_pack(b, &v2);
	FUZZ_CHECK(!memcmp(a, b, sizeof(a)));
}

static void port_elements(const uint8_t *mad, unsigned int slot)
{
	struct ibcc_cc_sw_port_element v;
	uint8_t a[FUZZ_MAD];

	ibcc_cc_sw_port_element_unpack(mad, slot, &v);
	FUZZ_CHECK(v.Threshold <= 15);
	memcpy(a, mad, sizeof(a));
	ibcc_cc_sw_port_element_pack(a, slot, &v);
	FUZZ_CHECK(!memcmp(a, mad, IBCC_MAD_DATA_OFFS));
}

static void table(const uint8_t *mad, uint32_t block)
{
	struct ibcc_cct t = { 0 };
	unsigned int bad;
	uint8_t a[FUZZ_MAD];
	uint16_t limit;

	ibcc_cc_cct_unpack(mad, block, &t, &limit);
	t.limit = limit;
	ibcc_cct_validate(&t, IBCC_CCT_MAX_BLOCKS, &bad);
	FUZZ_CHECK(ibcc_cct_equal(&t, &t));
	memcpy(a, mad, sizeof(a));
	ibcc_cc_cct_pack(a, block, &t);
	if (block < IBCC_CCT_MAX_BLOCKS)
		FUZZ_CHECK(!memcmp(a + IBCC_MAD_DATA_OFFS + 4, mad + IBCC_MAD_DATA_OFFS + 4,
				   2 * IBCC_CCT_BLOCK_ENTRIES));
}

/* NVIDIA's parameters: no field is wider than it may be, and each one can be written as it was
 * read, which changes no bit.
 */
static void parameters(const uint8_t *mad, uint16_t attr_id)
{
	unsigned int n;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(attr_id, &n);
	uint8_t a[FUZZ_MAD];

	FUZZ_CHECK(!f == !ibcc_vcc_parameters_name(attr_id) && !f == !n);
	memcpy(a, mad, sizeof(a));
	for (unsigned int i = 0; i < n; i++) {
		uint32_t v = ibcc_vcc_field_get(mad + IBCC_MAD_DATA_OFFS, &f[i]);

		FUZZ_CHECK(f[i].bits == 32 || !(v >> f[i].bits));
		ibcc_vcc_field_set(a + IBCC_MAD_DATA_OFFS, &f[i], v);
	}
	FUZZ_CHECK(!memcmp(a, mad, sizeof(a)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibcc_mad_header h;
	uint8_t mad[FUZZ_MAD];

	fuzz_mad(mad, data, size);
	FUZZ_STABLE(mad, ibcc_mad_header, ibcc_mad_header);
	FUZZ_STABLE(mad, ibcc_cc_info, ibcc_cc_info);
	FUZZ_STABLE(mad, ibcc_cc_key_info, ibcc_cc_key_info);
	FUZZ_STABLE(mad, ibcc_cc_sw_setting, ibcc_cc_sw_setting);
	FUZZ_STABLE(mad, ibcc_cc_ca_setting, ibcc_cc_ca_setting);
	log_stable(mad);
	FUZZ_STABLE(mad, ibcc_vcc_info, ibcc_vcc_info);
	FUZZ_STABLE(mad, ibcc_vcc_sw_general, ibcc_vcc_sw_general);
	FUZZ_STABLE(mad, ibcc_vcc_ca_general, ibcc_vcc_ca_general);
	FUZZ_STABLE(mad, ibcc_vcc_ca_statistics, ibcc_vcc_ca_statistics);

	ibcc_mad_header_unpack(mad, &h);
	FUZZ_CHECK(ibcc_mad_status_text(h.status)[0]);
	FUZZ_CHECK(ibcc_cc_attr_name(h.attr_id)[0]);
	parameters(mad, h.attr_id);
	for (uint16_t attr = IBCC_VCC_ATTR_SW_GENERAL; attr <= IBCC_VCC_ATTR_CA_ALGORITHM; attr++)
		parameters(mad, attr);
	table(mad, h.attr_mod);
	port_elements(mad, h.attr_mod);
	for (unsigned int i = 0; i < IBCC_CC_SW_PORT_BLOCK_13; i++)
		port_elements(mad, i);
	for (unsigned int i = 0; i < IBCC_CCT_MAX_BLOCKS; i++)
		table(mad, i);
	return 0;
}
