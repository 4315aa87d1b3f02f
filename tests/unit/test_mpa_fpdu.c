/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* FPDUs and markers against a sender that does it octet by octet, and headers against octets
 * written out by hand after RFC 5040, 5041 and 5044.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mpa.h"
#include "perftest/mpa/octets.h"

/* The text of the RFC, in the plainest way: put an octet into the stream; if the stream is at a
 * multiple of the spacing, a marker goes first.
 */
struct slow {
	uint8_t out[70000];
	size_t n, length_at; /* length_at: of this FPDU's length, SIZE_MAX before it is known */
	uint64_t at;
	uint32_t spacing;
};

static void slow_octet(struct slow *s, uint8_t v)
{
	if (s->spacing && (s->at + s->n) % s->spacing == 0) {
		size_t pointer = s->length_at == SIZE_MAX ? 0 : s->n - s->length_at;

		s->out[s->n++] = 0;
		s->out[s->n++] = 0;
		s->out[s->n++] = (uint8_t)(pointer >> 8);
		s->out[s->n++] = (uint8_t)pointer;
	}
	if (s->length_at == SIZE_MAX)
		s->length_at = s->n;
	s->out[s->n++] = v;
}

static size_t slow_frame(struct slow *s, uint64_t at, uint32_t spacing, const uint8_t *ulpdu,
			 size_t len)
{
	uint32_t crc;

	*s = (struct slow){ .at = at, .spacing = spacing, .length_at = SIZE_MAX };
	slow_octet(s, (uint8_t)(len >> 8));
	slow_octet(s, (uint8_t)len);
	for (size_t i = 0; i < len; i++)
		slow_octet(s, ulpdu[i]);
	while (len++ % 4 != 2)
		slow_octet(s, 0);
	/* Whether a marker comes before the CRC is known by its first octet. */
	slow_octet(s, 0);
	s->n--;
	crc = ibcc_crc32c(IBCC_CRC32C_TABLE, 0, s->out, s->n);
	for (int i = 0; i < 4; i++)
		s->out[s->n++] = (uint8_t)(crc >> 8 * i);
	return s->n;
}

static void as_the_slow_one(void **state)
{
	static const uint32_t spacings[] = { 0, 512, 1024, 2048, 64 };
	static uint8_t ulpdu[65536], fast[70000], scratch[8192], flat[70000];
	static struct iovec piece[4096];
	static struct slow slow;
	uint64_t rnd = 5044;

	(void)state;
	for (int i = 0; i < 4000; i++) {
		struct ibcc_ddp d = { .opcode = i % 2 ? IBCC_RDMAP_WRITE : IBCC_RDMAP_SEND,
				      .last = true,
				      .stag = MPA_STAG,
				      .to = ibcc_rng_next(&rnd),
				      .msn = 7 };
		uint32_t header = (uint32_t)ibcc_ddp_bytes(&d), sum = 0, bytes;
		uint32_t len = ibcc_rng_below(&rnd, i % 10 ? 1600 : 60000);
		struct ibcc_fpdu f = { .at = ibcc_rng_below(&rnd, 5000) * 4ull,
				       .spacing = spacings[i % 5],
				       .ulpdu_bytes = header + len };
		size_t n = 0, n_pieces;

		if (f.ulpdu_bytes > ibcc_fpdu_max_ulpdu(f.spacing))
			continue;
		ibcc_ddp_encode(&d, ulpdu);
		for (uint32_t k = 0; k < len; k++)
			ulpdu[header + k] = (uint8_t)ibcc_rng_next(&rnd);
		bytes = ibcc_fpdu_bytes(&f);
		assert_int_equal(slow_frame(&slow, f.at, f.spacing, ulpdu, f.ulpdu_bytes), bytes);
		memset(fast, 0xee, bytes);
		ibcc_fpdu_write_payload(&f, fast, header, ulpdu + header, len);
		ibcc_fpdu_write_markers(&f, fast);
		ibcc_fpdu_write_header(&f, fast, &d);
		ibcc_fpdu_write_crc(&f, fast, ibcc_crc32c_best());
		assert_memory_equal(fast, slow.out, bytes);
		n_pieces = ibcc_fpdu_gather(&f, &d, ulpdu + header, len, ibcc_crc32c_best(),
					    scratch, piece);
		assert_true(n_pieces <= 2 * ibcc_fpdu_markers(&f) + 3);
		for (size_t k = 0; k < n_pieces; sum += (uint32_t)piece[k++].iov_len) {
			memcpy(flat + n, piece[k].iov_base, piece[k].iov_len);
			n += piece[k].iov_len;
		}
		assert_int_equal(sum, bytes);
		assert_memory_equal(flat, slow.out, bytes);
	}
}

