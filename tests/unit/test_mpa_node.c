/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The three designs over real sockets: every octet arrives, in each design; what is counted is
 * what a hand count says; a peer that does not keep to the rules ends the connection with its
 * reason.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpa.h"
#include "perftest/mpa/measure.h"
#include "perftest/mpa/ring.h"

static struct ibcc_mpa_subject subject(enum ibcc_mpa_design d, uint32_t spacing, int crc)
{
	return (struct ibcc_mpa_subject){ .design = d, .spacing = spacing, .crc = crc };
}

static void all_octets_arrive(void **state)
{
	static const uint32_t sizes[] = { 1, 37, 1400, 70001, 300000 };
	static const uint32_t spacings[] = { 512, 0, 1024 };
	struct ibcc_mpa_result r[IBCC_MPA_MAX_SUBJECTS];

	(void)state;
	for (int m = IBCC_MPA_LATENCY; m <= IBCC_MPA_MEMORY; m++) {
		for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			struct ibcc_mpa_settings s = { .measure = (enum ibcc_mpa_measure)m,
						       .transport = i % 2 ? IBCC_MPA_TCP
									  : IBCC_MPA_SOCKETPAIR,
						       .message_bytes = sizes[i],
						       .payload_bytes = i % 3 ? 1400 : 8900,
						       .messages = 9,
						       .repeats = 1,
						       .pool_bytes = i == 3 ? 1 << 20 : 0,
						       .compute_us = 1 };

			for (int d = 0; d < IBCC_MPA_N_DESIGNS; d++)
				for (int k = 0; k < 3; k++)
					s.subject[s.n_subjects++] = subject(
						(enum ibcc_mpa_design)d, spacings[k],
						k == 2 ? IBCC_CRC32C_NONE : ibcc_crc32c_best());
			s.subject[s.n_subjects++] = subject(IBCC_MPA_HOST_OFFLOADED, 512, 1);
			s.subject[s.n_subjects - 1].decoupled = 1;
			assert_int_equal(ibcc_mpa_measure(&s, r), 0);
			for (size_t k = 0; k < s.n_subjects; k++)
				assert_true(r[k].figure[IBCC_MPA_WIRE] >= 1 ||
					    m == IBCC_MPA_LATENCY);
		}
	}
}

/* By hand, for messages of one full FPDU after the other. */
static void what_is_touched(void **state)
{
	static const struct {
		struct ibcc_mpa_subject u;
		double host_tx, host_rx, nic_tx, nic_rx, pieces;
	} cases[] = {
		/* read and written by the copy, read by the CRC */
		{ { .design = IBCC_MPA_HOST_BASED, .spacing = 512, .crc = 1 }, 3, 3, 0, 0, 1 },
		{ { .design = IBCC_MPA_HOST_BASED, .spacing = 512 }, 2, 2, 0, 0, 1 },
		{ { .design = IBCC_MPA_HOST_ASSISTED, .spacing = 512, .crc = 1 }, 2, 2, 1, 1, 1 },
		{ { .design = IBCC_MPA_HOST_OFFLOADED, .spacing = 0, .crc = 1 }, 0, 0, 1, 3, 3 },
		/* fetched, moved, read for the CRC; one piece for the 46 FPDUs that fit */
		{ { .design = IBCC_MPA_HOST_OFFLOADED, .crc = 1, .decoupled = 1 },
		  0,
		  0,
		  5,
		  3,
		  0.025 },
	};
	struct ibcc_mpa_settings s = { .measure = IBCC_MPA_BANDWIDTH,
				       .message_bytes = 56000,
				       .payload_bytes = 1400,
				       .messages = 8,
				       .repeats = 1,
				       .n_subjects = sizeof(cases) / sizeof(*cases) };
	struct ibcc_mpa_result r[IBCC_MPA_MAX_SUBJECTS];

	(void)state;
	for (size_t i = 0; i < s.n_subjects; i++)
		s.subject[i] = cases[i].u;
	assert_int_equal(ibcc_mpa_measure(&s, r), 0);
	for (size_t i = 0; i < s.n_subjects; i++) {
		const double *f = r[i].figure;

		assert_true(fabs(f[IBCC_MPA_HOST_TX_TOUCHED] - cases[i].host_tx) < 1e-9);
		assert_true(fabs(f[IBCC_MPA_HOST_RX_TOUCHED] - cases[i].host_rx) < 1e-9);
		assert_true(fabs(f[IBCC_MPA_NIC_TX_TOUCHED] - cases[i].nic_tx) < 1e-9);
		assert_true(fabs(f[IBCC_MPA_NIC_RX_TOUCHED] - cases[i].nic_rx) < 1e-9);
		/* Empty sends are FPDUs, too. */
		assert_true(fabs(f[IBCC_MPA_PIECES] - cases[i].pieces) < 0.02);
		assert_true(f[IBCC_MPA_HOST_S_PER_GB] > 0 && f[IBCC_MPA_MBPS] > 0);
	}
}

