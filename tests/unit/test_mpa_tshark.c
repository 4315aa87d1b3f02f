/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What we send, as Wireshark reads it: a capture of a whole connection, each FPDU found, its CRC
 * good, its header as it was meant. Skipped where tshark is not installed.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files.h"
#include "mpa.h"
#include "perftest/mpa/octets.h"

#define CLIENT 40000
#define SERVER 20000
#define FPDUS  62

struct capture {
	FILE *f;
	uint32_t seq[2]; /* of client and server, the next one */
	uint32_t time;
};

static void record(struct capture *c, const void *p, size_t len)
{
	if (len)
		assert_int_equal(fwrite(p, 1, len, c->f), len);
}

/* One TCP segment in one IP packet, without link layer; checksums are left out. */
static void packet(struct capture *c, int from, uint8_t flags, const uint8_t *data, size_t len)
{
	uint32_t head[4] = { c->time / 1000000, c->time % 1000000, (uint32_t)(40 + len),
			     (uint32_t)(40 + len) };
	uint8_t p[40] = { 0x45, [8] = 64, 6, [12] = 10, 0, 0, 1, 10, 0, 0, 2, [32] = 0x50 };

	if (from)
		p[15] = 2, p[19] = 1;
	ibcc_put16(p + 2, (uint16_t)(40 + len));
	ibcc_put16(p + 20, from ? SERVER : CLIENT);
	ibcc_put16(p + 22, from ? CLIENT : SERVER);
	ibcc_put32(p + 24, c->seq[from]);
	ibcc_put32(p + 28, flags & 0x10 ? c->seq[!from] : 0);
	p[33] = flags;
	ibcc_put16(p + 34, 0xffff);
	record(c, head, sizeof(head));
	record(c, p, sizeof(p));
	record(c, data, len);
	c->seq[from] += (uint32_t)len + (flags & 0x02 ? 1 : 0);
	c->time += 100;
}

static void open_capture(struct capture *c, const char *path, bool markers)
{
	/* In the byte order of this machine: 2 and 4 are the version, 101 is raw IP. */
	static const struct {
		uint32_t magic;
		uint16_t major, minor;
		uint32_t zone, accuracy, most, type;
	} head = { 0xa1b2c3d4, 2, 4, 0, 0, 65535, 101 };
	struct ibcc_mpa_startup s = { .markers = markers, .crc = true };
	uint8_t frame[IBCC_MPA_MAX_STARTUP];
	size_t len;

	*c = (struct capture){ .f = fopen(path, "wb"), .seq = { 1000, 5000 }, .time = 1000000 };
	assert_non_null(c->f);
	record(c, &head, sizeof(head));
	packet(c, 0, 0x02, NULL, 0);
	packet(c, 1, 0x12, NULL, 0);
	packet(c, 0, 0x10, NULL, 0);
	len = ibcc_mpa_startup_encode(&s, frame);
	packet(c, 0, 0x18, frame, len);
	s.reply = true;
	len = ibcc_mpa_startup_encode(&s, frame);
	packet(c, 1, 0x18, frame, len);
}

/* Octets of payload, or 4 more: Wireshark 4.0 takes the marker that is due just behind an FPDU for
 * one of that FPDU's, and then understands no more. By RFC 5044 it is the next one's, which it
 * stands before; see test_mpa_fpdu for that case.
 */
static uint32_t not_up_to_a_marker(const struct mpa_out *o, uint32_t header, uint32_t bytes)
{
	struct ibcc_fpdu f = { .at = o->len,
			       .spacing = o->rules.spacing,
			       .ulpdu_bytes = header + bytes };

	return (f.at + ibcc_fpdu_bytes(&f)) % IBCC_MPA_SPACING ? bytes : bytes + 4;
}

/* FPDUs of all kinds and of lengths around those where a marker meets header, pad and CRC; d[] is
 * what their headers say.
 */
static void make(struct mpa_out *o, struct ibcc_ddp *d, uint32_t *bytes)
{
	static uint8_t payload[1404];
	struct ibcc_rdmap_read r = { 1, 2, 3, MPA_TO, MPA_TO + 5 };
	uint64_t rnd = 5044;

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)ibcc_rng_next(&rnd);
	for (uint32_t i = 0; i < FPDUS - 2; i++) {
		bytes[i] = i < 20 ? 470 + i : i < 40 ? i - 20 : ibcc_rng_below(&rnd, 1401);
		if (i % 3)
			d[i] = (struct ibcc_ddp){ .opcode = IBCC_RDMAP_WRITE,
						  .tagged = true,
						  .stag = MPA_STAG + i,
						  .to = MPA_TO + i };
		else
			d[i] = (struct ibcc_ddp){ .opcode = IBCC_RDMAP_SEND,
						  .msn = i + 1,
						  .mo = i % 2 ? 0 : 100 * i };
		d[i].last = i % 2;
		bytes[i] = not_up_to_a_marker(o, (uint32_t)ibcc_ddp_bytes(&d[i]), bytes[i]);
		mpa_frame(o, &d[i], payload, bytes[i]);
	}
	ibcc_rdmap_read_encode(&r, payload);
	bytes[FPDUS - 2] = IBCC_RDMAP_READ_BYTES;
	d[FPDUS - 2] = (struct ibcc_ddp){
		.opcode = IBCC_RDMAP_READ_REQUEST, .last = true, .qn = IBCC_DDP_QN_READ, .msn = 1
	};
	mpa_frame(o, &d[FPDUS - 2], payload, bytes[FPDUS - 2]);
	bytes[FPDUS - 1] = 100;
	d[FPDUS - 1] = (struct ibcc_ddp){
		.opcode = IBCC_RDMAP_READ_RESPONSE, .tagged = true, .last = true, .stag = 9
	};
	mpa_frame(o, &d[FPDUS - 1], payload, bytes[FPDUS - 1]);
}

