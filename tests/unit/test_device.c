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

/* The device of a name that a page has, such as "ConnectX-2", which the code may have as
 * "ConnectX, ConnectX-2".
 */
static const struct ibcc_device *named(const char *name)
{
	static const uint32_t vendors[] = { IBCC_VENDOR_MELLANOX, IBCC_VENDOR_QLOGIC };
	size_t len = strlen(name);

	for (unsigned int v = 0; v < 2; v++)
		for (uint32_t id = 0; id <= UINT16_MAX; id++) {
			const struct ibcc_device *d = ibcc_device_find(vendors[v], (uint16_t)id);

			for (const char *at = d ? d->name : NULL; at; at = strstr(at, ", ")) {
				at += strspn(at, ", ");
				if (!strncmp(at, name, len) && (!at[len] || at[len] == ','))
					return d;
			}
		}
	return NULL;
}

/* Calls `check` with each device of a list such as "ConnectX-2 and -3, InfiniScale IV; Quantum and
 * later". Returns how many those are. SwitchX-2 has the device IDs of SwitchX, and of True Scale no
 * device is named.
 */
static unsigned int each_named(const char *list,
			       void (*check)(const struct ibcc_device *, const void *),
			       const void *arg)
{
	char *copy = strdup(list), *save = NULL, base[32] = "", name[64];
	unsigned int n = 0;

	for (char *at = copy; (at = strstr(at, " and ")) || (at = strstr(copy, " to "));)
		memset(at, ';', at[1] == 'a' ? 5 : 4);
	for (char *word = strtok_r(copy, ",;", &save); word; word = strtok_r(NULL, ",;", &save)) {
		const struct ibcc_device *d;

		word += strspn(word, " ");
		if (!strcmp(word, "later") || !strcmp(word, "QLogic") ||
		    strstr(word, "True Scale") || !strncmp(word, "all ", 4))
			continue;
		snprintf(name, sizeof(name), "%s%s", strchr("-0123456789", *word) ? base : "",
			 *word == '-' ? word + 1 : word);
		if (!strchr("-0123456789", *word))
			snprintf(base, sizeof(base), "%.*s-", (int)strcspn(word, "-"), word);
		d = named(!strcmp(name, "SwitchX-2") ? "SwitchX" : name);
		if (!d)
			fail_msg("the table of devices has no \"%s\" (%s)", name, list);
		check(d, arg);
		n++;
	}
	free(copy);
	return n;
}

static void of_generation(const struct ibcc_device *d, const void *arg)
{
	const struct ibcc_generation_facts *f = arg;

	if (ibcc_device_facts(ibcc_device_generation(d)) != f)
		fail_msg("%s does not belong to the generation \"%s\"", d->name, f->name);
}

/* README.md and doc/compatibility.md say of each generation what the table says, and of no other
 * one. */
static void test_documents(void **state)
{
	char *readme = files_read("README.md"), *page = files_read("doc/compatibility.md");
	unsigned int rows = 0;

	(void)state;
	for (unsigned int g = 0; g < IBCC_GENERATIONS; g++) {
		const struct ibcc_generation_facts *f = ibcc_device_facts(g);
		char row[400], *line;

		assert_true(each_named(f->devices, of_generation, f) > 0);
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
		if (!strstr(line, "writes no settings") != !f->refusal)
			fail_msg("README.md is wrong about whether settings are written to %s",
				 f->name);
		snprintf(row, sizeof(row), "%.*s", (int)strcspn(strchr(line, '(') + 1, ")"),
			 strchr(line, '(') + 1);
		assert_true(each_named(row, of_generation, f) > 0);
		free(line);
	}
	/* Those, "Any other adapter or switch", and "None", below a head of two lines. */
	for (const char *at = strstr(readme, "\n| Hardware |"); at && at[1] == '|'; rows++)
		at = strchr(at + 1, '\n');
	assert_int_equal(rows, IBCC_GENERATIONS + 1 + 2);
	free(readme);
	free(page);
}

/* A row of the table of details. */
struct detail {
	char cell[5][200]; /* device, Annex A10, tick, PerfMgt, NVIDIA's own control */
};

static void of_detail(const struct ibcc_device *d, const void *arg)
{
	static const char *const ticks[] = {
		[IBCC_WAIT_UNKNOWN] = "not documented",
		[IBCC_WAIT_SAMPLES] = "Tick + 1 bytes on each lane",
		[IBCC_WAIT_LANES] = "32 bytes on each lane",
		[IBCC_WAIT_PORT] = "8 bytes of the port",
	};
	const struct detail *t = arg;
	bool own = ibcc_device_generation(d) == IBCC_GENERATION_HDR;

	if (strncmp(t->cell[2], ticks[d->wait_unit], strlen(ticks[d->wait_unit])))
		fail_msg("%s: a tick is \"%s\", not \"%s\"", d->name, t->cell[2],
			 ticks[d->wait_unit]);
	if (d->wait_unit != IBCC_WAIT_UNKNOWN &&
	    !strstr(t->cell[2], d->wait_mark == IBCC_DEVICE_PROVED ? "(documented)" : "(inferred)"))
		fail_msg("%s: \"%s\" is documented, or inferred", d->name, t->cell[2]);
	if (!strstr(t->cell[3], "by the host's kernel") != !d->kernel_pma)
		fail_msg("%s: is PerfMgt answered \"%s\"?", d->name, t->cell[3]);
	if (own ? !strstr(t->cell[4], "yes")
		: strcmp(t->cell[4], "no") && !strstr(t->cell[4], "newer"))
		fail_msg("%s: NVIDIA's own control? %s", d->name, t->cell[4]);
}

/* The table of details in doc/compatibility.md says what the table of devices says. */
static void test_details(void **state)
{
	char *page = files_read("doc/compatibility.md");
	const char *at = strstr(page, "\n| Device | Annex A10 |");
	unsigned int n = 0;

	(void)state;
	assert_non_null(at);
	at = strchr(strchr(at + 1, '\n') + 1, '\n') + 1;
	for (; *at == '|'; at = strchr(at, '\n') + 1) {
		struct detail t;

		assert_int_equal(sscanf(at, "| %199[^|]| %199[^|]| %199[^|]| %199[^|]| %199[^|]|",
					t.cell[0], t.cell[1], t.cell[2], t.cell[3], t.cell[4]),
				 5);
		for (unsigned int i = 0; i < 5; i++)
			t.cell[i][strlen(t.cell[i]) - 1] = '\0'; /* the blank before "|" */
		if (strcmp(t.cell[0], "others"))
			n += each_named(t.cell[0], of_detail, &t);
	}
	assert_in_range(n, 12, 40);
	free(page);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),       cmocka_unit_test(test_table),
		cmocka_unit_test(test_ticks),       cmocka_unit_test(test_kernel_pma),
		cmocka_unit_test(test_generations), cmocka_unit_test(test_documents),
		cmocka_unit_test(test_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
