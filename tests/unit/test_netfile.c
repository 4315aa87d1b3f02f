/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Netfiles: what is written is read back equal; ibsim's and ibnetdiscover's own texts are read as
 * they mean.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/scenario_file.h>

#include "files.h"

static struct ibcc_topo *read_ok(const char *path)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_topo *t = ibcc_netfile_load(path, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_non_null(t);
	ibcc_yaml_errors_fini(&e);
	return t;
}

static void read_bad(const char *text, const char *errors)
{
	struct ibcc_yaml_errors e = { 0 };
	const char *path = files_write("bad.net", text);
	char want[1024] = "";

	/* Each "%" stands for the file's name. */
	for (const char *s = errors; *s; s++)
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%.*s",
			 *s == '%' ? 255 : 1, *s == '%' ? path : s);
	assert_null(ibcc_netfile_load(path, &e));
	assert_string_equal(e.text ? e.text : "", want);
	ibcc_yaml_errors_fini(&e);
}

static uint32_t port_at(const struct ibcc_topo *t, const char *desc, unsigned int num)
{
	uint32_t node = ibcc_topo_find_desc(t, desc);

	assert_int_not_equal(node, IBCC_NONE);
	return ibcc_topo_port_index(t, node, num);
}

static void assert_linked(const struct ibcc_topo *t, const char *a, unsigned int pa, const char *b,
			  unsigned int pb, uint32_t rate)
{
	uint32_t x = port_at(t, a, pa), y = port_at(t, b, pb);

	assert_int_equal(t->port[x].peer, y);
	assert_int_equal(t->port[y].peer, x);
	assert_int_equal(t->port[x].rate_mbps, rate);
	assert_int_equal(t->port[y].rate_mbps, rate);
}

/* The two-switch example that comes with ibsim. */
static void test_ibsim_example(void **state)
{
	struct ibcc_topo *t = read_ok(files_write("net", "# comment\n"
							 "Switch\t8 \"Switch1\"\n"
							 "[1]\t\"Hca1\"[1]\n"
							 "[2]\t\"Hca2\"[2]\n"
							 "# a comment does not end a node\n"
							 "[3]\t\"Switch2\"[3]\n"
							 "[4]\t\"Switch2\"[4]\tw=8 s=1\n"
							 "\n"
							 "Switch 8 \"Switch2\"\n"
							 "[3]\t\"Switch1\"[3]\n"
							 "[4]\t\"Switch1\"[4]\n"
							 "\n"
							 "Hca\t2 \"Hca1\"\n"
							 "[1]\t\"Switch1\"[1]\n"
							 "\n"
							 "Hca\t2 \"Hca2\"\n"
							 "[2]\t\"Switch1\"[2]\n"));

	(void)state;
	assert_int_equal(t->n_nodes, 4);
	assert_linked(t, "Switch1", 1, "Hca1", 1, 32000);
	assert_linked(t, "Switch1", 2, "Hca2", 2, 32000);
	assert_linked(t, "Switch1", 3, "Switch2", 3, 32000);
	assert_linked(t, "Switch1", 4, "Switch2", 4, 24000); /* 12X SDR */
	assert_int_equal(t->port[port_at(t, "Hca1", 2)].peer, IBCC_NONE);
	/* As ibsim counts them: one for a switch, ports + 1 for an adapter. */
	assert_true(t->node[0].guid == 0x200000);
	assert_true(t->node[1].guid == 0x200001);
	assert_true(t->node[2].guid == 0x100000);
	assert_true(t->node[3].guid == 0x100003);
	assert_true(t->port[port_at(t, "Hca2", 2)].guid == 0x100005);
	ibcc_topo_free(t);
}

