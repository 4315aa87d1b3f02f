/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose counters are believed: readings of traffic that is known exactly, taken at the two ends of
 * each link at times of their own, by ports that tell the truth and by such that do not.
 */
#include <string.h>

#include "draws.h"
#include "fabrics.h"

#include <ibcc/snapshot.h>

#define SLOT_NS     1000000ull
#define SLOTS       4u /* of an interval */
#define INTERVAL_NS (SLOTS * SLOT_NS)
#define SLOT_BYTES  4000000u /* that a link of 32 Gb/s carries in a slot */
#define PACKET      2000u
#define MAX_SLOTS   4000u
#define MAX_PORTS   64u

/* What a port tells, as shares of what is so, in permille. */
struct tells {
	uint32_t sent, received, packets;
	uint32_t wait_permille; /* of the interval, whatever is sent */
	uint32_t fecn_permille; /* of the packets that came */
	bool silent, lacks_counters;
};

struct world {
	struct ibcc_topo *t;
	struct ibcc_snapshot s;
	uint64_t sum[MAX_PORTS]
		    [MAX_SLOTS + 1]; /* bytes that a port has sent by the begin of a slot */
	struct tells tells[MAX_PORTS];
	uint32_t read_ns[MAX_PORTS]; /* after the begin of an interval: when a port is read */
	struct ibcc_counters ctr[MAX_PORTS];
	uint64_t seen[MAX_PORTS][2]; /* true bytes at the reading before */
	unsigned int n;              /* passes */
};

static uint32_t rng;

static void open_world(struct world *w)
{
	memset(w, 0, sizeof(*w));
	rng = 4711;
	w->t = fabric_lustre();
	assert_true(w->t->n_ports <= MAX_PORTS);
	assert_int_equal(ibcc_snapshot_init(&w->s, w->t), 0);
	for (uint32_t i = 0; i < w->t->n_ports; i++) {
		w->tells[i] = (struct tells){ .sent = 1000, .received = 1000, .packets = 1000 };
		memset(w->ctr[i].width, 64, sizeof(w->ctr[i].width));
		w->read_ns[i] = 100; /* no time 0 */
	}
}

static void close_world(struct world *w)
{
	ibcc_snapshot_fini(&w->s);
	ibcc_topo_free(w->t);
}

static bool is_linked(const struct world *w, uint32_t port)
{
	return w->t->port[port].num && w->t->port[port].peer != IBCC_NONE;
}

/* Each link sends `permille` of its rate in all slots, or, with 0, all or nothing by chance. */
static void fill(struct world *w, uint32_t permille)
{
	for (uint32_t i = 0; i < w->t->n_ports; i++)
		for (unsigned int k = 0; k < MAX_SLOTS && is_linked(w, i); k++)
			w->sum[i][k + 1] = w->sum[i][k] + (permille ? SLOT_BYTES / 1000 * permille
							   : draw(&rng) % 2 ? SLOT_BYTES
									    : 0);
}

/* Bytes that a port has sent by a time. */
static uint64_t sent_by(const struct world *w, uint32_t port, uint64_t ns)
{
	uint64_t slot = ns / SLOT_NS;
	const uint64_t *sum = w->sum[port];

	assert_true(slot < MAX_SLOTS);
	return sum[slot] + (sum[slot + 1] - sum[slot]) * (ns % SLOT_NS) / SLOT_NS;
}

static void read_port(struct world *w, uint32_t port)
{
	const struct tells *tell = &w->tells[port];
	struct ibcc_counters *c = &w->ctr[port];
	uint64_t t = w->n * INTERVAL_NS + w->read_ns[port];
	uint64_t sent = sent_by(w, port, t), came = sent_by(w, w->t->port[port].peer, t);
	uint64_t more = sent - w->seen[port][0], more_came = came - w->seen[port][1];

	w->seen[port][0] = sent;
	w->seen[port][1] = came;
	c->v[IBCC_CTR_XMIT_DATA] += more * tell->sent / 1000 / 4;
	c->v[IBCC_CTR_RCV_DATA] += more_came * tell->received / 1000 / 4;
	c->v[IBCC_CTR_XMIT_PKTS] += more / PACKET * tell->packets / 1000;
	c->v[IBCC_CTR_RCV_PKTS] += more_came / PACKET;
	c->v[IBCC_CTR_XMIT_WAIT] += (t - c->t_ns) * tell->wait_permille / 1000;
	c->v[IBCC_CTR_RCV_FECN] += more_came / PACKET * tell->fecn_permille / 1000;
	c->t_ns = t;
	memset(c->width, tell->lacks_counters ? 0 : 64, sizeof(c->width));
	if (tell->silent)
		ibcc_snapshot_miss(&w->s, port, -110);
	else
		ibcc_snapshot_record(&w->s, port, c, 1000);
}

