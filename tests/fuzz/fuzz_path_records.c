/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Path records from any bytes: refused with an error, or taken; then each path has an SL or none,
 * and the search for circles takes them.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <ibcc/scenario_file.h>

#include "tests/fuzz/fuzz.h"

/* Hosts at a ring of three switches with four VLs; their LIDs are 1 to 3. */
static struct ibcc_topo *fabric(void)
{
	struct ibcc_topo *t = ibcc_topo_new();

	FUZZ_CHECK(t);
	for (uint32_t i = 0; i < 3; i++)
		FUZZ_CHECK(ibcc_topo_add_node(t, 0x100 + i, IBCC_NODE_CA, 1, "h") == i);
	for (uint32_t i = 0; i < 3; i++)
		FUZZ_CHECK(ibcc_topo_add_node(t, 0x51 + i, IBCC_NODE_SWITCH, 3, "s") == 3 + i);
	for (uint32_t i = 0; i < 3; i++) {
		FUZZ_CHECK(!ibcc_topo_link(t, i, 1, 3 + i, 1, 8000, 2048));
		FUZZ_CHECK(!ibcc_topo_link(t, 3 + i, 2, 3 + (i + 1) % 3, 3, 8000, 2048));
	}
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->port[i].op_vls = 4;
	FUZZ_CHECK(!ibcc_route_compute(t));
	return t;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ibcc_topo *t = fabric();
	struct ibcc_route_sls sls = { .n_ends = 0 };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_route_use use[3];
	struct ibcc_route_lane out[4];
	char path[64];
	uint32_t n;
	int rc;

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = ibcc_path_records_load(path, t, &sls, &e);
	FUZZ_CHECK(!rc == !e.n);
	for (uint32_t i = 0; i < 9; i++) {
		uint8_t sl = ibcc_route_sl(t, &sls, ibcc_topo_ca_port(t, i / 3),
					   ibcc_topo_ca_port(t, i % 3));

		FUZZ_CHECK(sl <= 15 || sl == IBCC_ROUTE_NO_SL);
	}
	for (uint32_t i = 0; i < 3; i++)
		use[i] =
			(struct ibcc_route_use){ ibcc_topo_ca_port(t, i), IBCC_NONE, IBCC_NONE, 0 };
	FUZZ_CHECK(!ibcc_route_find_cycle(t, &sls, use, 3, out, 4, &n));
	/* All routes of a ring of three have one link between switches. */
	FUZZ_CHECK(n == 0);
	ibcc_route_sls_fini(&sls);
	ibcc_yaml_errors_fini(&e);
	ibcc_topo_free(t);
	close(fd);
	return 0;
}
