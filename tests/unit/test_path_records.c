/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios whose paths have SLs from a file of path records. */
#include "tests/unit/scenarios.h"

#include <stdlib.h>

#include <ibcc/measure.h>
#include <ibcc/route.h>

/* A ring of five switches with a host each. OpenSM's engine lash routed it, dump_fts printed the
 * tables and saquery the path records of all pairs of hosts.
 */
#define REAL "tests/unit/ring-lash"
#define ALL  "traffic: [{from: all, to: all}]\n"

static char *scenario(char text[2048], bool paths, const char *more)
{
	char *top = realpath(REAL ".fts", NULL);

	assert_non_null(top);
	snprintf(text, 2048, HEAD "topology: {torus: {sizes: 5}, tables: %s%s%.*s%s}\n%s", top,
		 paths ? ", paths: " : "", paths ? (int)(strlen(top) - strlen("fts")) : 0, top,
		 paths ? "paths" : "", more);
	free(top);
	return text;
}

/* Each record of the file, read by sscanf(), against the SL of the path. */
static void test_real(void **state)
{
	unsigned int slid = 0, dlid = 0, sl, n = 0, on[2] = { 0 };
	char text[2048], line[128];
	struct ibcc_scenario s;
	FILE *f = fopen(REAL ".paths", "r");

	(void)state;
	assert_non_null(f);
	text_ok(scenario(text, true, "model: {vls: 2}\n" ALL), &s);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, " dlid.................... %u", &dlid);
		sscanf(line, " slid.................... %u", &slid);
		if (sscanf(line, " sl...................... %x", &sl) != 1)
			continue;
		assert_int_equal(ibcc_route_sl(s.topo, &s.sls, s.topo->lid_port[slid],
					       s.topo->lid_port[dlid]),
				 sl);
		assert_true(sl < 2);
		on[sl]++;
		n++;
	}
	fclose(f);
	assert_int_equal(n, 5 * 4);
	assert_true(on[0] && on[1]);
	ibcc_scenario_fini(&s);
}

/* The routes of lash make circles; with a lane for each of its layers they do not. So says the
 * check of a scenario, and the engine with full links and small buffers agrees.
 */
static void test_circle(void **state)
{
	static const char model[] =
		"model: {vls: 2, buffer_bytes: 2112}\ntraffic: [{from: h0, to: h2}, {from: h1, to: "
		"h3}, {from: h2, to: h4}, {from: h3, to: h0}, {from: h4, to: h1}]\n";
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	struct ibcc_measure m;
	char text[2048];

	(void)state;
	assert_int_equal(
		ibcc_scenario_load(files_write("s.yaml", scenario(text, false, model)), &s, &e),
		-EINVAL);
	assert_non_null(strstr(e.text,
			       "s.yaml:3:11: topology: got flows whose routes make a circle "
			       "of 5 outputs"));
	assert_non_null(strstr(e.text, "or for lash, dfsssp and nue the SLs of paths in "
				       "topology.paths\n"));
	ibcc_yaml_errors_fini(&e);
	e = (struct ibcc_yaml_errors){ 0 };
	assert_int_equal(
		ibcc_scenario_load(files_write("s.yaml", scenario(text, true, ALL)), &s, &e),
		-EINVAL);
	assert_non_null(strstr(e.text, "want model.vls as on the fabric, other flows, or "
				       "topology.tables and topology.paths from the same run of "
				       "OpenSM\n"));
	ibcc_yaml_errors_fini(&e);

	text_ok(scenario(text, true, model), &s);
	s.duration_ps = 20 * IBCC_PS_PER_MS;
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	assert_string_equal(m.deadlock, "");
	assert_int_equal(m.totals.discarded + m.totals.dropped, 0);
	ibcc_measure_fini(&m);
	ibcc_route_sls_fini(&s.sls);
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), -EDEADLK);
	print_message("%s\n", m.deadlock);
	ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);
}

