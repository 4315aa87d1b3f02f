/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Faults that congestion control does not cure: which are found, which are on a root's tree, and
 * what is said of them.
 */
#include "estimates.h"

#include <ibcc/faults.h>

#define X4        3u /* 1x and 4x */
#define UP_TO_EDR 0x6eu

static void make_slow(struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	t->port[port].caps = t->port[peer].caps = (struct ibcc_link_caps){ X4, UP_TO_EDR };
	t->port[port].lanes = t->port[peer].lanes = 4;
}

static void assert_text(const struct fixture *f, const struct ibcc_fault *fault, const char *want)
{
	char text[512];

	ibcc_faults_text(f->t, &f->tr.s, fault, text, sizeof(text));
	assert_string_equal(text, want);
}

/* All wait for the slow sink. The link between the switches is on the way there; that of the fast
 * sink is not. Each link is found once, at a switch.
 */
static void test_slow(void **state)
{
	struct fixture *f = *state;
	uint32_t between = fabric_port(f->t, LUSTRE_SW1, 5);
	uint32_t fast = fabric_port(f->t, LUSTRE_SW2, 2), slow = fabric_port(f->t, LUSTRE_SW2, 1);
	struct ibcc_faults faults;

	traffic_lustre_off(&f->tr);
	pass(f);
	assert_int_equal(f->e.n_roots, 1);
	assert_int_equal(ibcc_faults_find(f->t, &f->tr.s, &f->e, &faults), 0);
	assert_int_equal(faults.n, 0);
	make_slow(f->t, between);
	make_slow(f->t, fast);
	make_slow(f->t, slow);
	assert_int_equal(ibcc_faults_find(f->t, &f->tr.s, &f->e, &faults), 0);
	assert_int_equal(faults.n, 3);
	assert_int_equal(faults.n_slow, 3);
	assert_int_equal(faults.n_errors, 0);
	assert_int_equal(faults.fault[0].port, between);
	assert_true(faults.fault[0].on_tree);
	assert_int_equal(faults.fault[1].port, slow);
	assert_true(faults.fault[1].on_tree);
	assert_int_equal(faults.fault[2].port, fast);
	assert_false(faults.fault[2].on_tree);
	assert_text(f, &faults.fault[0],
		    "the link from sw1 port 5 to sw2 port 5 runs at 4xQDR (32000 Mb/s), but both "
		    "ends support 4xEDR (100000 Mb/s). Check its cable before you throttle "
		    "senders.");
	assert_text(f, &faults.fault[2],
		    "the link from sw2 port 2 to fast port 1 runs at 4xQDR (32000 Mb/s), but both "
		    "ends support 4xEDR (100000 Mb/s). Check its cable before you throttle "
		    "senders.");
	ibcc_faults_fini(&faults);
	/* Without roots no tree is known. */
	assert_int_equal(ibcc_faults_find(f->t, &f->tr.s, NULL, &faults), 0);
	assert_int_equal(faults.n, 3);
	assert_false(faults.fault[0].on_tree);
	ibcc_faults_fini(&faults);
}

static void grow(struct fixture *f, uint32_t port, enum ibcc_link_error which, uint16_t by)
{
	struct ibcc_link_errors *e = &f->tr.s.port[port].errors;

	e->t_ns = 20000000000ull;
	e->dt_ns = 16000000000ull;
	e->grown[which] = by;
}

static void test_errors(void **state)
{
	struct fixture *f = *state;
	uint32_t src = fabric_port(f->t, LUSTRE_SRC1, 1), fast = fabric_port(f->t, LUSTRE_FAST, 1);
	uint32_t up = fabric_port(f->t, LUSTRE_SW2, 5);
	struct ibcc_faults faults;

	traffic_lustre_off(&f->tr);
	pass(f);
	grow(f, src, IBCC_LINK_ERROR_SYMBOL, 1200);
	grow(f, src, IBCC_LINK_ERROR_DOWNED, 1);
	grow(f, fast, IBCC_LINK_ERROR_RCV_CONSTRAINT, 44);
	grow(f, up, IBCC_LINK_ERROR_DISCARDS, 300);
	grow(f, fabric_port(f->t, LUSTRE_SW1, 1), IBCC_LINK_ERROR_RCV_RELAY, 500);
	assert_int_equal(ibcc_faults_find(f->t, &f->tr.s, &f->e, &faults), 0);
	assert_int_equal(faults.n, 3);
	assert_int_equal(faults.n_errors, 3);
	assert_int_equal(faults.fault[0].port, src);
	assert_true(faults.fault[0].on_tree);
	assert_int_equal(faults.fault[1].port, fast);
	assert_false(faults.fault[1].on_tree);
	/* Packets of the tree come in there. */
	assert_int_equal(faults.fault[2].port, up);
	assert_true(faults.fault[2].on_tree);
	assert_text(f, &faults.fault[0],
		    "errors at src1 port 1 (link to sw1 port 1): SymbolErrorCounter +1200, "
		    "LinkDownedCounter +1 in 16.0 s. Check its cable: throttling does not cure a "
		    "bad cable.");
	assert_text(f, &faults.fault[1],
		    "errors at fast port 1 (link to sw2 port 2): PortRcvConstraintErrors +44 in "
		    "16.0 s. The port refuses packets. Check the partitions (P_Keys) of the hosts "
		    "that use it.");
	assert_text(f, &faults.fault[2],
		    "errors at sw2 port 5 (link to sw1 port 5): PortXmitDiscards +300 in 16.0 s. "
		    "The port drops packets that it cannot send in time. Check whether the link "
		    "goes down, or the receiver behind it hangs.");
	ibcc_faults_fini(&faults);
	/* A pass over some ports alone leaves the others as they were. */
	f->tr.s.port[src].state = IBCC_SAMPLE_KEPT;
	assert_int_equal(ibcc_faults_find(f->t, &f->tr.s, &f->e, &faults), 0);
	assert_int_equal(faults.n, 3);
	ibcc_faults_fini(&faults);
	/* A port that was not read says nothing. */
	traffic_at(&f->tr, LUSTRE_SRC1, 1)->silent = true;
	traffic_pass(&f->tr);
	assert_int_equal(ibcc_faults_find(f->t, &f->tr.s, &f->e, &faults), 0);
	assert_int_equal(faults.n, 2);
	ibcc_faults_fini(&faults);
}

/* Shortest routes on a ring of five go round both ways, those of a tree do not. */
static void test_loop(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4);
	struct ibcc_why text;

	(void)state;
	assert_int_equal(ibcc_faults_find_loop(t, &text), 0);
	assert_string_equal(text.text, "");
	ibcc_topo_free(t);
	t = fabric_ring(5);
	assert_int_equal(ibcc_faults_find_loop(t, &text), 0);
	assert_non_null(strstr(text.text, "the routes make a credit loop of 5 links (s"));
	assert_non_null(strstr(text.text, ", ...). When their buffers are full, they block each "
					  "other for ever. Use a routing engine without loops"));
	/* More than one VL: the subnet manager may keep the routes apart. */
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->port[i].op_vls = 4;
	assert_int_equal(ibcc_faults_find_loop(t, &text), 0);
	assert_non_null(strstr(text.text, "unless the subnet manager keeps these routes apart"));
	assert_int_equal(ibcc_route_compute_up_down(t, &(uint32_t){ 10 }, 1), 0);
	assert_int_equal(ibcc_faults_find_loop(t, &text), 0);
	assert_string_equal(text.text, "");
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LUSTRE(test_slow),
		LUSTRE(test_errors),
		cmocka_unit_test(test_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
