/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The table of devices, against the numbers of its sources, and ticks worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/device.h>

#include "tests/unit/files.h"

#define MLX IBCC_VENDOR_MELLANOX

static const struct ibcc_device *get(uint32_t vendor, unsigned int id)
{
	const struct ibcc_device *d = ibcc_device_find(vendor, (uint16_t)id);

	assert_non_null(d);
	return d;
}

static void test_names(void **state)
{
	static const struct {
		uint32_t vendor;
		uint16_t id;
		const char *name;
		enum ibcc_device_kind kind;
	} cases[] = {
		{ MLX, 4099, "ConnectX-3", IBCC_DEVICE_HCA },
		{ MLX, 26418, "ConnectX, ConnectX-2", IBCC_DEVICE_HCA },
		{ MLX, 26428, "ConnectX, ConnectX-2", IBCC_DEVICE_HCA },
		{ MLX, 4123, "ConnectX-6", IBCC_DEVICE_HCA },
		{ MLX, 4124, "ConnectX-6 VF", IBCC_DEVICE_VIRTUAL },
		{ MLX, 4129, "ConnectX-7", IBCC_DEVICE_HCA },
		{ MLX, 51000, "SwitchX", IBCC_DEVICE_SWITCH },
		{ MLX, 0xc73a, "SwitchX", IBCC_DEVICE_SWITCH },
		{ MLX, 52000, "Switch-IB", IBCC_DEVICE_SWITCH },
		{ MLX, 53000, "Switch-IB 2", IBCC_DEVICE_SWITCH },
		{ MLX, 53001, "SHARP aggregation node", IBCC_DEVICE_AGGREGATION },
		{ MLX, 54000, "Quantum", IBCC_DEVICE_SWITCH },
		{ MLX, 54002, "Quantum-2", IBCC_DEVICE_SWITCH },
		{ MLX, 54004, "Quantum-3", IBCC_DEVICE_SWITCH },
		{ 0x00119f, 0x1bd3, "Bull Switch-IB 2", IBCC_DEVICE_SWITCH },
		{ 0x001175, 0x7322, "QLE7340/7342", IBCC_DEVICE_HCA },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct ibcc_device *d = get(cases[i].vendor, cases[i].id);

		assert_string_equal(d->name, cases[i].name);
		assert_int_equal(d->kind, cases[i].kind);
	}
	assert_null(ibcc_device_find(0, 0));
	assert_null(ibcc_device_find(MLX, 54001));
	assert_null(ibcc_device_find(IBCC_VENDOR_BULL, 53000));
	assert_null(ibcc_device_find(MLX, 0xffff));
}

/* Each ID leads to one entry, entries are in the order of their IDs, and what only some have is
 * with those alone.
 */
static void test_table(void **state)
{
	uint32_t vendors[] = { MLX, IBCC_VENDOR_BULL, IBCC_VENDOR_QLOGIC };
	const struct ibcc_device *last = NULL;
	unsigned int n = 0;

	(void)state;
	for (size_t v = 0; v < 3; v++, last = NULL)
		for (unsigned int id = 0; id <= UINT16_MAX; id++) {
			const struct ibcc_device *d = ibcc_device_find(vendors[v], (uint16_t)id);

			if (!d)
				continue;
			n++;
			if (d < last)
				fail_msg(
					"devices[] of lib/topo/device.c has \"%s\" (0x%04x) before "
					"\"%s\" (0x%04x)",
					d->name, d->first_id, last->name, last->first_id);
			last = d;
			assert_true(d->first_id <= id && id <= d->last_id);
			assert_true(!d->kernel_pma || d->family == IBCC_FAMILY_MLX5);
			assert_true((d->wait_unit == IBCC_WAIT_PORT) ==
				    (d->family >= IBCC_FAMILY_QUANTUM &&
				     d->family <= IBCC_FAMILY_QUANTUM3));
			if (d->kind == IBCC_DEVICE_SWITCH)
				assert_int_not_equal(d->wait_unit, IBCC_WAIT_UNKNOWN);
		}
	assert_true(n > 60);
}

/* 32 bytes on each of 4 lanes of a 4x EDR link, 100 Gb/s, take 10.24 ns; 8 of the port 0.64 ns. */
static void test_ticks(void **state)
{
	const struct ibcc_device *ib2 = get(MLX, 53000), *q2 = get(MLX, 54002),
				 *cx3 = get(MLX, 4099);
	const struct ibcc_device *cx6 = get(MLX, 4123);

	(void)state;
	assert_int_equal(ibcc_device_default_tick(ib2), 31);
	assert_int_equal(ibcc_device_default_tick(q2), 7);
	assert_int_equal(ibcc_device_default_tick(cx3), -1);
	assert_int_equal(ibcc_device_default_tick(cx6), -1);
	assert_int_equal(ibcc_device_default_tick(NULL), -1);
	assert_int_equal(ibcc_device_tick_ps(ib2, 100000, 4, 31), 10240);
	assert_int_equal(ibcc_device_tick_ps(ib2, 100000, 0, 31), 10240);
	assert_int_equal(ibcc_device_tick_ps(ib2, 25000, 1, 31), 10240);
	assert_int_equal(ibcc_device_tick_ps(q2, 100000, 4, 7), 640);
	assert_int_equal(ibcc_device_tick_ps(q2, 25000, 1, 7), 2560);
	assert_int_equal(ibcc_device_tick_ps(cx3, 32000, 4, 3), 4000); /* of 1 ns: QDR's symbol */
	assert_int_equal(ibcc_device_tick_ps(cx6, 200000, 4, 7), 320);
	assert_int_equal(ibcc_device_tick_ps(NULL, 32000, 4, 7), 2000);
	assert_int_equal(ibcc_device_tick_ps(ib2, 0, 4, 31), 0);
}