static void passes(struct world *w, unsigned int n)
{
	for (; n; n--, w->n++) {
		ibcc_snapshot_begin(&w->s);
		for (uint32_t i = 0; i < w->t->n_ports; i++)
			if (is_linked(w, i))
				read_port(w, i);
		ibcc_snapshot_end(&w->s, (w->n + 1) * INTERVAL_NS);
		ibcc_trust_judge(w->t, &w->s);
	}
}

static struct tells *at(struct world *w, uint32_t node, unsigned int num)
{
	return &w->tells[fabric_port(w->t, node, num)];
}

static enum ibcc_doubt doubt_of(const struct world *w, uint32_t node, unsigned int num)
{
	return w->s.port[fabric_port(w->t, node, num)].trust.doubt;
}

static void lie_all(struct world *w, uint32_t node, uint32_t sent)
{
	for (unsigned int num = 1; num <= w->t->node[node].n_ports; num++)
		at(w, node, num)->sent = sent;
}

/* Bursts of full rate, ends that are read most of an interval apart, at times that vary, and
 * answers that get lost: everybody is honest, nobody is doubted.
 */
static void test_honest(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 0);
	for (unsigned int k = 0; k < MAX_SLOTS / SLOTS - 2; k++) {
		for (uint32_t i = 0; i < w.t->n_ports; i++) {
			w.read_ns[i] = 1 + draw(&rng) % (9 * INTERVAL_NS / 10);
			w.tells[i].silent = draw(&rng) % 10 == 0;
			w.tells[i].wait_permille = 300; /* beside half of the rate */
			w.tells[i].fecn_permille = 1000;
		}
		passes(&w, 1);
		assert_int_equal(w.s.n_doubted, 0);
	}
	close_world(&w);
}

/* Counters that somebody clears every third pass, that a port lacks, or that have reached their
 * end, say nothing: not against their owner, and not against the other end.
 */
static void test_says_nothing(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 800);
	at(&w, LUSTRE_SW1, 1)->lacks_counters = true;
	at(&w, LUSTRE_SW2, 2)->sent = 0;
	w.ctr[fabric_port(w.t, LUSTRE_SW2, 2)].v[IBCC_CTR_XMIT_DATA] = UINT64_MAX;
	for (unsigned int k = 0; k < 100; k++) {
		struct ibcc_counters *c = &w.ctr[fabric_port(w.t, LUSTRE_SW2, 1)];

		if (k % 3 == 2)
			c->v[IBCC_CTR_XMIT_DATA] = c->v[IBCC_CTR_XMIT_PKTS] = 0;
		passes(&w, 1);
		assert_int_equal(w.s.n_doubted, 0);
	}
	close_world(&w);
}

/* One link whose ends differ: after so many passes, who sends, and nobody else. What the other end
 * sends is not in question.
 */
static void test_one_link(void **state)
{
	struct world w;
	char text[300];

	(void)state;
	open_world(&w);
	fill(&w, 800);
	passes(&w, 10);
	at(&w, LUSTRE_SW2, 1)->sent = 30;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 0);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_LINK);
	assert_true(ibcc_trust_say(w.t, &w.s, text, sizeof(text)) > 0);
	assert_non_null(
		strstr(text, "sw2 port 1 (what it sent is not what the other end received)"));

	/* They agree once, on more than honest ends can differ by, and it is forgotten. */
	at(&w, LUSTRE_SW2, 1)->sent = 1000;
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	assert_int_equal(ibcc_trust_say(w.t, &w.s, text, sizeof(text)), 0);
	close_world(&w);
}

