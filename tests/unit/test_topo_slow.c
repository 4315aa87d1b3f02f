/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that run slower than both their ends can: by width, by speed, and where that is not known.
 */
#include <string.h>

#include "tests/unit/fabrics.h"

#define UP_TO(s)                                                                                   \
	((uint16_t)((2u << IBCC_LINK_SPEED_##s) - 2u) & (uint16_t) ~(1u << IBCC_LINK_SPEED_FDR10))
#define X4   3u  /* 1x and 4x */
#define X2X4 19u /* 1x, 2x and 4x */

/* The link between the switches; `lanes` and `mbps` are what it runs at. */
static uint32_t set(struct ibcc_topo *t, struct ibcc_link_caps a, struct ibcc_link_caps b,
		    uint8_t lanes, uint32_t mbps)
{
	uint32_t one = fabric_port(t, LUSTRE_SW1, 5), other = t->port[one].peer;

	t->port[one].caps = a;
	t->port[other].caps = b;
	t->port[one].lanes = t->port[other].lanes = lanes;
	t->port[one].rate_mbps = t->port[other].rate_mbps = mbps;
	return one;
}

/* Rates are those of the IBA's tables, after line coding: 4x DDR 16 Gb/s, 4x EDR 100 Gb/s. */
static void test_slow(void **state)
{
	static const struct {
		struct ibcc_link_caps a, b;
		uint8_t lanes;
		uint32_t mbps;
		const char *runs, *best; /* best NULL: it is not slow */
	} cases[] = {
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(EDR) }, 4, 16000, "4xDDR", "4xEDR" },
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(EDR) }, 1, 25000, "1xEDR", "4xEDR" },
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(EDR) }, 4, 100000, "", NULL },
		/* The slower end decides. */
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(FDR) }, 4, 54545, "", NULL },
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(FDR) }, 4, 32000, "4xQDR", "4xFDR" },
		{ { X4, UP_TO(EDR) }, { 1, UP_TO(EDR) }, 1, 25000, "", NULL },
		/* FDR10 is faster than what PortInfo has in common. */
		{ { X4, UP_TO(QDR) }, { X4, UP_TO(QDR) }, 4, 40000, "", NULL },
		/* Adapters of half the rate, and split cables. */
		{ { X2X4, UP_TO(HDR) }, { X2X4, UP_TO(HDR) }, 2, 100000, "", NULL },
		{ { X2X4, UP_TO(HDR) }, { X2X4, UP_TO(HDR) }, 2, 50000, "2xEDR", "4xHDR" },
		/* A rate that no speed has; not known which. */
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(EDR) }, 4, 99, "", "4xEDR" },
		{ { X4, UP_TO(EDR) }, { X4, UP_TO(EDR) }, 4, 0, "", NULL },
		{ { X4, UP_TO(EDR) }, { 0, 0 }, 4, 16000, "", NULL },
		{ { 0, 0 }, { 0, 0 }, 4, 16000, "", NULL },
	};
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_topo_speed runs, best;
	char name[IBCC_TOPO_SPEED_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint32_t port = set(t, cases[i].a, cases[i].b, cases[i].lanes, cases[i].mbps);

		assert_int_equal(ibcc_topo_is_slow(t, port, &runs, &best), cases[i].best != NULL);
		assert_int_equal(ibcc_topo_is_slow(t, t->port[port].peer, &runs, &best),
				 cases[i].best != NULL);
		if (!cases[i].best)
			continue;
		assert_string_equal(ibcc_topo_speed_name(&runs, name), cases[i].runs);
		assert_string_equal(ibcc_topo_speed_name(&best, name), cases[i].best);
		assert_int_equal(runs.rate_mbps, cases[i].mbps);
	}
	ibcc_topo_free(t);
}

/* A port without a link; and one direction that is slower, as in a twin. */
static void test_ends(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t port = set(t, (struct ibcc_link_caps){ X4, UP_TO(EDR) },
			    (struct ibcc_link_caps){ X4, UP_TO(EDR) }, 4, 16000);
	struct ibcc_topo_speed runs, best;

	(void)state;
	assert_false(ibcc_topo_is_slow(t, fabric_port(t, LUSTRE_SW1, 7), &runs, &best));
	t->port[t->port[port].peer].rate_mbps = 100000;
	assert_false(ibcc_topo_is_slow(t, port, &runs, &best));
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