/* ClassPortInfo of the mlx5 driver, and what else may have the same. */
static void test_kernel_pma(void **state)
{
	const struct ibcc_device *cx2 = get(MLX, 26428), *cx6 = get(MLX, 4123);

	(void)state;
	assert_true(ibcc_device_has_kernel_pma(cx6, MLX, 0x0200, 0));
	assert_false(ibcc_device_has_kernel_pma(cx6, MLX, 0x1200, 0));
	assert_false(ibcc_device_has_kernel_pma(cx6, MLX, 0x0200, 2));
	assert_true(ibcc_device_has_kernel_pma(NULL, MLX, 0x0200, 0));
	assert_false(ibcc_device_has_kernel_pma(NULL, IBCC_VENDOR_QLOGIC, 0x0200, 0));
	assert_false(ibcc_device_has_kernel_pma(cx2, MLX, 0x0200, 0));
	assert_false(ibcc_device_has_fdr10(cx2));
	assert_true(ibcc_device_has_fdr10(get(MLX, 4099)));
}

static void test_generations(void **state)
{
	static const struct {
		uint32_t vendor;
		uint16_t id;
		enum ibcc_generation want;
	} cases[] = {
		{ MLX, 26428, IBCC_GENERATION_FDR }, /* ConnectX-2 */
		{ MLX, 4099, IBCC_GENERATION_FDR },
		{ MLX, 0xbd36, IBCC_GENERATION_FDR },
		{ MLX, 51000, IBCC_GENERATION_FDR },
		{ IBCC_VENDOR_QLOGIC, 0x7322, IBCC_GENERATION_FDR },
		{ MLX, 4113, IBCC_GENERATION_OTHER },   /* Connect-IB */
		{ MLX, 4115, IBCC_GENERATION_OTHER },   /* ConnectX-4 */
		{ MLX, 4121, IBCC_GENERATION_OTHER },   /* ConnectX-5 Ex */
		{ MLX, 0xa2d2, IBCC_GENERATION_OTHER }, /* BlueField */
		{ MLX, 52000, IBCC_GENERATION_EDR },
		{ MLX, 53000, IBCC_GENERATION_EDR },
		{ IBCC_VENDOR_BULL, 0x1bd3, IBCC_GENERATION_EDR },
		{ MLX, 53001, IBCC_GENERATION_OTHER }, /* SHARP aggregation node */
		{ MLX, 4123, IBCC_GENERATION_HDR },    /* ConnectX-6 */
		{ MLX, 4124, IBCC_GENERATION_OTHER },  /* its virtual function */
		{ MLX, 4129, IBCC_GENERATION_HDR },
		{ MLX, 0xa2d6, IBCC_GENERATION_HDR }, /* BlueField-2 */
		{ MLX, 54000, IBCC_GENERATION_HDR },
		{ MLX, 54004, IBCC_GENERATION_HDR },
		{ IBCC_VENDOR_BULL, 0x1bc4, IBCC_GENERATION_OTHER }, /* Bull ConnectX-4 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(ibcc_device_generation(get(cases[i].vendor, cases[i].id)),
				 cases[i].want);
	assert_int_equal(ibcc_device_generation(NULL), IBCC_GENERATION_OTHER);
	/* Only of EDR switches is it documented that settings would be in vain. */
	for (unsigned int g = 0; g < IBCC_GENERATIONS; g++)
		assert_int_equal(ibcc_device_facts(g)->refusal != NULL, g == IBCC_GENERATION_EDR);
}

/* The line of a text that begins so, up to its end; fails if there is none. Free it. */
static char *line_of(const char *text, const char *file, const char *begin)
{
	char want[96];
	const char *at;

	snprintf(want, sizeof(want), "\n%s", begin);
	at = strstr(text, want);
	if (!at)
		fail_msg("%s lacks a line \"%s...\"", file, begin);
	return strndup(at + 1, strcspn(at + 1, "\n"));
}

/* README.md and doc/compatibility.md say of each generation what the table says. */
static void test_documents(void **state)
{
	char *readme = files_read("README.md"), *page = files_read("doc/compatibility.md");

	(void)state;
	for (unsigned int g = 0; g < IBCC_GENERATIONS; g++) {
		const struct ibcc_generation_facts *f = ibcc_device_facts(g);
		char row[400], *line;

		snprintf(row, sizeof(row), "\n| %s | %s | %s | %s |\n", f->name, f->devices,
			 f->mechanism, f->action);
		if (!strstr(page, row))
			fail_msg("doc/compatibility.md lacks the line %s", row);
		if (g == IBCC_GENERATION_OTHER) /* README.md says that probe asks them */
			continue;
		snprintf(row, sizeof(row), "| %s (", f->name);
		line = line_of(readme, "README.md", row);
		if (!strcasestr(line, f->mechanism) || !strcasestr(line, f->action))
			fail_msg("README.md does not say \"%s\" and \"%s\" of %s", f->mechanism,
				 f->action, f->name);
		free(line);
	}
	free(readme);
	free(page);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),       cmocka_unit_test(test_table),
		cmocka_unit_test(test_ticks),       cmocka_unit_test(test_kernel_pma),
		cmocka_unit_test(test_generations), cmocka_unit_test(test_documents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
