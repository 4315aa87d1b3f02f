/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios with forwarding tables from a file. */
#include "tests/unit/scenarios.h"

#include <inttypes.h>

#include <ibcc/measure.h>
#include <ibcc/route.h>

/* Tables that OpenSM made and dump_fts printed, line by line against what was read. */
static void test_real(void **state)
{
	static const char file[] = "tests/unit/torus-updn.fts";
	char text[1024], line[256], *top = realpath(file, NULL);
	uint32_t sw = IBCC_NONE, n = 0, n_sw = 0;
	struct ibcc_scenario s;
	FILE *f = fopen(file, "r");

	(void)state;
	assert_non_null(f);
	assert_non_null(top);
	snprintf(text, sizeof(text),
		 HEAD "topology: {torus: {sizes: [3, 3]}, tables: %s}\n"
		      "traffic: [{from: all, to: all}]\n",
		 top);
	text_ok(text, &s);
	while (fgets(line, sizeof(line), f)) {
		uint64_t guid;
		unsigned int lid, out;
		char *at;

		if ((at = strstr(line, " guid ")) && sscanf(at, " guid %" SCNx64, &guid) == 1) {
			sw = ibcc_topo_find_guid(s.topo, guid);
			assert_int_not_equal(sw, IBCC_NONE);
			n_sw++;
		} else if ((at = strstr(line, "portguid ")) &&
			   sscanf(line, "0x%x %u", &lid, &out) == 2 &&
			   sscanf(at, "portguid %" SCNx64, &guid) == 1) {
			uint32_t port = s.topo->lid_port[lid];

			assert_int_equal(s.topo->node[sw].lft[lid], out);
			assert_int_not_equal(port, IBCC_NONE);
			/* The simulator counts the GUIDs of an adapter's ports from its own. */
			assert_true(s.topo->node[s.topo->port[port].node].guid ==
				    (strstr(line, "Switch") ? guid : guid - 1));
			n++;
		}
	}
	fclose(f);
	free(top);
	assert_int_equal(n_sw, 9);
	assert_int_equal(n, 9 * 18);
	ibcc_scenario_fini(&s);
}

/* Hosts a and b at one switch, c at another one; two links join the switches. */
#define TWO(more)                                                                                  \
	HEAD "topology:\n  nodes: [{host: [a, b, c]}, {switch: s, ports: 4, guid: 0x51}, "         \
	     "{switch: "                                                                           \
	     "t, ports: 4}]\n"                                                                     \
	     "  links: [[a, s/1], [b, s/2], [c, t/1], [s/3, t/3], [s/4, t/4]]\n" more
#define TABLES TWO("  tables: t.txt\n") "traffic:\n- {from: a, to: c}\n- {from: b, to: c}\n"
#define S_GUID "0x0000000000000051"

static void test_forms(void **state)
{
	static const char *const form[] = {
		"Unicast lids [0x0-0x9] of switch DR path slid 0; dlid 0; 0,1 guid " S_GUID
		" (s):\n"
		"  Lid  Out   Destination\n       Port     Info \n"
		"0x0007 004 : (Channel Adapter portguid 0x1: 'c')\n"
		"0x0009 001 : (Channel Adapter portguid 0x2: 'a')\n"
		"0x0014 002 : (Channel Adapter portguid 0x3: 'b')\n"
		"0x0015 000 : (Switch portguid 0x51: 's')\n"
		"5 valid lids dumped \n"
		"Unicast lids [0x0-0x9] of switch Lid 3 guid 0x9999 (t):\n"
		"0x0007 001\n0x0009 003\n0x0014 003\n0x0015 003\n",
		"Unicast lids [0-9] of switch Lid 21 guid " S_GUID " ('s'):\n"
		"0x0007 004 # Channel Adapter portguid 0x1: 'c'\n0x0009 001\n0x0014 002\n0x0015 "
		"000\n"
		"4 lids dumped\n\nUnicast lids [0-9] of switch Lid 3 guid 0x9999 ('t'):\n"
		"0x0007 001\r\n0x0009 003\n0x0014 003\n0x0015 003\n",
		"dump_ucast_routes: Switch " S_GUID "\nLID    : Port : Hops : Optimal\n"
		"0x0007 : 004  : 02   : yes\n0x0008 : UNREACHABLE\n0x0009 : 001  : 01   : yes\n"
		"0x0014 : 002  : 01   : yes\n0x0015 : 000  : 00   : yes\n# the other\n"
		"osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000100000005\n"
		"0x0007 : 001  : 01   : yes\n0x0009 : 003  : 02   : yes\n"
		"0x0014 : 003  : 02   : yes\n0x0015 : 003  : 01   : yes\n",
	};
	static const uint16_t lid[] = { 9, 20, 7, 21, 0 }; /* of a, b, c, s, t */
	struct ibcc_measure m;
	struct ibcc_scenario s;

	(void)state;
	for (size_t i = 0; i < sizeof(form) / sizeof(form[0]); i++) {
		files_write("t.txt", form[i]);
		text_ok(TABLES, &s);
		for (uint32_t k = 0; k < 5; k++) {
			uint32_t port = s.topo->node[k].first_port + (k < 3);

			assert_int_equal(s.topo->port[port].lid, lid[k]);
		}
		assert_int_equal(s.topo->node[3].lft[7], 4);
		assert_int_equal(s.topo->node[4].lft[9], 3);
		assert_int_equal(s.topo->node[3].lft[8], IBCC_LFT_NONE);
		/* Both flows take the second link, and have half of it each. */
		assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
		assert_float_equal(m.flow[0].throughput_mbps / m.flow[1].throughput_mbps, 1, 0.02);
		ibcc_measure_fini(&m);
		ibcc_scenario_fini(&s);
	}
}

