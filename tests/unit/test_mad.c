/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The common MAD header against hand-made bytes, libibmad and OpenSM's struct. */
#include "codec.h"

#include <ibcc/mad.h>

static void test_vector(void **state)
{
	static const uint8_t want[24] = { 1,    0x21, 2,    0x81, 0x00, 0x1c, 0,    0,
					  0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
					  0x00, 0x17, 0,    0,    0,    0,    0,    1 };
	const struct ibcc_mad_header h = {
		.base_version = 1,
		.mgmt_class = IBCC_MAD_CLASS_CC,
		.class_version = 2,
		.method = IBCC_MAD_GET_RESP,
		.status = IBCC_MAD_STATUS_BAD_FIELD,
		.tid = 0x0123456789abcdef,
		.attr_id = 0x17,
		.attr_mod = 1,
	};
	struct ibcc_mad_header got;
	struct datagram d;

	(void)state;
	memset(d.b, 0xff, sizeof(d.b));
	ibcc_mad_header_pack(d.b, &h);
	assert_memory_equal(d.b, want, sizeof(want));
	for (size_t i = sizeof(want); i < sizeof(d.b); i++)
		assert_int_equal(d.b[i], 0xff);
	ibcc_mad_header_unpack(want, &got);
	assert_int_equal(got.base_version, 1);
	assert_int_equal(got.mgmt_class, IBCC_MAD_CLASS_CC);
	assert_int_equal(got.class_version, 2);
	assert_int_equal(got.method, IBCC_MAD_GET_RESP);
	assert_int_equal(got.status, IBCC_MAD_STATUS_BAD_FIELD);
	assert_int_equal(got.tid, 0x0123456789abcdef);
	assert_int_equal(got.attr_id, 0x17);
	assert_int_equal(got.attr_mod, 1);
}

static void test_against_struct(void **state)
{
	(void)state;
	for (int i = 0; i < ROUNDS; i++) {
		struct ibcc_mad_header h;
		struct datagram d;
		const ib_mad_t *m = (const ib_mad_t *)d.b;

		rnd_fill(d.b, sizeof(d.b));
		ibcc_mad_header_unpack(d.b, &h);
		assert_int_equal(h.base_version, m->base_ver);
		assert_int_equal(h.mgmt_class, m->mgmt_class);
		assert_int_equal(h.class_version, m->class_ver);
		assert_int_equal(h.method, m->method);
		assert_int_equal(h.status,
				 ntohs(m->status) & (m->mgmt_class == 0x81 ? 0x7fff : 0xffff));
		assert_int_equal(h.tid, be64toh(m->trans_id));
		assert_int_equal(h.attr_id, ntohs(m->attr_id));
		assert_int_equal(h.attr_mod, ntohl(m->attr_mod));

		struct ibcc_mad_header again;
		struct datagram out;

		memset(&again, 0, sizeof(again));
		memset(out.b, 0xff, sizeof(out.b));
		ibcc_mad_header_pack(out.b, &h);
		ibcc_mad_header_unpack(out.b, &again);
		m = (const ib_mad_t *)out.b;
		assert_int_equal(m->class_spec, 0);
		assert_int_equal(m->resv, 0);
		assert_int_equal(again.method, h.method);
		assert_int_equal(again.status, h.status);
		assert_int_equal(again.tid, h.tid);
	}
}

static void test_direction_bit(void **state)
{
	struct datagram d = { { 1, 0x81, 1, 0x81, 0x80, 0x0c } };
	struct ibcc_mad_header h;

	(void)state;
	ibcc_mad_header_unpack(d.b, &h);
	assert_int_equal(h.status, IBCC_MAD_STATUS_BAD_ATTR);
	d.b[1] = 0x04;
	ibcc_mad_header_unpack(d.b, &h);
	assert_int_equal(h.status, 0x800c);
}

static void test_request(void **state)
{
	static const struct {
		enum ibcc_mad_class cls;
		uint8_t version;
	} classes[] = { { IBCC_MAD_CLASS_SMP, 1 },
			{ IBCC_MAD_CLASS_SMP_DIRECT, 1 },
			{ IBCC_MAD_CLASS_PERF, 1 },
			{ IBCC_MAD_CLASS_CC, 2 } };

	(void)state;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
		struct datagram d, zero = { { 0 } };
		struct ibcc_mad_header h;

		memset(d.b, 0xff, sizeof(d.b));
		ibcc_mad_request(d.b, classes[i].cls, IBCC_MAD_SET, 0xff12, 0xdeadbeef);
		ibcc_mad_header_unpack(d.b, &h);
		assert_int_equal(h.base_version, 1);
		assert_int_equal(h.mgmt_class, classes[i].cls);
		assert_int_equal(h.class_version, classes[i].version);
		assert_int_equal(h.method, IBCC_MAD_SET);
		assert_int_equal(h.status, 0);
		assert_int_equal(h.tid, 0);
		assert_int_equal(h.attr_id, 0xff12);
		assert_int_equal(h.attr_mod, 0xdeadbeef);
		assert_memory_equal(d.b + 24, zero.b, sizeof(d.b) - 24);
	}
}

/* Our names are libibmad's codes. */
static void test_status(void **state)
{
	(void)state;
	assert_int_equal(IBCC_MAD_STATUS_BUSY, IB_MAD_STS_BUSY);
	assert_int_equal(IBCC_MAD_STATUS_REDIRECT, IB_MAD_STS_REDIRECT);
	assert_int_equal(IBCC_MAD_STATUS_BAD_VERSION, IB_MAD_STS_BAD_BASE_VER_OR_CLASS);
	assert_int_equal(IBCC_MAD_STATUS_BAD_METHOD, IB_MAD_STS_METHOD_NOT_SUPPORTED);
	assert_int_equal(IBCC_MAD_STATUS_BAD_ATTR, IB_MAD_STS_METHOD_ATTR_NOT_SUPPORTED);
	assert_int_equal(IBCC_MAD_STATUS_BAD_FIELD, IB_MAD_STS_INV_ATTR_VALUE);
	assert_string_equal(ibcc_mad_status_text(0), "ok");
	assert_string_equal(ibcc_mad_status_text(0x8000), "ok");
	assert_string_equal(ibcc_mad_status_text(0x000c),
			    "attribute not supported with this method");
	assert_string_equal(ibcc_mad_status_text(0x0010), "unknown status");
	for (unsigned int i = 0; i < 65536; i++)
		assert_true(ibcc_mad_status_text((uint16_t)i)[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vector),        cmocka_unit_test(test_against_struct),
		cmocka_unit_test(test_direction_bit), cmocka_unit_test(test_request),
		cmocka_unit_test(test_status),
	};

	test_seed();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