/* A marker within the payload makes two pieces more, one beside header or CRC none. There is one
 * for 508 of the 1420 octets of data of each FPDU, and 1396 places of these are within.
 */
static double pieces(double spacing)
{
	return 3 + 2 * 1396 / (spacing - 4);
}

static void markers_make_pieces(void **state)
{
	struct ibcc_mpa_settings s = { .measure = IBCC_MPA_BANDWIDTH,
				       .message_bytes = 1400 * 32,
				       .payload_bytes = 1400,
				       .messages = 64,
				       .repeats = 1,
				       .n_subjects = 3 };
	struct ibcc_mpa_result r[3];

	(void)state;
	s.subject[0] = subject(IBCC_MPA_HOST_OFFLOADED, 0, 1);
	s.subject[1] = subject(IBCC_MPA_HOST_OFFLOADED, 2048, 1);
	s.subject[2] = subject(IBCC_MPA_HOST_OFFLOADED, 512, 1);
	assert_int_equal(ibcc_mpa_measure(&s, r), 0);
	assert_true(fabs(r[0].figure[IBCC_MPA_PIECES] - 3) < 0.01);
	assert_true(fabs(r[1].figure[IBCC_MPA_PIECES] - pieces(2048)) < 0.02);
	assert_true(fabs(r[2].figure[IBCC_MPA_PIECES] - pieces(512)) < 0.02);
	assert_true(fabs(r[2].figure[IBCC_MPA_WIRE] / r[0].figure[IBCC_MPA_WIRE] - 512. / 508) <
		    1e-3);
}

struct ends {
	struct ibcc_mpa_node *node;
	struct ibcc_mpa_sink sink;
	int peer;
};

/* sndbuf: what the socket shall take of what is not read, NULL for the system's */
static void open_ends(struct ends *t, enum ibcc_mpa_design d, const int *sndbuf)
{
	struct ibcc_mpa_node_options o = { .design = d,
					   .rules = { 512, IBCC_CRC32C_TABLE },
					   .payload_bytes = 1400,
					   .nic_cpu = -1 };
	int fd[2];

	mpa_sink(&t->sink);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
	t->peer = fd[1];
	if (sndbuf)
		assert_int_equal(setsockopt(fd[0], SOL_SOCKET, SO_SNDBUF, sndbuf, sizeof(*sndbuf)),
				 0);
	assert_int_equal(ibcc_mpa_node_new(&o, fd[0], &t->sink, &t->node), 0);
}

static void close_ends(struct ends *t)
{
	ibcc_mpa_node_free(t->node);
	close(t->peer);
	mpa_sink_free(&t->sink);
}

/* A good send, then something: the send is delivered, then the connection is over. */
static void expect(enum ibcc_mpa_design d, void (*spoil)(struct mpa_out *o),
		   enum ibcc_mpa_error want)
{
	struct mpa_out o = { .rules = { 512, IBCC_CRC32C_TABLE } };
	struct ibcc_ddp send_one = { .opcode = IBCC_RDMAP_SEND, .last = true, .msn = 1 };
	struct ends t;

