/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Configurations and scenarios from any bytes: read, or refused with at least one error in words.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <ibcc/config.h>
#include <ibcc/scenario_file.h>

#include "tests/fuzz/fuzz.h"

/* As a file, as the programs read it. Returns its descriptor, and its name in path. */
static int make_file(const uint8_t *data, size_t size, char path[64])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

/* One line for each error, all of printable text, beginning with the file's name. */
static void check_errors(int rc, const struct ibcc_yaml_errors *e)
{
	unsigned int lines = 0;

	FUZZ_CHECK(!rc == !e->n);
	for (size_t i = 0; i < e->len; i++) {
		FUZZ_CHECK(e->text[i] == '\n' || (uint8_t)e->text[i] >= ' ');
		lines += e->text[i] == '\n';
	}
	FUZZ_CHECK(lines == (e->n > IBCC_YAML_ERRORS_MAX ? IBCC_YAML_ERRORS_MAX + 1 : e->n));
}

static void run_config(const char *path)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_config c;
	int rc = ibcc_config_load(path, NULL, &c, &e);

	check_errors(rc, &e);
	if (!rc) {
		FUZZ_CHECK(c.window >= 1 && c.window <= 128 && c.interval_ms >= 10);
		FUZZ_CHECK(memchr(c.ca, '\0', sizeof(c.ca)));
		FUZZ_CHECK(memchr(c.state_file, '\0', sizeof(c.state_file)));
	}
	ibcc_yaml_errors_fini(&e);
}

static void run_scenario(const char *path)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	uint32_t node;
	int rc = ibcc_scenario_load(path, &s, &e);

	check_errors(rc, &e);
	if (!rc) {
		FUZZ_CHECK(s.topo && s.duration_ps > 0 && s.measure_from_ps < s.duration_ps);
		FUZZ_CHECK(s.model.vls >= 1 && s.model.packet_bytes >= 64);
		for (uint32_t i = 0; i < s.n_flows; i++) {
			FUZZ_CHECK(!ibcc_topo_find_node(s.topo, s.flow[i].from, &node));
			/* A merged flow offers what its flows to each host offer together. */
			FUZZ_CHECK(s.flow[i].load_permille <= 1000u * s.topo->n_nodes &&
				   s.flow[i].sl <= 15);
		}
		for (uint32_t i = 0; i < s.n_events; i++)
			FUZZ_CHECK(!ibcc_topo_find_node(s.topo, s.event[i].node, &node));
		ibcc_scenario_fini(&s);
	}
	ibcc_yaml_errors_fini(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = make_file(data, size, path);

	run_config(path);
	run_scenario(path);
	close(fd);
	return 0;
}
