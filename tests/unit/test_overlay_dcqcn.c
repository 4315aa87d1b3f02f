/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* From parameters of roots to marking profiles. Percent is from shares of marks that another
 * program solved (test_equilibrium.c): 1.9 times 0.01495 for 8 senders at 200 Gb/s and 4122 bytes a
 * packet.
 */
#include "hotspots.h"

#include <ibcc/vendor_cc.h>

struct laid {
	struct ibcc_parameters p;
	struct ibcc_root_parameters *r;
	struct ibcc_ledger ledger;
	struct ibcc_target target;
};

/* Node 11's port 1 is the root of 8 senders; all nodes have NVIDIA's control. */
static void begin(struct fixture *f, struct laid *x)
{
	struct ibcc_endport_cc *sw = cc(f, 11);

	*x = (struct laid){ .p = { 0 } };
	x->r = root_at(f, &x->p, 11, 1, IBCC_CONGESTION_OUTPUT, 8, 200000);
	x->r->packet_bytes = 4122;
	enlist(f, x->r, 0, 7);
	for (uint32_t i = 0; i < f->actual.n; i++)
		f->actual.ep[i].mechanism = IBCC_MECHANISM_DCQCN;
	cc(f, 3)->rp_known = true;
	ibcc_dcqcn_rp_defaults(&cc(f, 3)->rp);
	give_profiles(f, 11);
	for (unsigned int port = 1; port < sw->n_profile; port++) {
		memset(sw->profile[port].data, 0x11, IBCC_CC_DATA_BYTES);
		sw->profile[port].data[0] = 0x11; /* fixed, in bytes */
	}
	assert_int_equal(ibcc_ledger_fit(&x->ledger, f->t), 0);
}

static uint32_t lay(struct fixture *f, struct laid *x)
{
	const struct ibcc_overlay l = IBCC_OVERLAY_UNLIMITED;

	ibcc_target_fini(&x->target);
	assert_int_equal(ibcc_overlay_run(&l, f->t, &x->p, &f->actual, &x->ledger, &x->target), 0);
	return x->target.n_reasons;
}

static void end(struct laid *x)
{
	ibcc_target_fini(&x->target);
	ibcc_ledger_reset(&x->ledger);
	ibcc_parameters_fini(&x->p);
}

static const uint8_t *laid(struct fixture *f, const struct laid *x, unsigned int port)
{
	return x->target.wanted.ep[endport_of(f, 11)].profile[port].data;
}

/* Only min, percent and max of the root's used profile: 32768, 3 and 131072. */
static void test_root(void **state)
{
	struct fixture *f = *state;
	uint8_t want[IBCC_CC_DATA_BYTES];
	char why[IBCC_REASON_BYTES];
	struct laid x;

	begin(f, &x);
	assert_int_equal(lay(f, &x), 1);
	assert_int_equal(x.target.reason[0].attr_id, 0xff09);
	memset(want, 0x11, sizeof(want));
	assert_memory_equal(laid(f, &x, 2), want, sizeof(want));
	memcpy(want + 4, (const uint8_t[]){ 0x11, 0x10, 0x80, 0x00, 0x03, 0x12, 0x00, 0x00 }, 8);
	assert_memory_equal(laid(f, &x, 1), want, sizeof(want));
	ibcc_target_explain(&x.target, f->t, endport_of(f, 11), 0xff09, why, sizeof(why));
	assert_non_null(strstr(why, "8 contributors (BECN) to"));
	assert_non_null(strstr(why, "percent 3 "));
	/* No adapter is held: none is written. */
	for (uint32_t i = 0; i <= 7; i++)
		assert_false(ibcc_ledger_is_held(&x.ledger, endport_of(f, i)));
	/* The congestion is over: what was there before comes back, all bits of it. */
	assert_int_equal(ibcc_endport_cc_copy(cc(f, 11), &x.target.wanted.ep[endport_of(f, 11)]),
			 0);
	assert_int_equal(lay(f, &x), 0);
	x.r->phase = IBCC_PHASE_BARRED;
	assert_int_equal(lay(f, &x), 1);
	memset(want, 0x11, sizeof(want));
	assert_memory_equal(laid(f, &x, 1), want, sizeof(want));
	end(&x);
}

/* A buffer that the switch reports; KB; percentages of the buffer, of which only percent is ours.
 */
/* Feedback scales percent alone, 1 to 100. */
static void test_scale(void **state)
{
	static const struct {
		uint32_t permille;
		uint8_t percent;
	} c[] = { { 4000, 12 }, { 32000, 96 }, { 40000, 100 }, { 250, 1 }, { 667, 2 } };
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	for (unsigned int i = 0; i < sizeof(c) / sizeof(*c); i++) {
		const uint8_t *now;

		x.r->table_scale_permille = c[i].permille;
		assert_int_equal(lay(f, &x), 1);
		now = laid(f, &x, 1);
		assert_memory_equal(now + 4, ((uint8_t[]){ 0x11, 0x10, 0x80, 0x00 }), 4);
		assert_int_equal(now[8], c[i].percent);
	}
	end(&x);
}

static void test_units(void **state)
{
	struct fixture *f = *state;
	struct ibcc_vcc_profile p;
	struct laid x;

	begin(f, &x);
	cc(f, 11)->buffer_bytes = 262144 * f->t->node[11].n_ports;
	cc(f, 11)->profile[1].used = 4;
	cc(f, 11)->profile[1].data[0] |= 0x40;
	f->t->port[x.r->port].op_vls = 2;
	assert_int_equal(lay(f, &x), 1);
	p = ibcc_vcc_profile_get(laid(f, &x, 1), 2);
	assert_int_equal(p.min, 32);
	assert_int_equal(p.max, 128);
	assert_int_equal(p.percent, 3);
	assert_int_equal(ibcc_vcc_profile_get(laid(f, &x, 1), 0).percent, 0x11);
	cc(f, 11)->profile[1].data[0] |= 0x80;
	ibcc_ledger_reset(&x.ledger);
	assert_int_equal(ibcc_ledger_fit(&x.ledger, f->t), 0);
	assert_int_equal(lay(f, &x), 1);
	p = ibcc_vcc_profile_get(laid(f, &x, 1), 2);
	assert_int_equal(p.min, 0x11111);
	assert_int_equal(p.max, 0x11111);
	assert_int_equal(p.percent, 3);
	end(&x);
}

/* Nothing is laid where the port, its SLs or the senders' parameters were not read, or where more
 * than all packets had to be marked.
 */
static void test_none(void **state)
{
	struct fixture *f = *state;
	struct laid x;

	begin(f, &x);
	cc(f, 11)->profile[1].used = 0;
	assert_int_equal(lay(f, &x), 0);
	cc(f, 11)->profile[1].used = 1;
	cc(f, 11)->profile[1].known = false;
	assert_int_equal(lay(f, &x), 0);
	cc(f, 11)->profile[1].known = true;
	cc(f, 3)->rp_known = false;
	assert_int_equal(lay(f, &x), 0);
	cc(f, 3)->rp_known = true;
	x.r->n = 1000000;
	assert_int_equal(lay(f, &x), 0);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_root, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_units, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_scale, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_none, setup_tree, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
