/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Lists of hosts. What they mean is from `scontrol show hostnames` of Slurm 22.05.8; tests/slurm
 * asks the program itself.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/hostlist.h>

struct hosts {
	char text[1024];
	unsigned int n;
};

static int collect(void *arg, const char *host)
{
	struct hosts *h = arg;
	size_t len = strlen(h->text);

	snprintf(h->text + len, sizeof(h->text) - len, "%s%s", len ? " " : "", host);
	return ++h->n == 100 ? -ECANCELED : 0;
}

static void test_slurms_own(void **state)
{
	static const struct {
		const char *list, *hosts;
	} rows[] = {
		{ "", "" },
		{ "x", "x" },
		{ "source[1-3]", "source1 source2 source3" },
		{ "source[1-3,7],a[01-03]", "source1 source2 source3 source7 a01 a02 a03" },
		{ "a[1-2]b[3-4]", "a1b3 a1b4 a2b3 a2b4" },
		{ "n[1-2][1-2]", "n11 n12 n21 n22" },
		{ "a[09-11]", "a09 a10 a11" },
		{ "a[9-011]", "a9 a10 a11" },
		{ "a[098-101]", "a098 a099 a100 a101" },
		{ "a[001-0003]", "a001 a002 a003" },
		{ "a[01,1]", "a01 a1" },
		{ "a[1-2],a[1-2]", "a1 a2 a1 a2" },
		{ "[1-3]", "1 2 3" },
		{ "destination0,source[1,3-4]", "destination0 source1 source3 source4" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct hosts h = { "", 0 };

		assert_int_equal(ibcc_hostlist_expand(rows[i].list, 100, collect, &h), 0);
		assert_string_equal(h.text, rows[i].hosts);
	}
}

/* Slurm 22.05 refuses a name that goes on behind a bracket; sites write such lists in scripts. */
static void test_suffix(void **state)
{
	struct hosts h = { "", 0 };

	(void)state;
	assert_int_equal(ibcc_hostlist_expand("a[01-02,7]-ib,b-[1-2].x", 100, collect, &h), 0);
	assert_string_equal(h.text, "a01-ib a02-ib a7-ib b-1.x b-2.x");
}

static void test_refused(void **state)
{
	static const char *const lists[] = {
		"a[1",
		"a[]",
		"a[2-1]",
		"a[b-c]",
		"a[-3]",
		"a[1-]",
		"a[1,]",
		"a[1 -2]",
		"a1]",
		"a[1]]",
		",a",
		"a,",
		"a,,b",
		"a[0x1-0x3]",
		"a[1[2]]",
		"[",
		"a[1-99999999]",
		"a[1000000000]",
		"a[1-18446744073709551616]",
		"a[1,2",
		"a[1-2-3]",
	};
	struct hosts h;

	(void)state;
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		h = (struct hosts){ "", 0 };
		if (ibcc_hostlist_expand(lists[i], 90, collect, &h) != -EINVAL)
			fail_msg("%s is taken", lists[i]);
	}
}

static void test_bounds(void **state)
{
	char name[IBCC_HOST_NAME_BYTES + 2];
	struct hosts h = { "", 0 };

	(void)state;
	assert_int_equal(ibcc_hostlist_expand("a[1-90]", 90, collect, &h), 0);
	assert_int_equal(h.n, 90);
	h = (struct hosts){ "", 0 };
	assert_int_equal(ibcc_hostlist_expand("a[1-91]", 90, collect, &h), -EINVAL);
	assert_int_equal(h.n, 90);
	h = (struct hosts){ "", 0 };
	assert_int_equal(ibcc_hostlist_expand("a[1-200]", 200, collect, &h), -ECANCELED);
	assert_int_equal(h.n, 100);

	h = (struct hosts){ "", 0 };
	memset(name, 'x', sizeof(name));
	name[IBCC_HOST_NAME_BYTES] = '\0';
	assert_int_equal(ibcc_hostlist_expand(name, 1, collect, &h), 0);
	memcpy(name + IBCC_HOST_NAME_BYTES - 4, "[10]", 4);
	assert_int_equal(ibcc_hostlist_expand(name, 1, collect, &h), 0);
	memset(name, 'x', sizeof(name));
	name[IBCC_HOST_NAME_BYTES + 1] = '\0';
	assert_int_equal(ibcc_hostlist_expand(name, 1, collect, &h), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slurms_own),
		cmocka_unit_test(test_suffix),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
