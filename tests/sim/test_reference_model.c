/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The small reference simulator (reference.h) against arithmetic. */
#include <stdlib.h>

#include "tests/unit/engines.h"

#include "reference_cases.h"

#define US 1000000ull

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* Between exponential packets. */
static uint64_t exponential(uint64_t *state, uint64_t mean)
{
	return (uint64_t)(-log(ldexp((double)(next(state) | 1), -64)) * (double)mean);
}

static unsigned int upto(uint64_t *state, unsigned int n)
{
	return (unsigned int)(next(state) % (n + 1));
}

static void line_rate(void **state)
{
	struct ref_case c = a_star(2, 32000);

	(void)state;
	flow(&c, 0, 1);
	assert_int_equal(count(&c, FIRST - 1, 0).received, 0);
	assert_int_equal(count(&c, FIRST, 0).received, 1);
	assert_int_equal(count(&c, FIRST + 999 * T - 1, 0).received, 999);
	assert_int_equal(count(&c, FIRST + 999 * T, 0).received, 1000);
	/* A periodic flow of 12.5 Gb/s: a packet every 1327.36 ns. */
	c.flow[0].arrivals = REF_PERIODIC;
	c.flow[0].rate = 12500;
	assert_int_equal(count(&c, FIRST + 999 * 1327360ull - 1, 0).received, 999);
	assert_int_equal(count(&c, FIRST + 999 * 1327360ull, 0).received, 1000);
	/* 10^5 exponential packets: their number's standard deviation is 0.3 %. */
	c.flow[0].arrivals = REF_EXPONENTIAL;
	c.gap = exponential;
	assert_near((double)count(&c, 100000 * 1327360ull, 0).received, 100000, 0.01);
}

/* A packet cuts through: its time on the slowest link, and the delays. */
static void latency_over_switches(void **state)
{
	(void)state;
	for (unsigned int k = 1; k <= 4; k++) {
		for (unsigned int slow = 0; slow <= k; slow++) {
			struct ref_case c = a_star(2, 32000);
			struct ref_count n;

			c.n_switches = k;
			for (unsigned int i = 1; i < k; i++)
				c.link[c.n_links++] =
					(struct ref_link){ .end = { i + 1, i + 2 }, .rate = 32000 };
			c.link[1].end[1] = k + 1;
			c.link[slow == k ? 1 : slow + !!slow].rate /= 4;
			flow(&c, 0, 1);
			c.flow[0].arrivals = REF_PERIODIC;
			c.flow[0].rate = 1000;
			n = count(&c, 1000 * US, 0);
			assert_int_equal(n.received, 61); /* one each 16.592 us */
			assert_int_equal(n.latency, 61 * (4 * T + (k + 1) * 25000 + k * 100000));
		}
	}
}

/* A message of five packets: a window of one waits for its end, or, with answers of 7.5 ns, for
 * that of the way back. With a window of two, the link is always busy, and a message waits for one.
 */
static void messages(void **state)
{
	const uint64_t each = FIRST + 4 * T, back = 7500 + 2 * 25000 + 100000;
	struct ref_case c = a_star(2, 32000);
	struct ref_count n;

	(void)state;
	flow(&c, 0, 1);
	c.flow[0].arrivals = REF_CLOSED;
	c.flow[0].message = 5;
	c.flow[0].window = 1;
	assert_int_equal(count(&c, each - 1, 0).messages, 0);
	n = count(&c, 100 * each, 0);
	assert_int_equal(n.messages, 100);
	assert_int_equal(n.message_latency, 100 * each);
	c.acks = true;
	n = count(&c, 100 * (each + back), 0);
	assert_int_equal(n.messages, 100);
	assert_int_equal(n.message_latency, 100 * each);
	c.acks = false;
	c.flow[0].window = 2;
	n = count(&c, FIRST + 499 * T, 0);
	assert_int_equal(n.messages, 100);
	assert_int_equal(n.message_latency, each + (each + 5 * T) + 98 * 10 * T);
}

