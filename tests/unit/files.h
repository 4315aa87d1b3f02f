/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files for tests of readers. Include after cmocka.h. */
#ifndef TESTS_UNIT_FILES_H
#define TESTS_UNIT_FILES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char files_dir[] = "/tmp/ibcc-unit.XXXXXX";

/* Group set-up and tear-down: a folder of its own for each test program. */
static inline int files_setup(void **state)
{
	(void)state;
	return mkdtemp(files_dir) ? 0 : -1;
}

/* Path of a file in the folder; one result lives until the next call. */
static inline const char *files_path(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", files_dir, name);
	return path;
}

/* Writes a file into the folder and returns its path. */
static inline const char *files_write(const char *name, const char *text)
{
	const char *path = files_path(name);
	FILE *f;

	unlink(path); /* the file may be one that we must not write to */
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	return path;
}

/* Reads a whole text file; the caller frees the result. */
static inline char *files_read(const char *path)
{
	FILE *f = fopen(path, "r");
	struct stat st;
	char *text;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = calloc(1, (size_t)st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, (size_t)st.st_size, f), st.st_size);
	fclose(f);
	return text;
}

static inline int files_teardown(void **state)
{
	char cmd[sizeof(files_dir) + 16];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", files_dir);
	return system(cmd);
}

#endif
