/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keys by node: the files, and what becomes of datagrams. */
#include <errno.h>
#include <stdio.h>

#include <ibcc/keyring.h>

#include "tests/unit/fake_fabric.h"
#include "tests/unit/files.h"

#define DEFAULT 0x77

/* Remembers what was sent, and answers with what it is told. */
struct wire {
	struct ibcc_transport base;
	uint8_t sent[256], answer[256];
};

static int wire_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct wire *w = (struct wire *)t;

	assert_int_equal(n, 1);
	memcpy(w->sent, op->mad, sizeof(w->sent));
	memcpy(op->mad + 64, w->answer + 64, 192);
	t->stats.sent++;
	return 0;
}

static void wire_free(struct ibcc_transport *t)
{
	(void)t;
}

static const struct ibcc_transport_ops wire_ops = { .run = wire_run, .free = wire_free };

static char dir[512];

static void write_keys(const char *name, const char *text)
{
	char path[512];

	snprintf(path, sizeof(path), "%s", files_write("temporary", text));
	assert_int_equal(rename(path, files_path(name)), 0);
}

static struct ibcc_keyring *open_keys(void)
{
	struct ibcc_keyring *k;

	snprintf(dir, sizeof(dir), "%s", files_path("guid2cckey"));
	*strrchr(dir, '/') = '\0';
	remove(files_path("guid2cckey"));
	remove(files_path("guid2mkey"));
	k = ibcc_keyring_new(dir, DEFAULT);
	assert_non_null(k);
	return k;
}

static uint16_t lid_of(const struct ibcc_topo *t, uint32_t node)
{
	return t->port[fabric_port(t, node, ibcc_topo_is_switch(t, node) ? 0 : 1)].lid;
}

static void test_file(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_keyring *k = open_keys();
	struct ibcc_why why = { "" };
	char text[512];

	(void)state;
	assert_int_equal(ibcc_keyring_check(k, &why), -ENOENT);
	assert_non_null(strstr(why.text, "guid2cckey: No such file"));
	t->port[fabric_port(t, LUSTRE_SRC1, 1)].guid = 0xabc1;
	snprintf(text, sizeof(text), "0x%016llx 0x0000000000001111\n\n0x000000000000abc1 0x2222\n",
		 (unsigned long long)t->node[LUSTRE_SW1].guid);
	write_keys("guid2cckey", text);
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	assert_int_equal(ibcc_keyring_check(k, &why), 0);
	ibcc_keyring_address(k, t);
	assert_int_equal(ibcc_keyring_cc_key(k, lid_of(t, LUSTRE_SW1)), 0x1111);
	assert_int_equal(ibcc_keyring_cc_key(k, lid_of(t, LUSTRE_SRC1)), 0x2222);
	assert_int_equal(ibcc_keyring_cc_key(k, lid_of(t, LUSTRE_SRC2)), DEFAULT);
	/* Another file in its place, of the same length. */
	text[strlen(text) - 2] = '3';
	write_keys("guid2cckey", text);
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	ibcc_keyring_address(k, t);
	assert_int_equal(ibcc_keyring_cc_key(k, lid_of(t, LUSTRE_SRC1)), 0x2223);
	/* Gone: what was read holds. */
	remove(files_path("guid2cckey"));
	assert_int_equal(ibcc_keyring_check(k, &why), -ENOENT);
	assert_non_null(strstr(why.text, "continues with the keys that it read before"));
	ibcc_keyring_address(k, t);
	assert_int_equal(ibcc_keyring_cc_key(k, lid_of(t, LUSTRE_SRC1)), 0x2223);
	ibcc_keyring_free(k);
	ibcc_topo_free(t);
}

/* One file is lost while the other one is replaced: the keys in that one are others all the same.
 */
static void test_one_lost(void **state)
{
	struct ibcc_keyring *k = open_keys();
	struct ibcc_why why = { "" };

	(void)state;
	write_keys("guid2mkey", "0x1 0x9999\n");
	assert_int_equal(ibcc_keyring_check(k, &why), -ENOENT);
	write_keys("guid2cckey", "0x1 0x1111\n");
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	remove(files_path("guid2mkey"));
	write_keys("guid2cckey", "0x1 0x2222\n");
	why.text[0] = '\0';
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	assert_non_null(strstr(why.text, "guid2mkey: No such file"));
	why.text[0] = '\0';
	assert_int_equal(ibcc_keyring_check(k, &why), -ENOENT);
	assert_non_null(strstr(why.text, "guid2mkey: No such file"));
	/* And the other way round. */
	remove(files_path("guid2cckey"));
	write_keys("guid2mkey", "0x1 0x8888\n");
	why.text[0] = '\0';
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	assert_non_null(strstr(why.text, "guid2cckey: No such file"));
	ibcc_keyring_free(k);
}

