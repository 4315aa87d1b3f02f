/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes through the messages of daemon and plugin. */
#include "tests/unit/draws.h"
#include "tests/unit/fabrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/proto.h>

static void test_changes(void **state)
{
	uint8_t buf[2048];
	size_t len = 0;
	uint32_t rng = 4;

	(void)state;
	for (int i = 0; i < 500; i++) {
		const uint16_t attrs[] = { 0x14, 0x15, 0x16, 0x17 };
		struct ibcc_change c = { 0 }, got;

		c.node_guid = (uint64_t)draw(&rng) << 40 | draw(&rng);
		c.lid = (uint16_t)(1 + draw(&rng) % IBCC_LID_MAX);
		c.port = draw(&rng) % 255;
		c.attr_id = attrs[draw(&rng) % 4];
		c.attr_mod = c.attr_id & 1 ? draw(&rng) % 4 : 0;
		for (int k = 0; k < 192; k++) {
			c.old_data[k] = (uint8_t)draw(&rng);
			c.new_data[k] = (uint8_t)draw(&rng);
		}
		snprintf(c.reason, sizeof(c.reason), "because");
		len = ibcc_proto_change_encode(&c, buf);
		assert_int_equal(len, IBCC_PROTO_CHANGE_BYTES);
		memset(&got, 0xee, sizeof(got));
		assert_int_equal(ibcc_proto_change_decode(buf, len, &got), 0);
		assert_int_equal(got.node_guid, c.node_guid);
		assert_int_equal(got.lid, c.lid);
		assert_int_equal(got.port, c.port);
		assert_int_equal(got.attr_id, c.attr_id);
		assert_int_equal(got.attr_mod, c.attr_mod);
		assert_memory_equal(got.old_data, c.old_data, 192);
		assert_memory_equal(got.new_data, c.new_data, 192);
		assert_string_equal(got.reason, ""); /* it stays here */
	}
	for (size_t cut = 0; cut < len; cut++)
		assert_int_equal(ibcc_proto_change_decode(buf, cut, &(struct ibcc_change){ 0 }),
				 -EPROTO);
}

static void test_bad_changes(void **state)
{
	static const struct {
		uint16_t lid, attr_id;
		uint32_t attr_mod;
		uint8_t port;
	} bad[] = {
		{ 0, 0x16, 0, 1 },   { 0xc000, 0x16, 0, 1 }, { 0xffff, 0x16, 0, 1 },
		{ 1, 0x13, 0, 1 },   { 1, 0x16, 1, 1 },      { 1, 0x14, 1, 0 },
		{ 1, 0x17, 4, 1 },   { 1, 0x15, 8, 0 },      { 1, 0x0116, 0, 1 },
		{ 1, 0x16, 0, 255 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct ibcc_change c = {
			.lid = bad[i].lid,
			.attr_id = bad[i].attr_id,
			.attr_mod = bad[i].attr_mod,
			.port = bad[i].port,
		};
		struct ibcc_change got = { .lid = 77 };
		uint8_t buf[2048];
		size_t len;

		len = ibcc_proto_change_encode(&c, buf);
		assert_int_equal(ibcc_proto_change_decode(buf, len, &got), -EPROTO);
		assert_int_equal(got.lid, 77);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_bad_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