static const char discovered[] =
	"#\n# Topology file: generated on Sat Nov 21 02:13:05 2026\n#\n"
	"# Initiated from node 0008f10403960984 port 0008f10403960985\n\n"
	"vendid=0x8f1\ndevid=0x5a06\nsysimgguid=0x5442ba00003000\n"
	"switchguid=0x5442ba00003080(5442ba00003080)\n"
	"Switch\t24 \"S-005442ba00003080\"\t\t# \"ISR9024 lid 9 x\" enhanced port 0 lid 6 lmc 0\n"
	"[22]\t\"H-0008f10403961354\"[2](8f10403961356) \t\t# \"a \"[4]\" HCA\" lid 16 4xFDR10\n"
	"[8]\t\"H-0008f10403960984\"[1](8f10403960985) \t\t# \"MT 4xSDR\" lid 18 2xHDR\n\n"
	"vendid=0x2c9\ndevid=0x5a44\nsysimgguid=0x8f10403960987\ncaguid=0x8f10403960984\n"
	"Ca\t2 \"H-0008f10403960984\"\t\t# \"MT 4xSDR\"\n"
	"[1](8f10403960985) \t\"S-005442ba00003080\"[8]\t\t# lid 18 lmc 0 \"ISR9024 lid 9 x\" lid "
	"6 "
	"2xHDR\n\n"
	"caguid=0x8f10403961354\n"
	"Ca\t2 \"H-0008f10403961354\"\t\t# \"other\"\n"
	"[2](8f10403961356) \t\"S-005442ba00003080\"[22]\t\t# lid 16 lmc 1 \"ISR9024\" lid 6 "
	"4xFDR10\n";

static void test_ibnetdiscover_output(void **state)
{
	struct ibcc_topo *t = read_ok(files_write("disc", discovered));
	const char *sw = "ISR9024 lid 9 x";

	(void)state;
	assert_int_equal(t->n_nodes, 3);
	assert_linked(t, sw, 8, "MT 4xSDR", 1, 100000);
	assert_linked(t, sw, 22, "other", 2, 40000);
	assert_true(t->node[0].guid == 0x5442ba00003080);
	assert_true(t->node[0].enhanced_port0);
	assert_int_equal(t->port[t->node[0].first_port].lid, 6);
	assert_int_equal(t->port[port_at(t, "MT 4xSDR", 1)].lid, 18);
	assert_true(t->port[port_at(t, "other", 2)].guid == 0x8f10403961356);
	assert_int_equal(ibcc_topo_port_of_lid(t, 16), port_at(t, "other", 2));
	assert_int_equal(ibcc_topo_port_of_lid(t, 17), port_at(t, "other", 2));
	ibcc_topo_free(t);
}

/* A fabric with all that is hard to write down. */
static struct ibcc_topo *odd_fabric(void)
{
	struct ibcc_topo *t = ibcc_topo_new();
	static const char *const names[] = {
		"leaf", "twin", "twin",     "say \"no\" # lid 77", "S-00000000000000aa",
		"",     "a@b",  "tab\there"
	};
	uint64_t guid[] = { 0x10,    0xaa,    0x40000, 0xffffffffffff0000,
			    0x50000, 0x60000, 0x70000, 0x80000 };

	assert_non_null(t);
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(ibcc_topo_add_node(t, guid[i],
						    i < 2 ? IBCC_NODE_SWITCH : IBCC_NODE_CA,
						    i < 2 ? 36 : 2, names[i]),
				 i);
	/* Rates with and without a name, an MTU of its own, a link between adapters. */
	assert_int_equal(ibcc_topo_link(t, 0, 1, 2, 1, 32000, 2048), 0);
	assert_int_equal(ibcc_topo_link(t, 0, 36, 1, 36, 25600, 4096), 0);
	assert_int_equal(ibcc_topo_link(t, 1, 1, 3, 2, 54545, 2048), 0);
	assert_int_equal(ibcc_topo_link(t, 1, 2, 4, 1, 2000, 256), 0);
	assert_int_equal(ibcc_topo_link(t, 5, 1, 6, 1, 5000000, 2048), 0);
	assert_int_equal(ibcc_topo_link(t, 0, 2, 0, 3, 100000, 2048), 0);
	assert_int_equal(ibcc_topo_link(t, 0, 4, 7, 1, 24000, 2048), 0);
	assert_int_equal(ibcc_topo_link(t, 0, 5, 0, 6, 32000, 2048), 0); /* slower one way */
	t->port[t->node[0].first_port + 6].rate_mbps = 14966;
	/* The widths of the slowest links that carry these rates. */
	for (uint32_t i = 0; i < t->n_ports; i++) {
		switch (t->port[i].peer == IBCC_NONE ? 0 : ibcc_topo_link_mbps(t, i)) {
		case 0: break;
		case 2000: t->port[i].lanes = 1; break;
		case 25600: t->port[i].lanes = 2; break;
		case 24000:
		case 5000000: t->port[i].lanes = 12; break;
		default: t->port[i].lanes = 4;
		}
	}
	t->node[1].enhanced_port0 = true;
	assert_int_equal(ibcc_topo_set_lid(t, t->node[0].first_port, 5, 0), 0);
	assert_int_equal(ibcc_topo_set_lid(t, t->node[3].first_port + 2, 8, 3), 0);
	assert_int_equal(ibcc_topo_set_lid(t, t->node[2].first_port + 1, 49151, 0), 0);
	return t;
}

