/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fat trees with equal links. Packets come at random: those of periodic flows begin together, so a
 * window of a few milliseconds would have more or fewer of them by its place. Each host sends to
 * some others all the time. Up to four hotspots of either kind have from four senders to a sixth of
 * all hosts. As in draw.c, sources never have more to send than their links carry. Begin with
 * write_scenario().
 */
#include "perftest/lab/draw_tree.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/rng.h>

#include "perftest/lab/draw.h"

#define MAX_SPOTS    4u
#define MOST_PEERS   120u
#define MOST_PAIRS   96000u /* scenario files have up to 100,000 flows */
#define FEW_PEERS    4u
#define SOURCE_SHARE 0.9 /* of a source's link that may be used */
/* Packets that a flow to a hotspot keeps at its source, and those that all other flows of a host
 * keep together: as many as in draws of small fabrics, where they have some 20 receivers. With so
 * many for each of 120 receivers, queues would fill for hundreds of milliseconds.
 */
#define QUEUE      200u
#define ALL_QUEUES 4000u
/* The fewest senders of a hotspot, and the most as a part of all hosts. Small hotspots are as
 * frequent as large ones: the number is drawn by its logarithm.
 */
#define LEAST_SENDERS 4u
#define MOST_PART     6u
/* Together, the senders of a hotspot offer at least so much of what it takes. */
#define LEAST_SEVERITY 1.2

static const struct shape {
	uint32_t hosts, ports, levels;
} shapes[] = { { 128, 16, 2 }, { 648, 36, 2 }, { 1152, 48, 2 }, { 3456, 24, 3 } };

struct spot {
	uint32_t dst, n, *from, *rate; /* arrays owned */
	uint32_t sink_mbps;            /* of a slow receiver; 0: its link is full */
	uint32_t start_ms;
};

struct draw {
	uint64_t seed, rng;
	const struct shape *shape;
	uint32_t link_mbps, buffer_bytes;
	uint32_t peers, background_mbps; /* of each host: receivers, and rate to all of them */
	double *left_mbps;               /* of each host's link; owned */
	uint32_t *order;                 /* all hosts, shuffled; owned */
	uint32_t n_spots;
	struct spot spot[MAX_SPOTS];
};

static const struct shape *shape_of(uint32_t hosts)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (shapes[i].hosts == hosts)
			return &shapes[i];
	return NULL;
}

bool ibcc_draw_tree_is(uint32_t hosts)
{
	return shape_of(hosts) != NULL;
}

static uint32_t between(struct draw *d, uint32_t low, uint32_t high)
{
	return low + ibcc_rng_below(&d->rng, high - low + 1);
}

static void draw_fabric(struct draw *d)
{
	static const uint32_t rates[] = { 8000, 16000, 32000 };
	static const uint32_t buffers[] = { 16384, 32768, 65536 };
	uint32_t most = MOST_PAIRS / d->shape->hosts;

	d->link_mbps = rates[between(d, 0, 2)];
	d->buffer_bytes = buffers[between(d, 0, 2)];
	most = most < d->shape->hosts - 1 ? most : d->shape->hosts - 1;
	most = most < MOST_PEERS ? most : MOST_PEERS;
	d->peers = between(d, 0, 9) < 3 ? FEW_PEERS : most;
	d->background_mbps = d->link_mbps * between(d, 5, 30) / 100;
	for (uint32_t i = 0; i < d->shape->hosts; i++) {
		d->left_mbps[i] = SOURCE_SHARE * d->link_mbps - d->background_mbps;
		d->order[i] = i;
	}
}

static void shuffle(struct draw *d)
{
	for (uint32_t i = d->shape->hosts; i-- > 1;) {
		uint32_t k = between(d, 0, i), swap = d->order[i];

		d->order[i] = d->order[k];
		d->order[k] = swap;
	}
}

static bool is_taken(const struct draw *d, uint32_t host)
{
	for (uint32_t i = 0; i < d->n_spots; i++)
		if (d->spot[i].dst == host)
			return true;
	return false;
}

static uint32_t draw_senders(struct draw *d)
{
	uint32_t doublings = 0, n;

	while (LEAST_SENDERS << (doublings + 2) <= d->shape->hosts / MOST_PART)
		doublings++;
	n = LEAST_SENDERS << between(d, 0, doublings);
	return between(d, n, 2 * n - 1);
}

static int draw_spot(struct draw *d)
{
	struct spot *s = &d->spot[d->n_spots];
	uint32_t hosts = d->shape->hosts, senders = draw_senders(d);
	double capacity = d->link_mbps, sum = 0, severity;

	s->from = calloc(hosts, sizeof(*s->from));
	s->rate = calloc(hosts, sizeof(*s->rate));
	if (!s->from || !s->rate)
		return -ENOMEM;
	do
		s->dst = between(d, 0, hosts - 1);
	while (is_taken(d, s->dst));
	if (between(d, 0, 1)) {
		s->sink_mbps = d->link_mbps * between(d, 10, 60) / 100;
		capacity = s->sink_mbps;
	}
	severity = between(d, 12, 40) / 10.0;
	s->start_ms = between(d, 1, 5);
	shuffle(d);
	for (uint32_t i = 0; i < hosts && (s->n < senders || sum < LEAST_SEVERITY * capacity);
	     i++) {
		double want = severity * capacity / senders, left = d->left_mbps[d->order[i]];
		uint32_t rate = (uint32_t)(want < left ? want : left);

		if (d->order[i] == s->dst || rate < 2)
			continue;
		s->from[s->n] = d->order[i];
		s->rate[s->n++] = rate;
		d->left_mbps[d->order[i]] -= rate;
		sum += rate;
	}
	d->n_spots++;
	return 0;
}

