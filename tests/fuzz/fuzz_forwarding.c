/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Forwarding tables from any bytes: refused with an error, or taken; then each entry is a port of
 * its switch, and routes by the tables end.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <ibcc/route.h>
#include <ibcc/scenario_file.h>

#include "tests/fuzz/fuzz.h"

/* Switches 0x51 "s" and 0x52 "t" with two hosts each, and two links. */
static struct ibcc_topo *fabric(void)
{
	struct ibcc_topo *t = ibcc_topo_new();

	FUZZ_CHECK(t);
	FUZZ_CHECK(ibcc_topo_add_node(t, 0x51, IBCC_NODE_SWITCH, 4, "s") == 0);
	FUZZ_CHECK(ibcc_topo_add_node(t, 0x52, IBCC_NODE_SWITCH, 4, "t") == 1);
	for (uint32_t i = 0; i < 4; i++) {
		FUZZ_CHECK(ibcc_topo_add_node(t, 0x100 + i, IBCC_NODE_CA, 1, "h") == 2 + i);
		FUZZ_CHECK(!ibcc_topo_link(t, i / 2, i % 2 + 1, 2 + i, 1, 8000, 2048));
	}
	FUZZ_CHECK(!ibcc_topo_link(t, 0, 3, 1, 3, 8000, 2048));
	FUZZ_CHECK(!ibcc_topo_link(t, 0, 4, 1, 4, 8000, 2048));
	FUZZ_CHECK(!ibcc_route_compute(t));
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ibcc_topo *t = fabric();
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_route r;
	char path[64];
	int rc;

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = ibcc_forwarding_load(path, t, &e);
	FUZZ_CHECK(!rc == !e.n);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t lid = 0; lid < t->node[i].lft_len; lid++)
			FUZZ_CHECK(t->node[i].lft[lid] <= 4 ||
				   t->node[i].lft[lid] == IBCC_LFT_NONE);
	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++)
		for (uint32_t i = 2; i < 6; i++)
			(void)ibcc_route_follow(t, ibcc_topo_ca_port(t, i), (uint16_t)lid, &r);
	ibcc_yaml_errors_fini(&e);
	ibcc_topo_free(t);
	close(fd);
	return 0;
}
