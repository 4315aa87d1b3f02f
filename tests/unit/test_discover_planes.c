/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walking fabrics of which the node we are at has several, and adapters with several links to one.
 */
#include "tests/unit/walks.h"

/* Two planes behind the node we are at: an adapter sends by the port that we are at, ibsim by all.
 * Nodes come in the order of their GUIDs.
 */
static void test_planes(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new(), *got;
	struct fake_fabric *f;
	char why[100];
	uint32_t ca;

	(void)state;
	assert_non_null(t);
	ca = fabric_node(t, IBCC_NODE_CA, 2, "two ports");
	for (unsigned int i = 1; i <= 2; i++) {
		uint32_t sw = fabric_node(t, IBCC_NODE_SWITCH, 4, "plane");

		fabric_link(t, ca, i, sw, 3);
		fabric_link(t, fabric_node(t, IBCC_NODE_CA, 1, "host"), 1, sw, 1);
	}
	f = fake_fabric(t);
	got = walk(&f->base, why, sizeof(why));
	assert_non_null(got);
	assert_string_equal(why, "");
	assert_int_equal(got->n_nodes, 3);
	ibcc_topo_free(got);
	got = walk_slowly(f, (struct ibcc_walk_options){ 0 });
	assert_int_equal(got->n_nodes, 3);
	ibcc_topo_free(got);
	got = walk_slowly(f, (struct ibcc_walk_options){ .leave_by_all = true });
	assert_int_equal(got->n_nodes, t->n_nodes);
	for (uint32_t i = 1; i < got->n_nodes; i++)
		assert_true(got->node[i].guid > got->node[i - 1].guid);
	ibcc_topo_free(got);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* Two links of an adapter with one LID are planes of its port, no contradiction; two adapters with
 * one LID are.
 */
static void test_one_lid(void **state)
{
	struct ibcc_topo *t = fabric_lustre(), *got;
	uint32_t wide = fabric_node(t, IBCC_NODE_CA, 2, "wide");
	struct fake_fabric *f;
	char why[200], want[100];
	struct ibcc_walk_gaps gaps;
	struct ibcc_walk *w;

	(void)state;
	fabric_link(t, wide, 1, LUSTRE_SW1, 6);
	fabric_link(t, wide, 2, LUSTRE_SW2, 6);
	t->port[fabric_port(t, wide, 1)].lid = t->port[fabric_port(t, wide, 2)].lid = 30;
	f = fake_fabric(t);
	got = walk(&f->base, why, sizeof(why));
	assert_non_null(got);
	assert_string_equal(why, "");
	assert_true(ibcc_topo_has_planes(got, ibcc_topo_find_guid(got, t->node[wide].guid)));
	ibcc_topo_free(got);
	t->port[fabric_port(t, wide, 2)].lid = t->port[fabric_port(t, LUSTRE_FAST, 1)].lid;
	got = walk(&f->base, why, sizeof(why));
	assert_non_null(got);
	snprintf(want, sizeof(want),
		 "incomplete: LID %u belongs to \"fast\" port 1 and to \"wide\" port 2",
		 t->port[fabric_port(t, LUSTRE_FAST, 1)].lid);
	assert_string_equal(why, want);
	ibcc_topo_free(got);
	w = ibcc_walk_new(&(struct ibcc_walk_options){ 0 });
	assert_non_null(w);
	assert_int_equal(ibcc_discover(&f->base, w), 0);
	ibcc_topo_free(ibcc_walk_topo(w));
	ibcc_walk_gaps(w, &gaps);
	assert_string_equal(gaps.lid_text, want + strlen("incomplete: "));
	ibcc_walk_free(w);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* Two hosts with one GUID are named by both places, and the second is a gap, as it cannot be told
 * apart. */
static void test_one_guid(void **state)
{
	struct ibcc_topo *t = fabric_lustre(), *got;
	struct fake_fabric *f;
	char why[400], first[80], second[80];
	struct ibcc_walk_gaps gaps;
	struct ibcc_walk *w;

	(void)state;
	t->node[LUSTRE_FAST].guid = t->node[LUSTRE_SRC3].guid;
	f = fake_fabric(t);
	got = walk(&f->base, why, sizeof(why));
	assert_non_null(got);
	assert_int_equal(got->n_nodes, t->n_nodes - 1);
	snprintf(first, sizeof(first), "GUID 0x%016llx (\"src3\") is behind ",
		 (unsigned long long)t->node[LUSTRE_SRC3].guid);
	snprintf(second, sizeof(second), "\"sw1\" port 3 and behind \"sw2\" port 2");
	assert_non_null(strstr(why, first));
	assert_non_null(strstr(why, second));
	assert_int_equal(got->n_gaps, 1);
	ibcc_topo_free(got);
	/* A program that writes by GUID has to know which. */
	w = ibcc_walk_new(&(struct ibcc_walk_options){ 0 });
	assert_non_null(w);
	assert_int_equal(ibcc_discover(&f->base, w), 0);
	ibcc_walk_gaps(w, &gaps);
	assert_int_equal(gaps.shared.n, 1);
	assert_true(ibcc_walk_is_shared(&gaps.shared, t->node[LUSTRE_FAST].guid));
	assert_non_null(strstr(gaps.shared_text, first));
	assert_non_null(strstr(gaps.shared_text, second));
	assert_false(ibcc_walk_is_shared(&gaps.shared, t->node[0].guid));
	ibcc_walk_free(w);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_planes),
		cmocka_unit_test(test_one_lid),
		cmocka_unit_test(test_one_guid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