static struct ibcc_topo *round_trip(const struct ibcc_topo *t)
{
	const char *path = files_path("written.net");
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(ibcc_netfile_write(t, f), 0);
	fclose(f);
	return read_ok(path);
}

static void test_round_trip(void **state)
{
	struct ibcc_topo *t = odd_fabric(), *back = round_trip(t);

	(void)state;
	/* These cannot stand in a file: a quote, a tab, no name at all. */
	assert_string_equal(back->node[3].desc, "say 'no' # lid 77");
	assert_string_equal(back->node[7].desc, "tab'here");
	assert_string_equal(back->node[5].desc, "H-0000000000060000");
	for (uint32_t i = 0; i < t->n_nodes; i++)
		memcpy(t->node[i].desc, back->node[i].desc, sizeof(t->node[i].desc));
	assert_true(ibcc_topo_equal(t, back));
	for (uint32_t i = 0; i < t->n_ports; i++)
		assert_true(t->port[i].guid == back->port[i].guid);
	ibcc_topo_free(back);
	/* With names that can, all is equal at once. */
	back = round_trip(t);
	assert_true(ibcc_topo_equal(t, back));
	ibcc_topo_free(back);
	ibcc_topo_free(t);
}

static void test_write_error(void **state)
{
	struct ibcc_topo *t = odd_fabric();
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	assert_non_null(full);
	assert_int_equal(ibcc_netfile_write(t, full), -EIO);
	fclose(full);
	ibcc_topo_free(t);
}