/* Other counters of the same packets: fewer received, fewer packets than at the other end. */
static void test_other_counters(void **state)
{
	struct world w;

	(void)state;
	for (unsigned int which = 0; which < 2; which++) {
		open_world(&w);
		fill(&w, 800);
		at(&w, LUSTRE_SRC1, 1)->received = which ? 1000 : 500;
		at(&w, LUSTRE_SRC1, 1)->packets = which ? 500 : 1000;
		passes(&w, 2 * IBCC_TRUST_RUN);
		assert_int_equal(w.s.n_doubted, 1);
		assert_int_equal(doubt_of(&w, which ? LUSTRE_SRC1 : LUSTRE_SW1, 1),
				 IBCC_DOUBT_LINK);
		close_world(&w);
	}
}

/* A tenth less is no contradiction: links lose packets, and hardware counts them differently. */
static void test_tolerance(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 800);
	lie_all(&w, LUSTRE_SW2, 900);
	passes(&w, 50);
	assert_int_equal(w.s.n_doubted, 0);
	close_world(&w);
}

/* All neighbours against one switch: it is the switch, and its ports alone. */
static void test_switch(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 300);
	lie_all(&w, LUSTRE_SW1, 30);
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 5);
	for (unsigned int num = 1; num <= 5; num++)
		assert_int_equal(doubt_of(&w, LUSTRE_SW1, num), IBCC_DOUBT_NODE);
	close_world(&w);
}

/* Two switches side by side: both, and no adapter. */
static void test_two_switches(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 300);
	lie_all(&w, LUSTRE_SW1, 30);
	lie_all(&w, LUSTRE_SW2, 2000);
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 8);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_FAST; i++)
		assert_int_equal(doubt_of(&w, i, 1), IBCC_DOUBT_NONE);
	close_world(&w);
}

/* An honest switch between a lying one and a lying adapter: doubt about the former explains one of
 * the two that it is accused by, and the other is a matter of one link.
 */
static void test_in_between(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 300);
	lie_all(&w, LUSTRE_SW1, 30);
	at(&w, LUSTRE_SLOW, 1)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 6);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 5), IBCC_DOUBT_NODE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 5), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SLOW, 1), IBCC_DOUBT_LINK);
	close_world(&w);
}

/* Two of five links of a switch: they may as well be two broken adapters. */
static void test_minority(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 300);
	at(&w, LUSTRE_SW1, 1)->sent = at(&w, LUSTRE_SW1, 2)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 2);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 1), IBCC_DOUBT_LINK);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 3), IBCC_DOUBT_NONE);
	close_world(&w);
}

/* 45 % sent and 70 % waited are 115 %, 35 and 70 may be; who cannot be right is doubted, the other
 * end is not, though they contradict each other.
 */
static void test_time(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 450);
	at(&w, LUSTRE_SW2, 1)->wait_permille = 700;
	at(&w, LUSTRE_SW2, 2)->wait_permille = 600;
	at(&w, LUSTRE_SRC1, 1)->sent = 30;
	at(&w, LUSTRE_SRC1, 1)->wait_permille = 1330;
	at(&w, LUSTRE_SRC2, 1)->received = 3000; /* 135 % of the link */
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_TIME);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_TIME);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC2, 1), IBCC_DOUBT_TIME);
	assert_int_equal(w.s.n_doubted, 3);
	/* A port that only receives is believed again, too, when it tells what can be. */
	at(&w, LUSTRE_SRC2, 1)->received = 1000;
	at(&w, LUSTRE_SRC2, 1)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_not_equal(doubt_of(&w, LUSTRE_SRC2, 1), IBCC_DOUBT_TIME);
	close_world(&w);
}

/* Traffic may be over before a port could show that it is right again: what is quiet is no reason
 * to doubt for ever, but the first lie after it is one of those before.
 */
static void test_quiet(void **state)
{
	struct tells *liar;
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 450);
	liar = at(&w, LUSTRE_SW2, 1);
	liar->wait_permille = 700;
	passes(&w, 1 + IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_TIME);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		w.tells[i].sent = w.tells[i].received = w.tells[i].packets = 500; /* 22 % */
	liar->wait_permille = 0;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	liar->wait_permille = 1200;
	passes(&w, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_TIME);
	assert_int_equal(w.s.n_doubted, 1);
	close_world(&w);
}

