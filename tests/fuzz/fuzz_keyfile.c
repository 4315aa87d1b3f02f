/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files of keys from any bytes: refused with the line, which is never repeated, or read in order of
 * GUIDs; then each key is found.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/mad/keyfile.h"
#include "tests/fuzz/fuzz.h"

static void check_keys(const struct ibcc_keyfile *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		uint64_t key = ~f->entry[i].key;

		FUZZ_CHECK(!i || f->entry[i - 1].guid < f->entry[i].guid);
		FUZZ_CHECK(ibcc_keyfile_find(f, f->entry[i].guid, &key));
		FUZZ_CHECK(key == f->entry[i].key);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ibcc_keyfile f = { 0 };
	struct ibcc_why why = { "" };
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC), rc;

	FUZZ_CHECK(fd >= 0);
	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = ibcc_keyfile_read(path, &f, &why);
	close(fd);
	FUZZ_CHECK(rc == 0 || rc == -EINVAL);
	FUZZ_CHECK(!rc == !why.text[0]);
	/* Nothing but the place and what is wanted, so no key gets into a log. */
	if (rc) {
		char *end = NULL;

		FUZZ_CHECK(!strncmp(why.text, path, strlen(path)));
		FUZZ_CHECK(why.text[strlen(path)] == ':');
		FUZZ_CHECK(strtoul(why.text + strlen(path) + 1, &end, 10));
		FUZZ_CHECK(!strcmp(end, ": want a GUID and a key, both as 0x..."));
		FUZZ_CHECK(!f.entry);
	}
	check_keys(&f);
	ibcc_keyfile_fini(&f);
	return 0;
}