	open_ends(&t, d, NULL);
	mpa_frame(&o, &send_one, "hello", 5);
	spoil(&o);
	assert_int_equal(send(t.peer, o.bytes, o.len, MSG_NOSIGNAL), o.len);
	shutdown(t.peer, SHUT_WR);
	assert_int_equal(ibcc_mpa_node_wait(t.node, 1), 0);
	assert_memory_equal(t.sink.buffer, "hello", 5);
	assert_int_equal(ibcc_mpa_node_wait(t.node, 2), -EPIPE);
	assert_int_equal(ibcc_mpa_node_error(t.node), want);
	assert_int_equal(ibcc_mpa_node_post(t.node, &send_one, "x", 1) |
				 ibcc_mpa_node_flush(t.node),
			 -EPIPE);
	close_ends(&t);
	free(o.bytes);
}

static void nothing_more(struct mpa_out *o)
{
	(void)o;
}

static void half_an_fpdu(struct mpa_out *o)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_SEND, .last = true, .msn = 2 };

	mpa_frame(o, &d, "hello", 5);
	o->len -= 8;
}

static void flipped_bit(struct mpa_out *o)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_SEND, .last = true, .msn = 2 };

	mpa_frame(o, &d, "hello", 5);
	o->bytes[o->len - 7] ^= 1;
}

static void wrong_stag(struct mpa_out *o)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .last = true, .stag = 99 };

	mpa_frame(o, &d, "hello", 5);
}

static void beyond_region(struct mpa_out *o)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE,
			      .last = true,
			      .stag = MPA_STAG,
			      .to = MPA_TO + MPA_REGION - 4 };

	mpa_frame(o, &d, "hello", 5);
}

static void terminated(struct mpa_out *o)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_TERMINATE, .last = true, .msn = 1 };

	mpa_frame(o, &d, "\x12\x02\x00\x00", 4);
}

static void peers_that_err(void **state)
{
	(void)state;
	for (int d = 0; d < IBCC_MPA_N_DESIGNS; d++) {
		enum ibcc_mpa_design design = (enum ibcc_mpa_design)d;

		expect(design, nothing_more, IBCC_MPA_OK);
		expect(design, half_an_fpdu, IBCC_MPA_TRUNCATED);
		expect(design, flipped_bit, IBCC_MPA_BAD_CRC);
		expect(design, wrong_stag, IBCC_MPA_BAD_STAG);
		expect(design, beyond_region, IBCC_MPA_BAD_BOUNDS);
		expect(design, terminated, IBCC_MPA_TERMINATED);
	}
}

/* A peer that reads nothing blocks the NIC; the host can still leave. */
static void leaving_a_stuck_peer(void **state)
{
	static uint8_t payload[1 << 20];
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = MPA_STAG, .to = MPA_TO };
	struct ends t;

	(void)state;
	open_ends(&t, IBCC_MPA_HOST_OFFLOADED, NULL);
	for (int i = 0; i < 8; i++)
		assert_int_equal(ibcc_mpa_node_post(t.node, &d, payload, sizeof(payload)), 0);
	close_ends(&t);
}

struct poster {
	struct ends ends;
	atomic_int posted;
};

static void *post_until_refused(void *arg)
{
	static uint8_t payload[60000]; /* one chunk, and more than the socket takes */
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = MPA_STAG, .to = MPA_TO };
	struct poster *p = arg;

	while (!ibcc_mpa_node_post(p->ends.node, &d, payload, sizeof(payload)))
		p->posted++;
	return NULL;
}

/* While the NIC is stuck in the first message, the host comes as far in one design as in another.
 */
static void as_far_ahead_in_each(void **state)
{
	(void)state;
	for (int d = 0; d < IBCC_MPA_N_DESIGNS; d++) {
		struct poster p = { .posted = 0 };
		int least = 1;
		pthread_t t;

		open_ends(&p.ends, (enum ibcc_mpa_design)d, &least);
		assert_int_equal(pthread_create(&t, NULL, post_until_refused, &p), 0);
		while (p.posted < (int)IBCC_MPA_RING)
			sched_yield();
		usleep(20000); /* for one more, if there were room */
		ibcc_mpa_node_stop(p.ends.node);
		pthread_join(t, NULL);
		assert_int_equal(p.posted, IBCC_MPA_RING);
		close_ends(&p.ends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_octets_arrive),    cmocka_unit_test(what_is_touched),
		cmocka_unit_test(markers_make_pieces),  cmocka_unit_test(peers_that_err),
		cmocka_unit_test(leaving_a_stuck_peer), cmocka_unit_test(as_far_ahead_in_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
