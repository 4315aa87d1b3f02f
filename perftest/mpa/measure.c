/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/mpa/measure.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/now.h>

#define WARM          8u /* one more message for each of this many goes first, untimed */
#define LATENCY_COUNT 200u
#define OVERLAP_COUNT 40u
#define MOST_COUNT    4000u
#define ENOUGH_BYTES  (8u << 20)

/* One repetition, as its two hosts see it. */
struct trial {
	const struct ibcc_mpa_settings *s;
	const struct ibcc_mpa_cpus *cpus;
	struct ibcc_mpa_pair pair;
	uint32_t count, warm, stride, places;
	double *sample_s;
	double spins_per_us;
	double peer_cpu_s;
	int peer_rc, rc;
	struct ibcc_mpa_result r;
};

static int order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), order);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static int post_send(struct ibcc_mpa_node *n, const void *payload, uint32_t len)
{
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_SEND };

	return ibcc_mpa_node_post(n, &d, payload, len);
}

/* Posts message number i, to the place that it comes from. */
static int post_write(struct trial *t, uint32_t i)
{
	uint64_t at = (uint64_t)(i % t->places) * t->stride;
	struct ibcc_ddp d = { .opcode = IBCC_RDMAP_WRITE, .stag = IBCC_MPA_PAIR_STAG, .to = at };

	return ibcc_mpa_node_post(t->pair.node[0], &d, t->pair.source + at, t->s->message_bytes);
}

/* Answers each send with one of equal length, or with an empty one. */
static void *peer(void *arg)
{
	struct trial *t = arg;
	struct ibcc_mpa_node *n = t->pair.node[1];
	bool echo = t->s->measure == IBCC_MPA_LATENCY;
	uint32_t total = t->s->measure == IBCC_MPA_BANDWIDTH ? 2
			 : t->s->measure == IBCC_MPA_OVERLAP ? 2 * (t->count + t->warm)
							     : t->count + t->warm;
	double start = 0;
	int rc = 0;

	ibcc_mpa_cpus_tie(t->cpus->host[1]);
	for (uint32_t i = 1; i <= total && !rc; i++) {
		rc = ibcc_mpa_node_wait(n, i);
		if (i == 2)
			t->peer_cpu_s = ibcc_now_cpu_s() - start;
		if (!rc)
			rc = post_send(n, t->pair.source, echo ? t->s->message_bytes : 0);
		if (i == 1)
			start = ibcc_now_cpu_s();
	}
	t->peer_rc = rc;
	return NULL;
}

static int latency(struct trial *t)
{
	struct ibcc_mpa_node *n = t->pair.node[0];
	double cpu = 0, start = 0;
	int rc = 0;

	for (uint32_t i = 0; i < t->warm + t->count && !rc; i++) {
		double from = ibcc_now_s();

		if (i == t->warm) {
			cpu = ibcc_now_cpu_s();
			start = from = ibcc_now_s();
		}
		rc = post_send(n, t->pair.source, t->s->message_bytes);
		if (!rc)
			rc = ibcc_mpa_node_wait(n, i + 1);
		if (i >= t->warm)
			t->sample_s[i - t->warm] = ibcc_now_s() - from;
	}
	cpu = ibcc_now_cpu_s() - cpu;
	t->r.figure[IBCC_MPA_HOST_PERCENT] = 100 * cpu / (ibcc_now_s() - start);
	t->r.figure[IBCC_MPA_LATENCY_US] = 1e6 * median(t->sample_s, t->count) / 2;
	return rc;
}

static int bandwidth(struct trial *t)
{
	struct ibcc_mpa_node *n = t->pair.node[0];
	double gb = (double)t->count * t->s->message_bytes / 1e9, start, cpu;
	int rc = 0;

	for (uint32_t i = 0; i < t->warm && !rc; i++)
		rc = post_write(t, i);
	if (!rc)
		rc = post_send(n, NULL, 0);
	if (!rc)
		rc = ibcc_mpa_node_wait(n, 1);
	start = ibcc_now_s();
	cpu = ibcc_now_cpu_s();
	for (uint32_t i = 0; i < t->count && !rc; i++)
		rc = post_write(t, i);
	if (!rc)
		rc = post_send(n, NULL, 0);
	if (!rc)
		rc = ibcc_mpa_node_wait(n, 2);
	start = ibcc_now_s() - start;
	cpu = ibcc_now_cpu_s() - cpu;
	t->r.figure[IBCC_MPA_MBPS] = 8e3 * gb / start;
	t->r.figure[IBCC_MPA_HOST_PERCENT] = 100 * cpu / start;
	/* the CPU time of the peer is added later */
	t->r.figure[IBCC_MPA_HOST_S_PER_GB] = cpu / gb;
	return rc;
}

/* Works for a fixed number of rounds. The work does not depend on where the clock is, since the
 * number of rounds is given and not the time.
 */
static void spin(double rounds)
{
	volatile uint32_t v = 1;

	for (uint64_t i = 0; i < (uint64_t)rounds; i++)
		v = v * 1664525u + 1013904223u;
}

