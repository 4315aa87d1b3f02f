/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of a file of the administrator's: what is kept, and what is refused. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>

#include <cmocka.h>

#include "tests/unit/acls.h"
#include "tests/unit/edits.h"

static int open_only(const char *name)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;
	int rc = ibcc_edit_open(files_path(name), MAX, &e, &why);

	assert_true(!rc == !why.text[0]);
	ibcc_edit_close(&e);
	return rc;
}

static void test_write_and_undo(void **state)
{
	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(undo("f"), -ENOENT);
	assert_int_equal(change("f", "one"), 0);
	assert_file("f", "one");
	assert_file("f.ibcc-before", "original");
	assert_int_equal(change("f", "two"), 0);
	assert_file("f", "two");
	assert_file("f.ibcc-before", "original");
	assert_false(exists("f.ibcc-next"));
	assert_false(exists("f.ibcc-new"));
	assert_false(exists("f.ibcc-lock"));
	assert_int_equal(undo("f"), 0);
	assert_file("f", "original");
	assert_false(exists("f.ibcc-before"));
	assert_false(exists("f.ibcc-after"));
	assert_false(exists("f.ibcc-lock"));
	assert_int_equal(undo("f"), -ENOENT);
}

/* An administrator who removes FILE.ibcc-before agrees with FILE as it is. */
static void test_before_removed(void **state)
{
	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(change("f", "one"), 0);
	assert_int_equal(unlink(files_path("f.ibcc-before")), 0);
	assert_int_equal(undo("f"), -ENOENT);
	assert_int_equal(change("f", "two"), 0);
	assert_file("f.ibcc-before", "one");
	assert_int_equal(undo("f"), 0);
	assert_file("f", "one");
}

/* What the administrator has changed since is not lost. */
static void test_changed_between(void **state)
{
	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(change("f", "one"), 0);
	files_write("f", "by hand");
	assert_int_equal(undo("f"), -ESTALE);
	assert_file("f", "by hand");
	assert_int_equal(change("f", "two"), 0);
	assert_file("f.ibcc-before", "by hand");
	assert_int_equal(undo("f"), 0);
	assert_file("f", "by hand");
	assert_int_equal(change("f", "one"), 0);
	files_write("f", "by hand");
	assert_int_equal(undo("f"), -EALREADY);
}

/* The file is exchanged, or changed in place, after it was read. */
static void test_changed_while(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;

	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(ibcc_edit_open(files_path("f"), MAX, &e, &why), 0);
	assert_string_equal(e.text, "original");
	files_write("f", "original"); /* another file */
	assert_int_equal(ibcc_edit_write(&e, "new", 3, &why), -ESTALE);
	ibcc_edit_close(&e);
	assert_int_equal(ibcc_edit_open(files_path("f"), MAX, &e, &why), 0);
	assert_int_equal(chmod(files_path("f"), 0600), 0);
	assert_int_equal(ibcc_edit_write(&e, "new", 3, &why), -ESTALE);
	ibcc_edit_close(&e);
	assert_file("f", "original");
	assert_false(exists("f.ibcc-before"));

	assert_int_equal(ibcc_edit_open(files_path("f"), MAX, &e, &why), 0);
	assert_int_equal(truncate(files_path("f"), 3), 0);
	assert_int_equal(ibcc_edit_write(&e, "new", 3, &why), -ESTALE);
	ibcc_edit_close(&e);
	assert_file("f", "ori");

	/* A link put in the file's place. */
	assert_int_equal(ibcc_edit_open(files_path("f"), MAX, &e, &why), 0);
	files_write("other", "ori");
	unlink(files_path("f"));
	assert_int_equal(symlink("other", files_path("f")), 0);
	assert_int_equal(ibcc_edit_write(&e, "new", 3, &why), -ESTALE);
	ibcc_edit_close(&e);
	assert_file("other", "ori");
	unlink(files_path("other"));
}

