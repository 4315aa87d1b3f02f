/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Subnet management answers from any bytes. */
#include "tests/fuzz/fuzz.h"

#include <ibcc/smp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibcc_smp_node_info node;
	struct ibcc_smp_switch_info sw;
	struct ibcc_smp_port_info port;
	struct ibcc_smp_path path;
	uint8_t mad[FUZZ_MAD], request[FUZZ_MAD], vl[16], lft[IBCC_SMP_LFT_BLOCK];
	char desc[65];

	fuzz_mad(mad, data, size);
	ibcc_smp_node_info_unpack(mad, &node);
	FUZZ_CHECK(node.vendor_id <= 0xffffff);
	ibcc_smp_switch_info_unpack(mad, &sw);
	ibcc_smp_port_info_unpack(mad, &port);
	FUZZ_CHECK(port.lanes <= 12 && port.lmc <= 7 && port.state <= 15 && port.op_vls <= 15);
	FUZZ_CHECK(port.rate_mbps == ibcc_link_rate_mbps(port.lanes, port.speed));
	FUZZ_CHECK(ibcc_link_speed_name(port.speed)[0]);
	ibcc_link_mtu_bytes(port.mtu_code);
	ibcc_smp_sl2vl_unpack(mad, vl);
	for (int i = 0; i < 16; i++)
		FUZZ_CHECK(vl[i] <= 15);
	ibcc_smp_lft_unpack(mad, lft);
	FUZZ_CHECK(!memcmp(lft, mad + IBCC_MAD_DATA_OFFS, sizeof(lft)));
	ibcc_smp_node_desc_unpack(mad, desc);
	FUZZ_CHECK(strlen(desc) <= 64);
	for (const char *c = desc; *c; c++)
		FUZZ_CHECK(*c >= ' ' && *c <= '~');

	path.hops = mad[0];
	memcpy(path.port, mad + 1, sizeof(path.port));
	ibcc_smp_direct_get(request, &path, IBCC_SMP_ATTR_NODE_INFO, 0);
	FUZZ_CHECK(request[7] <= IBCC_SMP_MAX_HOPS);
	return 0;
}
