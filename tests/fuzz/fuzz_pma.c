/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PerfMgt answers from any bytes, and the differences that are made of them. */
#include "tests/fuzz/fuzz.h"

#include <ibcc/pma.h>

static void array(const uint8_t *mad, uint16_t attr_id)
{
	unsigned int n = ibcc_pma_array_len(attr_id), width = ibcc_pma_array_width(attr_id);
	uint64_t v[IBCC_PMA_VLS], w[IBCC_PMA_VLS];
	uint8_t a[FUZZ_MAD];

	FUZZ_CHECK(n <= IBCC_PMA_VLS && !n == !width);
	ibcc_pma_array_unpack(mad, attr_id, v);
	memcpy(a, mad, sizeof(a));
	ibcc_pma_array_pack(a, attr_id, v);
	ibcc_pma_array_unpack(a, attr_id, w);
	FUZZ_CHECK(!memcmp(v, w, n * sizeof(v[0])));
	for (unsigned int i = 0; i < n; i++)
		FUZZ_CHECK(!(v[i] >> width));
}

/* Two readings taken from one datagram: no interval may claim what cannot be. */
static void differences(const uint8_t *mad)
{
	struct ibcc_pma_counters_ext v;
	struct ibcc_counters prev = { 0 }, cur = { 0 };
	struct ibcc_delta d;

	ibcc_pma_counters_ext_unpack(mad, &v);
	prev.t_ns = v.PortUnicastXmitPkts;
	cur.t_ns = v.PortUnicastRcvPkts;
	for (int i = 0; i < IBCC_CTR_COUNT; i++) {
		prev.width[i] = cur.width[i] = (uint8_t)(1 + mad[8 + i] % 64);
		prev.v[i] = i % 2 ? v.PortXmitData : v.PortRcvData;
		cur.v[i] = i % 2 ? v.PortXmitPkts : v.PortRcvPkts;
	}
	if (ibcc_counters_diff(&prev, &cur, &d)) {
		FUZZ_CHECK(cur.t_ns <= prev.t_ns && !d.dt_ns);
		return;
	}
	for (int i = 0; i < IBCC_CTR_COUNT; i++) {
		FUZZ_CHECK(ibcc_delta_valid(&d, (enum ibcc_ctr)i));
		FUZZ_CHECK(cur.width[i] == 64 || !(d.v[i] >> cur.width[i]));
	}
	ibcc_delta_xmit_mbps(&d);
	ibcc_delta_rcv_mbps(&d);
	FUZZ_CHECK(ibcc_delta_wait_permille(&d, v.PortXmitWait) <= 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibcc_mad_header h;
	struct ibcc_pma_select s;
	uint8_t mad[FUZZ_MAD];

	fuzz_mad(mad, data, size);
	FUZZ_STABLE(mad, ibcc_pma_class_port_info, ibcc_pma_class_port_info);
	FUZZ_STABLE(mad, ibcc_pma_samples_control, ibcc_pma_samples_control);
	FUZZ_STABLE(mad, ibcc_pma_counters, ibcc_pma_counters);
	FUZZ_STABLE(mad, ibcc_pma_counters_ext, ibcc_pma_counters_ext);
	ibcc_mad_header_unpack(mad, &h);
	FUZZ_CHECK(ibcc_pma_attr_name(h.attr_id)[0]);
	array(mad, h.attr_id);
	for (uint16_t attr = 0; attr < 0x40; attr++) {
		uint8_t a[FUZZ_MAD];

		array(mad, attr);
		memcpy(a, mad, sizeof(a));
		ibcc_pma_select_unpack(mad, attr, &s);
		ibcc_pma_select_pack(a, attr, &s);
		FUZZ_CHECK(!memcmp(a, mad, sizeof(a)));
	}
	differences(mad);
	return 0;
}
