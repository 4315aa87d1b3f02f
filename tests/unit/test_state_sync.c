/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The old values are on the disk before the first MAD. No test can cut the power, so this one
 * counts: whatever SQLite wrote or cut off has been synchronised when a transaction begins or ends.
 */
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "states.h"

#define FDS 256

/* By file descriptor: something was written that the disk may not have yet. */
static bool dirty[FDS];
static unsigned int n_written;

static void wrote(int fd)
{
	assert_in_range(fd, 0, FDS - 1);
	dirty[fd] = true;
	n_written++;
}

static ssize_t note_pwrite(int fd, const void *buf, size_t len, off_t at)
{
	wrote(fd);
	return syscall(SYS_pwrite64, fd, buf, len, at);
}

static int note_ftruncate(int fd, off_t len)
{
	wrote(fd);
	return (int)syscall(SYS_ftruncate, fd, len);
}

/* In place of the C library's: SQLite finds these first, and has no other way to let a test see a
 * synchronisation.
 */
__attribute__((visibility("default"))) int fsync(int fd)
{
	if (fd >= 0 && fd < FDS)
		dirty[fd] = false;
	return (int)syscall(SYS_fsync, fd);
}

__attribute__((visibility("default"))) int fdatasync(int fd)
{
	if (fd >= 0 && fd < FDS)
		dirty[fd] = false;
	return (int)syscall(SYS_fdatasync, fd);
}

static void assert_on_disk(void)
{
	assert_true(n_written > 0);
	for (int fd = 0; fd < FDS; fd++)
		assert_false(dirty[fd]);
	n_written = 0;
}

static void test_transaction(void **state)
{
	static const char *const calls[] = { "pwrite", "pwrite64" };
	struct ibcc_txn txn = { .who = "me", .action = "apply", .via = "none", .summary = "" };
	struct ibcc_plan p = { 0 };
	struct ibcc_state *s;
	struct ibcc_result r;
	sqlite3_vfs *vfs;
	int64_t id = 0;

	(void)state;
	sqlite3_initialize();
	vfs = sqlite3_vfs_find(NULL);
	/* SQLite has one of the two, by how it was built. */
	for (size_t i = 0; i < 2; i++)
		vfs->xSetSystemCall(vfs, calls[i], (sqlite3_syscall_ptr)note_pwrite);
	assert_int_equal(vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)note_ftruncate),
			 SQLITE_OK);
	s = open_state("sync.db");
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	n_written = 0;
	assert_int_equal(ibcc_state_begin(s, &txn, &p, NULL, &id, NULL), 0);
	assert_on_disk();
	assert_int_equal(ibcc_result_init(&r, p.n), 0);
	r.change[0].outcome = IBCC_OUTCOME_VERIFIED;
	assert_int_equal(ibcc_state_end(s, id, &r, 0, "done", NULL), 0);
	assert_on_disk();
	ibcc_result_fini(&r);
	ibcc_plan_fini(&p);
	ibcc_state_close(s);
	vfs->xSetSystemCall(vfs, NULL, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_transaction),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