/* n sources share a sink packet by packet. */
static void equal_shares(void **state)
{
	struct ref_case c = a_star(9, 32000);

	(void)state;
	for (unsigned int i = 1; i < 9; i++)
		flow(&c, i, 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_in_range(count(&c, FIRST + 799 * T, i).received, 99, 101);
}

/* Credits for a buffer of n packets, 33 blocks each, come back in a round trip. */
static void buffer_by_round_trip(void **state)
{
	(void)state;
	for (unsigned int n = 1; n <= 16; n++) {
		struct ref_case c = a_star(2, 32000);
		uint64_t link = 10 * US, trip = 2 * link + 100000 + 100000 + T;

		c.link_delay = link;
		c.switch_buffer = n * 33 * 64 + 63;
		c.host_buffer = 1000000;
		flow(&c, 0, 1);
		/* The last of the 100th buffer. */
		link = T + 2 * link + 100000 + (n - 1) * T + 99 * trip;
		assert_int_equal(count(&c, link - 1, 0).received, 100 * n - 1);
		assert_int_equal(count(&c, link, 0).received, 100 * n);
	}
}

/* A host that takes 4 Gb/s of payload: a packet each 4.096 us. */
static void slow_sink(void **state)
{
	struct ref_case c = a_star(2, 32000);

	(void)state;
	flow(&c, 0, 1);
	c.sink[1] = 4000;
	assert_int_equal(count(&c, FIRST + 500 * 4096000ull - 1, 0).received, 499);
	assert_int_equal(count(&c, FIRST + 500 * 4096000ull, 0).received, 500);
}

/* With an entry S:M, a packet each (1 + M / 2^S) T: of each flow, or of all of a service level. */
static void throttled(void **state)
{
	struct ref_case c = a_star(3, 32000);
	uint64_t period = T + T / 4 * 6; /* 2.5 T */

	(void)state;
	flow(&c, 0, 1);
	c.min = c.limit = 1;
	c.cct[1] = (struct ref_entry){ 2, 6 };
	assert_int_equal(count(&c, FIRST + 999 * period - 1, 0).received, 999);
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received, 1000);
	flow(&c, 0, 2);
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received, 1000);
	assert_int_equal(count(&c, FIRST + 999 * period + T, 1).received, 1000);
	c.per_sl = true;
	for (unsigned int i = 0; i < 2; i++)
		assert_in_range(count(&c, FIRST + 999 * period, i).received, 499, 501);
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received +
				 count(&c, FIRST + 999 * period, 1).received,
			 1000);
	c.flow[1].sl = 1;
	assert_int_equal(count(&c, FIRST + 999 * period, 0).received, 1000);
}

/* Two backlogged flows of a host have half of its link each, in either order. */
static void turns_at_a_host(void **state)
{
	struct ref_case c = a_star(3, 32000);

	(void)state;
	flow(&c, 0, 1);
	flow(&c, 0, 2);
	for (unsigned int i = 0; i < 2; i++) {
		c.round_robin = i;
		assert_in_range(count(&c, FIRST + 999 * T, 0).received, 499, 501);
		assert_in_range(count(&c, FIRST + 999 * T, 1).received, 499, 501);
	}
}

/* Eight sources fill a sink's output, which marks one packet of n + 1 on the mean; a CNP for each
 * lifts the index by 3, to the limit at most.
 */
static void marks_and_notifications(void **state)
{
	struct ref_case c = a_star(9, 32000);

	(void)state;
	for (unsigned int i = 1; i < 9; i++)
		flow(&c, i, 0);
	c.threshold = 15;
	c.increase = 3;
	c.limit = 100;
	c.upto = upto;
	for (unsigned int n = 0; n < 20; n++) {
		uint64_t fecn = 0, becn = 0, packets = 0;

		c.marking_rate = n;
		for (unsigned int i = 0; i < 8; i++) {
			struct ref_count v = count(&c, FIRST + 999 * T, i);

			packets += v.received;
			fecn += v.fecn;
			becn += v.becn;
			assert_int_equal(v.ccti, v.becn * 3 < 100 ? v.becn * 3 : 100);
		}
		assert_int_equal(packets, 1000);
		assert_marks(fecn, packets, n);
		assert_in_range(becn, fecn - 4, fecn); /* some are under way, for 1.6 us */
	}
	c.packet_size = 34; /* a packet has 33 blocks */
	assert_int_equal(count(&c, FIRST + 999 * T, 0).fecn, 0);
}

/* At Threshold 15, where one waiting packet is more than the threshold, a packet is marked if it
 * waited: none of a flow that has the links to itself; one of two that come at once, also where the
 * port has just sent the one before; and of those that come at any time, as many as the port is
 * busy.
 */
