/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of a file "f" in the folder of a test. Include after cmocka.h. */
#ifndef TESTS_UNIT_EDITS_H
#define TESTS_UNIT_EDITS_H

#include <stdbool.h>

#include <ibcc/edit.h>

#include "tests/unit/files.h"

#define MAX 1000

static inline void assert_file(const char *name, const char *want)
{
	char *text = files_read(files_path(name));

	assert_string_equal(text, want);
	free(text);
}

static inline bool exists(const char *name)
{
	struct stat st;

	return !lstat(files_path(name), &st);
}

static inline int change(const char *name, const char *text)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;
	int rc = ibcc_edit_open(files_path(name), MAX, &e, &why);

	if (!rc)
		rc = ibcc_edit_write(&e, text, strlen(text), &why);
	assert_true(!rc == !why.text[0]);
	ibcc_edit_close(&e);
	return rc;
}

static inline int undo(const char *name)
{
	struct ibcc_why why = { "" };
	struct ibcc_edit e;
	int rc = ibcc_edit_open(files_path(name), MAX, &e, &why);
	char *text = NULL;
	size_t len;

	if (!rc)
		rc = ibcc_edit_read_before(&e, &text, &len, &why);
	if (!rc)
		rc = ibcc_edit_undo(&e, text, len, &why);
	assert_true(!rc == !why.text[0]);
	free(text);
	ibcc_edit_close(&e);
	return rc;
}

/* No file stands beside the file but those that are meant to. */
static inline void clean(void)
{
	static const char *const names[] = { "f",           "f.ibcc-before", "f.ibcc-after",
					     "f.ibcc-next", "f.ibcc-new",    "f.ibcc-lock" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlink(files_path(names[i]));
}

#endif