static double calibrate(void)
{
	double best = 0;

	for (int i = 0; i < 5; i++) {
		double start = ibcc_now_cpu_s(), speed;

		spin(200000);
		speed = 200000 / (1e6 * (ibcc_now_cpu_s() - start));
		best = speed > best ? speed : best;
	}
	return best;
}

/* The least time of a message in us, with compute_us of computing while it is under way. Anything
 * that disturbs a computing thread only makes the time longer, and a busy machine disturbs most of
 * them.
 */
static int overlap_once(struct trial *t, double compute_us, uint64_t *acks, double *out_us)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->warm + t->count && !rc; i++) {
		double start = ibcc_now_s();

		rc = post_write(t, i);
		if (!rc)
			rc = post_send(t->pair.node[0], NULL, 0);
		spin(compute_us * t->spins_per_us);
		if (!rc)
			rc = ibcc_mpa_node_wait(t->pair.node[0], ++*acks);
		start = 1e6 * (ibcc_now_s() - start);
		if (i == t->warm || (i > t->warm && start < *out_us))
			*out_us = start;
	}
	return rc;
}

static int overlap(struct trial *t)
{
	double alone_us = 0, with_us = 0, compute_us = t->s->compute_us, cpu_s;
	uint64_t acks = 0;
	int rc;

	t->spins_per_us = calibrate();
	cpu_s = ibcc_now_cpu_s();
	rc = overlap_once(t, 0, &acks, &alone_us);
	cpu_s = ibcc_now_cpu_s() - cpu_s;
	t->r.figure[IBCC_MPA_HOST_US] = 1e6 * cpu_s / (t->warm + t->count);
	if (rc)
		return rc;
	if (!(compute_us > 0))
		compute_us = alone_us;
	rc = overlap_once(t, compute_us, &acks, &with_us);
	t->r.figure[IBCC_MPA_LATENCY_US] = with_us;
	t->r.figure[IBCC_MPA_MBPS] = 8.0 * t->s->message_bytes / with_us;
	/* The share of what could be hidden, which is the shorter of both times. */
	t->r.figure[IBCC_MPA_HIDDEN] =
		(alone_us + compute_us - with_us) / fmin(alone_us, compute_us);
	return rc;
}

static void *host(void *arg)
{
	struct trial *t = arg;

	ibcc_mpa_cpus_tie(t->cpus->host[0]);
	switch (t->s->measure) {
	case IBCC_MPA_LATENCY: t->rc = latency(t); break;
	case IBCC_MPA_BANDWIDTH: t->rc = bandwidth(t); break;
	case IBCC_MPA_OVERLAP: t->rc = overlap(t); break;
	case IBCC_MPA_MEMORY: break; /* has no threads */
	}
	if (!t->rc)
		t->rc = ibcc_mpa_node_flush(t->pair.node[0]);
	return NULL;
}

/* Checks that all that was written is there, and nothing beside it. */
static int compare(const struct trial *t)
{
	const struct ibcc_mpa_pair *p = &t->pair;
	uint32_t most = t->count > t->warm ? t->count : t->warm;

	if (t->s->measure == IBCC_MPA_OVERLAP)
		most = t->count + t->warm;
	if (t->s->measure == IBCC_MPA_LATENCY)
		return memcmp(p->sink[0].buffer, p->source, t->s->message_bytes) ||
				       memcmp(p->sink[1].buffer, p->source, t->s->message_bytes)
			       ? -EBADMSG
			       : 0;
	for (uint32_t i = 0; i < t->places; i++) {
		const uint8_t *got = p->region[1] + (size_t)i * t->stride;

		if (i < most ? memcmp(got, p->source + (size_t)i * t->stride, t->s->message_bytes)
			     : got[0] != 0)
			return -EBADMSG;
	}
	return 0;
}

static void count_figures(struct trial *t)
{
	struct ibcc_mpa_counts tx, rx, ignored;
	double *f = t->r.figure, payload, gb;

	ibcc_mpa_node_counts(t->pair.node[0], &tx, &ignored);
	ibcc_mpa_node_counts(t->pair.node[1], &ignored, &rx);
	payload = (double)tx.payload_bytes;
	gb = payload / 1e9;
	if (t->s->measure == IBCC_MPA_BANDWIDTH) {
		f[IBCC_MPA_HOST_S_PER_GB] +=
			t->peer_cpu_s / ((double)t->count * t->s->message_bytes / 1e9);
		f[IBCC_MPA_NIC_S_PER_GB] = (tx.nic_cpu_s + rx.nic_cpu_s) / gb;
	}
	f[IBCC_MPA_HOST_TX_TOUCHED] = (double)tx.touched.host / payload;
	f[IBCC_MPA_HOST_RX_TOUCHED] = (double)rx.touched.host / payload;
	f[IBCC_MPA_NIC_TX_TOUCHED] = (double)tx.touched.nic / payload;
	f[IBCC_MPA_NIC_RX_TOUCHED] = (double)rx.touched.nic / payload;
	f[IBCC_MPA_PIECES] = (double)tx.pieces / (double)tx.fpdus;
	f[IBCC_MPA_WIRE] = (double)tx.wire_bytes / payload;
}