static void what_waits(void **state)
{
	struct ref_case c = a_star(9, 32000);
	uint64_t received = 0, fecn = 0;

	(void)state;
	flow(&c, 1, 0);
	c.threshold = 15;
	assert_int_equal(count(&c, FIRST + 999 * T, 0).received, 1000);
	assert_int_equal(count(&c, FIRST + 999 * T, 0).fecn, 0);
	flow(&c, 2, 0);
	for (unsigned int i = 0; i < 2; i++) {
		c.flow[i].arrivals = REF_PERIODIC;
		c.flow[i].rate = 16000;
	}
	for (unsigned int i = 0; i < 2; i++) {
		received += count(&c, FIRST + 999 * T, i).received;
		fecn += count(&c, FIRST + 999 * T, i).fecn;
	}
	assert_int_equal(received, 1000);
	assert_int_equal(fecn, 500);

	c.n_flows = 0;
	c.gap = exponential;
	received = fecn = 0;
	c.link[0].rate = 8000;
	for (unsigned int i = 1; i < 9; i++) {
		flow(&c, i, 0);
		c.link[i].rate = 400000;
		c.flow[i - 1] = (struct ref_flow){ .from = i,
						   .to = 0,
						   .arrivals = REF_EXPONENTIAL,
						   .rate = 500, /* eight are half of the sink's */
						   .seed = i };
	}
	for (unsigned int i = 0; i < 8; i++) {
		struct ref_count n = count(&c, 100000 * 4 * T, i);

		received += n.received;
		fecn += n.fecn;
	}
	assert_near((double)received, 50000, 0.02);
	assert_near((double)fecn / (double)received, 0.5, 0.02);
}

/* The port to a slow sink waits for credits and is a victim but for its first packets. */
static void victims(void **state)
{
	struct ref_case c = a_star(3, 32000);
	struct ref_count n;

	(void)state;
	flow(&c, 1, 0);
	flow(&c, 2, 0);
	c.sink[0] = 8000;
	c.threshold = 8;
	n = count(&c, 4000 * US, 0);
	assert_in_range(n.received, 970, 980); /* half of one each 2.048 us */
	assert_in_range(n.fecn, 0, 20);
	c.link[0].victim_mask[1] = true;
	n = count(&c, 4000 * US, 0);
	assert_in_range(n.fecn, n.received - 30, n.received);
}

/* A lone BECN: the index falls by one each 7 * 1.024 us. Of packets of three sources that come at
 * once, one leaves, the other two are more than 3000 bytes, and the last one is not.
 */
static void timer_lowers_the_index(void **state)
{
	struct ref_case c = a_star(4, 32000);
	/* The packet that is marked is the second one; then it is taken, answered, and the
	 * CNP of 7.5 ns crosses both links.
	 */
	uint64_t at = FIRST + T + US + 7500 + 2 * 25000 + 100000, fall = 7 * 1024000;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		flow(&c, i + 1, 0);
		c.flow[i].arrivals = REF_PERIODIC;
		c.flow[i].rate = 10; /* the next ones come after 1.66 ms */
	}
	c.threshold = 15;
	c.mark_reference = 16 * 3000;
	c.hysteresis = 1000;
	c.increase = 3;
	c.limit = 100;
	c.timer = 7;
	assert_int_equal(count(&c, at - 1, 1).ccti, 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(count(&c, at + i * fall, 1).ccti, 3 - i);
		assert_int_equal(count(&c, at + (i + 1) * fall - 1, 1).ccti, 3 - i);
	}
	assert_int_equal(count(&c, 100 * US, 0).becn, 0);
	assert_int_equal(count(&c, 100 * US, 2).becn, 0);
}

/* Two hosts send to each other and answer each packet by half a packet, which goes first: each link
 * has r + r / 2 = 1, so each flow gets two thirds. No answer has a BECN, so none waits.
 */
static void answers_to_all(void **state)
{
	struct ref_case c = a_star(2, 32000);

	(void)state;
	flow(&c, 0, 1);
	flow(&c, 1, 0);
	c.acks = true;
	c.cnp = (2048 + 26) / 2;
	c.becn_delay = 1000000 * US;
	for (unsigned int i = 0; i < 2; i++) {
		struct ref_count n = count(&c, 3000 * T, i);

		assert_near((double)n.received, 2000, 0.01);
		assert_int_equal(n.becn, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_rate),
		cmocka_unit_test(latency_over_switches),
		cmocka_unit_test(messages),
		cmocka_unit_test(equal_shares),
		cmocka_unit_test(buffer_by_round_trip),
		cmocka_unit_test(slow_sink),
		cmocka_unit_test(throttled),
		cmocka_unit_test(turns_at_a_host),
		cmocka_unit_test(marks_and_notifications),
		cmocka_unit_test(what_waits),
		cmocka_unit_test(victims),
		cmocka_unit_test(timer_lowers_the_index),
		cmocka_unit_test(answers_to_all),
	};

	return cmocka_run_group_tests_name("reference by arithmetic", tests, NULL, NULL);
}