static void write_capture(const char *path, const struct mpa_out *o)
{
	struct capture c;

	open_capture(&c, path, o->rules.spacing);
	for (size_t i = 0; i < o->n; i++)
		packet(&c, 0, 0x18, o->bytes + o->start[i], o->start[i + 1] - o->start[i]);
	assert_int_equal(fclose(c.f), 0);
}

/* What tshark prints with some options, to be freed. It takes sends of noise for RPCs. */
static char *tshark(const char *path, const char *options)
{
	char command[1600];
	const char *out = files_path("out");

	snprintf(command, sizeof(command),
		 "tshark -n --disable-protocol rpcordma -r %s %s >%s 2>/dev/null", path, options,
		 out);
	assert_int_equal(system(command), 0);
	return files_read(out);
}

static uint32_t occurrences(const char *text, const char *what)
{
	uint32_t n = 0;

	for (; (text = strstr(text, what)); text += strlen(what))
		n++;
	return n;
}

/* A line for each FPDU with what its header says, in the words of tshark. */
static char *expected(const struct ibcc_ddp *d, const uint32_t *bytes)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (size_t i = 0; i < FPDUS; i++) {
		fprintf(f, "%zu,%d,0x%02x,", bytes[i] + ibcc_ddp_bytes(&d[i]), d[i].last,
			(unsigned int)d[i].opcode);
		if (d[i].tagged)
			fprintf(f, "0x%08x,0x%016" PRIx64 ",,,\n", d[i].stag, d[i].to);
		else
			fprintf(f, ",,%u,%u,%u\n", d[i].qn, d[i].msn, d[i].mo);
	}
	fclose(f);
	return text;
}

static void all_fpdus_good(void **state)
{
	static const uint32_t spacings[] = { 0, IBCC_MPA_SPACING };
	static struct ibcc_ddp d[FPDUS];
	static uint32_t bytes[FPDUS];

	(void)state;
	if (system("command -v tshark >/dev/null 2>&1"))
		skip();
	for (int k = 0; k < 2; k++) {
		struct mpa_out o = { .rules = { spacings[k], ibcc_crc32c_best() } };
		char path[600], *text, *want;

		make(&o, d, bytes);
		snprintf(path, sizeof(path), "%s", files_path("mpa.pcap"));
		write_capture(path, &o);
		text = tshark(path, "-V");
		assert_int_equal(occurrences(text, "(Good CRC32)"), FPDUS);
		assert_int_equal(occurrences(text, "Bad CRC"), 0);
		assert_int_equal(occurrences(text, "Malformed"), 0);
		if (spacings[k])
			assert_true(occurrences(text, "FPDU back pointer") >= o.len / 512);
		free(text);
		text = tshark(path, "-Y iwarp_mpa.fpdu -T fields -E separator=, "
				    "-e iwarp_mpa.ulpdulength -e iwarp_ddp.last_flag "
				    "-e iwarp_rdma.opcode -e iwarp_ddp.stag "
				    "-e iwarp_ddp.tagged_offset -e iwarp_ddp.qn -e iwarp_ddp.msn "
				    "-e iwarp_ddp.mo");
		want = expected(d, bytes);
		assert_string_equal(text, want);
		free(want);
		free(text);
		free(o.bytes);
	}
}

/* The witness would tell. */
static void a_flipped_bit_is_bad(void **state)
{
	struct mpa_out o = { .rules = { IBCC_MPA_SPACING, ibcc_crc32c_best() } };
	static struct ibcc_ddp d[FPDUS];
	static uint32_t bytes[FPDUS];
	char path[600], *text;

	(void)state;
	if (system("command -v tshark >/dev/null 2>&1"))
		skip();
	make(&o, d, bytes);
	o.bytes[o.start[3] + 100] ^= 4;
	snprintf(path, sizeof(path), "%s", files_path("bad.pcap"));
	write_capture(path, &o);
	text = tshark(path, "-V");
	assert_int_equal(occurrences(text, "(Good CRC32)"), FPDUS - 1);
	free(text);
	free(o.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_fpdus_good),
		cmocka_unit_test(a_flipped_bit_is_bad),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