/* With these tables there is this error, and perhaps others if it is not `alone`. */
static void want_error(const char *text, const char *error, bool alone)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	char path[512];

	files_write("t.txt", text);
	snprintf(path, sizeof(path), "%s", files_write("s.yaml", TABLES));
	assert_int_equal(ibcc_scenario_load(path, &s, &e), -EINVAL);
	if (!strstr(e.text, error) || (alone && e.n != 1))
		assert_string_equal(e.text, error);
	ibcc_yaml_errors_fini(&e);
}

#define SEC "Unicast lids [0-9] of switch Lid 21 guid " S_GUID " ('s'):\n"

static void test_mistakes(void **state)
{
	static const struct {
		const char *text, *error;
	} c[] = {
		{ "0x0001 001\n", "/t.txt:1:1: got \"0x0001 001\", want the line of a switch "
				  "before its entries\n" },
		{ "", "/t.txt: has no forwarding table of a switch\n" },
		{ "Unicast lids [0-9] of switch Lid 3 guid 0x52 ('x'):\n0x0001 099\n",
		  "/t.txt:1:41: got \"0x52 ('x'):\", want the GUID of a switch of the topology\n" },
		{ "Switch 0x300\n",
		  "/t.txt:1:8: got \"0x300\", want the GUID of a switch of the topology\n" },
		{ SEC SEC,
		  "/t.txt:2:42: got \"0x0000000000000051 ('s'):\", want each switch once\n" },
		{ SEC "0x0000 001\n",
		  "/t.txt:2:1: got \"0x0000 001\", want a LID from 0x1 to 0xbfff\n" },
		{ SEC "0xc000 001\n",
		  "/t.txt:2:1: got \"0xc000 001\", want a LID from 0x1 to 0xbfff\n" },
		{ SEC "0x0001 005\n", "/t.txt:2:8: got \"005\", want a port of s, from 0 to 4\n" },
		{ SEC "0x0001 x\n", "/t.txt:2:8: got \"x\", want a port of s, from 0 to 4\n" },
		{ SEC "0x0001 001\n0x0001 002\n",
		  "/t.txt:3:8: got \"002\", want an output that does not end elsewhere than at a "
		  "port 1\n" },
		{ SEC "Multicast mlids [0xc000-0xc3ff]\n",
		  "/t.txt:2:1: got \"Multicast mlids [0xc000-0xc3ff]\", want a line of dump_fts, "
		  "ibroute, opensm-lfts.dump or opensm.fdbs\n" },
		/* c has no LID; then the other switch has no entry; then the tables lead in
		   circles. */
		{ SEC "0x0001 001\n0x0002 002\n", "s.yaml:8:3: traffic: got a flow from a to c, "
						  "want a route between them in the file "
						  "of topology.tables\n" },
		{ SEC "0x0001 001\n0x0002 002\n0x0003 003\n",
		  "s.yaml:9:3: traffic: got a flow from b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		want_error(c[i].text, c[i].error, false);
	/* The entries of a switch that the topology does not have are no mistakes of their own. */
	want_error(c[2].text, c[2].error, true);
	unlink(files_path("t.txt"));
	text_bad(TWO("  tables: t.txt\n  routes: shortest\n") FLOW,
		 "%6:11: topology.tables: got \"t.txt\", want either tables or routes\n");
	files_write("t.txt", SEC "0x0001 001\n0x0002 002\n");
	text_bad(TWO("  tables: t.txt\n") FLOW "model: {routing: random}\n",
		 "%8:18: model.routing: got \"random\", want static with topology.tables\n");
}

/* A line may be of any length: what stands far behind is not taken for a line of its own, and lines
 * are counted as an editor does.
 */
static void test_long_line(void **state)
{
	char text[4096];

	(void)state;
	for (int before = 900; before < 1100; before++) {
		snprintf(text, sizeof(text), SEC "0x0001 001 # %*s0x0002 099\nx\n", before, "");
		want_error(text,
			   "/t.txt:3:1: got \"x\", want a line of dump_fts, ibroute, "
			   "opensm-lfts.dump or opensm.fdbs\n",
			   true);
	}
}

/* A sender without a LID is refused by itself, whichever sender at its switch comes first. */
static void test_no_lid(void **state)
{
	static const char x[] = "- {name: x, from: b, to: all, to_except: a, load_percent: 1, "
				"merged: true}\n";
	static const char y[] = "- {name: y, from: a, to: all, to_except: b, load_percent: 1, "
				"merged: true}\n";
	static const char error[] =
		"%%%d:3: traffic: got a flow from a, which has no LID, want an entry that leads to "
		"it in the file of topology.tables\n";
	char text[1024], want[256];

	(void)state;
	files_write("t.txt", SEC "0x0002 002\n0x0003 003\n"
				 "Unicast lids [0-9] of switch Lid 3 guid 0x0 ('t'):\n"
				 "0x0002 003\n0x0003 001\n");
	for (int first = 0; first < 2; first++) {
		snprintf(text, sizeof(text), TWO("  tables: t.txt\n") "traffic:\n%s%s",
			 first ? x : y, first ? y : x);
		snprintf(want, sizeof(want), error, first ? 9 : 8);
		text_bad(text, want);
	}
}

#define RING_OF_THREE                                                                              \
	HEAD "topology:\n  tables: t.txt\n  nodes: [{host: [a, b, c]}, "                           \
	     "{switch: s, ports: 3, guid: 0x51}, {switch: t, ports: 3, guid: 0x52}, "              \
	     "{switch: u, ports: 3, guid: 0x53}]\n"                                                \
	     "  links: [[a, s/1], [b, t/1], [c, u/1], [s/2, t/3], [t/2, u/3], [u/2, s/3]]\n"

/* Tables that send all around a ring in one direction; and tables of which two switches send
 * packets for c to each other for ever.
 */
static void test_circle(void **state)
{
	(void)state;
	files_write("t.txt", "Switch 0x51\n0x1 1\n0x2 2\n0x3 2\n"
			     "Switch 0x52\n0x1 2\n0x2 1\n0x3 2\n"
			     "Switch 0x53\n0x1 2\n0x2 2\n0x3 1\n");
	text_bad(RING_OF_THREE "traffic: [{from: all, to: all}]\n",
		 "%4:3: topology: got flows whose routes make a circle of 3 outputs that can block "
		 "each other for ever (s port 2, t port 2, u port 2), want other flows, in "
		 "topology.tables a dump from OpenSM with routing_engine updn or ftree, or for "
		 "lash, dfsssp and nue the SLs of paths in topology.paths\n");
	files_write("t.txt", "Switch 0x51\n0x1 1\n0x2 2\n0x3 2\n"
			     "Switch 0x52\n0x1 3\n0x2 1\n0x3 3\n"
			     "Switch 0x53\n0x1 2\n0x2 3\n0x3 1\n");
	text_bad(RING_OF_THREE "traffic:\n- {from: a, to: [b, c]}\n- {from: all, to: all}\n",
		 "%8:3: traffic: got a flow from a to c whose route goes in a circle or has more "
		 "than 64 links, want another file in topology.tables\n"
		 "%9:3: traffic: got a flow from a to c whose route goes in a circle or has more "
		 "than 64 links, want another file in topology.tables\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),     cmocka_unit_test(test_forms),
		cmocka_unit_test(test_mistakes), cmocka_unit_test(test_long_line),
		cmocka_unit_test(test_circle),   cmocka_unit_test(test_no_lid),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
