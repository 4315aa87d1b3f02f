/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The program that tests of a folder share: runs the test whose name it was started by
 * (tests/entry.h). */
#include "tests/entry.h"

#include <stdio.h>
#include <string.h>

static struct ibcc_test *first;

void ibcc_test_enter(struct ibcc_test *test)
{
	test->next = first;
	first = test;
}

int main(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	const char *name = slash ? slash + 1 : argc > 0 ? argv[0] : "";
	const struct ibcc_test *t;

	for (t = first; t; t = t->next) {
		if (!strcmp(t->name, name))
			return t->run();
	}
	fprintf(stderr, "%s is not a test in this program; its tests are:\n", name);
	for (t = first; t; t = t->next)
		fprintf(stderr, "%s\n", t->name);
	return 1;
}