/* Hosts a and b at one switch, c at another one. Host c has the further LID 8. */
#define TWO(keys)                                                                                  \
	HEAD "topology:\n  nodes: [{host: [a, b, c]}, {switch: s, ports: 4, guid: 0x51}, "         \
	     "{switch: t, ports: 4, guid: 0x52}]\n"                                                \
	     "  links: [[a, s/1], [b, s/2], [c, t/1], [s/3, t/3]]\n" keys
#define TABLES "  tables: t.txt\n"
#define PATHS  TWO(TABLES "  paths: p.txt\n")
#define RECORD(from, to, sl)                                                                       \
	"PathRecord dump:\n\t\tdlid...................." to "\n\t\tslid...................." from  \
	"\n\t\tsl......................" sl "\n\t\tmtu.....................0x84\n"

static void tables(void)
{
	files_write("t.txt", "Switch 0x51\n0x1 1\n0x2 2\n0x7 3\n0x8 3\n0x9 0\n0xa 3\n"
			     "Switch 0x52\n0x1 3\n0x2 3\n0x7 1\n0x8 1\n0x9 3\n0xa 0\n");
}

/* What is no path of data between hosts does not count: switches, further LIDs, loopback. */
static void test_others(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	tables();
	files_write("p.txt",
		    RECORD("1", "7", "0x3") "\r\n" RECORD("7", "1", "0xF") RECORD("9", "1", "0x1")
			    RECORD("1", "8", "0x2") RECORD("1", "1", "0x0") RECORD("1", "7", "0x3")
				    RECORD("2", "10", "0x0"));
	text_ok(PATHS "traffic: [{from: a, to: c}]\n", &s);
	assert_int_equal(ibcc_route_sl(s.topo, &s.sls, s.topo->lid_port[1], s.topo->lid_port[7]),
			 3);
	assert_int_equal(ibcc_route_sl(s.topo, &s.sls, s.topo->lid_port[7], s.topo->lid_port[1]),
			 15);
	assert_int_equal(ibcc_route_sl(s.topo, &s.sls, s.topo->lid_port[2], s.topo->lid_port[7]),
			 IBCC_ROUTE_NO_SL);
	ibcc_scenario_fini(&s);
}

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *error;
	} c[] = {
		{ "", "/p.txt: has no path record\n" },
		{ "\t\tdlid....................4\n",
		  "/p.txt:1:3: got \"dlid....................4\", want \"PathRecord dump:\" before "
		  "it\n" },
		{ "PathRecord dump:\nSwitch 0x51\n",
		  "/p.txt:2:1: got \"Switch 0x51\", want a line of saquery's path records\n" },
		{ "NodeRecord dump:\n",
		  "/p.txt:1:1: got \"NodeRecord dump:\", want a line of saquery's path records\n" },
		{ RECORD("1", "0", "0x0"), "/p.txt:2:27: got \"0\", want a LID from 1 to 49151\n" },
		{ RECORD("49152", "1", "0x0"),
		  "/p.txt:3:27: got \"49152\", want a LID from 1 to 49151\n" },
		{ RECORD("0x1", "7", "0x0"),
		  "/p.txt:3:27: got \"0x1\", want a LID from 1 to 49151\n" },
		{ RECORD("1", "7", "0x10"),
		  "/p.txt:4:27: got \"0x10\", want an SL from 0x0 to 0xf\n" },
		{ RECORD("1", "7", ""), "/p.txt:4:27: got \"\", want an SL from 0x0 to 0xf\n" },
		{ RECORD("1", "7", "-1"), "/p.txt:4:27: got \"-1\", want an SL from 0x0 to 0xf\n" },
		{ RECORD("1", "6", "0x0"), "/p.txt:2:27: got \"6\", want a LID that the file of "
					   "topology.tables has\n" },
		{ RECORD("1", "7", "0x0") "\t\tsl......................0x0\n",
		  "/p.txt:6:27: got \"0x0\", want each key once in a record\n" },
		{ "PathRecord dump:\n\t\tslid....................1\n" RECORD("1", "7", "0x0"),
		  "/p.txt:1:1: got a record without dlid, want its slid, dlid and sl\n" },
		{ "PathRecord "
		  "dump:\n\t\tdlid....................1\n\t\tslid....................7\n",
		  "/p.txt:1:1: got a record without sl, want its slid, dlid and sl\n" },
		{ RECORD("1", "7", "0x1") RECORD("1", "7", "0x2"),
		  "/p.txt:6:1: got SL 2 from a port 1 to c port 1, want SL 1 as in an earlier "
		  "record of this path\n" },
	};

	(void)state;
	tables();
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_yaml_errors e = { 0 };
		struct ibcc_scenario s;
		char path[512];

		files_write("p.txt", c[i].text);
		snprintf(path, sizeof(path), "%s",
			 files_write("s.yaml", PATHS "traffic: [{from: a, to: c}]\n"));
		assert_int_equal(ibcc_scenario_load(path, &s, &e), -EINVAL);
		assert_int_equal(e.n, 1);
		assert_string_equal(strstr(e.text, "/p.txt:"), c[i].error);
		ibcc_yaml_errors_fini(&e);
	}
}