static void test_bad_files(void **state)
{
	static const char *const bad[] = {
		"0x1 0x2 0x3\n",  "0x1\n",     "1 2\n",    "0x10000000000000000 0x1\n",
		"0x1 0xsecret\n", "0x1,0x2\n", "0x1 0x\n",
	};
	struct ibcc_keyring *k = open_keys();
	struct ibcc_why why;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[128];

		snprintf(text, sizeof(text), "\n%s", bad[i]);
		write_keys("guid2cckey", text);
		assert_int_equal(ibcc_keyring_check(k, &why), -EINVAL);
		assert_non_null(strstr(why.text, "guid2cckey:2: want a GUID and a key"));
		assert_null(strstr(why.text, "secret"));
	}
	ibcc_keyring_free(k);
}

static uint64_t fabric_ns(struct ibcc_transport *t)
{
	(void)t;
	return 4711;
}

/* The time of a simulated fabric goes by what is in between. */
static void test_fabric_time(void **state)
{
	const struct ibcc_transport_ops ops = { .fabric_ns = fabric_ns };
	struct ibcc_transport inner = { .ops = &ops, .simulated = true };
	struct ibcc_keyring *k = open_keys();
	struct ibcc_transport *tr = ibcc_keyring_transport(k, &inner);

	(void)state;
	assert_non_null(tr);
	assert_true(tr->simulated);
	assert_int_equal(ibcc_transport_fabric_ns(tr), 4711);
	free(tr);
	ibcc_keyring_free(k);
}

static uint64_t be64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static void test_datagrams(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_keyring *k = open_keys();
	struct wire w = { .base.ops = &wire_ops };
	struct ibcc_transport *tr = ibcc_keyring_transport(k, &w.base);
	struct ibcc_mad_op op = { .lid = lid_of(t, LUSTRE_SW1) };
	struct ibcc_cc_key_info info = { 0 };
	struct ibcc_why why;
	char text[128];

	(void)state;
	snprintf(text, sizeof(text), "0x%llx 0x1111\n",
		 (unsigned long long)t->node[LUSTRE_SW1].guid);
	write_keys("guid2cckey", text);
	snprintf(text, sizeof(text), "0x%llx 0x9999\n",
		 (unsigned long long)t->node[LUSTRE_SW1].guid);
	write_keys("guid2mkey", text);
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	ibcc_keyring_address(k, t);

	/* The mark stands for the node's key, another key for itself. */
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, IBCC_CC_ATTR_INFO, 0);
	ibcc_cc_key_pack(op.mad, ibcc_keyring_mark(k));
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	assert_true(be64(w.sent + 24) == 0x1111);
	assert_int_equal(tr->stats.sent, 1);
	ibcc_cc_key_pack(op.mad, 0x42);
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	assert_true(be64(w.sent + 24) == 0x42);

	/* What a node shows as its key is the mark to us, and the other way round. */
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, IBCC_CC_ATTR_KEY_INFO, 0);
	info.CC_Key = 0x1111;
	info.CC_KeyLeasePeriod = 60;
	ibcc_cc_key_info_pack(w.answer, &info);
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	ibcc_cc_key_info_unpack(op.mad, &info);
	assert_true(info.CC_Key == ibcc_keyring_mark(k));
	assert_int_equal(info.CC_KeyLeasePeriod, 60);
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_CC_ATTR_KEY_INFO, 0);
	ibcc_cc_key_info_pack(op.mad, &info);
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	assert_true(be64(w.sent + 64) == 0x1111);

	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_SMP, IBCC_MAD_GET, IBCC_SMP_ATTR_NODE_INFO, 0);
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	assert_true(be64(w.sent + 24) == 0x9999);

	/* By a directed route the node is unknown: what all have, or none. */
	op.lid = IBCC_SMP_PERMISSIVE_LID;
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_SMP_DIRECT, IBCC_MAD_GET, IBCC_SMP_ATTR_NODE_INFO,
			 0);
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	assert_true(be64(w.sent + 24) == 0x9999);
	write_keys("guid2mkey", "0x1 0x9999\n0x2 0x8888\n");
	assert_int_equal(ibcc_keyring_check(k, &why), 1);
	assert_int_equal(ibcc_transport_run(tr, &op, 1), 0);
	assert_true(be64(w.sent + 24) == 0);
	ibcc_transport_free(tr);
	ibcc_keyring_free(k);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),        cmocka_unit_test(test_one_lost),
		cmocka_unit_test(test_bad_files),   cmocka_unit_test(test_datagrams),
		cmocka_unit_test(test_fabric_time),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