static bool is_hot_for(const struct draw *d, uint32_t from, uint32_t dst)
{
	for (uint32_t k = 0; k < d->n_spots; k++)
		for (uint32_t i = 0; i < d->spot[k].n && d->spot[k].dst == dst; i++)
			if (d->spot[k].from[i] == from)
				return true;
	return false;
}

/* A host's receivers are drawn from consecutive parts of all other hosts, one from each, so they
 * differ. A hotspot to which the host sends is left out: the two flows would be one queue pair.
 */
static void write_background(struct draw *d, uint32_t from, FILE *out)
{
	uint32_t others = d->shape->hosts - 1, to[MOST_PEERS], n = 0;

	for (uint32_t k = 0; k < d->peers; k++) {
		uint32_t first = k * others / d->peers, next = (k + 1) * others / d->peers;

		to[n] = (from + 1 + between(d, first, next - 1)) % d->shape->hosts;
		n += !is_hot_for(d, from, to[n]);
	}
	if (!n)
		return;
	fprintf(out, "  - {name: own%u, from: h%u, to: [", from, from);
	for (uint32_t i = 0; i < n; i++)
		fprintf(out, "%sh%u", i ? ", " : "", to[i]);
	fprintf(out, "], rate: %u Mb/s, arrivals: exponential, queue_packets: %u}\n",
		d->background_mbps / n, QUEUE * n < ALL_QUEUES ? QUEUE : ALL_QUEUES / n);
}

static void write_spots(const struct draw *d, FILE *out)
{
	bool any = false;

	for (uint32_t k = 0; k < d->n_spots; k++)
		for (uint32_t i = 0; i < d->spot[k].n; i++)
			fprintf(out,
				"  - {name: hot%u-%u, from: h%u, to: h%u, kind: hot, rate: %u "
				"Mb/s, arrivals: exponential, queue_packets: %u, start_ms: %u}\n",
				k, d->spot[k].from[i], d->spot[k].from[i], d->spot[k].dst,
				d->spot[k].rate[i], QUEUE, d->spot[k].start_ms);
	for (uint32_t k = 0; k < d->n_spots; k++) {
		if (!d->spot[k].sink_mbps)
			continue;
		fprintf(out, "%s  - {sink: h%u, at_ms: %u, rate: %u Mb/s}\n",
			any ? "" : "events:\n", d->spot[k].dst, d->spot[k].start_ms,
			d->spot[k].sink_mbps);
		any = true;
	}
}

static int write_drawn(struct draw *d, FILE *out)
{
	static const uint32_t numbers[] = { 1, 1, 2, 2, 3, MAX_SPOTS };
	uint32_t n = numbers[between(d, 0, 5)];
	int rc = 0;

	while (d->n_spots < n && !rc)
		rc = draw_spot(d);
	if (rc)
		return rc;
	fprintf(out,
		"name: tree-%llu\nseed: %llu\nduration_ms: 40\nmeasure_from_ms: 22\n"
		"model: {buffer_bytes: %u, hca_buffer_bytes: %u}\n"
		"topology: {rate: %u Mb/s, tree: {ports: %u, levels: %u}}\ntraffic:\n",
		(unsigned long long)d->seed, (unsigned long long)d->seed, d->buffer_bytes,
		d->buffer_bytes, d->link_mbps, d->shape->ports, d->shape->levels);
	for (uint32_t i = 0; i < d->shape->hosts; i++)
		write_background(d, i, out);
	write_spots(d, out);
	return ferror(out) ? -EIO : 0;
}

static int write_scenario(void *arg, FILE *out)
{
	struct draw *d = arg;
	int rc = -ENOMEM;

	d->left_mbps = calloc(d->shape->hosts, sizeof(*d->left_mbps));
	d->order = calloc(d->shape->hosts, sizeof(*d->order));
	if (d->left_mbps && d->order) {
		draw_fabric(d);
		rc = write_drawn(d, out);
	}
	for (uint32_t k = 0; k < MAX_SPOTS; k++) {
		free(d->spot[k].from);
		free(d->spot[k].rate);
	}
	free(d->left_mbps);
	free(d->order);
	return rc;
}

int ibcc_draw_tree_load(uint64_t seed, uint32_t hosts, struct ibcc_scenario *s,
			struct ibcc_yaml_errors *e)
{
	struct draw d = { .seed = seed, .rng = seed, .shape = shape_of(hosts) };

	return d.shape ? ibcc_draw_load_written(write_scenario, &d, NULL, s, e) : -EINVAL;
}