static void test_attributes(void **state)
{
	uint8_t acl[ACL_BYTES];
	uint8_t got[sizeof(acl) + 1];
	struct stat before, after;
	bool has_acl, has_user, has_hash;

	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(chmod(files_path("f"), 0640), 0);
	if (!geteuid())
		assert_int_equal(chown(files_path("f"), 1234, 4321), 0);
	has_user = !setxattr(files_path("f"), "user.note", "mine", 4, 0);
	acl_make(acl, ACL_R, ACL_R, ACL_R);
	has_acl = !setxattr(files_path("f"), ACL_ACCESS, acl, sizeof(acl), 0);
	has_hash = !setxattr(files_path("f"), "security.ima", "\1hash", 5, 0);
	print_message("ACL %d, user attributes %d, hash %d\n", has_acl, has_user, has_hash);
	assert_int_equal(stat(files_path("f"), &before), 0);
	assert_int_equal(change("f", "one"), 0);
	for (unsigned int i = 0; i < 2; i++) {
		const char *name = i ? "f.ibcc-before" : "f";

		assert_int_equal(stat(files_path(name), &after), 0);
		assert_int_equal(after.st_mode, before.st_mode);
		assert_int_equal(after.st_uid, before.st_uid);
		assert_int_equal(after.st_gid, before.st_gid);
		if (has_user)
			assert_int_equal(getxattr(files_path(name), "user.note", got, 10), 4);
		if (has_acl) {
			assert_int_equal(getxattr(files_path(name), ACL_ACCESS, got, sizeof(got)),
					 sizeof(acl));
			assert_memory_equal(got, acl, sizeof(acl));
		}
		/* It is the hash of the earlier text. */
		if (has_hash) {
			assert_int_equal(
				getxattr(files_path(name), "security.ima", got, sizeof(got)), -1);
			assert_int_equal(errno, ENODATA);
		}
	}
}

/* A folder can give its new files an ACL. The file that is written in the place of one without an
 * ACL has none either.
 */
static void test_default_acl(void **state)
{
	uint8_t acl[ACL_BYTES];
	struct stat before, after;

	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(chmod(files_path("f"), 0640), 0);
	acl_make(acl, ACL_RW, ACL_R, ACL_RW);
	if (setxattr(files_path(""), ACL_DEFAULT, acl, sizeof(acl), 0))
		skip();
	assert_int_equal(stat(files_path("f"), &before), 0);
	assert_int_equal(change("f", "one"), 0);
	assert_int_equal(removexattr(files_path(""), ACL_DEFAULT), 0);
	for (unsigned int i = 0; i < 2; i++) {
		const char *name = i ? "f.ibcc-before" : "f";

		assert_int_equal(getxattr(files_path(name), ACL_ACCESS, NULL, 0), -1);
		assert_int_equal(errno, ENODATA);
		assert_int_equal(stat(files_path(name), &after), 0);
		assert_int_equal(after.st_mode, before.st_mode);
	}
}

/* Nothing of what another user can have prepared is followed, and what cannot be kept is refused.
 */
static void test_refusals(void **state)
{
	char path[512];

	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(symlink("f", files_path("link")), 0);
	assert_int_equal(open_only("link"), -ELOOP);
	assert_int_equal(symlink(".", files_path("dirlink")), 0);
	assert_int_equal(open_only("dirlink/f"), -ELOOP);
	assert_int_equal(open_only("none"), -ENOENT);
	assert_int_equal(open_only("none/f"), -ENOENT);
	assert_int_equal(open_only("f/f"), -ENOTDIR);
	assert_int_equal(open_only(""), -ENOENT);
	assert_int_equal(open_only("."), -EISDIR);
	assert_int_equal(mkfifo(files_path("pipe"), 0600), 0);
	assert_int_equal(open_only("pipe"), -EINVAL);
	snprintf(path, sizeof(path), "%s", files_path("f"));
	assert_int_equal(link(path, files_path("second")), 0);
	assert_int_equal(open_only("f"), -EPERM);
	assert_int_equal(unlink(files_path("second")), 0);
	assert_int_equal(chmod(path, 0444), 0);
	assert_int_equal(open_only("f"), -EPERM);
	assert_int_equal(chmod(path, 0644), 0);
	assert_int_equal(open_only("f"), 0);
	assert_int_equal(truncate(path, MAX), 0);
	assert_int_equal(open_only("f"), 0);
	assert_int_equal(truncate(path, MAX + 1), 0);
	assert_int_equal(open_only("f"), -EFBIG);
	for (const char *name = "link\0dirlink\0pipe\0"; *name; name += strlen(name) + 1)
		assert_int_equal(unlink(files_path(name)), 0);
}

/* What is only read can be anything that has a text. */
static void test_read(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;

	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(chmod(files_path("f"), 0444), 0);
	assert_int_equal(symlink("f", files_path("link")), 0);
	assert_int_equal(ibcc_edit_read(files_path("link"), MAX, &e, &why), 0);
	assert_string_equal(e.text, "original");
	ibcc_edit_close(&e);
	assert_int_equal(ibcc_edit_read(files_path("f"), 7, &e, &why), -EFBIG);
	ibcc_edit_close(&e);
	assert_int_equal(ibcc_edit_read(files_path("none"), MAX, &e, &why), -ENOENT);
	ibcc_edit_close(&e);
	assert_int_equal(mkfifo(files_path("pipe"), 0600), 0);
	assert_int_equal(ibcc_edit_read(files_path("pipe"), MAX, &e, &why), -EINVAL);
	ibcc_edit_close(&e);
	assert_int_equal(unlink(files_path("pipe")), 0);
	assert_int_equal(unlink(files_path("link")), 0);
}