static void found_again(void **state)
{
	struct mpa_out o = { .rules = { 512, IBCC_CRC32C_TABLE } };
	static uint8_t payload[1400], got[1400];
	uint64_t rnd = 1;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = 1, .to = (uint64_t)i }, e;
		uint32_t len = ibcc_rng_below(&rnd, 1401), payload_bytes;
		struct ibcc_fpdu f;
		size_t at = o.len, header;
		bool whole;

		memset(payload, i, len);
		mpa_frame(&o, &d, payload, len);
		assert_int_equal(
			ibcc_fpdu_find(&o.rules, at, o.bytes + at, o.len - at - 1, &f, &whole),
			IBCC_MPA_OK);
		assert_false(whole);
		assert_int_equal(ibcc_fpdu_find(&o.rules, at, o.bytes + at, o.len - at, &f, &whole),
				 IBCC_MPA_OK);
		assert_true(whole);
		assert_int_equal(ibcc_fpdu_bytes(&f), o.len - at);
		assert_int_equal(ibcc_fpdu_check_markers(&f, o.bytes + at), IBCC_MPA_OK);
		assert_int_equal(ibcc_fpdu_check_crc(&f, o.bytes + at, IBCC_CRC32C_TABLE),
				 IBCC_MPA_OK);
		assert_int_equal(ibcc_fpdu_header(&f, o.bytes + at, &e, &header, &payload_bytes),
				 IBCC_MPA_OK);
		assert_int_equal(payload_bytes, len);
		assert_int_equal(e.to, i);
		ibcc_fpdu_read(&f, o.bytes + at, (uint32_t)(2 + header), got, len);
		assert_memory_equal(got, payload, len);
	}
	free(o.bytes);
}

/* A marker is never more than 64 KiB behind the length it points to. */
static void longest(void **state)
{
	(void)state;
	for (uint32_t spacing = 0; spacing <= 4096; spacing += 64) {
		uint32_t most = ibcc_fpdu_max_ulpdu(spacing);

		assert_true(most <= UINT16_MAX && most > 60000);
		for (uint64_t at = 0; spacing && at < spacing; at += 4) {
			struct ibcc_fpdu f = { .at = at, .spacing = spacing, .ulpdu_bytes = most };

			assert_true(ibcc_fpdu_bytes(&f) <= UINT16_MAX + 1 + 4);
		}
	}
}

static void headers_by_hand(void **state)
{
	static const uint8_t write[14] = { 0xc1, 0x40, 0x00, 0x00, 0x12, 0x34, 0x00,
					   0x00, 0x00, 0x70, 0x00, 0x00, 0x00, 0x00 };
	static const uint8_t send[18] = { 0x01, 0x43, 0, 0, 0, 0, 0, 0, 0,
					  0,    0,    0, 0, 5, 0, 0, 1, 0x2c };
	struct ibcc_ddp w = { .opcode = IBCC_RDMAP_WRITE,
			      .last = true,
			      .stag = MPA_STAG,
			      .to = MPA_TO },
			s = { .opcode = IBCC_RDMAP_SEND, .msn = 5, .mo = 300 }, got;
	struct ibcc_rdmap_read r = { 1, 2, 3, 4, 5 }, again;
	uint8_t out[18], request[28];
	size_t n;

	(void)state;
	assert_int_equal(ibcc_ddp_encode(&w, out), 14);
	assert_memory_equal(out, write, 14);
	assert_int_equal(ibcc_ddp_encode(&s, out), 18);
	assert_memory_equal(out, send, 18);
	assert_int_equal(ibcc_ddp_decode(write, 14, &got, &n), IBCC_MPA_OK);
	assert_true(got.tagged && got.last && got.to == MPA_TO && n == 14);
	assert_int_equal(ibcc_ddp_decode(send, 18, &got, &n), IBCC_MPA_OK);
	assert_true(!got.tagged && !got.last && got.msn == 5 && got.mo == 300 && n == 18);
	ibcc_rdmap_read_encode(&r, request);
	ibcc_rdmap_read_decode(request, &again);
	assert_true(again.sink_stag == 1 && again.source_stag == 2 && again.size_bytes == 3 &&
		    again.sink_to == 4 && again.source_to == 5);
	assert_int_equal(ibcc_get32(request + 12), 3);
}