static void test_errors(void **state)
{
	(void)state;
	read_bad("", "%: got nothing, want lines such as Switch 36 \"name\"\n");
	read_bad("name: a scenario\n", "%: got nothing, want lines such as Switch 36 \"name\"\n");
	read_bad("Switch 0 \"a\"\nSwitch 255 \"b\"\nHca 2\n",
		 "%:1: got \"Switch 0 \"a\"\", want TYPE PORTS \"ID\" with 1 to 254 ports\n"
		 "%:2: got \"Switch 255 \"b\"\", want TYPE PORTS \"ID\" with 1 to 254 ports\n"
		 "%:3: got \"Hca 2\", want TYPE PORTS \"ID\" with 1 to 254 ports\n");
	read_bad("Switch 2 \"a\"\n[3]\t\"b\"[1]\n",
		 "%:2: got \"[3]?\"b\"[1]\", want [PORT] with a port of the node\n");
	read_bad("Switch 2 \"a\"\n[1]\tb[1]\n",
		 "%:2: got \"[1]?b[1]\", want [PORT] \"REMOTE\"[PORT]\n");
	read_bad("Switch 2 \"a\"\n[1]\t\"b\"[1]\n", "%:2: got \"b\", want a node of the file\n");
	read_bad("Switch 2 \"a\"\n[1]\t\"a\"[1]\n",
		 "%:2: got \"a\", want a remote port whose own line leads back here\n");
	read_bad("Switch 2 \"a\"\n[1]\t\"b\"[1]\n\nSwitch 2 \"b\"\n[1]\t\"a\"[2]\n",
		 "%:2: got \"b\", want a remote port whose own line leads back here\n");
	read_bad("Switch 2 \"a\"\n[1]\t\"b\"[1]\n[1]\t\"b\"[2]\n\nSwitch 2 \"b\"\n",
		 "%:3: got \"b\", want one line for each port\n");
	read_bad("Switch 2 \"a\"\n\nHca 1 \"a\"\n", "%: got \"a\", want each id once\n");
	read_bad("switchguid=0x5\nSwitch 2 \"a\"\ncaguid=0x5\nHca 1 \"b\"\nswitchguid\n",
		 "%:4: got \"b\", want a GUID that no other node has\n"
		 "%:5: got \"switchguid\", want a GUID behind =\n");
	read_bad("include \"other\"\n@[1] \"alias\"\nmodule=x\n",
		 "%:1: got \"include \"other\"\", want neither include, module nor do\n"
		 "%:2: got \"@[1] \"alias\"\", want no aliases\n"
		 "%:3: got \"module=x\", want neither include, module nor do\n");
	/* A width and speed that are unknown, and masks that PortInfo does not have. */
	read_bad("Switch 2 \"a\"\n[1]\t\"b\"[1]\t# \"b\" lid 1 4xABC\n",
		 "%:2: got \"4xABC\", want a link's width and speed, such as 4xEDR\n");
	read_bad("Switch 2 \"a\"\n[1] \"b\"[1] # 16xEDR\n[2] \"b\"[2] # lid 1 4x???\n",
		 "%:2: got \"16xEDR\", want a link's width and speed, such as 4xEDR\n"
		 "%:3: got \"4x???\", want a link's width and speed, such as 4xEDR\n");
	read_bad("width=0\nspeed=8\nextspeed=16\nSwitch 2 \"a\"\n[1] \"b\"[1] w=32 e=99\n",
		 "%:1: got \"width=0\", want a width from 1 to 31 after =\n"
		 "%:2: got \"speed=8\", want a speed from 0 to 7 after =\n"
		 "%:3: got \"extspeed=16\", want an extended speed from 0 to 15 after =\n"
		 "%:5: got \"[1] \"b\"[1] w=32 e=99\", want a width from 1 to 31 after =\n");
	read_bad("vendid=1\nwidth\n", "%:2: got \"width\", want a value behind =\n");
	read_bad("switchguid=5\nSwitch 1 \"a\"\t# \"a\" base port 0 lid 49152 lmc 0\n",
		 "%:2: got \"Switch 1 \"a\"?# \"a\" base port 0 lid 49152 lmc 0\", want a LID from "
		 "1 to "
		 "49151 that no other port has\n");
}

/* For tests/system/test_netfile.sh: `write SCENARIO` as a netfile, `list NETFILE` as plain lines
 * for each node and each end of a link, whose order does not depend on the file's.
 */
static int write_scenario(const char *path)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	int rc = ibcc_scenario_load(path, &s, &e);

	if (rc) {
		fputs(e.text ? e.text : "", stderr);
		ibcc_yaml_errors_fini(&e);
		return 1;
	}
	rc = ibcc_netfile_write(s.topo, stdout);
	ibcc_scenario_fini(&s);
	return !!rc;
}

static int list_netfile(const char *path)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_topo *t = ibcc_netfile_load(path, &e);

	if (!t) {
		fputs(e.text ? e.text : "", stderr);
		ibcc_yaml_errors_fini(&e);
		return 1;
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i], *q;
		const struct ibcc_topo_node *n = &t->node[p->node];

		if (p->num == 0 && n->type == IBCC_NODE_SWITCH)
			printf("%016llx switch of %u ports \"%s\" lid %u\n",
			       (unsigned long long)n->guid, n->n_ports, n->desc, p->lid);
		if (p->peer == IBCC_NONE)
			continue;
		q = &t->port[p->peer];
		printf("%016llx \"%s\" port %u guid %llx lid %u to %016llx port %u at %u Mb/s\n",
		       (unsigned long long)n->guid, n->desc, p->num, (unsigned long long)p->guid,
		       p->lid, (unsigned long long)t->node[q->node].guid, q->num, p->rate_mbps);
	}
	ibcc_topo_free(t);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ibsim_example), cmocka_unit_test(test_ibnetdiscover_output),
		cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_write_error),
		cmocka_unit_test(test_errors),
	};

	if (argc == 3 && !strcmp(argv[1], "write"))
		return write_scenario(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "list"))
		return list_netfile(argv[2]);
	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