static void test_folders(void **state)
{
	(void)state;
	assert_int_equal(mkdir(files_path("d"), 0755), 0);
	assert_int_equal(mkdir(files_path("d/e"), 0755), 0);
	files_write("d/e/f", "original");
	assert_int_equal(open_only("d/e/f"), 0);
	assert_int_equal(open_only("d//e/./../e/f"), 0);
	assert_int_equal(chmod(files_path("d/e"), 0775), 0);
	assert_int_equal(open_only("d/e/f"), -EPERM);
	assert_int_equal(chmod(files_path("d/e"), 01777), 0);
	assert_int_equal(open_only("d/e/f"), -EPERM);
	assert_int_equal(chmod(files_path("d/e"), 0755), 0);
	assert_int_equal(chmod(files_path("d"), 0757), 0);
	assert_int_equal(open_only("d/e/f"), -EPERM);
	/* As /tmp: what is in it belongs to us. */
	assert_int_equal(chmod(files_path("d"), 01777), 0);
	assert_int_equal(open_only("d/e/f"), 0);
	if (geteuid())
		return;
	assert_int_equal(chown(files_path("d/e"), 1234, 0), 0);
	assert_int_equal(open_only("d/e/f"), -EPERM);
}

static void test_lock(void **state)
{
	int fd;

	(void)state;
	clean();
	files_write("f", "original");
	fd = open(files_write("f.ibcc-lock", ""), O_RDONLY); /* which a crash left */
	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(change("f", "one"), -EBUSY);
	assert_int_equal(undo("f"), -ENOENT);
	assert_file("f", "original");
	close(fd);
	assert_int_equal(change("f", "one"), 0);
	assert_false(exists("f.ibcc-lock"));
	fd = open(files_write("f.ibcc-lock", ""), O_RDONLY);
	assert_int_equal(flock(fd, LOCK_EX), 0);
	assert_int_equal(undo("f"), -EBUSY);
	close(fd);
	assert_int_equal(undo("f"), 0);
}

/* Another user may open the folder and the file, and hold locks of them for ever. */
static void test_foreign_locks(void **state)
{
	int folder = open(files_dir, O_RDONLY | O_DIRECTORY), file;

	(void)state;
	clean();
	file = open(files_write("f", "original"), O_RDONLY);
	assert_true(folder >= 0 && file >= 0);
	assert_int_equal(flock(folder, LOCK_EX), 0);
	assert_int_equal(flock(file, LOCK_EX), 0);
	assert_int_equal(change("f", "one"), 0);
	assert_int_equal(undo("f"), 0);
	close(folder);
	close(file);
}

/* What is put back is what was shown, or nothing. */
static void test_other_before(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;
	char *text = NULL;
	size_t len;

	(void)state;
	clean();
	files_write("f", "original");
	assert_int_equal(change("f", "one"), 0);
	assert_int_equal(ibcc_edit_open(files_path("f"), MAX, &e, &why), 0);
	assert_int_equal(ibcc_edit_read_before(&e, &text, &len, &why), 0);
	assert_string_equal(text, "original");
	files_write("f.ibcc-before", "by hand!");
	assert_int_equal(ibcc_edit_undo(&e, text, len, &why), -ESTALE);
	assert_file("f", "one");
	assert_file("f.ibcc-before", "by hand!");
	files_write("f.ibcc-before", "original");
	assert_int_equal(ibcc_edit_undo(&e, text, len, &why), 0);
	assert_file("f", "original");
	free(text);
	ibcc_edit_close(&e);
}

/* A relative path, from a working folder. */
static void test_relative(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;
	char here[512];

	(void)state;
	clean();
	files_write("f", "original");
	assert_non_null(getcwd(here, sizeof(here)));
	assert_int_equal(chdir(files_dir), 0);
	assert_int_equal(ibcc_edit_open("f", MAX, &e, &why), 0);
	assert_string_equal(e.path, files_path("f"));
	assert_int_equal(chdir(here), 0);
	assert_int_equal(ibcc_edit_write(&e, "one", 3, &why), 0);
	ibcc_edit_close(&e);
	assert_file("f", "one");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_write_and_undo), cmocka_unit_test(test_changed_between),
		cmocka_unit_test(test_changed_while),  cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_default_acl),    cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_folders),        cmocka_unit_test(test_lock),
		cmocka_unit_test(test_relative),       cmocka_unit_test(test_before_removed),
		cmocka_unit_test(test_foreign_locks),  cmocka_unit_test(test_other_before),
		cmocka_unit_test(test_read),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