static int run_threads(struct trial *t)
{
	pthread_t a, b;
	int rc = -pthread_create(&b, NULL, peer, t);

	if (rc)
		return rc;
	rc = -pthread_create(&a, NULL, host, t);
	if (!rc)
		pthread_join(a, NULL);
	/* Releases a peer that waits for a message that will never come. */
	if (rc || t->rc)
		ibcc_mpa_node_stop(t->pair.node[0]);
	pthread_join(b, NULL);
	rc = rc ? rc : t->rc;
	rc = rc ? rc : t->peer_rc;
	for (int i = 0; i < 2; i++)
		ibcc_mpa_node_stop(t->pair.node[i]);
	return rc;
}

static uint32_t count_of(const struct ibcc_mpa_settings *s, uint32_t places)
{
	uint32_t n;

	if (s->messages)
		return s->messages;
	if (s->measure == IBCC_MPA_LATENCY)
		return LATENCY_COUNT;
	if (s->measure == IBCC_MPA_OVERLAP)
		return OVERLAP_COUNT;
	n = ENOUGH_BYTES / s->message_bytes;
	n = n > MOST_COUNT ? MOST_COUNT : n < 16 ? 16 : n;
	return n > places ? n : places;
}

static int one(const struct ibcc_mpa_settings *s, const struct ibcc_mpa_subject *u,
	       const struct ibcc_mpa_cpus *cpus, struct ibcc_mpa_result *r)
{
	struct trial t = { .s = s, .cpus = cpus };
	bool sends = s->measure == IBCC_MPA_LATENCY;
	int rc;

	t.stride = (s->message_bytes + 63) & ~63u;
	t.places = s->pool_bytes > t.stride ? s->pool_bytes / t.stride : 1;
	t.count = count_of(s, t.places);
	t.warm = t.count / WARM + 1;
	for (int i = 0; i < IBCC_MPA_N_FIGURES; i++)
		t.r.figure[i] = NAN;
	t.sample_s = calloc(t.count, sizeof(*t.sample_s));
	if (!t.sample_s)
		return -ENOMEM;
	rc = ibcc_mpa_pair_init(&t.pair, s, u, cpus, (size_t)t.places * t.stride,
				sends ? s->message_bytes : 1);
	if (!rc)
		rc = run_threads(&t);
	if (!rc)
		rc = compare(&t);
	if (!rc)
		count_figures(&t);
	ibcc_mpa_pair_fini(&t.pair);
	free(t.sample_s);
	*r = t.r;
	return rc;
}

/* The figure of all repeats. Other load on the machine only adds to CPU time. Its effect on the
 * clock between two threads goes both ways.
 */
static double of_repeats(enum ibcc_mpa_figure f, double *v, size_t n)
{
	double middle = median(v, n);

	switch (f) {
	case IBCC_MPA_HOST_S_PER_GB:
	case IBCC_MPA_NIC_S_PER_GB:
	case IBCC_MPA_TX_S_PER_GB:
	case IBCC_MPA_RX_S_PER_GB:
	case IBCC_MPA_HOST_US: return v[0]; /* the least: v is sorted */
	case IBCC_MPA_LATENCY_US:
	case IBCC_MPA_MBPS:
	case IBCC_MPA_HOST_PERCENT:
	case IBCC_MPA_HOST_TX_TOUCHED:
	case IBCC_MPA_HOST_RX_TOUCHED:
	case IBCC_MPA_NIC_TX_TOUCHED:
	case IBCC_MPA_NIC_RX_TOUCHED:
	case IBCC_MPA_PIECES:
	case IBCC_MPA_WIRE:
	case IBCC_MPA_HIDDEN:
	case IBCC_MPA_N_FIGURES: break;
	}
	return middle;
}

int ibcc_mpa_measure(const struct ibcc_mpa_settings *s, struct ibcc_mpa_result *result)
{
	struct ibcc_mpa_result *all = calloc(s->n_subjects * s->repeats, sizeof(*all));
	double *v = calloc(s->repeats, sizeof(*v));
	struct ibcc_mpa_cpus cpus;
	int rc = all && v ? 0 : -ENOMEM;

	ibcc_mpa_cpus_choose(s->measure == IBCC_MPA_OVERLAP, &cpus);
	for (size_t k = 0; k < s->repeats && !rc; k++) {
		for (size_t i = 0; i < s->n_subjects && !rc; i++) {
			struct ibcc_mpa_result *r = &all[k * s->n_subjects + i];

			rc = s->measure == IBCC_MPA_MEMORY
				     ? ibcc_mpa_measure_memory(s, &s->subject[i], r)
				     : one(s, &s->subject[i], &cpus, r);
		}
	}
	for (size_t i = 0; i < s->n_subjects && !rc; i++) {
		for (int f = 0; f < IBCC_MPA_N_FIGURES; f++) {
			for (size_t k = 0; k < s->repeats; k++)
				v[k] = all[k * s->n_subjects + i].figure[f];
			result[i].figure[f] =
				isnan(v[0]) ? NAN
					    : of_repeats((enum ibcc_mpa_figure)f, v, s->repeats);
		}
	}
	free(v);
	free(all);
	return rc;
}