static void wrong_headers(void **state)
{
	static const struct {
		size_t at;
		uint8_t v;
		enum ibcc_mpa_error want;
	} cases[] = {
		{ 0, 0x42, IBCC_MPA_BAD_DDP_VERSION }, { 1, 0x83, IBCC_MPA_BAD_RDMAP_VERSION },
		{ 1, 0x48, IBCC_MPA_BAD_OPCODE },      { 1, 0x40, IBCC_MPA_BAD_OPCODE },
		{ 9, 0x01, IBCC_MPA_BAD_OPCODE },      { 9, 0x03, IBCC_MPA_BAD_QUEUE },
	};
	struct ibcc_ddp s = { .opcode = IBCC_RDMAP_SEND, .last = true, .msn = 1 }, got;
	uint8_t p[18];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ibcc_ddp_encode(&s, p);
		p[cases[i].at] = cases[i].v;
		assert_int_equal(ibcc_ddp_decode(p, 18, &got, &n), cases[i].want);
	}
	ibcc_ddp_encode(&s, p);
	for (size_t len = 0; len < 18; len++)
		assert_int_equal(ibcc_ddp_decode(p, len, &got, &n), IBCC_MPA_BAD_LENGTH);
	for (enum ibcc_mpa_error e = IBCC_MPA_OK; e < IBCC_MPA_N_ERRORS; e++)
		assert_true(strlen(ibcc_mpa_error_name(e)) > 3);
}

static void startup(void **state)
{
	struct ibcc_mpa_startup s = { .markers = true,
				      .crc = true,
				      .private_bytes = 3,
				      .private_data = "abc" },
				got;
	uint8_t p[IBCC_MPA_MAX_STARTUP];
	size_t n = ibcc_mpa_startup_encode(&s, p), bytes;

	(void)state;
	assert_int_equal(n, 23);
	assert_memory_equal(p,
			    "MPA ID Req Frame\xc0\x01\x00\x03"
			    "abc",
			    23);
	for (size_t len = 0; len < n; len++) {
		assert_int_equal(ibcc_mpa_startup_decode(p, len, false, &got, &bytes), IBCC_MPA_OK);
		assert_int_equal(bytes, 0);
	}
	assert_int_equal(ibcc_mpa_startup_decode(p, n + 9, false, &got, &bytes), IBCC_MPA_OK);
	assert_true(bytes == 23 && got.markers && got.crc && !got.reject);
	assert_memory_equal(got.private_data, "abc", 3);
	assert_int_equal(ibcc_mpa_startup_decode(p, n, true, &got, &bytes), IBCC_MPA_BAD_STARTUP);
	assert_int_equal(ibcc_mpa_startup_decode((const uint8_t *)"GET", 3, false, &got, &bytes),
			 IBCC_MPA_BAD_STARTUP);
	p[17] = 9;
	assert_int_equal(ibcc_mpa_startup_decode(p, n, false, &got, &bytes), IBCC_MPA_BAD_REVISION);
	p[17] = 1;
	p[18] = 2;
	p[19] = 1;
	assert_int_equal(ibcc_mpa_startup_decode(p, n, false, &got, &bytes), IBCC_MPA_BAD_LENGTH);
	s.reply = s.reject = true;
	n = ibcc_mpa_startup_encode(&s, p);
	assert_int_equal(ibcc_mpa_startup_decode(p, n, true, &got, &bytes), IBCC_MPA_REJECTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_slow_one), cmocka_unit_test(found_again),
		cmocka_unit_test(longest),         cmocka_unit_test(headers_by_hand),
		cmocka_unit_test(wrong_headers),   cmocka_unit_test(startup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