/* Data needs the SL of its path, and answers that of the path back. */
static void test_missing(void **state)
{
	static const char path[] =
		"got a flow that needs the SLs of its paths both ways, want a "
		"record of the path from %s to %s in the file of topology.paths\n";
	char want[512], error[384];

	(void)state;
	tables();
	files_write("p.txt", RECORD("1", "7", "0x1") RECORD("7", "2", "0x1"));
	snprintf(error, sizeof(error), path, "c (LID 7)", "a (LID 1)");
	snprintf(want, sizeof(want), "8:11: traffic: %s", error);
	text_has(PATHS "traffic: [{from: a, to: c}]\n", want);
	snprintf(error, sizeof(error), path, "b (LID 2)", "c (LID 7)");
	snprintf(want, sizeof(want), "8:11: traffic: %s", error);
	text_has(PATHS "traffic: [{from: c, to: b}]\n", want);
	files_write("p.txt", RECORD("1", "7", "0x1") RECORD("7", "1", "0x1"));
	snprintf(error, sizeof(error), path, "a (LID 1)", "b (LID 2)");
	snprintf(want, sizeof(want), "8:11: traffic: %s", error);
	text_has(PATHS "traffic: [{from: a, to: all}]\n", want);
}

static void test_keys(void **state)
{
	(void)state;
	tables();
	files_write("p.txt", RECORD("1", "7", "0x3") RECORD("7", "1", "0x3"));
	text_has(TWO("  paths: p.txt\n") "traffic: [{from: a, to: c}]\n",
		 "6:10: topology.paths: got \"p.txt\", want it with "
		 "topology.tables, whose LIDs it has\n");
	text_has(PATHS "traffic: [{from: a, to: c, sl: 1}]\n",
		 "8:32: traffic.sl: got \"1\", want no sl with topology.paths, by which each path "
		 "has an SL\n");
	text_has(PATHS "traffic: [{from: a, to: c}]\n"
		       "dcqcn: {profiles: [{min: 1, max: 2, percent: 3}], cnp_sl: 1}\n",
		 "9:59: dcqcn.cnp_sl: got \"1\", want no cnp_sl with topology.paths, by which each "
		 "path has an SL\n");
}

/* The SLs of all pairs would take more memory the larger the fabric is, by its square. */
static void test_many(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_route_sls sls = { .n_ends = 0 };
	struct ibcc_yaml_errors e = { 0 };
	const char *file = files_write("many.txt", RECORD("1", "7", "0x1"));

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i <= IBCC_ROUTE_SLS_ENDS; i++)
		assert_true(ibcc_topo_add_node(t, i + 1, IBCC_NODE_CA, 1, "") >= 0);
	assert_int_equal(ibcc_path_records_load(file, t, &sls, &e), -EINVAL);
	assert_int_equal(e.n, 1);
	assert_string_equal(strstr(e.text, "/many.txt:"),
			    "/many.txt: got a fabric whose number of ports with LIDs is 16385, want at "
			    "most 16384: the SLs take a byte for each pair\n");
	ibcc_yaml_errors_fini(&e);
	ibcc_route_sls_fini(&sls);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),    cmocka_unit_test(test_circle),
		cmocka_unit_test(test_others),  cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_missing), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
