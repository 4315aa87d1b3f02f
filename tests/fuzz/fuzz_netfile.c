/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Netfiles from any bytes: refused with an error, or read, and then written and read again equal.
 */
#include <sys/mman.h>
#include <unistd.h>

#include <ibcc/scenario_file.h>

#include "tests/fuzz/fuzz.h"

static struct ibcc_topo *read_fd(int fd)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_topo *t;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	t = ibcc_netfile_load(path, &e);
	FUZZ_CHECK(!t == !!e.n);
	ibcc_yaml_errors_fini(&e);
	return t;
}

static struct ibcc_topo *round_trip(const struct ibcc_topo *t)
{
	int fd = memfd_create("written", MFD_CLOEXEC);
	struct ibcc_topo *back;
	FILE *out;

	FUZZ_CHECK(fd >= 0);
	out = fdopen(fd, "w");
	FUZZ_CHECK(out);
	FUZZ_CHECK(!ibcc_netfile_write(t, out));
	back = read_fd(fd);
	fclose(out);
	return back;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct ibcc_topo *t, *once, *twice;

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	t = read_fd(fd);
	close(fd);
	if (!t)
		return 0;
	/* The first writing may change what cannot be written, such as quotes in names. */
	once = round_trip(t);
	FUZZ_CHECK(once);
	twice = round_trip(once);
	FUZZ_CHECK(twice);
	FUZZ_CHECK(ibcc_topo_equal(once, twice));
	ibcc_topo_free(t);
	ibcc_topo_free(once);
	ibcc_topo_free(twice);
	return 0;
}