/* All packets that come may be marked; not more. Who gets hardly any more is believed again when he
 * has told what can be for four intervals, until he lies again.
 */
static void test_marks(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 450);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		for (unsigned int k = 2 * IBCC_TRUST_RUN * SLOTS; k < MAX_SLOTS; k++)
			w.sum[i][k + 1] = w.sum[i][k] + 4 * PACKET;
	at(&w, LUSTRE_SLOW, 1)->fecn_permille = 1000;
	at(&w, LUSTRE_FAST, 1)->fecn_permille = 2000;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_FAST, 1), IBCC_DOUBT_MARKS);
	at(&w, LUSTRE_FAST, 1)->fecn_permille = 300;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	at(&w, LUSTRE_FAST, 1)->fecn_permille = 100000;
	passes(&w, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_FAST, 1), IBCC_DOUBT_MARKS);
	close_world(&w);
}

/* Ends that are read half an interval apart: a lie is found out all the same, since what may lie
 * between the readings does not grow, and the lie does.
 */
static void test_far_apart(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 300);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		if (ibcc_topo_is_switch(w.t, w.t->port[i].node))
			w.read_ns[i] = INTERVAL_NS / 2;
	at(&w, LUSTRE_SW2, 1)->sent = 30;
	passes(&w, 10 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 1);
	close_world(&w);
}

/* Silence of a port, or of all, neither accuses nor clears; and no more does an idle link. */
static void test_neither(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 800);
	for (uint32_t i = 0; i < w.t->n_ports; i++) /* from slot 80 on nothing is sent */
		for (unsigned int k = 80; k < MAX_SLOTS; k++)
			w.sum[i][k + 1] = w.sum[i][80];
	at(&w, LUSTRE_SW2, 1)->sent = 30;
	passes(&w, IBCC_TRUST_RUN - 1);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		w.tells[i].silent = true;
	passes(&w, 6);
	assert_int_equal(w.s.n_doubted, 0);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		w.tells[i].silent = false;
	passes(&w, 2);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 100);
	assert_int_equal(w.s.n_doubted, 1);
	close_world(&w);
}

/* More at one end, then more at the other: who is wrong by turns is not found to lie. */
static void test_by_turns(void **state)
{
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 400);
	for (unsigned int k = 0; k < 50; k++) {
		at(&w, LUSTRE_SW2, 1)->sent = k % 2 ? 500 : 1500;
		passes(&w, 1);
		assert_int_equal(w.s.n_doubted, 0);
	}
	close_world(&w);
}

/* A new topology keeps what was found out, but not about another cable. */
static void test_rebase(void **state)
{
	struct ibcc_topo *next;
	struct world w;

	(void)state;
	open_world(&w);
	fill(&w, 300);
	at(&w, LUSTRE_SW2, 1)->sent = at(&w, LUSTRE_SW1, 1)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 2);
	next = ibcc_topo_clone(w.t);
	assert_non_null(next);
	ibcc_topo_unlink(next, fabric_port(next, LUSTRE_SRC1, 1));
	ibcc_topo_unlink(next, fabric_port(next, LUSTRE_SRC2, 1));
	fabric_link(next, LUSTRE_SRC2, 1, LUSTRE_SW1, 1);
	fabric_link(next, LUSTRE_SRC1, 1, LUSTRE_SW1, 2);
	assert_int_equal(ibcc_snapshot_rebase(&w.s, w.t, next), 0);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_LINK);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 1), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_NONE);
	ibcc_topo_free(next);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_honest),       cmocka_unit_test(test_says_nothing),
		cmocka_unit_test(test_one_link),     cmocka_unit_test(test_other_counters),
		cmocka_unit_test(test_tolerance),    cmocka_unit_test(test_switch),
		cmocka_unit_test(test_two_switches), cmocka_unit_test(test_minority),
		cmocka_unit_test(test_in_between),   cmocka_unit_test(test_time),
		cmocka_unit_test(test_quiet),        cmocka_unit_test(test_marks),
		cmocka_unit_test(test_far_apart),    cmocka_unit_test(test_neither),
		cmocka_unit_test(test_by_turns),     cmocka_unit_test(test_rebase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
